// SPDX-License-Identifier: Apache-2.0
// Whole numbers over the axes of tilings and loops, as a kernel writes them between brackets: a[i, 2*j + c].
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace ktpu::base {

// What the axes stand at, by name.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

class Index {
 public:
  Index(std::int64_t value = 0);  // NOLINT(google-explicit-constructor): a number is an index
  static Index axis(std::string name);

  friend Index operator+(const Index& a, const Index& b);
  friend Index operator-(const Index& a, const Index& b);
  friend Index operator*(const Index& a, const Index& b);
  // Towards minus infinity, as the reference's host language rounds. `b` must not be 0 when it is evaluated.
  friend Index floordiv(const Index& a, const Index& b);
  friend Index mod(const Index& a, const Index& b);

  // Throws UserError for an axis that is not bound, a division by zero, a result beyond 63 bits.
  std::int64_t at(const Bindings& bindings) const;
  // Axes named in `bindings` become numbers; the rest stays.
  Index bind(const Bindings& bindings) const;
  // An index in the place of an axis.
  Index substitute(std::string_view axis, const Index& by) const;
  bool is_constant() const;
  bool is_axis() const;  // a bare axis
  std::set<std::string> axes() const;

  // "%i", "3", "(%i floordiv 2) * 4 + %k": parse(print()) is the same index.
  std::string print() const;
  static Index parse(std::string_view text);  // throws UserError with the column

  friend bool operator==(const Index& a, const Index& b);  // the same tree

 private:
  enum class Op : std::uint8_t { kConstant, kAxis, kAdd, kSub, kMul, kDiv, kMod };
  struct Node;
  explicit Index(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Index make(Op op, const Index& a, const Index& b);

  std::shared_ptr<const Node> node_;
};

}  // namespace ktpu::base
