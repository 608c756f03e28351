// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_device.h"

#include <bit>
#include <utility>

#include "arch/error.h"

namespace ktpu::memory {

DramDevice::DramDevice(unsigned bus_bits) : bus_bits_(bus_bits) {
  if (bus_bits < 128 || bus_bits > kMaxBusBits || !std::has_single_bit(bus_bits))
    throw arch::UserError::make("a DRAM bus of {} bits: it must be 128, 256, 512 or 1024", bus_bits);
  out_.r_data = {};
}

void DramDevice::record(Misuse misuse) {
  if (misuse_ == nullptr) return;
  misuse.cycle = to_agent_.containing(misuse.cycle);
  misuse_->add(std::move(misuse));
}

void DramDevice::keep_outputs(sim::Archive& a) {
  a.kept("ar_ready", out_.ar_ready);
  a.kept("aw_ready", out_.aw_ready);
  a.kept("w_ready", out_.w_ready);
  a.kept("r_valid", out_.r_valid);
  a.kept("r_last", out_.r_last);
  a.kept("b_valid", out_.b_valid);
  a.kept("r_id", out_.r_id);
  a.kept("b_id", out_.b_id);
  a.kept_memory("r_data", out_.r_data.words.data(), out_.r_data.words.size());
}

void DramDevice::keep(sim::Archive& a, DramAddress& address) {
  a.kept("addr", address.addr);
  a.kept("beats", address.beats);
  a.kept("id", address.id);
  a.kept("origin", address.origin);
}

Misuse out_of_range(sim::Cycle now, const DramAddress& burst, std::uint64_t bytes, bool write,
                    const SparseMemoryConfig& memory) {
  return {MisuseKind::kOutOfRange, now, burst.origin, burst.addr,
          fmt::format("{} of {} bytes at {:#x}, outside the memory {:#x}..{:#x}", write ? "write" : "read",
                      bytes, burst.addr, memory.base, memory.base + memory.size - 1)};
}

}  // namespace ktpu::memory
