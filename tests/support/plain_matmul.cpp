// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_matmul.h"

namespace ktpu::test::plain {

namespace {

unsigned top_bit(std::uint64_t v) {  // v != 0
  unsigned h = 0;
  while (v >>= 1) ++h;
  return h;
}

// n / 2^shift as FP16 for |n| <= 2048: exact, and never subnormal for the shifts used here.
std::uint16_t small_ratio(int n, unsigned shift) {
  if (n == 0) return 0;
  const unsigned sign = n < 0 ? 0x8000 : 0;
  unsigned magnitude = static_cast<unsigned>(n < 0 ? -n : n);
  const int exponent = static_cast<int>(top_bit(magnitude)) - static_cast<int>(shift) + 15;
  while (magnitude < 1024) magnitude *= 2;
  if (magnitude == 2048) magnitude = 1024;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent) << 10 | (magnitude - 1024));
}

}  // namespace

Halves lcg(std::size_t count, std::uint32_t seed, unsigned shift) {
  Halves out;
  std::uint32_t x = seed;
  for (std::size_t i = 0; i < count; ++i) {
    x = 1664525u * x + 1013904223u;
    out.push_back(small_ratio(static_cast<int>(x >> 20) - 2048, shift));
  }
  return out;
}

// number-formats.md section 4.
Block quantise(const std::uint16_t* values) {
  static const unsigned reciprocal[16] = {0,    0,    0,    0,    0,    0,    0,    0,
                                          4096, 3641, 3277, 2979, 2731, 2520, 2341, 2185};
  unsigned peak = 0;
  for (int i = 0; i < 32; ++i)
    if ((values[i] & 0x7FFFu) > peak) peak = values[i] & 0x7FFF;
  int sexp;
  unsigned m8;
  int ep = peak < 0x400 ? 1 : static_cast<int>(peak >> 10);
  unsigned sp = peak < 0x400 ? peak : (peak & 1023) + 1024;
  if (sp == 0) {
    sexp = 0;
    m8 = 8;
  } else {
    while (sp < 1024) {
      sp *= 2;
      --ep;
    }
    const unsigned c = (sp + 125) / 126;
    sexp = c <= 15 ? ep - 21 : ep - 20;
    m8 = c <= 15 ? c : c == 16 ? 8 : 9;
  }
  if (sexp < -20) sexp = -20;
  if (sexp > 11) sexp = 11;
  Block block;
  block.scale = static_cast<unsigned>(sexp + 20) % 32 * 8 + m8 - 8;
  for (int i = 0; i < 32; ++i) {
    const unsigned h = values[i] & 0x7FFF;
    const int e = h < 0x400 ? 1 : static_cast<int>(h >> 10);
    const unsigned sig = h < 0x400 ? h : (h & 1023) + 1024;
    const int t = 21 + sexp - e;
    int magnitude = 0;
    if (sig != 0 && t >= 0 && t < 8) {
      const unsigned window = ((sig * reciprocal[m8] >> 15) & 255) >> t;
      magnitude = static_cast<int>(window / 2 + window % 2);
      if (magnitude > 63) magnitude = 63;
    } else if (sig != 0 && t < 0) {
      magnitude = 63;
    }
    block.q[i] = values[i] & 0x8000 ? -magnitude : magnitude;
  }
  return block;
}

// Section 7.
std::uint32_t normalise(std::int64_t part, unsigned fa, unsigned fb, unsigned anchor, unsigned mw) {
  const std::uint64_t m = static_cast<std::uint64_t>(part < 0 ? -part : part) * (8 + fa % 8) * (8 + fb % 8);
  if (m == 0) return 0;
  const int x = static_cast<int>(fa / 8 + fb / 8) - static_cast<int>(anchor) - 6;
  const unsigned h = top_bit(m);
  const std::uint64_t j = m << (29 - h);
  std::uint64_t sig = j >> (29 - mw);
  const bool guard = j >> (28 - mw) & 1;
  const bool sticky = (j & ((1ull << (28 - mw)) - 1)) != 0;
  if (guard && (sticky || sig % 2 == 1)) ++sig;
  const int carry = static_cast<int>(sig >> (mw + 1));
  const unsigned e = static_cast<unsigned>(static_cast<int>(h) + x + 63 + carry) & 127;
  return (part < 0 ? 1u << (mw + 7) : 0u) | e << mw | static_cast<std::uint32_t>(sig & ((1ull << mw) - 1));
}

// Section 8, no operand forced.
std::uint32_t add(std::uint32_t a, std::uint32_t b, unsigned mw) {
  const std::uint32_t mask = (1u << (mw + 7)) - 1;
  const bool zero_a = (a & mask) >> mw == 0, zero_b = (b & mask) >> mw == 0;
  if (zero_a && zero_b) return 0;
  if (zero_a) return b;
  if (zero_b) return a;
  const unsigned sw = mw + 9;
  const std::uint32_t big = (a & mask) >= (b & mask) ? a : b, small = big == a ? b : a;
  const std::uint32_t fraction = (1u << mw) - 1;
  const std::uint64_t large = ((1ull << mw) | (big & fraction)) << 8;
  const std::uint64_t unshifted = ((1ull << mw) | (small & fraction)) << 8;
  unsigned d = ((big & mask) >> mw) - ((small & mask) >> mw);
  if (d > sw) d = sw;
  const std::uint64_t shifted = unshifted >> d;
  const bool lost = (unshifted & ((1ull << d) - 1)) != 0;
  const bool same = (big ^ small) >> (mw + 7) == 0;
  const std::uint64_t sum = same ? large + shifted : large - shifted;
  if (sum == 0) return 0;
  const unsigned z = sw - top_bit(sum);
  const std::uint64_t n = sum << z;
  int e = static_cast<int>((big & mask) >> mw) + 1 - static_cast<int>(z);
  std::uint64_t sig = n >> 9;
  const bool guard = n >> 8 & 1, sticky = lost || (n & 255) != 0;
  if (guard && (sticky || sig % 2 == 1)) {
    ++sig;
    if (sig >> (mw + 1)) ++e;
  }
  const std::uint32_t sign = big & (1u << (mw + 7));
  if (e <= 0) return 0;
  if (e >= 127) return sign | 127u << mw | fraction;
  return sign | static_cast<std::uint32_t>(e) << mw | (static_cast<std::uint32_t>(sig) & fraction);
}

// Section 9, after the pass of section 8 with a forced zero.
std::uint16_t emit(std::uint32_t acc, unsigned mw) {
  const unsigned e = acc >> mw & 127;
  if (e == 0) return 0;
  const unsigned sign = acc >> (mw + 7) & 1 ? 0x8000 : 0;
  const std::uint32_t m = acc & ((1u << mw) - 1);
  int x = static_cast<int>(e) - 48;
  std::uint32_t k;
  if (mw > 10) {
    const unsigned d = mw - 10;
    k = m >> d;
    const bool guard = m >> (d - 1) & 1, sticky = (m & ((1u << (d - 1)) - 1)) != 0;
    if (guard && (sticky || k % 2 == 1)) ++k;
  } else {
    k = m << (10 - mw);
  }
  if (k == 1024) {
    ++x;
    k = 0;
  }
  if (x <= 0) return static_cast<std::uint16_t>(sign);
  if (x >= 31) return static_cast<std::uint16_t>(sign | 0x7BFF);
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(x) << 10 | k);
}

Halves matmul(const Halves& a, const Halves& b, unsigned m, unsigned n, unsigned k, unsigned anchor,
              unsigned mw) {
  const unsigned blocks = k / 32;
  std::vector<Block> qa, qb;
  for (std::size_t i = 0; i < std::size_t{m} * blocks; ++i) qa.push_back(quantise(&a[32 * i]));
  for (std::size_t i = 0; i < std::size_t{n} * blocks; ++i) qb.push_back(quantise(&b[32 * i]));
  Halves c;
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned column = 0; column < n; ++column) {
      std::uint32_t acc = 0;
      for (unsigned block = 0; block < blocks; ++block) {
        const Block& x = qa[row * blocks + block];
        const Block& y = qb[column * blocks + block];
        std::int64_t part = 0;
        for (int i = 0; i < 32; ++i) part += x.q[i] * y.q[i];
        acc = add(acc, normalise(part, x.scale, y.scale, anchor, mw), mw);
      }
      c.push_back(emit(acc, mw));
    }
  }
  return c;
}

std::vector<std::uint8_t> to_entries(const Halves& matrix, unsigned rows, unsigned columns, unsigned g,
                                     unsigned b) {
  std::vector<std::uint8_t> bytes(2 * matrix.size());
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned q = 0; q < columns; ++q) {
      const unsigned t = r / (4 * g), gg = r / 4 % g, l = r % 4, c = q / (32 * b), bb = q / 32 % b,
                     k = q % 32;
      const std::size_t index = ((((t * (columns / (32 * b)) + c) * g + gg) * b + bb) * 4 + l) * 32 + k;
      bytes[2 * index] = static_cast<std::uint8_t>(matrix[r * columns + q] & 255);
      bytes[2 * index + 1] = static_cast<std::uint8_t>(matrix[r * columns + q] >> 8);
    }
  }
  return bytes;
}

Halves from_tiles(const std::vector<std::uint8_t>& bytes, unsigned i, unsigned j, unsigned m, unsigned n) {
  const std::size_t columns = 4 * j * n;
  Halves matrix(4 * i * m * columns);
  std::size_t at = 0;
  for (unsigned gi = 0; gi < i; ++gi)
    for (unsigned gj = 0; gj < j; ++gj)
      for (unsigned gm = 0; gm < m; ++gm)
        for (unsigned gn = 0; gn < n; ++gn)
          for (unsigned r = 0; r < 4; ++r)
            for (unsigned c = 0; c < 4; ++c, at += 2)
              matrix[((gi * m + gm) * 4 + r) * columns + (gj * n + gn) * 4 + c] =
                  static_cast<std::uint16_t>(bytes[at] | bytes[at + 1] << 8);
  return matrix;
}

}  // namespace ktpu::test::plain
