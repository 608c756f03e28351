// SPDX-License-Identifier: Apache-2.0
#include "arch/program/tensor_layout.h"

#include <charconv>
#include <cstring>

#include "arch/error.h"
#include "arch/program/validate.h"

namespace ktpu::arch {
namespace {

constexpr std::uint64_t kBatchAlign = 2048;  // bytes between batch blocks, compiler.md section 16

[[noreturn]] void unknown(std::string_view key) {
  throw UserError::make(
      "unknown layout \"{}\": use flat, entry:GxB, tile:IxJ:MxN, bias:N, conv:1:G, or batchC: before one",
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

TensorLayout::TensorLayout(std::string_view key, std::span<const std::uint32_t> shape, unsigned element_bytes)
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
  padded_columns_ = columns_;
  if (rest == "flat") {
    block_elements_ = block_values_;
  } else if (rest.starts_with("entry:")) {
    kind_ = Kind::kEntry;
    rest.remove_prefix(6);
    p0_ = number(rest, key);
    expect(rest, "x", key);
    p1_ = number(rest, key);
    padded_columns_ = round_up(columns_, 32 * p1_);
    block_elements_ = bounded(round_up(rows_, 4 * p0_), padded_columns_, key);
  } else if (rest.starts_with("tile:")) {
    kind_ = Kind::kTile;
    rest.remove_prefix(5);
    p0_ = number(rest, key);
    expect(rest, "x", key);
    p1_ = number(rest, key);
    expect(rest, ":", key);
    p2_ = number(rest, key);
    expect(rest, "x", key);
    p3_ = number(rest, key);
    padded_columns_ = 4 * p1_ * p3_;
    const std::uint64_t padded_rows = 4 * p0_ * p2_;
    if (rows_ > padded_rows || columns_ > padded_columns_)
      throw UserError::make("layout \"{}\" holds {}x{} values, the tensor has {}x{}", key, padded_rows,
                            padded_columns_, rows_, columns_);
    block_elements_ = bounded(padded_rows, padded_columns_, key);
  } else if (rest.starts_with("bias:")) {
    kind_ = Kind::kBias;
    rest.remove_prefix(5);
    p0_ = number(rest, key);
    if (rows_ != 1)
      throw UserError::make("layout \"{}\" is for a vector, the tensor has {} rows", key, rows_);
    block_elements_ = bounded(round_up(columns_, 4 * p0_), 4, key);
  } else if (rest.starts_with("conv:")) {
    kind_ = Kind::kConv;
    rest.remove_prefix(5);
    p0_ = number(rest, key);
    expect(rest, ":", key);
    p1_ = number(rest, key);
    if (p0_ != 1) unknown(key);
    if (shape.size() != 3 || columns_ % 32 != 0)
      throw UserError::make("layout \"{}\" wants a shape [height, width, channels] of whole 32 channels",
                            key);
    const std::uint64_t height = shape[0];
    width_ = shape[1];
    const std::uint64_t row = width_ + 2;
    plane_ = round_up(bounded(height + 2, row, key), 4);
    const std::uint64_t swept = round_up((height - 1) * row + width_, 4 * p1_);
    const std::uint64_t reach = swept + 2 * row + 2;  // behind the last tap of the last tile
    const std::uint64_t tail = reach > plane_ ? round_up(reach - plane_, 4) : 0;
    block_elements_ = bounded(bounded(columns_ / 32, plane_, key) + tail, 32, key);
  } else {
    unknown(key);
  }
  if (kind_ != Kind::kFlat && !rest.empty()) unknown(key);
  block_stride_ = block_elements_;
  if (batch > 1 || key.starts_with("batch"))
    block_stride_ = round_up(block_elements_ * element_bytes, kBatchAlign) / element_bytes;
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
  std::uint64_t row = 0, column = 0;
  switch (kind_) {
    case Kind::kFlat:
      return static_cast<std::int64_t>(i);
    case Kind::kEntry: {  // memory order: tile, chunk, group, block, lane, k
      const std::uint64_t k = i % 32, lane = i / 32 % 4;
      i /= 128;
      const std::uint64_t block = i % p1_, group = i / p1_ % p0_;
      i /= p0_ * p1_;
      const std::uint64_t chunks = padded_columns_ / (32 * p1_);
      row = (i / chunks * p0_ + group) * 4 + lane;
      column = (i % chunks * p1_ + block) * 32 + k;
      break;
    }
    case Kind::kTile: {  // memory order: gi, gj, gm, gn, 4, 4
      const std::uint64_t c = i % 4, r = i / 4 % 4;
      i /= 16;
      const std::uint64_t n = i % p3_, m = i / p3_ % p2_;
      i /= p2_ * p3_;
      row = (i / p1_ * p2_ + m) * 4 + r;
      column = (i % p1_ * p3_ + n) * 4 + c;
      break;
    }
    case Kind::kBias:
      column = i / 16 * 4 + i % 4;
      break;
    case Kind::kConv: {  // memory order: block of channels, position, channel
      const std::uint64_t position = i / 32 % plane_, wide = width_ + 2;
      const std::uint64_t y = position / wide, x = position % wide;  // of the picture with its rim
      if (y == 0 || x == 0 || x > width_) return -1;
      row = (y - 1) * width_ + (x - 1);
      column = i / 32 / plane_ * 32 + i % 32;
      break;
    }
  }
  if (row >= rows_ || column >= columns_) return -1;
  return static_cast<std::int64_t>(row * columns_ + column);
}

std::vector<std::uint8_t> TensorLayout::pack(std::span<const std::uint8_t> row_major) const {
  KTPU_CHECK(row_major.size() == values_ * element_bytes_, "{} bytes for {} values", row_major.size(),
             values_);
  std::vector<std::uint8_t> memory(memory_elements_ * element_bytes_);
  for (std::uint64_t i = 0; i < memory_elements_; ++i)
    if (const std::int64_t s = source(i); s >= 0)
      std::memcpy(&memory[i * element_bytes_], &row_major[static_cast<std::uint64_t>(s) * element_bytes_],
                  element_bytes_);
  return memory;
}

std::vector<std::uint8_t> TensorLayout::unpack(std::span<const std::uint8_t> memory) const {
  KTPU_CHECK(memory.size() == memory_elements_ * element_bytes_, "{} bytes for {} elements", memory.size(),
             memory_elements_);
  std::vector<std::uint8_t> row_major(values_ * element_bytes_);
  for (std::uint64_t i = 0; i < memory_elements_; ++i)
    if (const std::int64_t s = source(i); s >= 0)
      std::memcpy(&row_major[static_cast<std::uint64_t>(s) * element_bytes_], &memory[i * element_bytes_],
                  element_bytes_);
  return row_major;
}

}  // namespace ktpu::arch
