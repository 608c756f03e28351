// SPDX-License-Identifier: Apache-2.0
// The order in which a tensor's elements lie in memory (compiler.md section 9). Only the functions here make
// one; the strided transposes behind the keys are arch/program/tensor_layout.h, which the program file uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::schedule {

using Shape = std::span<const std::uint32_t>;

class Layout {
 public:
  static Layout flat();
  static Layout rows(unsigned columns);
  static Layout entry(unsigned groups, unsigned blocks);
  static Layout tile(unsigned grid_rows, unsigned grid_columns, unsigned gm, unsigned gn);
  static Layout channel_bias(unsigned gn);
  static Layout conv_entry(unsigned gm);
  // Blocks stand a whole number of 2048 bytes apart, and at least `least_stride`: what the widest order of
  // the same buffer takes (section 16).
  static Layout batched(const Layout& inner, unsigned count, std::uint64_t least_stride = 0);

  // What key() and least_stride() of a layout say. Throws UserError for a key that the functions above do
  // not make.
  static Layout from_key(std::string_view key, std::uint64_t least_stride = 0);

  const std::string& key() const { return key_; }
  std::uint64_t least_stride() const { return least_stride_; }  // bytes; of a batch
  // Interchangeable: the same key (section 9).
  bool operator==(const Layout& other) const { return key_ == other.key_; }

  // All throw UserError when the layout has no meaning for the shape.
  std::uint64_t nbytes(Shape shape) const;
  std::vector<std::uint8_t> pack(std::span<const std::uint8_t> row_major, Shape shape) const;
  // Of an order in tiles: what its instances take, whatever shape lies in it. Nothing for another order.
  std::optional<std::uint64_t> tile_bytes() const;
  // Of an order in padded rows: the values of a row. 0 for another order.
  std::uint64_t row_columns() const;
  // What a short image lacks reads as zero.
  std::vector<std::uint8_t> unpack(std::span<const std::uint8_t> memory, Shape shape) const;

  // What it does to a tensor of this shape, in words.
  std::string print(Shape shape) const;
  // Empty, or the first value that does not lie in memory exactly as often as its order says.
  std::string verify(Shape shape) const;

 private:
  explicit Layout(std::string key, unsigned copies = 1) : key_(std::move(key)), copies_(copies) {}

  std::string key_;
  unsigned copies_;  // of every value
  std::uint64_t least_stride_ = 0;
};

}  // namespace ktpu::schedule
