// SPDX-License-Identifier: Apache-2.0
#include "arch/program/tensor_layout.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "arch/error.h"
#include "arch/program/validate.h"

namespace ktpu::arch {
namespace {

constexpr std::uint64_t kBatchAlign = 2048;  // bytes between batch blocks, compiler.md section 16
constexpr std::uint64_t kWordElements = 16;  // FP16, of a memory word of 32 bytes

[[noreturn]] void unknown(std::string_view key) {
  throw UserError::make(
      "unknown layout \"{}\": use flat, rows:C, entry:GxB, tile:IxJ:MxN, bias:N, conv:1:G, or batchC: before "
      "one",
      key);
}

// Reads a number 1..65535 at the front of `rest` and removes it.
std::uint64_t number(std::string_view& rest, std::string_view key) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{} || value == 0 || value > 65535) unknown(key);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}
void expect(std::string_view& rest, std::string_view text, std::string_view key) {
  if (!rest.starts_with(text)) unknown(key);
  rest.remove_prefix(text.size());
}

// Product with a bound; every factor is at least 1.
std::uint64_t bounded(std::uint64_t a, std::uint64_t b, std::string_view key) {
  if (a > kMaxImageBytes || b > kMaxImageBytes || a * b > kMaxImageBytes)
    throw UserError::make("layout \"{}\": the tensor takes more than {} bytes", key, kMaxImageBytes);
  return a * b;
}
constexpr std::uint64_t round_up(std::uint64_t v, std::uint64_t to) { return (v + to - 1) / to * to; }

}  // namespace

ConvGeometry conv_geometry(std::uint64_t height, std::uint64_t width, std::uint64_t groups) {
  ConvGeometry g;
  g.row = width + 2;
  g.plane = round_up((height + 2) * g.row, 4);
  const std::uint64_t swept = round_up((height - 1) * g.row + width, 4 * groups);
  const std::uint64_t reach = swept + 2 * g.row + 2;  // behind the last tap of the last tile
  g.tail_entries = reach > g.plane ? (reach - g.plane + 3) / 4 : 0;
  return g;
}

TensorLayout::TensorLayout(std::string_view key, std::span<const std::uint32_t> shape, unsigned element_bytes,
                           std::uint64_t least_block_bytes)
    : element_bytes_(element_bytes) {
  std::string_view rest = key;
  std::uint64_t batch = 1;
  for (const std::uint32_t extent : shape)
    if (extent == 0) throw UserError::make("layout \"{}\": the shape holds a dimension of 0", key);
  if (rest.starts_with("batch")) {
    rest.remove_prefix(5);
    batch = number(rest, key);
    expect(rest, ":", key);
    std::uint64_t blocks = 1;
    do {
      if (shape.size() < 2 || blocks * shape[0] > batch)
        throw UserError::make("layout \"{}\" wants a shape whose first dimensions multiply to {}", key,
                              batch);
      blocks *= shape[0];
      shape = shape.subspan(1);
    } while (blocks < batch);
  }
  if (shape.empty()) throw UserError::make("layout \"{}\": the shape is empty", key);
  // A matrix: the last dimension is the columns, all others together the rows.
  columns_ = shape.back();
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows_ = bounded(rows_, shape[i], key);
  block_values_ = bounded(rows_, columns_, key);
  const bool flat = rest == "flat";
  if (flat) {
    block_elements_ = block_values_;
    dims_ = {{rows_, columns_, 1, 0}, {columns_, 1, 0, 1}};
  } else if (rest.starts_with("rows:")) {
    rest.remove_prefix(5);
    columns_ = number(rest, key);  // a row may be another one than the last dimension
    if (block_values_ % columns_ != 0)
      throw UserError::make("layout \"{}\": {} values are no whole rows", key, block_values_);
    rows_ = block_values_ / columns_;
    const std::uint64_t padded = round_up(columns_, kWordElements);
    block_elements_ = bounded(rows_, padded, key);
    dims_ = {{rows_, padded, 1, 0}, {columns_, 1, 0, 1}};
  } else if (rest.starts_with("entry:")) {  // memory order: tile, chunk, group, block, lane, k
    rest.remove_prefix(6);
    const std::uint64_t groups = number(rest, key);
    expect(rest, "x", key);
    const std::uint64_t blocks = number(rest, key);
    const std::uint64_t tiles = (rows_ + 4 * groups - 1) / (4 * groups);
    const std::uint64_t chunks = (columns_ + 32 * blocks - 1) / (32 * blocks);
    block_elements_ = bounded(tiles * 4 * groups, chunks * 32 * blocks, key);
    const std::uint64_t run = groups * blocks * 128;
    dims_ = {{tiles, chunks * run, 4 * groups, 0},
             {chunks, run, 0, 32 * blocks},
             {groups, blocks * 128, 4, 0},
             {blocks, 128, 0, 32},
             {4, 32, 1, 0},
             {32, 1, 0, 1}};
  } else if (rest.starts_with("tile:")) {  // memory order: gi, gj, gm, gn, 4, 4
    rest.remove_prefix(5);
    const std::uint64_t gi = number(rest, key);
    expect(rest, "x", key);
    const std::uint64_t gj = number(rest, key);
    expect(rest, ":", key);
    const std::uint64_t gm = number(rest, key);
    expect(rest, "x", key);
    const std::uint64_t gn = number(rest, key);
    const std::uint64_t padded_rows = 4 * gi * gm, padded_columns = 4 * gj * gn;
    if (rows_ > padded_rows || columns_ > padded_columns)
      throw UserError::make("layout \"{}\" holds {}x{} values, the tensor has {}x{}", key, padded_rows,
                            padded_columns, rows_, columns_);
    block_elements_ = bounded(padded_rows, padded_columns, key);
    const std::uint64_t instance = gm * gn * 16;
    dims_ = {{gi, gj * instance, 4 * gm, 0},
             {gj, instance, 0, 4 * gn},
             {gm, gn * 16, 4, 0},
             {gn, 16, 0, 4},
             {4, 4, 1, 0},
             {4, 1, 0, 1}};
  } else if (rest.starts_with("bias:")) {  // memory order: group of 4 columns, copy, column
    rest.remove_prefix(5);
    const std::uint64_t padded = round_up(columns_, 4 * number(rest, key));
    if (rows_ != 1)
      throw UserError::make("layout \"{}\" is for a vector, the tensor has {} rows", key, rows_);
    block_elements_ = bounded(padded, 4, key);
    dims_ = {{padded / 4, 16, 0, 4}, {4, 4, 0, 0}, {4, 1, 0, 1}};
  } else if (rest.starts_with("conv:")) {  // memory order: block of channels, row, column, channel
    rest.remove_prefix(5);
    const std::uint64_t rim = number(rest, key);
    expect(rest, ":", key);
    const std::uint64_t groups = number(rest, key);
    if (rim != 1) unknown(key);
    if (shape.size() != 3 || columns_ % 32 != 0)
      throw UserError::make("layout \"{}\" wants a shape [height, width, channels] of whole 32 channels",
                            key);
    const std::uint64_t height = shape[0], width = shape[1];
    bounded(height + 2, width + 2, key);
    const ConvGeometry g = conv_geometry(height, width, groups);
    block_elements_ = bounded(bounded(columns_ / 32, g.plane, key) + 4 * g.tail_entries, 32, key);
    origin_ = (g.row + 1) * 32;
    dims_ = {{columns_ / 32, g.plane * 32, 0, 32},
             {height, g.row * 32, width, 0},
             {width, 32, 1, 0},
             {32, 1, 0, 1}};
  } else {
    unknown(key);
  }
  if (!flat && !rest.empty()) unknown(key);
  block_stride_ = block_elements_;
  if (batch > 1 || key.starts_with("batch"))
    block_stride_ =
        round_up(std::max(block_elements_ * element_bytes, least_block_bytes), kBatchAlign) / element_bytes;
  blocks_ = batch;
  memory_elements_ = bounded(block_stride_, batch, key);
  bounded(memory_elements_, element_bytes, key);
  values_ = bounded(block_values_, batch, key);
}

std::int64_t TensorLayout::source(std::uint64_t i) const {
  const std::uint64_t block = i / block_stride_;
  const std::uint64_t within = i % block_stride_;
  if (within >= block_elements_) return -1;
  const std::int64_t inner = inner_source(within);
  return inner < 0 ? -1 : static_cast<std::int64_t>(block * block_values_) + inner;
}

std::int64_t TensorLayout::inner_source(std::uint64_t i) const {
  if (i < origin_) return -1;
  i -= origin_;
  std::uint64_t row = 0, column = 0;
  for (const Dim& dim : dims_) {
    const std::uint64_t at = i / dim.memory;
    if (at >= dim.bound) return -1;
    i -= at * dim.memory;
    row += at * dim.row;
    column += at * dim.column;
  }
  if (row >= rows_ || column >= columns_) return -1;
  return static_cast<std::int64_t>(row * columns_ + column);
}

template <typename Run>
void TensorLayout::each_run(Run&& run) const {
  const Dim& inner = dims_.back();  // one value a step on both sides, in every order
  std::vector<std::uint64_t> at(dims_.size() - 1);
  for (std::uint64_t block = 0; block < blocks_; ++block) {
    std::size_t d = 0;
    do {
      std::uint64_t memory = origin_ + block * block_stride_, row = 0, column = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        memory += at[i] * dims_[i].memory;
        row += at[i] * dims_[i].row;
        column += at[i] * dims_[i].column;
      }
      if (row < rows_ && column < columns_)
        run(memory, block * block_values_ + row * columns_ + column,
            std::min(inner.bound, columns_ - column));
      for (d = at.size(); d > 0; --d) {  // the odometer's next position; 0: it is through
        if (++at[d - 1] < dims_[d - 1].bound) break;
        at[d - 1] = 0;
      }
    } while (d > 0);
  }
}

std::vector<std::uint8_t> TensorLayout::pack(std::span<const std::uint8_t> row_major) const {
  KTPU_CHECK(row_major.size() == values_ * element_bytes_, "{} bytes for {} values", row_major.size(),
             values_);
  std::vector<std::uint8_t> memory(memory_elements_ * element_bytes_);
  each_run([&](std::uint64_t to, std::uint64_t from, std::uint64_t count) {
    std::memcpy(&memory[to * element_bytes_], &row_major[from * element_bytes_], count * element_bytes_);
  });
  return memory;
}

std::vector<std::uint8_t> TensorLayout::unpack(std::span<const std::uint8_t> memory) const {
  KTPU_CHECK(memory.size() == memory_elements_ * element_bytes_, "{} bytes for {} elements", memory.size(),
             memory_elements_);
  std::vector<std::uint8_t> row_major(values_ * element_bytes_);
  each_run([&](std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    std::memcpy(&row_major[to * element_bytes_], &memory[from * element_bytes_], count * element_bytes_);
  });
  return row_major;
}

}  // namespace ktpu::arch
