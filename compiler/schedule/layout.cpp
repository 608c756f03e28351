// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/layout.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "arch/error.h"
#include "arch/program/tensor_layout.h"

namespace ktpu::schedule {
namespace {

constexpr unsigned kElementBytes = 2;  // FP16
constexpr unsigned kBiasCopies = 4;    // one for each row of a sub-tile

arch::TensorLayout image(const std::string& key, Shape shape, std::uint64_t least_stride) {
  return arch::TensorLayout(key, shape, kElementBytes, least_stride);
}

}  // namespace

Layout Layout::flat() { return Layout("flat"); }
Layout Layout::rows(unsigned columns) { return Layout(fmt::format("rows:{}", columns)); }
Layout Layout::entry(unsigned groups, unsigned blocks) {
  return Layout(fmt::format("entry:{}x{}", groups, blocks));
}
Layout Layout::tile(unsigned grid_rows, unsigned grid_columns, unsigned gm, unsigned gn) {
  return Layout(fmt::format("tile:{}x{}:{}x{}", grid_rows, grid_columns, gm, gn));
}
Layout Layout::channel_bias(unsigned gn) { return Layout(fmt::format("bias:{}", gn), kBiasCopies); }
Layout Layout::conv_entry(unsigned gm) { return Layout(fmt::format("conv:1:{}", gm)); }

Layout Layout::batched(const Layout& inner, unsigned count, std::uint64_t least_stride) {
  KTPU_CHECK(!inner.key_.starts_with("batch"), "a batch of {}", inner.key_);
  Layout layout(fmt::format("batch{}:{}", count, inner.key_), inner.copies_);
  layout.least_stride_ = least_stride;
  return layout;
}

namespace {

// The numbers of a key written as `form`, where each # stands for one from 1 on; empty: it is not so written.
std::vector<unsigned> numbers(std::string_view key, std::string_view form) {
  std::vector<unsigned> found;
  for (const char c : form) {
    if (c != '#') {
      if (!key.starts_with(c)) return {};
      key.remove_prefix(1);
      continue;
    }
    unsigned value = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), value);
    if (error != std::errc() || value == 0 || key[0] == '0') return {};
    key.remove_prefix(static_cast<std::size_t>(end - key.data()));
    found.push_back(value);
  }
  return key.empty() ? found : std::vector<unsigned>{};
}

}  // namespace

Layout Layout::from_key(std::string_view key, std::uint64_t least_stride) {
  if (key.starts_with("batch")) {
    const std::size_t colon = std::min(key.find(':'), key.size());
    const std::vector<unsigned> count = numbers(key.substr(0, colon), "batch#");
    const std::string_view inner = key.substr(std::min(colon + 1, key.size()));
    if (!count.empty() && !inner.starts_with("batch"))
      return batched(from_key(inner), count[0], least_stride);
  } else if (least_stride != 0) {
    throw arch::UserError::make("layout {}: only the blocks of a batch stand apart", key);
  }
  if (key == "flat") return flat();
  if (const auto n = numbers(key, "rows:#"); !n.empty()) return rows(n[0]);
  if (const auto n = numbers(key, "entry:#x#"); !n.empty()) return entry(n[0], n[1]);
  if (const auto n = numbers(key, "tile:#x#:#x#"); !n.empty()) return tile(n[0], n[1], n[2], n[3]);
  if (const auto n = numbers(key, "bias:#"); !n.empty()) return channel_bias(n[0]);
  if (const auto n = numbers(key, "conv:1:#"); !n.empty()) return conv_entry(n[0]);
  throw arch::UserError::make(
      "layout \"{}\" is none of flat, rows:C, entry:GxB, tile:IxJ:MxN, bias:N, conv:1:G, and batchC: before "
      "one of "
      "them",
      key);
}

std::optional<std::uint64_t> Layout::tile_bytes() const {
  unsigned i = 0, j = 0, gm = 0, gn = 0;
  if (std::sscanf(key_.c_str(), "tile:%ux%u:%ux%u", &i, &j, &gm, &gn) != 4) return std::nullopt;
  constexpr std::uint64_t kSubTileBytes = 32;
  return std::uint64_t{i} * j * gm * gn * kSubTileBytes;
}

std::uint64_t Layout::row_columns() const {
  unsigned columns = 0;
  return std::sscanf(key_.c_str(), "rows:%u", &columns) == 1 ? columns : 0;
}

std::uint64_t Layout::nbytes(Shape shape) const {
  return image(key_, shape, least_stride_).elements() * kElementBytes;
}

std::vector<std::uint8_t> Layout::pack(std::span<const std::uint8_t> row_major, Shape shape) const {
  return image(key_, shape, least_stride_).pack(row_major);
}

std::vector<std::uint8_t> Layout::unpack(std::span<const std::uint8_t> memory, Shape shape) const {
  const arch::TensorLayout whole = image(key_, shape, least_stride_);
  std::vector<std::uint8_t> padded(memory.begin(), memory.end());
  padded.resize(whole.elements() * kElementBytes);
  return whole.unpack(padded);
}

std::string Layout::print(Shape shape) const {
  const arch::TensorLayout whole = image(key_, shape, least_stride_);
  return fmt::format("{} [{}]: {} values in {} bytes", key_, fmt::join(shape, ", "), whole.values(),
                     whole.elements() * kElementBytes);
}

std::string Layout::verify(Shape shape) const {
  const arch::TensorLayout whole = image(key_, shape, least_stride_);
  std::vector<unsigned> seen(whole.values());
  for (std::uint64_t i = 0; i < whole.elements(); ++i)
    if (const std::int64_t value = whole.source(i); value >= 0) ++seen.at(static_cast<std::size_t>(value));
  const auto wrong = std::find_if(seen.begin(), seen.end(), [&](unsigned n) { return n != copies_; });
  if (wrong == seen.end()) return {};
  return fmt::format("{}: value {} lies in memory {} times, not {}", key_, wrong - seen.begin(), *wrong,
                     copies_);
}

}  // namespace ktpu::schedule
