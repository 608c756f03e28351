// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/landing.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"

namespace ktpu::memory {

namespace {

// The mesh bits of an address choose nothing here: all of it goes to the own memory (section 5.5).
constexpr std::uint64_t kPlace = ~(std::uint64_t{3} << 36) & arch::address::kMask;

struct Range {
  std::uint64_t begin, end;
};
constexpr Range words_at(std::uint64_t address, std::uint64_t words) {
  const std::uint64_t begin = address & kPlace & ~std::uint64_t{arch::kWordBytes - 1};
  return {begin, begin + words * arch::kWordBytes};
}

Range range_of(const arch::Flit& request) {
  const auto fields = arch::unpack_payload<arch::MemReq>(request.w.data());
  return words_at(fields.addr, (fields.len & 15) + 1);
}

}  // namespace

LandingTracker::Write& LandingTracker::add() {
  if (count_ == kMost) remove(0);
  return writes_[count_++] = {};
}

void LandingTracker::remove(std::uint32_t index) {
  std::copy(writes_.begin() + index + 1, writes_.begin() + count_, writes_.begin() + index);
  --count_;
}

LandingTracker::Write* LandingTracker::find(Stage below, arch::Coord origin, std::uint64_t begin) {
  for (std::uint32_t i = 0; i < count_; ++i)
    if (writes_[i].stage < below && writes_[i].begin == begin && writes_[i].origin == origin)
      return &writes_[i];
  return nullptr;
}

void LandingTracker::write_sent(sim::Cycle now, const arch::Flit& request) {
  // A remote write lands in another mesh.
  if (!enabled_ || !ports_[request.dst().node_byte()] || (request.rsvd() & arch::kRsvdRemote) != 0) return;
  const Range range = range_of(request);
  Write& write = add();
  write.begin = range.begin;
  write.end = range.end;
  write.since = now;
  write.origin = request.src();
}

void LandingTracker::write_kept(sim::Cycle, const arch::Flit& request) {
  write_acknowledged(request.src(), range_of(request).begin);
}

void LandingTracker::write_arrived(sim::Cycle now, const arch::Flit& request) {
  if (!enabled_) return;
  const Range range = range_of(request);
  Write* write = find(kArrived, request.src(), range.begin);
  if (write == nullptr) {
    write = &add();
    write->begin = range.begin;
    write->end = range.end;
    write->since = now;
    write->origin = request.src();
  }
  write->stage = kArrived;
}

void LandingTracker::write_granted(sim::Cycle now, unsigned requester, arch::Coord origin,
                                   std::uint64_t address, std::uint32_t words) {
  if (!enabled_) return;
  const Range range = words_at(address, words);
  Write* write = find(kGranted, origin, range.begin);
  if (write == nullptr) {
    write = &add();
    write->since = now;
    write->origin = origin;
  }
  write->begin = range.begin;
  write->end = range.end;
  write->stage = kGranted;
  write->requester = static_cast<std::uint8_t>(requester);
  write->order = grants_++;
}

void LandingTracker::write_landed(unsigned requester) {
  std::uint32_t oldest = count_;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (writes_[i].stage == kGranted && writes_[i].requester == requester &&
        (oldest == count_ || static_cast<std::int32_t>(writes_[i].order - writes_[oldest].order) < 0))
      oldest = i;
  if (oldest != count_) remove(oldest);
}

void LandingTracker::write_acknowledged(arch::Coord origin, std::uint64_t address) {
  if (count_ == 0) return;
  if (const Write* write = find(kGranted, origin, words_at(address, 1).begin))
    remove(static_cast<std::uint32_t>(write - writes_.data()));
}

std::optional<LandingTracker::Write> LandingTracker::pending(std::uint64_t address,
                                                             std::uint64_t bytes) const {
  const std::uint64_t begin = address & kPlace;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (writes_[i].begin < begin + bytes && begin < writes_[i].end) return writes_[i];
  return std::nullopt;
}

std::string LandingTracker::describe(const Write& write) {
  const char* where = write.stage == kSent      ? "in the mesh"
                      : write.stage == kArrived ? "at the memory port"
                                                : "on the way to DRAM";
  return fmt::format("a write of ({},{}) to {:#x}..{:#x}, on its way since cycle {} ({})", write.origin.x,
                     write.origin.y, write.begin, write.end - 1, write.since, where);
}

void LandingTracker::check_read(sim::Cycle now, arch::Coord reader, std::uint64_t address,
                                std::uint32_t words) {
  const Range range = words_at(address, words);
  if (const auto write = pending(range.begin, range.end - range.begin))
    misuse_.add({MisuseKind::kReadLanding, now, reader, address,
                 fmt::format("read {:#x}..{:#x} before {} had landed: it may get the old bytes", range.begin,
                             range.end - 1, describe(*write))});
}

void LandingTracker::visit(sim::Archive& archive) {
  archive.state("count", count_, 9);
  archive.state("grants", grants_, 32);
  if (!archive.walks_contents()) return;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Write& w = writes_[i];
    archive.state("begin", w.begin, arch::address::kBits);
    archive.state("end", w.end, arch::address::kBits + 1);
    archive.state("since", w.since);
    archive.state("order", w.order);
    archive.state("origin_x", w.origin.x, 4);
    archive.state("origin_y", w.origin.y, 4);
    archive.state("stage", w.stage, 2);
    archive.state("requester", w.requester, 3);
  }
}

}  // namespace ktpu::memory
