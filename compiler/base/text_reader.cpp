// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/text_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "arch/encoding/text.h"
#include "arch/formats/dtype.h"

namespace ktpu::base {
namespace {

constexpr std::size_t kRank = 16;  // of a shape; more is a slip of the pen

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.:+-").find(c) != std::string_view::npos;
}
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextReader::fail_at(std::size_t place, const std::string& what) const {
  const std::string_view before = text_.substr(0, place);
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  throw arch::UserError::make("{}:{}:{}: {}", file_, 1 + std::count(before.begin(), before.end(), '\n'),
                              place - line_start + 1, what);
}

std::size_t TextReader::place() {
  blanks();
  return at_;
}

void TextReader::fail(const std::string& what) { fail_at(place(), what); }

std::string TextReader::shown() {
  blanks();
  if (at_ == text_.size()) return "the end of the text";
  if (text_[at_] == '\n') return "the end of the line";
  const std::string_view word = run();
  if (!word.empty()) return fmt::format("\"{}\"", word);
  const char c = text_[at_];
  if (c > ' ' && c < 127) return fmt::format("'{}'", c);
  return fmt::format("character {:#04x}", static_cast<unsigned char>(c));
}

void TextReader::blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  if (at_ < text_.size() && text_[at_] == '#')
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

std::string_view TextReader::run() {
  blanks();
  std::size_t end = at_;
  while (end < text_.size() && is_word_char(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

bool TextReader::take(std::string_view mark) {
  blanks();
  if (!text_.substr(at_).starts_with(mark)) return false;
  at_ += mark.size();
  return true;
}
void TextReader::expect(std::string_view mark) {
  if (!take(mark)) fail(fmt::format("'{}' expected, not {}", mark, shown()));
}
bool TextReader::at(char c) {
  blanks();
  return at_ < text_.size() && text_[at_] == c;
}

bool TextReader::at_word(std::string_view word) { return run() == word; }
bool TextReader::at_any_word() { return !run().empty(); }
bool TextReader::take_word(std::string_view word) {
  if (!at_word(word)) return false;
  at_ += word.size();
  return true;
}
void TextReader::expect_word(std::string_view word) {
  if (!take_word(word)) fail(fmt::format("\"{}\" expected, not {}", word, shown()));
}
std::string TextReader::word(std::string_view what) {
  const std::string_view word = run();
  if (word.empty()) fail(fmt::format("{} expected, not {}", what, shown()));
  at_ += word.size();
  return std::string(word);
}

std::string TextReader::name(char sigil, std::string_view what) {
  if (!at(sigil)) fail(fmt::format("{} ({}...) expected, not {}", what, sigil, shown()));
  ++at_;
  if (at_ < text_.size() && text_[at_] == '"') return string(what);
  // The name follows at once: no blanks.
  if (at_ == text_.size() || !is_word_char(text_[at_])) fail_at(at_, fmt::format("the name of {}", what));
  return word(what);
}

std::string TextReader::string(std::string_view what) {
  if (!at('"')) fail(fmt::format("{} in quotes expected, not {}", what, shown()));
  const std::size_t begin = at_++;
  std::string out;
  for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '"') {
      ++at_;
      return out;
    }
    if (text_[at_] != '\\') {
      out += text_[at_];
      continue;
    }
    const char e = ++at_ < text_.size() ? text_[at_] : '\n';
    if (e == '"' || e == '\\') {
      out += e;
    } else if (e == 'x' && at_ + 2 < text_.size() && hex_digit(text_[at_ + 1]) >= 0 &&
               hex_digit(text_[at_ + 2]) >= 0) {
      out += static_cast<char>(16 * hex_digit(text_[at_ + 1]) + hex_digit(text_[at_ + 2]));
      at_ += 2;
    } else {
      fail_at(at_ - 1, "escapes are \\\" \\\\ and \\xHH");
    }
  }
  fail_at(begin, "the string has no closing quote on its line");
}

std::uint64_t TextReader::number_of(std::string_view digits, std::string_view what, std::uint64_t max) {
  std::uint64_t value = 0;
  if (digits.empty() || !arch::parse_number(digits, value))
    fail(fmt::format("{} expected (a number), not {}", what, shown()));
  if (value > max) fail(fmt::format("{} {} is above {}", what, digits, max));
  return value;
}
std::uint64_t TextReader::number(std::string_view what, std::uint64_t max) {
  const std::string_view digits = run();
  const std::uint64_t value = number_of(digits, what, max);
  at_ += digits.size();
  return value;
}
std::uint32_t TextReader::number32(std::string_view what) {
  return static_cast<std::uint32_t>(number(what, 0xFFFFFFFF));
}
std::int64_t TextReader::signed_number(std::string_view what) {
  const std::string_view digits = run();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("{} expected (a number), not {}", what, shown()));
  at_ += digits.size();
  return value;
}
double TextReader::real(std::string_view what) {
  const std::string_view digits = run();
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("{} expected (a number), not {}", what, shown()));
  at_ += digits.size();
  return value;
}

std::vector<std::uint32_t> TextReader::extents(std::string_view what, std::size_t count) {
  const std::string_view all = run();
  std::vector<std::uint32_t> found;
  for (std::size_t begin = 0; begin <= all.size() && found.size() <= kRank;) {
    const std::size_t end = std::min(all.find('x', begin), all.size());
    found.push_back(static_cast<std::uint32_t>(number_of(all.substr(begin, end - begin), what, 0xFFFFFFFF)));
    begin = end + 1;
  }
  if (found.size() > kRank || (count != 0 && found.size() != count))
    fail(fmt::format("{}: {} numbers with x between them expected, not {}", what,
                     count != 0 ? std::to_string(count) : fmt::format("at most {}", kRank), shown()));
  at_ += all.size();
  return found;
}

std::vector<std::int32_t> TextReader::key() {
  std::vector<std::int32_t> key;
  expect("(");
  if (take(")")) return key;
  do {
    const std::size_t begin = place();
    const std::int64_t number = signed_number("a key");
    if (number != static_cast<std::int32_t>(number)) fail_at(begin, "a key has 32 bits");
    key.push_back(static_cast<std::int32_t>(number));
  } while (take(","));
  expect(")");
  return key;
}

std::vector<std::uint32_t> TextReader::tensor_type() {
  expect("<");
  const std::string_view all = run();
  std::vector<std::uint32_t> shape;
  std::size_t begin = 0;
  while (all.substr(begin) != "f16") {
    const std::size_t end = all.find('x', begin);
    if (const auto other = arch::number_type(all.substr(begin)))
      fail(fmt::format("a tensor of {}: tensors are f16", arch::number_format(*other).name));
    if (end == std::string_view::npos || shape.size() == kRank)
      fail(fmt::format("the type of a tensor (<32x64xf16>, at most {} dimensions) expected, not {}", kRank,
                       shown()));
    shape.push_back(
        static_cast<std::uint32_t>(number_of(all.substr(begin, end - begin), "an extent", 0xFFFFFFFF)));
    begin = end + 1;
  }
  at_ += all.size();
  expect(">");
  return shape;
}

Index TextReader::index_of(std::size_t begin, std::size_t end) {
  while (end > begin && text_[end - 1] == ' ') --end;
  try {
    return Index::parse(text_.substr(begin, end - begin));
  } catch (const arch::UserError& error) {
    fail_at(begin, error.what());
  }
}

Index TextReader::index(std::string_view what) {
  blanks();
  const std::size_t begin = at_;
  for (int depth = 0; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    const char c = text_[at_];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && (c == ',' || c == ']' || text_.substr(at_).starts_with(" of "))) break;
  }
  if (at_ == begin) fail(fmt::format("{} expected, not {}", what, shown()));
  return index_of(begin, at_);
}

Index TextReader::index_operand(std::string_view what) {
  blanks();
  const std::size_t begin = at_;
  if (at('%')) {
    name('%', what);
  } else if (at('(')) {
    int depth = 0;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    if (depth != 0 || at_ == text_.size()) fail_at(begin, "a ) is missing");
    ++at_;
  } else {
    return Index(signed_number(what));
  }
  return index_of(begin, at_);
}

std::vector<std::uint16_t> TextReader::words16() {
  std::vector<std::uint16_t> words;
  for (expect("{"), skip_lines(); !take("}"); skip_lines()) {
    const std::string_view digits = run();
    std::uint16_t word = 0;
    const char* const end = digits.data() + digits.size();
    if (digits.size() != 4 || std::from_chars(digits.data(), end, word, 16).ptr != end)
      fail(fmt::format("an FP16 word (four hex digits) or '}}' expected, not {}", shown()));
    at_ += digits.size();
    words.push_back(word);
  }
  return words;
}

void TextReader::skip_lines() {
  for (blanks(); at_ < text_.size() && text_[at_] == '\n'; blanks()) ++at_;
}
void TextReader::end_of_line() {
  blanks();
  if (at_ < text_.size() && text_[at_] != '\n')
    fail(fmt::format("the statement should end here, but {} follows", shown()));
  skip_lines();
}
void TextReader::open_block() {
  expect("{");
  end_of_line();
}
bool TextReader::close_block() {
  if (!take("}")) return false;
  end_of_line();
  return true;
}
void TextReader::end_of_text() {
  skip_lines();
  if (at_ < text_.size()) fail(fmt::format("the text should end here, but {} follows", shown()));
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (u < 32 || u == 127)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + '"';
}

std::string name_text(char sigil, std::string_view name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), is_word_char);
  return sigil + (plain ? std::string(name) : quoted(name));
}

std::string decimal(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string extents_text(std::span<const std::uint32_t> extents) {
  return fmt::format("{}", fmt::join(extents, "x"));
}

std::string tensor_type_text(std::span<const std::uint32_t> shape) {
  return fmt::format("<{}{}f16>", extents_text(shape), shape.empty() ? "" : "x");
}

std::string index_operand_text(const Index& index) {
  const std::string text = index.print();
  return index.is_constant() || index.is_axis() ? text : fmt::format("({})", text);
}

std::string words16_text(std::span<const std::uint16_t> words, std::string_view indent) {
  constexpr std::size_t kPerLine = 16;
  std::string out = "{";
  for (std::size_t i = 0; i < words.size(); ++i)
    out += fmt::format("{}{:04x}", i % kPerLine == 0 ? fmt::format("\n{}  ", indent) : std::string(" "),
                       words[i]);
  return out + fmt::format("\n{}}}", indent);
}

}  // namespace ktpu::base
