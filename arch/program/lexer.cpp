// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lexer.h"

#include "arch/error.h"

namespace ktpu::arch {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.:+-/").find(c) != std::string_view::npos;
}
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const int column = static_cast<int>(at_ - line_start_) + 1;
      if (c == '\n') {
        out.push_back({Token::Kind::kNewline, "\n", line_, column});
        line_start_ = ++at_;
        ++line_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '"') {
        out.push_back({Token::Kind::kString, string(column), line_, column});
      } else if (is_word_char(c)) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
        out.push_back({Token::Kind::kWord, std::string(text_.substr(begin, at_ - begin)), line_, column});
      } else if (std::string_view("{}()[],=&").find(c) != std::string_view::npos) {
        out.push_back({Token::Kind::kPunct, std::string(1, c), line_, column});
        ++at_;
      } else {
        fail(column, fmt::format("character {} has no meaning here",
                                 c > ' ' && c < 127 ? fmt::format("'{}'", c)
                                                    : fmt::format("{:#04x}", static_cast<unsigned char>(c))));
      }
    }
    const int column = static_cast<int>(at_ - line_start_) + 1;
    out.push_back({Token::Kind::kNewline, "\n", line_, column});
    out.push_back({Token::Kind::kEnd, "", line_, column});
    return out;
  }

 private:
  [[noreturn]] void fail(int column, const std::string& what) const {
    throw UserError::make("{}:{}:{}: {}", file_, line_, column, what);
  }

  std::string string(int column) {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      const char e = ++at_ < text_.size() ? text_[at_] : '\n';
      if (e == 'n') {
        out += '\n';
      } else if (e == '"' || e == '\\') {
        out += e;
      } else if (e == 'x' && at_ + 2 < text_.size() && hex_digit(text_[at_ + 1]) >= 0 &&
                 hex_digit(text_[at_ + 2]) >= 0) {
        out += static_cast<char>(16 * hex_digit(text_[at_ + 1]) + hex_digit(text_[at_ + 2]));
        at_ += 2;
      } else {
        fail(static_cast<int>(at_ - line_start_), "escapes are \\n \\\" \\\\ and \\xHH");
      }
    }
    fail(column, "the string has no closing quote on its line");
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, std::string_view file_name) {
  return Lexer(text, file_name).run();
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (u < 32 || u == 127)
      out += fmt::format("\\x{:02x}", u);
    else
      out += c;
  }
  return out + '"';
}

}  // namespace ktpu::arch
