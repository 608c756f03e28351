// SPDX-License-Identifier: Apache-2.0
// An expression of lane operations over numbered leaves (compiler.md sections 14 and 18). What a leaf is,
// each level says in its own words; this is only the arithmetic between them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::base {

enum class LaneOp : std::uint8_t {
  kLeaf,
  kNeg,
  kAbs,
  kExp2,
  kLog2,
  kRecip,
  kRsqrt,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kLess,
  kGreater,
  kEqual,
  kFma,     // a * b + c
  kSelect,  // condition, where not zero, where zero
  kRowSum,  // of each row, in every column of it
  kRowMax,
  kRowMin,
  kRowSumsq,
  kSqrt,  // these three have no lane instruction: the lowering refuses them
  kRelu,
  kCast,
};
struct LaneOpInfo {
  std::string_view name;  // of the text forms: "exp2"
  unsigned arguments = 0;
};
const LaneOpInfo& info(LaneOp op);
std::optional<LaneOp> lane_op(std::string_view name);
constexpr bool is_fold(LaneOp op) { return op >= LaneOp::kRowSum && op <= LaneOp::kRowSumsq; }
constexpr bool is_compare(LaneOp op) { return op >= LaneOp::kLess && op <= LaneOp::kEqual; }

// The rows a fold works along.
struct RowShape {
  std::uint64_t rows = 0, columns = 0;
  bool operator==(const RowShape&) const = default;
};

// Nodes are unique by value: two equal subexpressions are one node. Arguments stand before their users.
class Expr {
 public:
  using Id = std::uint32_t;
  struct Node {
    LaneOp op = LaneOp::kLeaf;
    std::array<Id, 3> args{};     // as many as info(op).arguments
    std::uint32_t leaf = 0;       // of kLeaf
    std::optional<RowShape> row;  // of a fold, when it is known
    bool operator==(const Node&) const = default;
  };

  Id leaf(std::uint32_t number);
  Id op(LaneOp op, std::array<Id, 3> args, std::optional<RowShape> row = {});
  void set_root(Id root) { root_ = root; }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](Id id) const { return nodes_.at(id); }
  Id root() const { return root_; }
  // Leaf numbers in the order in which a walk from the root first meets them, arguments left to right.
  std::vector<std::uint32_t> leaves() const;
  bool has_fold() const;
  bool operator==(const Expr&) const = default;

 private:
  Id intern(const Node& node);
  std::vector<Node> nodes_;
  Id root_ = 0;
};

}  // namespace ktpu::base
