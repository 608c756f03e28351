// SPDX-License-Identifier: Apache-2.0
#include "compiler/tensor/graph.h"

#include <array>
#include <set>

#include "arch/error.h"

namespace ktpu::tensor {

std::uint64_t elements(const Shape& shape) {
  std::uint64_t n = 1;
  for (const std::uint32_t extent : shape) n *= extent;
  return n;
}

std::string print(const Shape& shape) {
  std::string text;
  for (const std::uint32_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
  return text.empty() ? "scalar" : text;
}

const OpInfo& info(Op op) {
  static constexpr std::array<OpInfo, 29> kInfos{{
      {"input", 0, 0, false, false},     {"constant", 0, 0, false, false},  {"broadcast", 1, 1, false, false},
      {"reshape", 1, 1, false, false},   {"transpose", 1, 1, false, false}, {"matmul", 2, 2, false, false},
      {"add", 2, 2, true, true},         {"sub", 2, 2, true, false},        {"mul", 2, 2, true, true},
      {"div", 2, 2, true, false},        {"maximum", 2, 2, true, true},     {"minimum", 2, 2, true, true},
      {"where", 3, 3, true, false},      {"neg", 1, 1, true, false},        {"absolute", 1, 1, true, false},
      {"exp2", 1, 1, true, false},       {"log2", 1, 1, true, false},       {"recip", 1, 1, true, false},
      {"rsqrt", 1, 1, true, false},      {"relu", 1, 1, true, false},       {"silu", 1, 1, true, false},
      {"gelu", 1, 1, true, false},       {"gelu_tanh", 1, 1, true, false},  {"row_sum", 1, 1, false, false},
      {"row_max", 1, 1, false, false},   {"softmax", 1, 1, false, false},   {"rmsnorm", 1, 2, false, false},
      {"layernorm", 1, 3, false, false}, {"attention", 3, 3, false, false},
  }};
  return kInfos.at(static_cast<std::size_t>(op));
}

std::vector<std::uint32_t> Graph::uses() const {
  std::vector<std::uint32_t> count(nodes.size());
  for (const Node& node : nodes)
    for (const Id arg : node.args) ++count[arg];
  for (const Id result : results) ++count[result];
  return count;
}

namespace {

void verify_node(const Graph& graph, Id id) {
  const Node& node = graph[id];
  const OpInfo& of = info(node.op);
  if (node.args.size() < of.least || node.args.size() > of.most ||
      (node.op == Op::kLayernorm && node.args.size() == 2))
    throw arch::UserError::make("{} operands are too few or too many", node.args.size());
  std::vector<Shape> shapes;
  for (const Id arg : node.args) {
    if (arg >= id) throw arch::UserError("it uses what comes behind it");
    shapes.push_back(graph[arg].shape);
    if (graph[arg].op == Op::kConstant && !of.elementwise && node.op != Op::kBroadcast)
      throw arch::UserError("a constant stands only beside an array, or under a broadcast");
  }
  for (const std::uint32_t extent : node.shape)
    if (extent == 0) throw arch::UserError("it has no elements");
  if ((node.op == Op::kConstant) != node.shape.empty())
    throw arch::UserError(node.shape.empty() ? "only constants are scalars" : "a constant is a scalar");
  Shape want = node.shape;
  switch (node.op) {
    case Op::kInput:
    case Op::kConstant:
      break;
    case Op::kBroadcast:
      if (!broadcasts(shapes[0], node.shape))
        throw arch::UserError::make("{} does not repeat to {}", print(shapes[0]), print(node.shape));
      break;
    case Op::kReshape:
      if (elements(shapes[0]) != elements(node.shape))
        throw arch::UserError::make("{} does not reshape to {}", print(shapes[0]), print(node.shape));
      break;
    default:
      want = shape_of(node.op, shapes);
  }
  if (want != node.shape)
    throw arch::UserError::make("its operands make {}, it says {}", print(want), print(node.shape));
}

}  // namespace

void verify(const Graph& graph) {
  std::set<std::string_view> names;
  for (Id id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph[id];
    const std::string shown = node.name.empty() ? std::to_string(id) : node.name;
    if (!node.name.empty() && !names.insert(node.name).second)
      throw arch::UserError::make("graph {}: two values are named %{}", graph.name, node.name);
    try {
      verify_node(graph, id);
    } catch (const arch::UserError& error) {
      throw arch::UserError::make("graph {}, %{} = {}: {}", graph.name, shown, info(node.op).name,
                                  error.what());
    }
  }
  for (const Id result : graph.results)
    if (result >= graph.nodes.size() || graph[result].op == Op::kConstant)
      throw arch::UserError::make("graph {}: a result is no array of it", graph.name);
}

}  // namespace ktpu::tensor
