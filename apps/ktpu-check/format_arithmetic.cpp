// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/format_arithmetic.h"

#include <algorithm>
#include <bit>

#include "arch/error.h"
#include "arch/formats/quantise.h"
#include "arch/program/image.h"

namespace ktpu::check {

using arch::UserError;
using arch::VectorOpcode;

namespace {

Lane lane_op(VectorOpcode op, Lane a, Lane b = {}, Lane c = {}) {
  return {arch::lane_op(op, a.bits, b.bits, c.bits, false)};
}

// 32 values of one row along K, zero behind its end.
arch::QuantisedBlock block_of(const Half& x, std::size_t row, std::size_t first) {
  std::array<std::uint16_t, arch::kBlockK> values{};
  const std::size_t count = std::min<std::size_t>(arch::kBlockK, x.columns() - first);
  std::copy_n(x.v.begin() + static_cast<std::ptrdiff_t>(row * x.columns() + first), count, values.begin());
  return arch::quantise_block(values);
}

std::vector<arch::QuantisedBlock> quantised(const Half& x) {
  std::vector<arch::QuantisedBlock> all;
  for (std::size_t row = 0; row < x.rows(); ++row)
    for (std::size_t k = 0; k < x.columns(); k += arch::kBlockK) all.push_back(block_of(x, row, k));
  return all;
}

Lane fold(std::span<const Lane> row, Lane (*join)(Lane, Lane)) {
  if (row.size() == 1) return row.front();
  const std::size_t half = std::bit_ceil(row.size()) / 2;
  return join(fold(row.first(half), join), fold(row.subspan(half), join));
}

}  // namespace

Lane operator+(Lane a, Lane b) { return lane_op(VectorOpcode::kVadd, a, {}, b); }
Lane operator-(Lane a, Lane b) { return lane_op(VectorOpcode::kVsub, a, {}, b); }
Lane operator*(Lane a, Lane b) { return lane_op(VectorOpcode::kVmul, a, b); }
Lane operator/(Lane a, Lane b) { return a * recip(b); }
Lane operator-(Lane a) { return lane_op(VectorOpcode::kVneg, a); }
Lane exp2(Lane a) { return lane_op(VectorOpcode::kVexp2, a); }
Lane log2(Lane a) { return lane_op(VectorOpcode::kVlog2, a); }
Lane recip(Lane a) { return lane_op(VectorOpcode::kVinv, a); }
Lane rsqrt(Lane a) { return lane_op(VectorOpcode::kVrsqrt, a); }
Lane absolute(Lane a) { return lane_op(VectorOpcode::kVabs, a); }
Lane maximum(Lane a, Lane b) { return lane_op(VectorOpcode::kVmax, a, b); }
Lane minimum(Lane a, Lane b) { return lane_op(VectorOpcode::kVmin, a, b); }
bool is_less(Lane a, Lane b) { return arch::e8m15_compare(a.bits, b.bits).less; }
Lane fma(Lane a, Lane b, Lane c) { return lane_op(VectorOpcode::kVfma, a, b, c); }
Lane sum(std::span<const Lane> row) {
  return fold(row, [](Lane a, Lane b) { return a + b; });
}
Lane largest(std::span<const Lane> row) { return fold(row, maximum); }

Half Half::rows_from(std::size_t first, std::size_t count) const {
  Half part{{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(columns())}, {}};
  const auto begin = v.begin() + static_cast<std::ptrdiff_t>(first * columns());
  part.v.assign(begin, begin + static_cast<std::ptrdiff_t>(count * columns()));
  return part;
}

Half half_of(const Real& real) {
  Half half{real.shape, std::vector<std::uint16_t>(real.v.size())};
  std::transform(real.v.begin(), real.v.end(), half.v.begin(), arch::double_to_fp16);
  return half;
}

Real real_of(const Half& half) {
  Real real{half.shape, std::vector<double>(half.v.size())};
  std::transform(half.v.begin(), half.v.end(), real.v.begin(), arch::fp16_to_double);
  return real;
}

Lane FormatArithmetic::constant(double value) const {
  if (constants_ == Constants::kHalf) return lane(arch::double_to_fp16(value));
  return {std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 8};
}

Half FormatArithmetic::matmul(const Half& x, const Half& w) const {
  if (x.columns() != w.columns())
    throw UserError::make("the evaluation in the machine's formats: K is {} and {}", x.columns(),
                          w.columns());
  const std::size_t blocks = (x.columns() + arch::kBlockK - 1) / arch::kBlockK, n = w.rows();
  const std::vector<arch::QuantisedBlock> a = quantised(x), b = quantised(w);
  Half y{x.shape, std::vector<std::uint16_t>(x.rows() * n)};
  y.shape.back() = static_cast<std::uint32_t>(n);
  for (std::size_t row = 0; row < x.rows(); ++row)
    for (std::size_t column = 0; column < n; ++column) {
      std::uint32_t acc = 0;
      for (std::size_t k = 0; k < blocks; ++k) {
        const arch::QuantisedBlock &p = a[row * blocks + k], &q = b[column * blocks + k];
        std::int32_t dot = 0;
        for (std::size_t i = 0; i < arch::kBlockK; ++i) dot += p.q[i] * q.q[i];
        const std::uint32_t part = arch::normalise(dot, p.scale, q.scale, arch::kGemmAnchor, acc_mw_);
        acc = arch::acc_add(acc, part, acc_mw_);
      }
      y.v[row * n + column] = arch::acc_to_fp16(acc, acc_mw_);
    }
  return y;
}

Half FormatArithmetic::each(const std::vector<const Half*>& operands,
                            const std::function<Lane(std::span<const Lane>)>& f) {
  Half y = *operands.front();
  std::vector<Lane> values(operands.size());
  for (std::size_t i = 0; i < y.v.size(); ++i) {
    for (std::size_t o = 0; o < operands.size(); ++o) values[o] = lane(operands[o]->v.at(i));
    y.v[i] = store(f(values));
  }
  return y;
}

Half FormatArithmetic::by_rows(const Half& x, const std::function<void(std::span<Lane>)>& f) {
  Half y = x;
  std::vector<Lane> row(x.columns());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = lane(x.v[r * row.size() + i]);
    f(row);
    for (std::size_t i = 0; i < row.size(); ++i) y.v[r * row.size() + i] = store(row[i]);
  }
  return y;
}

}  // namespace ktpu::check
