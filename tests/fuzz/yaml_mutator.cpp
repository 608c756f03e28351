// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/yaml_mutator.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <vector>

#include "tests/support/yaml_junk.h"

namespace ktpu::fuzz {

namespace {

struct Span {
  std::size_t at = 0, size = 0;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
}

template <typename Wanted>
std::vector<Span> tokens(const std::string& text, Wanted&& wanted) {
  std::vector<Span> found;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '#') {
      i = text.find('\n', i);
      if (i == std::string::npos) break;
      continue;
    }
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    if (wanted(begin, i - begin)) found.push_back({begin, i - begin});
  }
  return found;
}
std::vector<Span> all_tokens(const std::string& text) {
  return tokens(text, [](std::size_t, std::size_t) { return true; });
}
std::vector<Span> numbers(const std::string& text) {
  return tokens(text, [&](std::size_t at, std::size_t) {
    return std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  });
}
std::vector<Span> keys(const std::string& text) {
  return tokens(text, [&](std::size_t at, std::size_t size) {
    return at + size < text.size() && text[at + size] == ':';
  });
}

std::vector<Span> lines(const std::string& text) {
  std::vector<Span> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    found.push_back({at, end - at});
    at = end;
  }
  return found;
}
// Rows of a picture.
std::vector<Span> rows(const std::string& text) {
  std::vector<Span> found;
  for (const Span& line : lines(text)) {
    const std::size_t dash = text.find_first_not_of(' ', line.at);
    if (dash < line.at + line.size && text.compare(dash, 3, "- [") == 0) found.push_back(line);
  }
  return found;
}

constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "7",
                                         "8",
                                         "16",
                                         "31",
                                         "32",
                                         "64",
                                         "512",
                                         "4096",
                                         "32768",
                                         "65536",
                                         "1000000",
                                         "1000000000",
                                         "4294967295",
                                         "4294967296",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "0x80000000",
                                         "0xffffffffffffffff",
                                         "1e18",
                                         "0.5",
                                         "0.001",
                                         "1.0",
                                         "100000"};
// Whole lines that are right somewhere.
constexpr std::string_view kLines[] = {
    "    staging: built\n",
    "    staging: idle\n",
    "    interlink: built\n",
    "    interlink: idle\n",
    "    id: 3\n",
    "    agent: {staging_flits: 1, commands: 1, reads_in_flight: 64}\n",
    "    agent: none\n",
    "    dram: none\n",
    "    dram: {model: banked, banks: 1, row_bytes: 64, reads_outstanding: 1, bytes_per_cycle: 0.01}\n",
    "    dram: {model: simple, bus_bits: 512, base: 0xFFFFFF000, size_mib: 1, read_gaps: [0, 9, 1], wrap: "
    "false}\n",
    "    router: {fifo_depth: 1, fifo_latency: 1, fifo_extra: 0}\n",
    "    router: {fifo_depth: 32768}\n",
    "    nodes: {cluster@1,1: {tiles: 1, l1_a: 2, l1_b: 2}}\n",
    "    nodes: {router@1,1: {impl: rtl}}\n",
    "    nodes: {cluster@1,1: {impl: lockstep}}\n",
    "    nodes: {cluster@1,1: {adapter: {lines: 16777216}}}\n",
    "    nodes: {cluster@1,1: {port: 1}}\n",
    "host: {kind: firmware}\n",
    "host: {kind: external}\n",
    "host: {kind: script, script: {write_cycles: 3, read_cycles: 1000000, start_cycles: 1000000}}\n",
    "clocks: {fabric: 300, slow: 1}\n",
    "quirks: none\n",
    "include: other.yaml\n",
    "  - grid: [[., mem, .], [., mat, .], [., ., .]]\n",
    "      mat: {kind: matmul_cluster, acc_mw: 9, inst_depth: 1, recv_depth: 1}\n",
    "      t: {kind: traffic, pattern: hotspot, hotspot: \"1,1\", rate: 1, flits: 100}\n",
    "      t: {kind: traffic, pattern: transpose, rate: 1, busy: {runs: [1, 0, 0, 3]}}\n",
};

void swap_spans(std::string& text, Span a, Span b) {
  if (a.at > b.at) std::swap(a, b);
  if (a.at + a.size > b.at) return;
  const std::string first = text.substr(a.at, a.size), second = text.substr(b.at, b.size);
  text.replace(b.at, b.size, first);
  text.replace(a.at, a.size, second);
}

void swap_tokens(std::string& text, Random& r) {
  const auto list = all_tokens(text);
  if (list.size() > 1) swap_spans(text, list[r.below(list.size())], list[r.below(list.size())]);
}

void rename_key(std::string& text, Random& r) {
  const auto list = keys(text);
  if (list.empty()) return;
  const Span key = list[r.below(list.size())], other = list[r.below(list.size())];
  std::string name = text.substr(key.at, key.size);
  switch (r.below(4)) {
    case 0:
      name = text.substr(other.at, other.size);
      break;
    case 1:
      name.erase(r.below(name.size()), 1);
      break;
    case 2:
      name.insert(r.below(name.size() + 1), 1, static_cast<char>('a' + r.below(26)));
      break;
    default:
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  text.replace(key.at, key.size, name);
}

void change_number(std::string& text, Random& r) {
  const auto list = numbers(text);
  if (list.empty()) return;
  const Span span = list[r.below(list.size())];
  std::string value(kNumbers[r.below(std::size(kNumbers))]);
  if (r.one_in(2)) value = fmt::format("{}", 1ull << r.below(r.one_in(3) ? 34 : 13));
  if (r.one_in(8)) value = fmt::format("{}", r.number(r.below(600)));
  if (r.one_in(12)) value = fmt::format("-{}", value);
  text.replace(span.at, span.size, value);
}

void edit_lines(std::string& text, Random& r) {
  const auto list = lines(text);
  if (list.empty()) return;
  const Span line = list[r.below(list.size())], other = list[r.below(list.size())];
  const std::string body = text.substr(line.at, line.size);
  switch (r.below(5)) {
    case 0:
      text.erase(line.at, line.size);
      break;
    case 1:
      text.insert(line.at, body);
      break;
    case 2:
      text.insert(other.at, body);
      break;
    case 3:
      swap_spans(text, line, other);
      break;
    default:  // the indentation
      if (r.one_in(2))
        text.insert(line.at, 1 + r.below(6), r.one_in(8) ? '\t' : ' ');
      else
        text.erase(line.at, std::min(text.find_first_not_of(' ', line.at) - line.at, 1 + r.below(6)));
  }
}

void random_bytes(std::string& text, Random& r) {
  for (std::size_t n = 1 + r.below(4); n > 0; --n) {
    const std::size_t at = r.below(text.size());
    if (r.one_in(2))
      text[at] = static_cast<char>(r.bits());
    else
      text.insert(at, 1, static_cast<char>(r.one_in(2) ? r.bits() : 32 + r.below(95)));
  }
}

void insert_junk(std::string& text, Random& r) {
  const std::string_view junk = support::kYamlJunk[r.below(std::size(support::kYamlJunk))];
  const auto list = all_tokens(text);
  if (list.empty() || r.one_in(3)) {
    text.insert(r.below(text.size() + 1), junk);
    return;
  }
  const Span span = list[r.below(list.size())];
  text.replace(span.at, span.size, junk);
}

void insert_line(std::string& text, Random& r) {
  const auto list = lines(text);
  const std::string_view line = kLines[r.below(std::size(kLines))];
  // In place of the line with the same key, or anywhere.
  const std::string key(line.substr(0, line.find(':') + 1));
  const std::size_t old = text.find(key);
  if (old != std::string::npos && (old == 0 || text[old - 1] == '\n'))
    text.replace(old, std::min(text.find('\n', old), text.size() - 1) + 1 - old, line);
  else
    text.insert(list.empty() ? 0 : list[r.below(list.size())].at, line);
}

// Anchors and aliases, from one reuse to millions of values.
void bomb(std::string& text, Random& r) {
  if (r.one_in(2)) {
    const auto list = all_tokens(text);
    if (list.size() < 2) return;
    const Span target = list[r.below(list.size())], anchor = list[r.below(list.size())];
    constexpr std::string_view kAlias = "*a", kAnchor = "&a ";
    text.replace(target.at, target.size, kAlias);
    text.insert(std::min(anchor.at, text.size()), kAnchor);
    return;
  }
  const std::size_t levels = 2 + r.below(9), wide = 2 + r.below(12);
  std::string laughs = "a0: &a0 [x, y]\n";
  for (std::size_t i = 1; i <= levels; ++i) {
    laughs += fmt::format("a{}: &a{} [", i, i);
    for (std::size_t k = 0; k < wide; ++k) laughs += fmt::format("*a{}, ", i - 1);
    laughs += "]\n";
  }
  if (r.one_in(2)) laughs += fmt::format("meshes: *a{}\n", levels);
  text.insert(r.one_in(2) ? 0 : text.size(), laughs);
}

void edit_grid(std::string& text, Random& r) {
  const auto list = rows(text);
  if (list.empty()) return;
  const Span row = list[r.below(list.size())], other = list[r.below(list.size())];
  const std::string body = text.substr(row.at, row.size);
  std::vector<Span> cells;
  for (std::size_t i = row.at; i < row.at + row.size; ++i)
    if (is_word(text[i]) && text[i] != '-') {
      const std::size_t begin = i;
      while (i < row.at + row.size && is_word(text[i])) ++i;
      cells.push_back({begin, i - begin});
    }
  if (cells.empty()) return;
  const Span cell = cells[r.below(cells.size())];
  switch (r.below(8)) {
    case 0:
      text.erase(row.at, row.size);
      break;
    case 1:
      text.insert(row.at, body);
      break;
    case 2:
      text.insert(other.at, body);
      break;
    case 3: {  // a cell more in each row
      for (std::size_t i = list.size(); i-- > 0;) {
        const std::size_t open = text.find('[', list[i].at);
        if (open != std::string::npos) text.insert(open + 1, " ., ");
      }
      break;
    }
    case 4:
      text.erase(cell.at, cell.size + 1);
      break;
    default: {
      constexpr std::string_view kCells[] = {".",   "x",    "mat",  "mem", "vec", "t",
                                             "inj", "sink", "nope", "~",   ""};
      const Span like = cells[r.below(cells.size())];
      const std::string neighbour = text.substr(like.at, like.size);
      text.replace(cell.at, cell.size,
                   r.one_in(4) ? kCells[r.below(std::size(kCells))] : std::string_view(neighbour));
    }
  }
}

}  // namespace

std::string mutate_yaml(std::string text, Random& r) {
  // Half of the mutants stay well-formed, so that they get beyond the YAML parser.
  const bool gentle = r.one_in(2);
  for (std::size_t n = 1 + r.below(3); n > 0; --n) {
    if (text.empty()) text.push_back('x');
    switch (gentle ? r.below(5) : r.below(12)) {
      case 0:
      case 1:
        change_number(text, r);
        break;
      case 2:
      case 3:
        edit_grid(text, r);
        break;
      case 4:
        insert_line(text, r);
        break;
      case 5:
        swap_tokens(text, r);
        break;
      case 6:
        rename_key(text, r);
        break;
      case 7:
        edit_lines(text, r);
        break;
      case 8:
        random_bytes(text, r);
        break;
      case 9:
        insert_junk(text, r);
        break;
      case 10:
        bomb(text, r);
        break;
      default:
        text.resize(r.below(text.size()));
    }
  }
  return text;
}

}  // namespace ktpu::fuzz
