// SPDX-License-Identifier: Apache-2.0
#include "compiler/traced/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "arch/error.h"

namespace ktpu::traced {

using arch::UserError;

namespace {

struct Kind {
  std::string_view name;
  Group group;
  int operands;  // negative: one or more
};
constexpr std::array kKinds{
    Kind{"input", Group::kSource, 0},   Kind{"const", Group::kSource, 0},
    Kind{"neg", Group::kLanes, 1},      Kind{"abs", Group::kLanes, 1},
    Kind{"recip", Group::kLanes, 1},    Kind{"rsqrt", Group::kLanes, 1},
    Kind{"sqrt", Group::kLanes, 1},     Kind{"exp2", Group::kLanes, 1},
    Kind{"log2", Group::kLanes, 1},     Kind{"relu", Group::kLanes, 1},
    Kind{"cast", Group::kLanes, 1},     Kind{"add", Group::kLanes, 2},
    Kind{"sub", Group::kLanes, 2},      Kind{"mul", Group::kLanes, 2},
    Kind{"div", Group::kLanes, 2},      Kind{"max", Group::kLanes, 2},
    Kind{"min", Group::kLanes, 2},      Kind{"cmplt", Group::kLanes, 2},
    Kind{"cmpgt", Group::kLanes, 2},    Kind{"cmpeq", Group::kLanes, 2},
    Kind{"fma", Group::kLanes, 3},      Kind{"select", Group::kLanes, 3},
    Kind{"sum", Group::kReduction, 1},  Kind{"rmax", Group::kReduction, 1},
    Kind{"rmin", Group::kReduction, 1}, Kind{"sumsq", Group::kReduction, 1},
    Kind{"matmul", Group::kMatmul, 2},  Kind{"reshape", Group::kView, 1},
    Kind{"permute", Group::kView, 1},   Kind{"expand", Group::kView, 1},
    Kind{"slice", Group::kView, 1},     Kind{"pad", Group::kView, 1},
    Kind{"concat", Group::kView, -1},
};
const Kind& kind_named(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) { return kind.name == name; });
  if (found == kKinds.end()) throw UserError::make("operation \"{}\" is not known", name);
  return *found;
}

}  // namespace

std::uint64_t elements(const Shape& shape) {
  std::uint64_t all = 1;
  for (const std::uint64_t extent : shape) all *= extent;
  return all;
}

Group group_of(std::string_view kind) { return kind_named(kind).group; }

const Op* Graph::maker(Value value) const {
  const auto found = std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return op.out == value; });
  return found == ops.end() ? nullptr : &*found;
}

const Shape& Graph::shape(Value value) const {
  const Op* op = maker(value);
  if (op == nullptr) throw UserError::make("value %{} is not made by any operation", value);
  return op->shape;
}

Value Graph::next_value() const {
  Value next = 0;
  for (const Op& op : ops) next = std::max(next, op.out + 1);
  return next;
}

std::uint64_t reduced_extent(const Graph& graph, const Op& op) {
  const Shape& from = graph.shape(op.in.at(0));
  std::uint64_t extent = 1;
  for (const std::uint32_t axis : op.axes) {
    if (axis >= from.size()) throw UserError::make("%{} = {}: there is no axis {}", op.out, op.kind, axis);
    extent *= from[axis];
  }
  return extent;
}

void verify(const Graph& graph) {
  std::set<Value> made;
  for (const Op& op : graph.ops) {
    const Kind& kind = kind_named(op.kind);
    const bool right = kind.operands < 0 ? !op.in.empty() : op.in.size() == std::size_t(kind.operands);
    if (!right) throw UserError::make("%{} = {}: has {} operands", op.out, op.kind, op.in.size());
    for (const Value in : op.in)
      if (!made.contains(in))
        throw UserError::make("%{} = {}: operand %{} is not made above", op.out, op.kind, in);
    if (!made.insert(op.out).second) throw UserError::make("%{} is made twice", op.out);
    if (kind.group == Group::kReduction) reduced_extent(graph, op);
    if (kind.group == Group::kMatmul)
      for (const Value side : op.in)
        if (graph.shape(side).size() < 2)
          throw UserError::make("%{} = matmul: %{} has fewer than two axes", op.out, side);
  }
  for (const Value output : graph.outputs)
    if (!made.contains(output)) throw UserError::make("output %{} is not made", output);
}

}  // namespace ktpu::traced
