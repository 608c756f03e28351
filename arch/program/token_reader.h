// SPDX-License-Identifier: Apache-2.0
// Reads the words of the program text one after the other; what is missing or wrong ends in a UserError with
// its place. Internal to the assembler.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "arch/encoding/text.h"
#include "arch/error.h"
#include "arch/program/lexer.h"

namespace ktpu::arch {

class TokenReader {
 public:
  TokenReader(std::string_view text, std::string_view file) : file_(file), tokens_(tokenize(text, file)) {}

  [[noreturn]] void fail(const Token& t, const std::string& what) const {
    throw UserError::make("{}:{}:{}: {}", file_, t.line, t.column, what);
  }
  static std::string shown(const Token& t) {
    switch (t.kind) {
      case Token::Kind::kNewline:
        return "the end of the line";
      case Token::Kind::kEnd:
        return "the end of the file";
      case Token::Kind::kString:
        return quote(t.text);
      default:
        return fmt::format("\"{}\"", t.text);
    }
  }

  const Token& peek() const { return tokens_[at_]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool take(char c) {
    if (!peek().is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(peek(), fmt::format("'{}' expected, not {}", c, shown(peek())));
  }
  bool take_word(std::string_view w) {
    if (!peek().word(w)) return false;
    ++at_;
    return true;
  }
  void expect_word(std::string_view w) {
    if (!take_word(w)) fail(peek(), fmt::format("\"{}\" expected, not {}", w, shown(peek())));
  }
  std::string word(std::string_view what) {
    if (peek().kind != Token::Kind::kWord)
      fail(peek(), fmt::format("{} expected, not {}", what, shown(peek())));
    return next().text;
  }
  std::string string(std::string_view what) {
    if (peek().kind != Token::Kind::kString)
      fail(peek(), fmt::format("{} in quotes expected, not {}", what, shown(peek())));
    return next().text;
  }
  void end_of_line() {
    if (peek().kind != Token::Kind::kNewline && peek().kind != Token::Kind::kEnd)
      fail(peek(), fmt::format("the statement should end here, but {} follows", shown(peek())));
    next();
  }
  std::uint64_t number(std::string_view what, std::uint64_t max = ~0ull) {
    const Token& t = peek();
    std::uint64_t v = 0;
    if (t.kind != Token::Kind::kWord || !parse_number(t.text, v))
      fail(t, fmt::format("{} expected (a number), not {}", what, shown(t)));
    if (v > max) fail(t, fmt::format("{} {} is above {:#x}", what, t.text, max));
    ++at_;
    return v;
  }
  std::uint32_t number32(std::string_view what) {
    return static_cast<std::uint32_t>(number(what, 0xFFFFFFFF));
  }
  std::int64_t signed_number(std::string_view what) {
    const Token& t = peek();
    std::uint64_t v = 0;
    const bool minus = t.kind == Token::Kind::kWord && t.text.starts_with('-');
    if (t.kind != Token::Kind::kWord || !parse_number(std::string_view(t.text).substr(minus), v) ||
        v > 1ull << 62)
      fail(t, fmt::format("{} expected (a number), not {}", what, shown(t)));
    ++at_;
    return minus ? -static_cast<std::int64_t>(v) : static_cast<std::int64_t>(v);
  }
  double real(std::string_view what) {
    const Token& t = peek();
    double v = 0;
    const char* end = t.text.data() + t.text.size();
    if (t.kind != Token::Kind::kWord || std::from_chars(t.text.data(), end, v).ptr != end)
      fail(t, fmt::format("{} expected (a number), not {}", what, shown(t)));
    ++at_;
    return v;
  }
  Coord coord() {
    const Token& open = peek();
    expect('(');
    const std::uint64_t x = number("x", 15);
    expect(',');
    const std::uint64_t y = number("y", 15);
    if (!take(')')) fail(open, "a node is written (x,y)");
    return {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
  }
  void open_block() {
    expect('{');
    skip_newlines();
  }
  void skip_newlines() {
    while (peek().kind == Token::Kind::kNewline) ++at_;
  }
  // The word behind the next one.
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }

 protected:
  std::string_view file_;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace ktpu::arch
