// SPDX-License-Identifier: Apache-2.0
// Which shapes fit together, and what comes of them.
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/tensor/graph.h"

namespace ktpu::tensor {

namespace {

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix) {
  throw base::Refusal(base::Phase::kBind, code, what, fix);
}

void require_rank(Op op, const Shape& shape, std::size_t least) {
  if (shape.size() < least)
    refuse("WRONG_RANK", fmt::format("{} of {}", info(op).name, print(shape)),
           fmt::format("give it at least {} axes", least));
}

void require_same(Op op, const Shape& a, const Shape& b) {
  if (a != b)
    refuse("EXTENT_DISAGREES", fmt::format("{} of {} and {}", info(op).name, print(a), print(b)),
           "give both the same shape; broadcast() repeats axes");
}

Shape matmul(std::span<const Shape> args) {
  require_rank(Op::kMatmul, args[0], 2);
  if (args[1].size() != 2)
    refuse("WRONG_RANK", fmt::format("the right side of a matmul is {}", print(args[1])),
           "give it two axes [N, K]: all batch elements share it");
  if (args[0].back() != args[1].back())
    refuse("EXTENT_DISAGREES", fmt::format("matmul of {} and {}", print(args[0]), print(args[1])),
           "the last axes are both K: [..., M, K] and [N, K]; transpose() turns [K, N]");
  Shape shape = args[0];
  shape.back() = args[1][0];
  return shape;
}

Shape attention(std::span<const Shape> args) {
  for (const Shape& shape : args) require_rank(Op::kAttention, shape, 2);
  const Shape &q = args[0], &k = args[1], &v = args[2];
  const auto lead = [](const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); };
  if (lead(q) != lead(k) || lead(q) != lead(v) || q.back() != k.back() || k[k.size() - 2] != v.back())
    refuse("EXTENT_DISAGREES", fmt::format("attention of {}, {} and {}", print(q), print(k), print(v)),
           "give it [..., Lq, D], [..., Lk, D] and [..., Dv, Lk]");
  Shape shape = q;
  shape.back() = v[v.size() - 2];
  return shape;
}

}  // namespace

bool broadcasts(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::uint32_t extent = from[from.size() - 1 - i];
    if (extent != 1 && extent != to[to.size() - 1 - i]) return false;
  }
  return true;
}

Shape shape_of(Op op, std::span<const Shape> args) {
  if (info(op).elementwise) {
    Shape shape;
    for (const Shape& arg : args) {
      if (arg.empty()) continue;
      if (!shape.empty()) require_same(op, shape, arg);
      shape = arg;
    }
    if (shape.empty())
      refuse("WRONG_RANK", fmt::format("{} of constants alone", info(op).name), "compute it beforehand");
    return shape;
  }
  switch (op) {
    case Op::kTranspose: {
      require_rank(op, args[0], 2);
      Shape shape = args[0];
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
      return shape;
    }
    case Op::kMatmul:
      return matmul(args);
    case Op::kAttention:
      return attention(args);
    case Op::kRmsnorm:
    case Op::kLayernorm:
      for (std::size_t i = 1; i < args.size(); ++i) require_same(op, args[0], args[i]);
      [[fallthrough]];
    case Op::kRowSum:
    case Op::kRowMax:
    case Op::kSoftmax:
      require_rank(op, args[0], 2);
      return args[0];
    default:
      break;
  }
  KTPU_CHECK(false, "the shape of {} is given", info(op).name);
  return {};
}

}  // namespace ktpu::tensor
