// SPDX-License-Identifier: Apache-2.0
// A traced value graph (compiler.md section 4): a straight line of operations in dependency order, each
// making one value of a concrete shape. The start of the path that cuts a graph into bands (section 8).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::traced {

using Value = std::uint32_t;
using Shape = std::vector<std::uint64_t>;  // extents of 1 and more; empty: a scalar
std::uint64_t elements(const Shape& shape);

enum class Group : std::uint8_t { kSource, kLanes, kReduction, kMatmul, kView };
// The group of an operation by its name in section 4. Throws UserError for a name that is none.
Group group_of(std::string_view kind);

struct Op {
  std::string kind;
  std::vector<Value> in;
  Value out = 0;
  Shape shape;                      // of `out`
  std::vector<std::uint32_t> axes;  // of a reduction, ascending
  bool keepdim = false;             // of a reduction: reduced axes stay, with extent 1
  bool operator==(const Op&) const = default;
};

struct Graph {
  std::vector<Op> ops;
  std::vector<Value> outputs;

  // The operation that makes `value`; null: none.
  const Op* maker(Value value) const;
  const Shape& shape(Value value) const;  // throws UserError when nothing makes it
  Value next_value() const;               // above every value that is made
};

// Elements that a reduction folds into one. Throws UserError for axes that are not there.
std::uint64_t reduced_extent(const Graph& graph, const Op& op);

// Throws UserError naming the value: an operand made later or twice or never, a wrong number of operands.
void verify(const Graph& graph);

}  // namespace ktpu::traced
