// SPDX-License-Identifier: Apache-2.0
// Words of the program text. Internal to assembler.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ktpu::arch {

struct Token {
  enum class Kind { kWord, kString, kPunct, kNewline, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // strings: the contents, escapes resolved
  int line = 0;      // from 1
  int column = 0;    // from 1

  bool is(char c) const { return kind == Kind::kPunct && text[0] == c; }
  bool word(std::string_view w) const { return kind == Kind::kWord && text == w; }
};

// Words are letters, digits and _ . : + - /; punctuation is { } ( ) [ ] , = &; # starts a comment.
// Throws UserError for any other character and for an unfinished string.
std::vector<Token> tokenize(std::string_view text, std::string_view file_name);

// The contents as a quoted string of the language.
std::string quote(std::string_view text);

}  // namespace ktpu::arch
