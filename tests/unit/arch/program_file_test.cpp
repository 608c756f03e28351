// SPDX-License-Identifier: Apache-2.0
// prog.bin: what is written is read back; damaged files end in a message that names the part.
#include "arch/program/program_file.h"

#include <filesystem>
#include <iostream>
#include <random>

#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

using testing::Test;

std::string parse_error(const std::vector<std::uint8_t>& bytes) {
  return error_of([&] { parse_program(bytes, "p.bin"); });
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ProgramFile, EveryKindSurvives) {
  const Program p = everything();
  const auto bytes = serialize_program(p);
  EXPECT_EQ(parse_program(bytes, "p.bin"), p);
  EXPECT_EQ(serialize_program(p), bytes);
  EXPECT_EQ(serialize_program(parse_program(bytes, "p.bin")), bytes);
}

TEST(ProgramFile, ThroughTheFileSystem) {
  const auto path = std::filesystem::temp_directory_path() / "ktpu_program_file_test.bin";
  save_program(everything(), path);
  EXPECT_EQ(load_program(path), everything());
  std::filesystem::remove(path);
  EXPECT_TRUE(contains(error_of([&] { load_program(path); }), "can't be opened"));
  EXPECT_TRUE(contains(error_of([&] { load_program("/"); }), "is a folder"));
  EXPECT_TRUE(contains(error_of([&] { save_program(everything(), "/nowhere/x.bin"); }), "can't be written"));
}

TEST(ProgramFile, EachPartHasItsMessage) {
  const auto good = serialize_program(everything());
  EXPECT_TRUE(contains(parse_error({}), "p.bin: not a program file, or cut short: 0 bytes"));
  EXPECT_TRUE(
      contains(parse_error(std::vector<std::uint8_t>(100, 'x')), "p.bin: identifier: not a program file"));
  auto bytes = good;
  bytes.resize(bytes.size() - 1);
  EXPECT_TRUE(contains(parse_error(bytes), "p.bin: trailer: missing"));
  bytes = good;
  bytes.push_back(0);
  EXPECT_TRUE(contains(parse_error(bytes), "p.bin: trailer: missing"));
  bytes = good;
  bytes[bytes.size() - 24] = 9;
  EXPECT_TRUE(contains(parse_error(bytes), "p.bin: version: the file has format 9, this build reads 1"));
  bytes = good;  // a piece cut out of the middle
  bytes.erase(bytes.begin() + 40, bytes.begin() + 48);
  EXPECT_TRUE(contains(parse_error(bytes), "p.bin: size: "));
  bytes = good;
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_TRUE(contains(parse_error(bytes), "p.bin: content hash: "));
  EXPECT_EQ(rehash(good), good);
}

TEST(ProgramFile, DamagedContentsNameTheTable) {
  auto bytes = serialize_program(everything());
  for (int i = 0; i < 4; ++i) bytes[i] = 0xFF;  // the root offset
  EXPECT_TRUE(contains(parse_error(rehash(bytes)), "p.bin: root: damaged"));
}

TEST(ProgramFile, HashIsThatOfTheContents) {
  Program p = everything();
  const auto one = serialize_program(p);
  p.steps.pop_back();
  const auto two = serialize_program(p);
  EXPECT_NE(program_hash(one, "a"), program_hash(two, "b"));
  EXPECT_EQ(program_hash(one, "a"), program_hash(serialize_program(everything()), "c"));
}

// Every mutant is either refused with a message or a valid program; sanitizer builds find the rest.
TEST(ProgramFile, MutantsAreRefusedOrValid) {
  constexpr std::uint64_t kSeed = 7;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  const auto good = serialize_program(everything());
  int refused = 0, accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    auto bytes = good;
    switch (random() % 4) {
      case 0:
        bytes.resize(random() % bytes.size());
        break;
      case 1:  // a 32-bit number somewhere becomes extreme
        for (std::size_t at = random() % (bytes.size() - 4), j = 0, v = random() % 3; j < 4; ++j)
          bytes[at + j] = v == 0 ? 0xFF : v == 1 ? 0 : j == 3 ? 0x7F : 0xFF;
        break;
      case 2:
        for (std::size_t at = random() % (bytes.size() - 64), to = random() % (bytes.size() - 64), j = 0;
             j < 64; ++j)
          bytes[to + j] = bytes[at + j];
        break;
      default:
        for (int n = static_cast<int>(random() % 8); n >= 0; --n)
          bytes[random() % bytes.size()] ^= 1u << random() % 8;
    }
    if (i % 2) bytes = rehash(std::move(bytes));
    const std::string message = parse_error(bytes);
    (message.empty() ? accepted : refused)++;
    ASSERT_TRUE(message.empty() || message.starts_with("p.bin: ")) << message;
  }
  EXPECT_GT(refused, 1500);
  EXPECT_GT(accepted, 0);  // harmless changes, e.g. in a text
}

}  // namespace
}  // namespace ktpu::arch
