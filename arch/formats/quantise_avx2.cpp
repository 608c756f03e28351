// SPDX-License-Identifier: Apache-2.0
// The quantiser's two loops for AVX2, bit equal to the scalar ones; built with -mavx2, so the rules at the
// top of kernel_avx2.cpp hold here too.
#include "arch/formats/quantise_detail.h"

#if defined(__AVX2__)

#include <immintrin.h>

namespace ktpu::arch::detail {
namespace {

inline __m256i round8(const std::uint16_t* h16, __m256i shift_base, __m256i reciprocal) {
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i h = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(h16)));
  const __m256i field = _mm256_and_si256(_mm256_srli_epi32(h, 10), _mm256_set1_epi32(31));
  const __m256i leading =
      _mm256_and_si256(_mm256_cmpgt_epi32(field, _mm256_setzero_si256()), _mm256_set1_epi32(0x400));
  const __m256i significand = _mm256_or_si256(_mm256_and_si256(h, _mm256_set1_epi32(0x3FF)), leading);
  const __m256i product = _mm256_madd_epi16(significand, reciprocal);  // 11 by 13 bits, high halves zero
  // 15 + t; from 23 on nothing is left of the 23-bit product.
  const __m256i shift = _mm256_sub_epi32(shift_base, _mm256_max_epi32(field, one));
  const __m256i window = _mm256_srlv_epi32(product, shift);
  const __m256i magnitude = _mm256_min_epi32(
      _mm256_add_epi32(_mm256_srli_epi32(window, 1), _mm256_and_si256(window, one)), _mm256_set1_epi32(63));
  const __m256i sign = _mm256_srai_epi32(_mm256_slli_epi32(h, 16), 31);
  return _mm256_sub_epi32(_mm256_xor_si256(magnitude, sign), sign);
}

}  // namespace

std::uint32_t peak_avx2(const std::uint16_t* block) {
  const __m256i mask = _mm256_set1_epi16(0x7FFF);
  const __m256i low = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block)), mask);
  const __m256i high =
      _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 16)), mask);
  const __m256i both = _mm256_max_epu16(low, high);
  const __m128i eight = _mm_max_epu16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  // The processor finds a minimum, so look for the smallest complement.
  const __m128i smallest = _mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-1)));
  return ~static_cast<std::uint32_t>(_mm_cvtsi128_si32(smallest)) & 0xFFFF;
}

void round_avx2(const std::uint16_t* block, int exponent, std::uint32_t reciprocal, std::int8_t* q) {
  const __m256i shift_base = _mm256_set1_epi32(15 + 21 + exponent);
  const __m256i factor = _mm256_set1_epi32(static_cast<int>(reciprocal));
  const __m256i low =
      _mm256_packs_epi32(round8(block, shift_base, factor), round8(block + 8, shift_base, factor));
  const __m256i high =
      _mm256_packs_epi32(round8(block + 16, shift_base, factor), round8(block + 24, shift_base, factor));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(q),
                      _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
}

}  // namespace ktpu::arch::detail

#else

namespace ktpu::arch::detail {
std::uint32_t peak_avx2(const std::uint16_t*) { return 0; }  // never called: kBuiltForAvx2 is false
void round_avx2(const std::uint16_t*, int, std::uint32_t, std::int8_t*) {}
}  // namespace ktpu::arch::detail

#endif
