// SPDX-License-Identifier: Apache-2.0
// Four fused multiply-adds of vector.md section 6.3 at a time, one in each 64-bit lane: the 48-bit sum fits,
// and the conversion to double finds the leading one and normalises.
#include "arch/formats/lane_alu.h"
#include "arch/formats/lane_alu_detail.h"
#include "arch/formats/simd.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace ktpu::arch::detail {

#ifdef __AVX2__

namespace {

inline __m256i all(long long v) { return _mm256_set1_epi64x(v); }
inline __m256i pick(__m256i no, __m256i yes, __m256i mask) { return _mm256_blendv_epi8(no, yes, mask); }

// Operands zero-extended. Sets `special` where one of them is an infinity or NaN: that lane's result means
// nothing.
inline __m256i fma4(__m256i a, __m256i b, __m256i c, __m256i& special) {
  const __m256i zero = _mm256_setzero_si256(), one = all(1), byte = all(255), leading = all(0x8000),
                low15 = all(0x7FFF);
  __m256i ea = _mm256_and_si256(_mm256_srli_epi64(a, 15), byte);
  __m256i eb = _mm256_and_si256(_mm256_srli_epi64(b, 15), byte);
  const __m256i ec = _mm256_and_si256(_mm256_srli_epi64(c, 15), byte);
  special = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi64(ea, byte), _mm256_cmpeq_epi64(eb, byte)),
                            _mm256_cmpeq_epi64(ec, byte));
  const __m256i product_sign = _mm256_and_si256(_mm256_srli_epi64(_mm256_xor_si256(a, b), 23), one);
  const __m256i addend_sign = _mm256_and_si256(_mm256_srli_epi64(c, 23), one);
  const __m256i negative = _mm256_cmpeq_epi64(_mm256_xor_si256(product_sign, addend_sign), one);
  const __m256i product_zero = _mm256_or_si256(_mm256_cmpeq_epi64(ea, zero), _mm256_cmpeq_epi64(eb, zero));
  const __m256i addend_zero = _mm256_cmpeq_epi64(ec, zero);
  ea = pick(ea, one, product_zero);
  eb = pick(eb, one, product_zero);
  __m256i m = _mm256_mul_epu32(_mm256_or_si256(_mm256_and_si256(a, low15), leading),
                               _mm256_or_si256(_mm256_and_si256(b, low15), leading));
  m = _mm256_andnot_si256(product_zero, m);
  const __m256i g = _mm256_or_si256(_mm256_and_si256(c, low15), leading);
  const __m256i exponents = _mm256_add_epi64(ea, eb);
  __m256i shift = _mm256_sub_epi64(_mm256_sub_epi64(exponents, ec), all(110));  // 17 - 127
  __m256i base = _mm256_sub_epi64(exponents, all(157));
  const __m256i dominates = _mm256_andnot_si256(addend_zero, _mm256_cmpgt_epi64(zero, shift));
  shift = _mm256_andnot_si256(dominates, shift);
  m = _mm256_andnot_si256(dominates, m);
  base = pick(base, _mm256_sub_epi64(ec, all(47)), dominates);
  shift = pick(shift, all(48), _mm256_or_si256(addend_zero, _mm256_cmpgt_epi64(shift, all(48))));
  const __m256i addend = _mm256_srlv_epi64(_mm256_slli_epi64(g, 32), shift);
  const __m256i lost =
      _mm256_and_si256(g, _mm256_sub_epi64(_mm256_sllv_epi64(one, _mm256_sub_epi64(shift, all(32))), one));
  const __m256i sticky =
      _mm256_andnot_si256(_mm256_cmpeq_epi64(lost, zero), _mm256_cmpgt_epi64(shift, all(32)));
  __m256i p = pick(_mm256_add_epi64(addend, m), _mm256_sub_epi64(addend, m), negative);
  p = _mm256_and_si256(p, all((1ll << 48) - 1));
  const __m256i flip = _mm256_and_si256(_mm256_andnot_si256(_mm256_cmpeq_epi64(shift, zero), negative),
                                        _mm256_cmpgt_epi64(p, all((1ll << 47) - 1)));
  p = pick(p, _mm256_and_si256(_mm256_sub_epi64(zero, p), all((1ll << 33) - 1)), flip);
  const __m256i sign =
      _mm256_slli_epi64(pick(product_sign, addend_sign, _mm256_andnot_si256(flip, negative)), 23);

  // Below 2^52: 2^52 + p has p in its fraction, so the difference is p as a double, exactly.
  const __m256i magic = all(0x4330000000000000);
  const __m256i bits = _mm256_castpd_si256(
      _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(p, magic)), _mm256_castsi256_pd(magic)));
  const __m256i fraction = _mm256_and_si256(bits, all((1ll << 52) - 1));
  __m256i kept = _mm256_srli_epi64(fraction, 37);
  const __m256i guard = _mm256_and_si256(_mm256_srli_epi64(fraction, 36), one);
  const __m256i exact =
      _mm256_andnot_si256(sticky, _mm256_cmpeq_epi64(_mm256_and_si256(fraction, all((1ll << 36) - 1)), zero));
  const __m256i odd_or_more = _mm256_or_si256(_mm256_andnot_si256(exact, one), _mm256_and_si256(kept, one));
  kept = _mm256_add_epi64(kept, _mm256_and_si256(guard, odd_or_more));
  const __m256i exponent =
      _mm256_add_epi64(_mm256_sub_epi64(_mm256_add_epi64(_mm256_srli_epi64(bits, 52), base), all(1023)),
                       _mm256_srli_epi64(kept, 15));
  __m256i value = _mm256_or_si256(_mm256_slli_epi64(exponent, 15), _mm256_and_si256(kept, low15));
  value = pick(value, all(kE8m15Inf), _mm256_cmpgt_epi64(exponent, all(254)));
  const __m256i none = _mm256_cmpeq_epi64(p, zero);
  value = _mm256_andnot_si256(_mm256_or_si256(none, _mm256_cmpgt_epi64(one, exponent)), value);
  const __m256i cancels =
      _mm256_and_si256(none, _mm256_andnot_si256(_mm256_or_si256(product_zero, addend_zero), negative));
  return _mm256_or_si256(value, _mm256_andnot_si256(cancels, sign));
}

}  // namespace

bool lane_fma_simd(VectorOpcode op, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                   std::uint32_t* r, unsigned n) {
  if (n % 4 != 0 || !simd_in_use()) return false;
  const bool adds = op == VectorOpcode::kVadd || op == VectorOpcode::kVsub,
             multiplies = op == VectorOpcode::kVmul;
  const __m256i flip_a = all(op == VectorOpcode::kVfnma ? kE8m15Sign : 0);
  const __m256i flip_c = all(op == VectorOpcode::kVsub ? kE8m15Sign : 0);
  const __m256i low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 0, 0, 0);
  const auto load = [](const std::uint32_t* v) {
    return _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
  };
  for (unsigned i = 0; i < n; i += 4) {
    const __m256i x = _mm256_xor_si256(load(a + i), flip_a);
    const __m256i y = adds ? all(kE8m15One) : load(b + i);
    const __m256i z = multiplies ? _mm256_setzero_si256() : _mm256_xor_si256(load(c + i), flip_c);
    __m256i special;
    const __m256i result = fma4(x, y, z, special);
    if (_mm256_testz_si256(special, special)) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(r + i),
                       _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(result, low_halves)));
    } else {
      for (unsigned k = i; k < i + 4; ++k) r[k] = lane_op(op, a[k], b[k], c[k], true);
    }
  }
  return true;
}

#else

bool lane_fma_simd(VectorOpcode, const std::uint32_t*, const std::uint32_t*, const std::uint32_t*,
                   std::uint32_t*, unsigned) {
  return false;
}

#endif

}  // namespace ktpu::arch::detail
