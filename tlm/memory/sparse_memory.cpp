// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/sparse_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "tlm/sim/random.h"

namespace ktpu::memory {

SparseMemory::SparseMemory(const SparseMemoryConfig& config) : config_(config) {
  KTPU_CHECK(config.size > 0 && config.size <= 1ull << 36, "memory of {} bytes", config.size);
  const std::uint64_t pages = (config.size + kPageBytes - 1) / kPageBytes;
  groups_.resize((pages + kGroupPages - 1) / kGroupPages);
}

std::uint64_t SparseMemory::offset_of(std::uint64_t addr) const {
  const std::uint64_t local = arch::address::local(addr);
  if (config_.wrap) return local % config_.size;
  return local >= config_.base && local - config_.base < config_.size ? local - config_.base : kOutside;
}

bool SparseMemory::contains(std::uint64_t addr, std::uint64_t bytes) const {
  if (config_.wrap) return true;
  const std::uint64_t offset = offset_of(addr);
  return offset != kOutside && bytes <= config_.size - offset;
}

const std::uint8_t* SparseMemory::find(std::uint64_t page) const {
  const auto& group = groups_[page / kGroupPages];
  return group == nullptr ? nullptr : (*group)[page % kGroupPages].get();
}

std::uint8_t* SparseMemory::make(std::uint64_t page) {
  auto& group = groups_[page / kGroupPages];
  if (group == nullptr) group = std::make_unique<Group>();
  auto& bytes = (*group)[page % kGroupPages];
  if (bytes == nullptr) bytes = std::make_unique<std::uint8_t[]>(kPageBytes);  // zeroed
  return bytes.get();
}

void SparseMemory::read(std::uint64_t addr, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const std::uint64_t offset = offset_of(addr);
    std::size_t n = 1;
    if (offset == kOutside) {
      out[0] = 0;
    } else {
      const std::uint64_t in_page = offset % kPageBytes;
      n = static_cast<std::size_t>(
          std::min<std::uint64_t>({out.size(), kPageBytes - in_page, config_.size - offset}));
      if (const std::uint8_t* page = find(offset / kPageBytes))
        std::memcpy(out.data(), page + in_page, n);
      else
        std::memset(out.data(), 0, n);
    }
    addr += n;
    out = out.subspan(n);
  }
}

void SparseMemory::write(std::uint64_t addr, std::span<const std::uint8_t> in) {
  while (!in.empty()) {
    const std::uint64_t offset = offset_of(addr);
    std::size_t n = 1;
    if (offset != kOutside) {
      const std::uint64_t in_page = offset % kPageBytes;
      n = static_cast<std::size_t>(
          std::min<std::uint64_t>({in.size(), kPageBytes - in_page, config_.size - offset}));
      std::memcpy(make(offset / kPageBytes) + in_page, in.data(), n);
    }
    addr += n;
    in = in.subspan(n);
  }
}

void SparseMemory::visit(sim::Archive& a) {
  if (!a.is_checkpoint()) return;
  const std::uint64_t all = groups_.size() * kGroupPages;
  std::vector<std::uint64_t> pages;
  for (std::uint64_t page = 0; page < all; ++page) {
    if (groups_[page / kGroupPages] == nullptr)
      page += kGroupPages - 1;
    else if (find(page) != nullptr)
      pages.push_back(page);
  }
  a.kept_list("pages", pages, [&](std::uint64_t& page) { a.kept("page", page); });
  if (a.restores()) clear();
  for (const std::uint64_t page : pages) {
    KTPU_CHECK(page < all, "page {} of {}", page, all);
    a.kept_memory("bytes", make(page), kPageBytes);
  }
}

std::uint64_t SparseMemory::digest() const {
  std::uint64_t sum = 0;  // in any order; a page of zeros counts as one never written
  for_each_page([&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
    std::uint64_t hash = 0, any = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      any |= word;
      hash = (std::rotl(hash, 23) ^ word) * 0x9E3779B97F4A7C15ull;
    }
    if (any != 0) sum += sim::scramble(hash ^ sim::scramble(address + 1));
  });
  return sum;
}

void SparseMemory::clear() {
  for (auto& group : groups_) group.reset();
}

}  // namespace ktpu::memory
