// SPDX-License-Identifier: Apache-2.0
// What a matmul of the machine must give, from plain loops over number-formats.md and compiler.md section 9.
// Written a second time on purpose: nothing here uses the product's code.
#pragma once

#include <cstdint>
#include <vector>

namespace ktpu::test::plain {

// FP16 bit patterns, row-major.
using Halves = std::vector<std::uint16_t>;

// The test-tensor generator: ((x >> 20) - 2048) / 2^shift for the LCG's numbers x, exact in FP16.
Halves lcg(std::size_t count, std::uint32_t seed, unsigned shift);

// C[m][n] = A[m][k] B[n][k]^T with both operands quantised to MXFP7 blocks of 32, accumulated in S1E7M<mw>
// block by block in ascending order and emitted as FP16. k is a multiple of 32.
Halves matmul(const Halves& a, const Halves& b, unsigned m, unsigned n, unsigned k, unsigned anchor = 40,
              unsigned mw = 14);

// Layouts, as little-endian bytes. entry:GxB of a rows x columns matrix (no padding needed):
std::vector<std::uint8_t> to_entries(const Halves& matrix, unsigned rows, unsigned columns, unsigned g,
                                     unsigned b);
// tile:IxJ:MxN back to row-major; the matrix has 4*i*m rows and 4*j*n columns.
Halves from_tiles(const std::vector<std::uint8_t>& bytes, unsigned i, unsigned j, unsigned m, unsigned n);

// The pieces, for tests of this file against the worked examples of the specification.
struct Block {
  unsigned scale;  // E5M3 field
  int q[32];
};
Block quantise(const std::uint16_t* values);  // 32 of them
std::uint32_t normalise(std::int64_t part, unsigned fa, unsigned fb, unsigned anchor, unsigned mw);
std::uint32_t add(std::uint32_t a, std::uint32_t b, unsigned mw);
std::uint16_t emit(std::uint32_t acc, unsigned mw);

}  // namespace ktpu::test::plain
