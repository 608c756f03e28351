// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/memory.h"

#include <algorithm>

#include "arch/encoding/address_map.h"
#include "arch/error.h"

namespace ktpu::interpret {

namespace address = arch::address;

Memory::Memory(const MeshFacts& mesh)
    : base_(mesh.dram_base),
      size_(mesh.dram_size),
      wrap_(mesh.dram_wrap),
      staging_(mesh.staging),
      mesh_(mesh.id) {}

Memory::Piece Memory::piece(std::uint64_t at, std::uint64_t bytes) const {
  at &= address::kMask;
  std::uint64_t place = at, end = 0;
  if (staging_ && address::in_aperture(at) && address::mesh(at) == mesh_ &&
      address::aperture(at) == address::kApertureStaging) {
    // Higher bits within the aperture alias (memory.md section 7.2).
    const std::uint64_t first = at & ~((1ull << 32) - 1);
    place = first + (at - first) % address::kStagingBytes;
    end = first + address::kStagingBytes;
  } else if (wrap_) {
    place = address::local(at) % size_;
    end = size_;
  } else {
    // A port sends an address of another mesh to its own DRAM, which looks at the low 36 bits.
    if (!address::special(at)) place = address::local(at);
    end = base_ + size_;
    if (place < base_ || place >= end)
      throw arch::UserError::make("address 0x{:x} is not in the memory of the mesh, 0x{:x} up to 0x{:x}", at,
                                  base_, end);
  }
  const std::uint64_t page_left = kPageBytes - place % kPageBytes;
  return {place, std::min({bytes, page_left, end - place})};
}

Memory::Page* Memory::find(std::uint64_t place) const {
  const std::uint64_t number = place / kPageBytes;
  if (number == last_number_) return last_;
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_number_ = number;
  last_ = found->second.get();
  return last_;
}

Memory::Page& Memory::page(std::uint64_t place) {
  if (Page* found = find(place)) return *found;
  return *(pages_[place / kPageBytes] = std::make_unique<Page>());
}

template <typename Body>
void Memory::each_piece(std::uint64_t at, std::uint64_t bytes, Body&& body) const {
  for (std::uint64_t done = 0; done < bytes;) {
    const Piece p = piece(at + done, bytes - done);
    if (!body(p, done)) return;
    done += p.bytes;
  }
}

void Memory::read(std::uint64_t at, std::span<std::uint8_t> out) const {
  each_piece(at, out.size(), [&](const Piece& p, std::uint64_t done) {
    std::uint8_t* to = out.data() + done;
    if (const Page* page = find(p.place))
      std::copy_n(page->bytes.data() + p.place % kPageBytes, p.bytes, to);
    else
      std::fill_n(to, p.bytes, std::uint8_t{0});
    return true;
  });
}

void Memory::write(std::uint64_t at, std::span<const std::uint8_t> bytes, std::uint32_t stamp) {
  each_piece(at, bytes.size(), [&](const Piece& p, std::uint64_t done) {
    Page& to = page(p.place);
    const std::uint64_t first = p.place % kPageBytes;
    std::copy_n(bytes.data() + done, p.bytes, to.bytes.data() + first);
    for (std::uint64_t w = first / kWordBytes; w <= (first + p.bytes - 1) / kWordBytes; ++w)
      to.stamps[static_cast<std::size_t>(w)] = stamp;
    return true;
  });
}

std::uint64_t Memory::until(std::uint32_t stamp, std::uint64_t at, std::uint64_t bytes) const {
  std::uint64_t good = bytes;
  each_piece(at, bytes, [&](const Piece& p, std::uint64_t done) {
    const Page* page = find(p.place);
    const std::uint64_t first = p.place % kPageBytes;
    for (std::uint64_t w = first / kWordBytes; w <= (first + p.bytes - 1) / kWordBytes; ++w) {
      if ((page == nullptr ? kNobody : page->stamps[static_cast<std::size_t>(w)]) != stamp) continue;
      good = done + (std::max(w * kWordBytes, first) - first);
      return false;
    }
    return true;
  });
  return good;
}

}  // namespace ktpu::interpret
