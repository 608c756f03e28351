// SPDX-License-Identifier: Apache-2.0
// Reads the text forms of the levels, and the small pieces of them that all levels write alike: one statement
// a line, # starts a comment, %name and @name, 8x2, numbers. Whatever is missing or wrong ends in a UserError
// "file:line:column: ...".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/error.h"
#include "compiler/base/index.h"

namespace ktpu::base {

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  // At what comes next.
  [[noreturn]] void fail(const std::string& what);
  // What comes next, for messages.
  std::string shown();
  // The place of what comes next, for an error found later.
  std::size_t place();
  [[noreturn]] void fail_at(std::size_t place, const std::string& what) const;
  // Runs `action`, which reads nothing, and gives its UserErrors the place.
  template <typename Action>
  auto placed(std::size_t place, Action&& action) const;

  // Punctuation. It need not stand apart from what follows.
  bool take(std::string_view mark);
  void expect(std::string_view mark);
  // A run of letters, digits and _ . : + -.
  bool take_word(std::string_view word);
  void expect_word(std::string_view word);
  bool at_word(std::string_view word);
  bool at_any_word();
  std::string word(std::string_view what);
  // %name, or %"any text".
  std::string name(char sigil, std::string_view what);
  bool at(char c);
  std::string string(std::string_view what);

  // Decimal or 0x hex.
  std::uint64_t number(std::string_view what, std::uint64_t max = ~0ull);
  std::uint32_t number32(std::string_view what);
  std::int64_t signed_number(std::string_view what);
  double real(std::string_view what);
  // "8x2": as many numbers as asked for, 0: any number of them.
  std::vector<std::uint32_t> extents(std::string_view what, std::size_t count = 0);
  // "(0, -1)": the place of an instance.
  std::vector<std::int32_t> key();
  // "<32x64xf16>": the shape of an FP16 tensor.
  std::vector<std::uint32_t> tensor_type();

  // An index between brackets: as far as a comma, a closing bracket or the word `of`.
  Index index(std::string_view what);
  // An index elsewhere: a number, an axis, or parentheses around anything.
  Index index_operand(std::string_view what);

  // FP16 words between braces: { 3c00 c000 }, over any number of lines.
  std::vector<std::uint16_t> words16();

  // The statement is over; empty lines behind it are, too.
  void end_of_line();
  void open_block();   // { and the end of its line
  bool close_block();  // } and the end of its line, if it comes next
  void end_of_text();
  void skip_lines();  // empty ones

 private:
  void blanks();
  std::string_view run();  // of word characters, not taken
  std::uint64_t number_of(std::string_view digits, std::string_view what, std::uint64_t max);
  Index index_of(std::size_t begin, std::size_t end);

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
};

// The pieces as they are written.
std::string name_text(char sigil, std::string_view name);
std::string quoted(std::string_view text);
std::string decimal(double value);  // the shortest digits that read back equal
std::string extents_text(std::span<const std::uint32_t> extents);
std::string tensor_type_text(std::span<const std::uint32_t> shape);
std::string index_operand_text(const Index& index);
std::string words16_text(std::span<const std::uint16_t> words, std::string_view indent);

// A change of layout that the host makes, from `at` on: `at 0x100 <4x8xf16> from "a" to "b" [stride 64]`. R
// has address, shape, from, to and batch_stride; two levels of the compiler have one.
template <typename R>
std::string relayout_text(const R& r) {
  std::string text = fmt::format("at {:#x} {} from {} to {}", r.address, tensor_type_text(r.shape),
                                 quoted(r.from), quoted(r.to));
  if (r.batch_stride != 0) text += fmt::format(" stride {}", r.batch_stride);
  return text;
}
template <typename R>
void read_relayout(TextReader& in, R& r) {
  in.expect_word("at");
  r.address = in.number("an address");
  r.shape = in.tensor_type();
  in.expect_word("from");
  r.from = in.string("a layout");
  in.expect_word("to");
  r.to = in.string("a layout");
  if (in.take_word("stride")) r.batch_stride = in.number("a stride");
  in.end_of_line();
}

template <typename Action>
auto TextReader::placed(std::size_t place, Action&& action) const {
  try {
    return action();
  } catch (const arch::UserError& error) {
    fail_at(place, error.what());
  }
}

}  // namespace ktpu::base
