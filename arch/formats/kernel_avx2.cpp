// SPDX-License-Identifier: Apache-2.0
// The accumulate kernels for AVX2, bit equal to the scalar ones. Only the *_avx2.cpp files are built with
// -mavx2 and kernel.cpp calls in after a run-time check. Everything here has internal linkage and no inline
// function of another header is called: a copy of one made here must never be the one the linker keeps for
// the rest of the program.
#include "arch/formats/kernel_detail.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include <cstring>
#include <string_view>
#include <utility>

namespace ktpu::arch::detail {
namespace {

#define KTPU_INLINE [[gnu::always_inline]] inline

using V = __m256i;  // eight 32-bit lanes: two rows of a sub-tile, row-major

struct Half2 {  // a whole sub-tile: rows 0-1 and rows 2-3
  V low, high;
};

KTPU_INLINE V set(int x) { return _mm256_set1_epi32(x); }
KTPU_INLINE V load(const void* p) { return _mm256_load_si256(static_cast<const V*>(p)); }
KTPU_INLINE void store(SubTile& tile, Half2 v) {
  _mm256_store_si256(reinterpret_cast<V*>(tile.lane), v.low);
  _mm256_store_si256(reinterpret_cast<V*>(tile.lane + 8), v.high);
}
KTPU_INLINE Half2 load(const SubTile& tile) { return {load(tile.lane), load(tile.lane + 8)}; }

// The B entry regrouped for the dot products: g[i] holds four consecutive k (4i .. 4i+3 in the low half, 16
// more in the high half) of column 0, 1, 2, 3, negated; bias = sum of 64 * g modulo 2^16 over all groups.
struct Columns {
  V g[4];
  V bias;
  V scale;  // columns' scale fields, one a 32-bit lane, twice
};

KTPU_INLINE V spread_scale(const std::uint8_t* scale, V control) {
  std::int32_t word;
  std::memcpy(&word, scale, 4);
  return _mm256_shuffle_epi8(set(word), control);
}

KTPU_INLINE Columns regroup(const OperandEntry& b) {
  const V c0 = load(b.q[0]), c1 = load(b.q[1]), c2 = load(b.q[2]), c3 = load(b.q[3]);
  const V t0 = _mm256_unpacklo_epi32(c0, c1), t1 = _mm256_unpackhi_epi32(c0, c1);
  const V t2 = _mm256_unpacklo_epi32(c2, c3), t3 = _mm256_unpackhi_epi32(c2, c3);
  const V zero = _mm256_setzero_si256(), bias = _mm256_set1_epi8(64);
  Columns c;
  c.g[0] = _mm256_sub_epi8(zero, _mm256_unpacklo_epi64(t0, t2));
  c.g[1] = _mm256_sub_epi8(zero, _mm256_unpackhi_epi64(t0, t2));
  c.g[2] = _mm256_sub_epi8(zero, _mm256_unpacklo_epi64(t1, t3));
  c.g[3] = _mm256_sub_epi8(zero, _mm256_unpackhi_epi64(t1, t3));
  const V sum01 = _mm256_add_epi16(_mm256_maddubs_epi16(bias, c.g[0]), _mm256_maddubs_epi16(bias, c.g[1]));
  const V sum23 = _mm256_add_epi16(_mm256_maddubs_epi16(bias, c.g[2]), _mm256_maddubs_epi16(bias, c.g[3]));
  c.bias = _mm256_add_epi16(sum01, sum23);
  constexpr int kNone = -128;
  c.scale =
      spread_scale(b.scale, _mm256_setr_epi8(0, kNone, kNone, kNone, 1, kNone, kNone, kNone, 2, kNone, kNone,
                                             kNone, 3, kNone, kNone, kNone, 0, kNone, kNone, kNone, 1, kNone,
                                             kNone, kNone, 2, kNone, kNone, kNone, 3, kNone, kNone, kNone));
  return c;
}

// One row against the four columns: lanes 0..3 and 4..7 each hold a partial sum of every column.
// maddubs wants one unsigned side, so the row is biased by 64 to 0..127 and 64 * sum(b) taken off again, all
// modulo 2^16. The sum of eight products of one half lies in -32,256..32,768, which is why B is negated: the
// sum then fits 16 signed bits and the final multiply by -1 turns it round.
KTPU_INLINE V row_partials(const std::int8_t* row, const Columns& c) {
  const V a = _mm256_add_epi8(load(row), _mm256_set1_epi8(64));
  const V p0 = _mm256_maddubs_epi16(_mm256_shuffle_epi32(a, 0x00), c.g[0]);
  const V p1 = _mm256_maddubs_epi16(_mm256_shuffle_epi32(a, 0x55), c.g[1]);
  const V p2 = _mm256_maddubs_epi16(_mm256_shuffle_epi32(a, 0xAA), c.g[2]);
  const V p3 = _mm256_maddubs_epi16(_mm256_shuffle_epi32(a, 0xFF), c.g[3]);
  const V sum = _mm256_add_epi16(_mm256_add_epi16(p0, p1), _mm256_add_epi16(p2, p3));
  return _mm256_madd_epi16(_mm256_sub_epi16(sum, c.bias), _mm256_set1_epi16(-1));
}

KTPU_INLINE Half2 dot_products(const OperandEntry& a, const Columns& c) {
  const auto two_rows = [&](unsigned row) __attribute__((always_inline)) {
    const V upper = row_partials(a.q[row], c), lower = row_partials(a.q[row + 1], c);
    return _mm256_add_epi32(_mm256_permute2x128_si256(upper, lower, 0x20),
                            _mm256_permute2x128_si256(upper, lower, 0x31));
  };
  return {two_rows(0), two_rows(2)};
}

// Section 7 on eight lanes. The magnitude has at most 25 bits; above 24 its lowest bit is folded into a
// sticky bit, after which the conversion to a float is exact and only serves to find the leading one:
// exponent field and mantissa are then rounded to MW bits with integer operations. Right for MW <= 21.
template <unsigned kMw>
KTPU_INLINE V normalise8(V part, V row_scale, V column_scale, V offset) {
  const V seven = set(7), eight = set(8);
  const V factor = _mm256_mullo_epi16(_mm256_or_si256(_mm256_and_si256(row_scale, seven), eight),
                                      _mm256_or_si256(_mm256_and_si256(column_scale, seven), eight));
  const V m = _mm256_mullo_epi32(_mm256_abs_epi32(part), factor);
  const V over = _mm256_srli_epi32(m, 24);
  const V folded = _mm256_or_si256(_mm256_srlv_epi32(m, over), _mm256_and_si256(m, over));
  const V bits = _mm256_castps_si256(_mm256_cvtepi32_ps(folded));
  constexpr int kDrop = 23 - static_cast<int>(kMw);
  V rounded = bits;
  if constexpr (kDrop > 0) {
    const V odd = _mm256_and_si256(_mm256_srli_epi32(bits, kDrop), set(1));
    rounded =
        _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, set((1 << (kDrop - 1)) - 1)), odd), kDrop);
  }
  const V exponents =
      _mm256_add_epi32(_mm256_add_epi32(_mm256_srli_epi32(row_scale, 3), _mm256_srli_epi32(column_scale, 3)),
                       _mm256_add_epi32(over, offset));
  const V magnitude = _mm256_and_si256(_mm256_add_epi32(rounded, _mm256_slli_epi32(exponents, kMw)),
                                       set((1 << (kMw + 7)) - 1));
  const V sign = _mm256_slli_epi32(_mm256_srli_epi32(part, 31), kMw + 7);
  return _mm256_andnot_si256(_mm256_cmpeq_epi32(part, _mm256_setzero_si256()),
                             _mm256_or_si256(magnitude, sign));
}

// Section 8 on eight lanes, no forced zero (a zero operand has exponent 0). The sum has MW+10 bits; for MW >
// 14 its low MW-14 bits are folded into the lowest bit kept, so that 24 remain and the float conversion is
// exact again. That bit must lie below the guard bit: if the exponents differ by 2 or more, at most two
// leading bits are lost and the guard bit is bit 6 or higher, so 5 bits may go; if by less, the low 7 bits
// are zero. Hence MW <= 19.
template <unsigned kMw>
KTPU_INLINE V add8(V a, V b) {
  constexpr int kHidden = 1 << kMw;
  constexpr int kMagnitude = (1 << (kMw + 7)) - 1;
  constexpr int kSignShift = 31 - static_cast<int>(kMw + 7);
  constexpr int kFold = kMw > 14 ? static_cast<int>(kMw) - 14 : 0;
  constexpr int kTop = static_cast<int>(kMw) + 9 - kFold;  // index of the carry bit of the folded sum
  const V magnitude_mask = set(kMagnitude), mantissa_mask = set(kHidden - 1), hidden = set(kHidden);
  const V one = set(1);

  const V magnitude_a = _mm256_and_si256(a, magnitude_mask),
          magnitude_b = _mm256_and_si256(b, magnitude_mask);
  const V big = _mm256_max_epi32(magnitude_a, magnitude_b),
          small = _mm256_min_epi32(magnitude_a, magnitude_b);
  const V signed_big = _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi32(magnitude_b, magnitude_a));
  const V small_is_not_zero = _mm256_cmpgt_epi32(small, mantissa_mask);

  const V distance = _mm256_sub_epi32(_mm256_srli_epi32(big, kMw), _mm256_srli_epi32(small, kMw));
  const V big_significand =
      _mm256_slli_epi32(_mm256_or_si256(_mm256_and_si256(big, mantissa_mask), hidden), 8);
  const V small_significand =
      _mm256_and_si256(_mm256_slli_epi32(_mm256_or_si256(_mm256_and_si256(small, mantissa_mask), hidden), 8),
                       small_is_not_zero);
  const V aligned = _mm256_srlv_epi32(small_significand, distance);  // distances above 31 give 0
  const V kept_all = _mm256_cmpeq_epi32(_mm256_sllv_epi32(aligned, distance), small_significand);
  const V subtract = _mm256_srai_epi32(_mm256_slli_epi32(_mm256_xor_si256(a, b), kSignShift), 31);
  V sum = _mm256_add_epi32(big_significand, _mm256_sub_epi32(_mm256_xor_si256(aligned, subtract), subtract));
  sum =
      _mm256_or_si256(sum, _mm256_andnot_si256(kept_all, one));  // lost bits: sticky, far below the rounding
  if constexpr (kFold > 0) {
    const V low = _mm256_and_si256(sum, set((1 << kFold) - 1));
    const V sticky = _mm256_andnot_si256(_mm256_cmpeq_epi32(low, _mm256_setzero_si256()), one);
    sum = _mm256_or_si256(_mm256_srli_epi32(sum, kFold), sticky);
  }
  const V bits = _mm256_castps_si256(_mm256_cvtepi32_ps(sum));
  constexpr int kDrop = 23 - static_cast<int>(kMw);
  const V odd = _mm256_and_si256(_mm256_srli_epi32(bits, kDrop), one);
  // Rounding and the change of bias in one constant; the exponent field holds 127 + index of the leading one.
  constexpr int kRebias = (127 + kTop - 1) << kMw;
  V value =
      _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, set((1 << (kDrop - 1)) - 1)), odd), kDrop);
  value = _mm256_add_epi32(value, _mm256_sub_epi32(_mm256_andnot_si256(mantissa_mask, big), set(kRebias)));
  // value = exponent << MW | mantissa with a signed exponent: a sum of zero and an underflow both end below 1
  // << MW.
  const V normal = _mm256_cmpgt_epi32(value, mantissa_mask);
  const V saturated = _mm256_and_si256(_mm256_cmpgt_epi32(value, set((127 << kMw) - 1)), small_is_not_zero);
  const V magnitude = _mm256_and_si256(_mm256_or_si256(value, saturated), magnitude_mask);
  const V sign = _mm256_andnot_si256(magnitude_mask, signed_big);
  return _mm256_and_si256(_mm256_or_si256(magnitude, sign), normal);
}

// add(x, forced zero): exponent 0 becomes all zeros.
template <unsigned kMw>
KTPU_INLINE V clean8(V x) {
  const V exponent = _mm256_and_si256(x, set(127 << kMw));
  return _mm256_andnot_si256(_mm256_cmpeq_epi32(exponent, _mm256_setzero_si256()), x);
}

constexpr unsigned kWidestVector = 19;  // add8's limit; wider ones use the scalar kernel

template <unsigned kMw>
struct Avx2 {
  KTPU_INLINE static Half2 partials(const OperandEntry& a, const OperandEntry& b, unsigned anchor) {
    const Columns columns = regroup(b);
    const Half2 part = dot_products(a, columns);
    constexpr int kNone = -128;
    const V low = spread_scale(
        a.scale, _mm256_setr_epi8(0, kNone, kNone, kNone, 0, kNone, kNone, kNone, 0, kNone, kNone, kNone, 0,
                                  kNone, kNone, kNone, 1, kNone, kNone, kNone, 1, kNone, kNone, kNone, 1,
                                  kNone, kNone, kNone, 1, kNone, kNone, kNone));
    const V high = spread_scale(
        a.scale, _mm256_setr_epi8(2, kNone, kNone, kNone, 2, kNone, kNone, kNone, 2, kNone, kNone, kNone, 2,
                                  kNone, kNone, kNone, 3, kNone, kNone, kNone, 3, kNone, kNone, kNone, 3,
                                  kNone, kNone, kNone, 3, kNone, kNone, kNone));
    // e = h + (ea + eb - anchor - 6) + 63, and the float's exponent field is h + 127.
    const V offset = set(63 - 127 - 6 - static_cast<int>(anchor));
    return {normalise8<kMw>(part.low, low, columns.scale, offset),
            normalise8<kMw>(part.high, high, columns.scale, offset)};
  }
  static void chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    store(tile, partials(a, b, anchor));
  }
  static void load_chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    const Half2 x = partials(a, b, anchor);
    store(tile, {clean8<kMw>(x.low), clean8<kMw>(x.high)});
  }
  static void add_chain(const OperandEntry& a, const OperandEntry& b, unsigned anchor, SubTile& tile) {
    const Half2 x = partials(a, b, anchor), t = load(tile);
    store(tile, {add8<kMw>(t.low, x.low), add8<kMw>(t.high, x.high)});
  }
  static void add(SubTile& tile, const SubTile& other) {
    const Half2 x = load(other), t = load(tile);
    store(tile, {add8<kMw>(t.low, x.low), add8<kMw>(t.high, x.high)});
  }
  // Section 9 on eight lanes: the low 16 bits of every lane.
  KTPU_INLINE static V to_fp16(V x) {
    constexpr int kMagnitude = (1 << (kMw + 7)) - 1;
    const V magnitude = _mm256_and_si256(x, set(kMagnitude));
    V value;  // exponent << 10 | fraction, rounded; the carry out of the fraction moves the exponent
    if constexpr (kMw > 10) {
      constexpr int kDrop = static_cast<int>(kMw) - 10;
      const V odd = _mm256_and_si256(_mm256_srli_epi32(magnitude, kDrop), set(1));
      value = _mm256_srli_epi32(
          _mm256_add_epi32(_mm256_add_epi32(magnitude, set((1 << (kDrop - 1)) - 1)), odd), kDrop);
    } else {
      value = _mm256_slli_epi32(magnitude, 10 - static_cast<int>(kMw));
    }
    value = _mm256_sub_epi32(value, set(48 << 10));
    const V flushed = _mm256_cmpgt_epi32(set(1 << 10), value);
    value = _mm256_andnot_si256(flushed, _mm256_min_epi32(value, set(0x7BFF)));
    const V sign = _mm256_slli_epi32(_mm256_srli_epi32(x, kMw + 7), 15);
    return _mm256_or_si256(value, sign);
  }
  static Word256 emit(const SubTile& tile) {
    const Half2 t = load(tile);
    const V packed = _mm256_packus_epi32(to_fp16(clean8<kMw>(t.low)), to_fp16(clean8<kMw>(t.high)));
    Word256 word;
    _mm256_storeu_si256(reinterpret_cast<V*>(&word), _mm256_permute4x64_epi64(packed, 0xD8));
    return word;
  }
};

constexpr std::string_view kName = "avx2";

template <unsigned kMw, typename K = Avx2<kMw>>
constexpr AccumulateKernel kKernel{kName, kMw, K::chain, K::load_chain, K::add_chain, K::add, K::emit};

template <unsigned... kIndex>
constexpr const AccumulateKernel* pick(unsigned index, std::integer_sequence<unsigned, kIndex...>) {
  const AccumulateKernel* const kernels[]{&kKernel<kMinAccMw + kIndex>...};
  return kernels[index];
}

}  // namespace

const bool kBuiltForAvx2 = true;

const AccumulateKernel* avx2_kernel(unsigned mw) {
  if (mw > kWidestVector) return nullptr;
  return pick(mw - kMinAccMw, std::make_integer_sequence<unsigned, kWidestVector - kMinAccMw + 1>{});
}

}  // namespace ktpu::arch::detail

#else

namespace ktpu::arch::detail {
const bool kBuiltForAvx2 = false;
const AccumulateKernel* avx2_kernel(unsigned) { return nullptr; }
}  // namespace ktpu::arch::detail

#endif
