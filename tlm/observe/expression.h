// SPDX-License-Identifier: Apache-2.0
// The formula of a statistic. The text that is printed is the text that is evaluated, so a formula in a
// report cannot disagree with its number.
//
//   expression := term (('+' | '-') term)*      term := factor (('*' | '/') factor)*
//   factor     := number | name | '(' expression ')' | '-' factor | FUNCTION '(' pattern ')'
//   FUNCTION   := sum | max | min | count       over the counters and occupancies a pattern selects
//
// A division by zero has no value; so has everything built on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::observe {

// How names in a formula get their values.
class Names {
 public:
  virtual ~Names() = default;
  // nullopt: known, but without a value. Throws for an unknown name.
  virtual std::optional<double> value(std::string_view name) const = 0;
  // The values a pattern selects; may be none.
  virtual std::vector<double> values(std::string_view pattern) const = 0;
};

class Expression {
 public:
  // Throws InternalError: formulas are part of the program.
  static Expression parse(std::string_view text);

  // Exact for whole numbers up to 2^53.
  std::optional<double> evaluate(const Names& names) const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace ktpu::observe
