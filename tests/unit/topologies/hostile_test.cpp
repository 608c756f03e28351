// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes, the reader answers with a machine or a UserError, soon.
#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "tests/support/yaml_junk.h"
#include "tests/unit/topologies/helpers.h"
#include "topologies/writer.h"

namespace ktpu::topo::testing {
namespace {

bool refused(const std::string& text) {
  const std::string error = error_of(text);
  EXPECT_TRUE(error == "no error" || error.starts_with("t.yaml:")) << error;
  return error != "no error";
}

TEST(Hostile, NotText) {
  EXPECT_EQ(error_of(std::string("version: 1\nname: \xff\n")),
            "t.yaml:2:7: byte 0xff is not UTF-8; is this a text file?");
  EXPECT_EQ(error_of(std::string("a: b\0", 5)), "t.yaml:1:5: control character 0x00; is this a text file?");
  EXPECT_EQ(error_of("\xff\xfe"
                     "v\0e\0"),
            "t.yaml:1:1: byte 0xff is not UTF-8; is this a text file?");
  for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "\xe2\x82", "\x80"})
    EXPECT_NE(error_of(bad).find("is not UTF-8"), std::string::npos);
  // letters beyond ASCII are text, if no symbols
  EXPECT_EQ(error_of("# caf\u00e9 \u20ac \U0001F600\n"),
            "t.yaml:1:1: the file is empty; a topology starts with version: 1");
  EXPECT_EQ(error_of("\xEF\xBB\xBF" + std::string(kGood)), "no error");  // a byte-order mark
}

TEST(Hostile, NotYaml) {
  EXPECT_EQ(error_of("a: [1, 2\n"), "t.yaml:2:1: not well-formed YAML: end of sequence flow not found");
  EXPECT_EQ(error_of("a: {b\n"), "t.yaml:2:1: not well-formed YAML: end of map flow not found");
  EXPECT_EQ(error_of("a: *nowhere\n"),
            "t.yaml:1:4: not well-formed YAML: the referenced anchor is not defined");
  for (const char* bad :
       {"\t- a\n b:", "a: b: c\n", "- a\nb: c\n", "]", "}", ": :", "%YAML 9\n---\n", "&", "*", "!", "|",
        "a: |9\n x", "? ? ? ?", "[a]: b", "{a: b}: c", "@a", "`a", "a: &x *x"})
    EXPECT_TRUE(refused(bad)) << bad;
  EXPECT_EQ(error_of(std::string(kGood) + "---\nversion: 1\n"),
            "t.yaml:20:1: a second YAML document; a topology file holds one");
  expect_error("a: @@!!binary aGk=\n",
               "YAML tags such as 'tag:yaml.org,2002:binary' are not used in topology files");
  expect_error("a: {@@[b]: c}\n", "a key must be a word, this is a list");
}

TEST(Hostile, Bombs) {
  // every line nine times the one before
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    laughs += fmt::format("{}: &{} [", c, c);
    for (int i = 0; i < 9; ++i) laughs += fmt::format("*{}, ", static_cast<char>(c - 1));
    laughs += std::string_view("]\n");
  }
  EXPECT_NE(error_of(laughs).find("more than 60000 values after aliases and includes"), std::string::npos);
  EXPECT_NE(error_of("a: &a [*a]\n").find("the alias stands inside the very node that it names"),
            std::string::npos);
  for (const char* open : {"[", "{a: ", "- ", "? ", "!x ", "&a "}) {
    std::string deep;
    while (deep.size() < 200000) deep += open;
    EXPECT_TRUE(refused(deep)) << open;
  }
  EXPECT_NE(error_of(std::string(30, '[')).find("nested more than 24 levels deep"), std::string::npos);
  std::string wide;
  for (int i = 0; i < 2000; ++i) wide += fmt::format("k{}: 1\n", i);
  EXPECT_EQ(error_of(wide), "t.yaml:1001:1: more than 1000 keys in a map");
  std::string list = "a: [";
  while (list.size() < (1u << 20) - 4) list += "1,";
  EXPECT_TRUE(refused(list + "]\n"));
  EXPECT_TRUE(refused("a: " + std::string((1u << 20) - 10, 'x')));
  EXPECT_TRUE(refused(std::string((1u << 20), '\n')));
}

// A number from the environment, for longer campaigns than every build needs.
unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// Mutations of good machines. A mutant that is still accepted must round-trip. Prints its seed.
TEST(Hostile, Mutations) {
  const unsigned seed = from_environment("KTPU_SEED", 7), mutants = from_environment("KTPU_MUTANTS", 1500);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<std::string> seeds{kGood, print_resolved(read_file("reference_small")),
                                 print_resolved(read_file("noc3x3"))};
  std::vector<std::string_view> words(std::begin(support::kYamlJunk), std::end(support::kYamlJunk));
  words.insert(words.end(), {"0", "4294967296", "18446744073709551616", "include: t.yaml"});
  unsigned accepted = 0;
  for (unsigned i = 0; i < mutants; ++i) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      const std::size_t at = below(text.size());
      switch (below(6)) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + below(12));
          break;
        case 2:
          text.insert(at, words[below(words.size())]);
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(60)));
          break;
        case 4:
          text.resize(at);
          break;
        default: {  // replace one word by another of the file
          const std::size_t end = text.find_first_of(" ,:}]\n", at);
          text.replace(at, end == std::string::npos ? 1 : end - at, words[below(words.size())]);
        }
      }
      if (text.empty()) text.push_back(' ');
    }
    const std::string error = error_of(text);
    if (error == "no error") {
      ++accepted;
      const Machine m = read_string(text);
      EXPECT_EQ(m, read_string(print_resolved(m))) << text;
    } else {
      EXPECT_TRUE(error.starts_with("t.yaml:")) << error;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, 10u);  // the mutants reach all the way through
}

}  // namespace
}  // namespace ktpu::topo::testing
