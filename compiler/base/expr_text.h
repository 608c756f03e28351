// SPDX-License-Identifier: Apache-2.0
// Lane expressions as text, one node a line:
//   {
//     %0 = load %x[%e]      a leaf, in the words of the level
//     %1 = row_max %0 row 32x64
//     %2 = sub %0, %1
//     store %2
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/expr.h"
#include "compiler/base/text_reader.h"

namespace ktpu::base {

// From the { to the }. `leaves`: the text of each leaf, by number.
std::string print(const Expr& expr, const std::vector<std::string>& leaves, std::string_view indent);

struct ReadExpr {
  Expr expr;
  // The number of each leaf, in the order in which `leaf` was called.
  std::vector<std::uint32_t> numbers;
  // What was read, by number.
  template <typename Leaf>
  std::vector<Leaf> sorted(const std::vector<Leaf>& read) const {
    std::vector<Leaf> by_number(read.size());
    for (std::size_t i = 0; i < read.size(); ++i) by_number[numbers[i]] = read[i];
    return by_number;
  }
};
// `leaf` reads what stands behind its first word, and says whether it knows that word.
ReadExpr read_expr(TextReader& in, const std::function<bool(std::string_view kind)>& leaf);

}  // namespace ktpu::base
