// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_device.h"

#include <bit>

#include "arch/error.h"

namespace ktpu::memory {

DramDevice::DramDevice(unsigned bus_bits) : bus_bits_(bus_bits) {
  if (bus_bits < 128 || bus_bits > kMaxBusBits || !std::has_single_bit(bus_bits))
    throw arch::UserError::make("a DRAM bus of {} bits: it must be 128, 256, 512 or 1024", bus_bits);
  out_.r_data = {};
}

Misuse out_of_range(sim::Cycle now, const DramAddress& burst, std::uint64_t bytes, bool write,
                    const SparseMemoryConfig& memory) {
  return {MisuseKind::kOutOfRange, now, burst.origin, burst.addr,
          fmt::format("{} of {} bytes at {:#x}, outside the memory {:#x}..{:#x}", write ? "write" : "read",
                      bytes, burst.addr, memory.base, memory.base + memory.size - 1)};
}

}  // namespace ktpu::memory
