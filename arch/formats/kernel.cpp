// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/kernel.h"

#include <array>
#include <utility>

#include "arch/error.h"
#include "arch/formats/kernel_detail.h"

namespace ktpu::arch {
namespace {

std::int32_t dot(const std::int8_t* a, const std::int8_t* b) {
  std::int32_t sum = 0;
  for (unsigned k = 0; k < kBlockK; ++k) sum += a[k] * b[k];
  return sum;
}

template <unsigned kMw>
struct Scalar {
  static std::uint32_t one(const OperandEntry& a, const OperandEntry& b, unsigned anchor, unsigned lane) {
    const unsigned row = lane / kLanes, column = lane % kLanes;
    return normalise(dot(a.q[row], b.q[column]), a.scale[row], b.scale[column], anchor, kMw);
  }
  static void chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane) tile.lane[lane] = one(a, b, anchor, lane);
  }
  static void load_chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
      tile.lane[lane] = acc_add(0, one(a, b, anchor, lane), kMw, true, false);
  }
  static void add_chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
      tile.lane[lane] = acc_add(tile.lane[lane], one(a, b, anchor, lane), kMw);
  }
  static void add(SubTile& tile, const SubTile& x) {
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
      tile.lane[lane] = acc_add(tile.lane[lane], x.lane[lane], kMw);
  }
  static Word256 emit(const SubTile& tile) {
    Word256 word{};
    for (unsigned lane = 0; lane < kSubTileLanes; ++lane) {
      const std::uint64_t fp16 = acc_to_fp16(acc_add(tile.lane[lane], 0, kMw, false, true), kMw);
      word[lane / 4] |= fp16 << (16 * (lane % 4));
    }
    return word;
  }
  static constexpr AccumulateKernel kKernel{"scalar", kMw, chain, load_chain, add_chain, add, emit};
};

template <unsigned... kIndex>
constexpr std::array<AccumulateKernel, sizeof...(kIndex)> make_table(
    std::integer_sequence<unsigned, kIndex...>) {
  return {Scalar<kMinAccMw + kIndex>::kKernel...};
}
constexpr auto kScalarTable = make_table(std::make_integer_sequence<unsigned, kMaxAccMw - kMinAccMw + 1>{});

}  // namespace

const AccumulateKernel& scalar_kernel(unsigned mw) {
  KTPU_CHECK(acc_mw_is_legal(mw), "accumulator mantissa width {} is outside 9..24", mw);
  return kScalarTable[mw - kMinAccMw];
}

const AccumulateKernel* avx2_kernel(unsigned mw) {
  KTPU_CHECK(acc_mw_is_legal(mw), "accumulator mantissa width {} is outside 9..24", mw);
  return detail::cpu_has_avx2() ? detail::avx2_kernel(mw) : nullptr;
}

const AccumulateKernel& accumulate_kernel(unsigned mw) {
  if (simd_in_use())
    if (const AccumulateKernel* kernel = avx2_kernel(mw)) return *kernel;
  return scalar_kernel(mw);
}

}  // namespace ktpu::arch
