// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/write_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"

namespace ktpu::memory {

void WriteSlots::reset() {
  slots_ = {};
  used_ = open_ = 0;
  ready_.reset();
}

bool WriteSlots::open(sim::Cycle now, const arch::Flit& request, MisuseLog& misuse) {
  const unsigned index = static_cast<unsigned>(std::countr_one(used_));
  if (index >= kWriteSlots) return false;
  const auto payload = arch::unpack_payload<arch::MemReq>(request.w.data());
  if (payload.len > arch::kMaxWriteLen)
    misuse.add({MisuseKind::kWriteTooLong, now, request.src(), payload.addr,
                fmt::format("write of {} beats at {:#x}: a write slot holds {}", payload.len + 1,
                            payload.addr, kWriteBeats)});
  WriteSlot& slot = slots_[index];
  slot.valid = true;
  slot.ready = slot.issued = false;
  slot.src = request.src();
  slot.txn = static_cast<std::uint8_t>(request.txn());
  slot.addr = payload.addr;
  slot.length = (payload.len & 15) + 1;
  slot.count = 0;
  slot.opened_at = now;
  used_ |= 1u << index;
  open_ |= 1u << index;
  return true;
}

bool WriteSlots::store(sim::Cycle now, const arch::Flit& data) {
  for (std::uint32_t open = open_; open != 0; open &= open - 1) {
    const unsigned index = static_cast<unsigned>(std::countr_zero(open));
    WriteSlot& slot = slots_[index];
    if (slot.src != data.src()) continue;
    std::copy_n(data.w.begin(), 4, slot.data[slot.count % kWriteBeats].begin());
    if (++slot.count == slot.length) {
      slot.ready = true;
      open_ &= ~(1u << index);
      ready_.push(now, index);
    }
    return true;
  }
  return false;
}

void WriteSlots::release(unsigned index) {
  slots_[index].valid = slots_[index].ready = slots_[index].issued = false;
  used_ &= ~(1u << index);
}

unsigned WriteSlots::take(sim::Cycle now) {
  const auto index = static_cast<unsigned>(ready_.head());
  ready_.pop(now);
  slots_[index].issued = true;
  return index;
}

void WriteSlots::visit(sim::Archive& archive) {
  for (unsigned i = 0; i < kWriteSlots; ++i) {
    WriteSlot& s = slots_[i];
    archive.scope(fmt::format("slot{}", i), [&] {
      archive.state("valid", s.valid, 1);
      archive.state("ready", s.ready, 1);
      archive.state("issued", s.issued, 1);
      archive.state("txn", s.txn, 8);
      archive.state("src_x", s.src.x, 4);
      archive.state("src_y", s.src.y, 4);
      archive.state("length", s.length, 5);
      archive.state("count", s.count, 5);
      archive.state("addr", s.addr, arch::address::kBits);
      archive.state("opened_at", s.opened_at);
      archive.memory("data", s.data.data()->data(), 4 * kWriteBeats);
    });
  }
  ready_.visit(archive, "ready_fifo");
  archive.kept("used", used_);
  archive.kept("open", open_);
}

void WriteSlots::waits(std::vector<sim::Wait>& waits) const {
  for (std::uint32_t open = open_; open != 0; open &= open - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(open));
    const WriteSlot& s = slots_[index];
    waits.push_back({.what = fmt::format("write slot {}: {} of {} data flits from ({},{}) received", index,
                                         s.count, s.length, s.src.x, s.src.y),
                     .part = "write slots",
                     .on_part = "output",
                     .kind = "write-data",
                     .node = s.src,
                     .since = s.opened_at});
  }
}

}  // namespace ktpu::memory
