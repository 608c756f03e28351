// SPDX-License-Identifier: Apache-2.0
// Where the elements of a row-major tensor lie in memory. Keys (compiler.md section 9):
//   flat                row-major
//   rows:C              row-major rows of C values, each filled up with padding to whole memory words of 16
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

// The plane of a conv layout, in positions of 32 channels; a tail of so many entries of 4 positions follows
// the last block (compiler.md section 9).
struct ConvGeometry {
  std::uint64_t row = 0;    // positions from one row of pixels to the next: the width and its rim
  std::uint64_t plane = 0;  // of one block of channels
  std::uint64_t tail_entries = 0;
  bool operator==(const ConvGeometry&) const = default;
};
ConvGeometry conv_geometry(std::uint64_t height, std::uint64_t width, std::uint64_t groups);

class TensorLayout {
 public:
  // A batch block takes at least `least_block_bytes`: a buffer in several orders has the stride of the
  // widest. Throws UserError: unknown key, key without meaning for the shape, more than kMaxImageBytes.
  TensorLayout(std::string_view key, std::span<const std::uint32_t> shape, unsigned element_bytes = 2,
               std::uint64_t least_block_bytes = 0);

  std::uint64_t elements() const { return memory_elements_; }  // in memory, padding included
  std::uint64_t values() const { return values_; }             // of the tensor
  // Row-major index of the value that memory element i holds; -1 for padding.
  std::int64_t source(std::uint64_t i) const;

  // Row-major bytes -> memory image (padding zero), and back. Sizes are values()/elements() * element_bytes.
  std::vector<std::uint8_t> pack(std::span<const std::uint8_t> row_major) const;
  std::vector<std::uint8_t> unpack(std::span<const std::uint8_t> memory) const;

 private:
  // Every order is a strided transpose of a matrix, its dimensions from the outermost in memory: one step
  // along a dimension goes so far in memory and so far in the matrix. What falls outside the matrix, and
  // what no dimension reaches, is padding.
  struct Dim {
    std::uint64_t bound, memory, row, column;
  };
  std::int64_t inner_source(std::uint64_t i) const;
  // Calls run(memory element, value, count) for each stretch that is contiguous in both.
  template <typename Run>
  void each_run(Run&& run) const;

  std::vector<Dim> dims_;
  std::uint64_t origin_ = 0;              // memory element of the first value of a block
  std::uint64_t rows_ = 1, columns_ = 1;  // of one batch block
  std::uint64_t block_elements_ = 0;  // memory elements of one batch block without the padding between blocks
  std::uint64_t block_stride_ = 0;    // memory elements from block to block
  std::uint64_t block_values_ = 0;    // tensor values of one block
  std::uint64_t blocks_ = 1;
  std::uint64_t memory_elements_ = 0;
  std::uint64_t values_ = 0;
  unsigned element_bytes_ = 2;
};

}  // namespace ktpu::arch
