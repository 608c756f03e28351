// SPDX-License-Identifier: Apache-2.0
// The staging memory of a mesh (memory.md sections 3 and 7.2): 2 MiB behind aperture 0, in one of two places.
#pragma once

#include <cstdint>

#include "arch/encoding/address_map.h"
#include "tlm/memory/sparse_memory.h"

namespace ktpu::memory {

enum class StagingPlacement : std::uint8_t {
  kNone,       // not built: aperture addresses go to DRAM with bit 39 set
  kConverged,  // one store in front of the DRAM port, for every requester (STAGE_AT_PORT=1)
  kPort,       // a private store inside each memory port, for its entry reads and writes (STAGE_AT_PORT=0)
};

struct StagingConfig {
  StagingPlacement placement = StagingPlacement::kNone;
  unsigned mesh_id = 0;  // 0..3
};

inline constexpr SparseMemoryConfig kStagingMemory{0, arch::address::kStagingBytes, true};

// Whether the staging memory of mesh `mesh_id` serves `addr` (section 7.2, Claim).
constexpr bool is_staged(std::uint64_t addr, unsigned mesh_id) {
  return arch::address::in_aperture(addr) && arch::address::mesh(addr) == mesh_id &&
         arch::address::aperture(addr) == arch::address::kApertureStaging;
}
// The store is addressed by words.
constexpr std::uint64_t word_of(std::uint64_t addr) { return addr & ~std::uint64_t{arch::kWordBytes - 1}; }
// Whether [addr, addr + bytes) leaves the 2 MiB, so that it meets bytes with other addresses.
constexpr bool staging_aliases(std::uint64_t addr, std::uint64_t bytes) {
  return (addr & ((1ull << 32) - 1)) + bytes > arch::address::kStagingBytes;
}

// What a memory port does with the address of an entry read or a write (section 3, last table).
enum class PortTarget : std::uint8_t {
  kPath,   // on to the staging memory in front of the DRAM port, or to DRAM
  kStore,  // the port's own store
  kDrop,   // nobody: no response, no acknowledgement
};
constexpr PortTarget port_target(std::uint64_t addr, const StagingConfig& config) {
  if (config.placement == StagingPlacement::kNone || !arch::address::in_aperture(addr))
    return PortTarget::kPath;
  if (!is_staged(addr, config.mesh_id)) return PortTarget::kDrop;
  return config.placement == StagingPlacement::kPort ? PortTarget::kStore : PortTarget::kPath;
}

}  // namespace ktpu::memory
