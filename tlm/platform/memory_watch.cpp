// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/memory_watch.h"

#include <algorithm>

#include "arch/encoding/address_map.h"
#include "tlm/platform/runner.h"

namespace ktpu::platform {

namespace {

constexpr std::uint64_t kPlace = ~(std::uint64_t{3} << 36) & arch::address::kMask;

}  // namespace

MemoryWatch::MemoryWatch(const System& system, const MeshSystem& mesh, std::vector<Range> ranges,
                         memory::MemoryProbe* next, Sink sink)
    : system_(system), mesh_(mesh), ranges_(std::move(ranges)), next_(next), sink_(std::move(sink)) {
  for (Range& range : ranges_) range.address &= kPlace;
}

bool MemoryWatch::touches(std::uint64_t address, std::uint64_t bytes) const {
  address &= kPlace;
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& r) {
    return address < r.address + r.bytes && r.address < address + bytes;
  });
}

// Requesters in the order of memory.md section 7.
std::string MemoryWatch::requester_text(const memory::DramAddress& burst) const {
  const auto ports = static_cast<unsigned>(mesh_.description->ports.size());
  if (burst.id == ports) return "the host window";
  if (burst.id == ports + 1) return "the memory mover";
  if (burst.id > ports + 1) return "the interlink";
  const topo::Node* node = mesh_.description->node_at(burst.origin);
  return fmt::format("{} through port {}",
                     node == nullptr ? fmt::format("({},{})", burst.origin.x, burst.origin.y)
                                     : topo::node_id(system_.machine(), *mesh_.description, *node),
                     burst.id);
}

void MemoryWatch::tell(sim::Cycle now, const char* verb, std::uint64_t address, const std::uint8_t* data,
                       std::uint64_t bytes, const std::string& who) {
  std::string line =
      fmt::format("cycle {}: {} {:#x}..{:#x} by {}:", now, verb, address, address + bytes - 1, who);
  for (std::uint64_t i = 0; i < bytes; ++i) line += fmt::format("{}{:02x}", i % 2 == 0 ? " " : "", data[i]);
  sink_(line);
}

void MemoryWatch::on_read_address(sim::Cycle now, const memory::DramAddress& burst) {
  reads_[burst.id % reads_.size()].push_back({burst, 0});
  if (next_ != nullptr) next_->on_read_address(now, burst);
}

void MemoryWatch::on_read_beat(sim::Cycle now, unsigned requester, bool last) {
  if (next_ != nullptr) next_->on_read_beat(now, requester, last);
}

void MemoryWatch::on_read_data(sim::Cycle now, unsigned requester, const memory::DramData& data) {
  if (next_ != nullptr) next_->on_read_data(now, requester, data);
  std::deque<Burst>& bursts = reads_[requester % reads_.size()];
  if (bursts.empty()) return;
  Burst& burst = bursts.front();
  const unsigned bytes = mesh_.dram->bus_bytes();
  const std::uint64_t address = burst.address.addr + std::uint64_t{bytes} * burst.done;
  if (touches(address, bytes))
    tell(now, "read", address, reinterpret_cast<const std::uint8_t*>(data.words.data()), bytes,
         requester_text(burst.address));
  if (++burst.done == burst.address.beats) bursts.pop_front();
}

void MemoryWatch::on_write_address(sim::Cycle now, const memory::DramAddress& burst) {
  writes_.push_back({burst, 0});
  if (next_ != nullptr) next_->on_write_address(now, burst);
}

void MemoryWatch::on_write_beat(sim::Cycle now, const memory::DramWriteBeat& beat) {
  if (next_ != nullptr) next_->on_write_beat(now, beat);
  if (writes_.empty()) return;
  Burst& burst = writes_.front();
  const std::uint64_t address = burst.address.addr + std::uint64_t{mesh_.dram->bus_bytes()} * burst.done;
  const auto* data = reinterpret_cast<const std::uint8_t*>(beat.data.words.data());
  for (unsigned lane = 0; lane < mesh_.dram->bus_bytes() / arch::kWordBytes; ++lane) {
    const std::uint64_t word = address + std::uint64_t{arch::kWordBytes} * lane;
    if ((beat.lanes >> lane & 1) != 0 && touches(word, arch::kWordBytes))
      tell(now, "write", word, data + arch::kWordBytes * lane, arch::kWordBytes,
           requester_text(burst.address));
  }
  ++burst.done;
  if (beat.last != 0) writes_.pop_front();
}

void MemoryWatch::on_write_response(sim::Cycle now, unsigned requester) {
  if (next_ != nullptr) next_->on_write_response(now, requester);
}

void MemoryWatch::on_host(sim::Cycle now, bool write, std::uint64_t address, std::uint64_t bytes,
                          const std::string& what) {
  for (const Range& range : ranges_) {
    const std::uint64_t place = address & kPlace;
    const std::uint64_t first = std::max(place, range.address),
                        end = std::min(place + bytes, range.address + range.bytes);
    if (first >= end) continue;
    const std::vector<std::uint8_t> data = read_memory(mesh_, first, end - first);
    tell(now, write ? "write" : "read", first, data.data(), data.size(), what);
  }
}

}  // namespace ktpu::platform
