// SPDX-License-Identifier: Apache-2.0
// Where the elements of a row-major tensor lie in memory. Keys (compiler.md section 9):
//   flat                row-major
//   entry:GxB           rows in groups of 4, columns in blocks of 32: FILL operands, one entry a group and
//   block,
//                       runs of G*B entries contiguous
//   tile:IxJ:MxN        I x J instances of M x N sub-tiles of 4x4: what a DRAIN writes
//   bias:N              a vector, each 4 values repeated 4 times, padded to 4*N
//   conv:1:G            [H][W][C] for a 3x3 convolution with a rim of 1, swept in tiles of G groups of 4
//                       positions: blocks of 32 channels, each the rows of W + 2 pixels with the rim as
//                       zeros, then zeros as far as the last tap of the last tile reads
//   batchC:<key>        C blocks of the inner layout; the outermost dimensions whose product is C count them
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ktpu::arch {

class TensorLayout {
 public:
  // Throws UserError: unknown key, key without meaning for the shape, more than kMaxImageBytes.
  TensorLayout(std::string_view key, std::span<const std::uint32_t> shape, unsigned element_bytes = 2);

  std::uint64_t elements() const { return memory_elements_; }  // in memory, padding included
  std::uint64_t values() const { return values_; }             // of the tensor
  // Row-major index of the value that memory element i holds; -1 for padding.
  std::int64_t source(std::uint64_t i) const;

  // Row-major bytes -> memory image (padding zero), and back. Sizes are values()/elements() * element_bytes.
  std::vector<std::uint8_t> pack(std::span<const std::uint8_t> row_major) const;
  std::vector<std::uint8_t> unpack(std::span<const std::uint8_t> memory) const;

 private:
  enum class Kind { kFlat, kEntry, kTile, kBias, kConv };
  std::int64_t inner_source(std::uint64_t i) const;

  Kind kind_ = Kind::kFlat;
  std::uint64_t rows_ = 1, columns_ = 1;             // of one batch block
  std::uint64_t p0_ = 1, p1_ = 1, p2_ = 1, p3_ = 1;  // numbers of the key, in order
  std::uint64_t width_ = 0, plane_ = 0;              // conv: pixels a row, positions a block of channels
  std::uint64_t padded_columns_ = 1;
  std::uint64_t block_elements_ = 0;  // memory elements of one batch block without the padding between blocks
  std::uint64_t block_stride_ = 0;    // memory elements from block to block
  std::uint64_t block_values_ = 0;    // tensor values of one block
  std::uint64_t memory_elements_ = 0;
  std::uint64_t values_ = 0;
  unsigned element_bytes_ = 2;
};

}  // namespace ktpu::arch
