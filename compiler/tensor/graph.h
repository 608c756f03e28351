// SPDX-License-Identifier: Apache-2.0
// Level L5: what to compute (compiler.md section 1). Arrays and operations with concrete shapes; nothing of
// tiles, units, addresses or layouts. All values are FP16 between operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::tensor {

using Shape = std::vector<std::uint32_t>;
std::uint64_t elements(const Shape& shape);
std::string print(const Shape& shape);  // "64x128"; "scalar"

enum class Op : std::uint8_t {
  kInput,
  kConstant,   // a scalar; arithmetic takes it beside an array
  kBroadcast,  // axes of 1 and missing leading axes repeat
  kReshape,
  kTranspose,  // the last two axes change places
  kMatmul,     // [..., M, K] with [N, K] to [..., M, N]: rows by rows, weights as they are stored
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kWhere,  // (condition, where not zero, where zero)
  kNeg,
  kAbsolute,
  kExp2,
  kLog2,
  kRecip,
  kRsqrt,
  kRelu,
  kSilu,      // x * sigmoid(x)
  kGelu,      // x * sigmoid(1.702 x)
  kGeluTanh,  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kRowSum,    // along the last axis, in every column of it
  kRowMax,
  kSoftmax,    // along the last axis
  kRmsnorm,    // (x) or (x, weight)
  kLayernorm,  // (x) or (x, weight, bias)
  kAttention,  // (q [..., Lq, D], k [..., Lk, D], v [..., Dv, Lk]): each row of q k^T to 2^(s - max) over the
               // sum of these, times v^T; with q scaled by log2(e) / sqrt(D) the usual one
};
struct OpInfo {
  std::string_view name;             // of the text
  std::uint8_t least = 0, most = 0;  // arguments
  bool elementwise = false;
  bool commutes = false;
};
const OpInfo& info(Op op);

using Id = std::uint32_t;
struct Node {
  Op op = Op::kInput;
  std::vector<Id> args;
  Shape shape;          // of its value; empty for a constant
  std::string name;     // empty: its number
  double value = 0;     // of a constant; eps of a norm
  bool causal = false;  // of attention: row i sees keys up to i
  bool operator==(const Node&) const = default;
};

// Arguments stand before their users.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Id> results;

  const Node& operator[](Id id) const { return nodes.at(id); }
  std::vector<std::uint32_t> uses() const;  // of each node, as argument or result
};

// The shape of what `op` makes of these. Throws base::Refusal (kBind) for operands that do not fit. Not for
// ops whose shape is given: input, broadcast, reshape.
Shape shape_of(Op op, std::span<const Shape> args);
bool broadcasts(const Shape& from, const Shape& to);

// Throws base::Refusal or UserError naming the node.
void verify(const Graph& graph);
// MLIR-like text; parse(print(g)) prints the same again. Throws UserError with the place.
std::string print(const Graph& graph);
Graph parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::tensor
