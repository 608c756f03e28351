// SPDX-License-Identifier: Apache-2.0
// The 40-bit byte address (memory.md section 3) and the host's two-slave map (orchestrator.md section 1).
#pragma once

#include <array>
#include <cstdint>

#include "arch/bits.h"

namespace ktpu::arch::address {

inline constexpr unsigned kBits = 40;
inline constexpr std::uint64_t kMask = (1ull << kBits) - 1;
inline constexpr Field kSpecial{"special", 39, 1, "1 = aperture, 0 = DRAM"};
inline constexpr Field kReserved{"reserved", 38, 1, "0; 1 keeps an address out of every aperture"};
inline constexpr Field kMesh{"mesh", 36, 2, "mesh id"};
inline constexpr Field kAperture{"aperture", 32, 4, "aperture when special, else DRAM address"};
inline constexpr Field kLocal{"local", 0, 36, "byte address in a mesh's DRAM"};
inline constexpr std::array<Field, 5> kFields{kSpecial, kReserved, kMesh, kAperture, kLocal};

inline constexpr unsigned kApertureStaging = 0x0;  // 2 MiB staging memory of the mesh
inline constexpr unsigned kApertureUploadA = 0x4;  // host window only: quantise on the way, A packing
inline constexpr unsigned kApertureUploadB = 0x5;  // the same, B packing

constexpr bool special(std::uint64_t a) { return a >> 39 & 1; }
// Memory ports and staging memory decode an aperture only with the reserved bit clear.
constexpr bool in_aperture(std::uint64_t a) { return (a >> 38 & 3) == 2; }
constexpr unsigned mesh(std::uint64_t a) { return a >> 36 & 3; }
constexpr unsigned aperture(std::uint64_t a) { return a >> 32 & 15; }
constexpr std::uint64_t local(std::uint64_t a) { return a & ((1ull << 36) - 1); }
// Whether a host write to `a` is quantised on the way (memory.md section 8), with which packing, and where
// the result goes.
constexpr bool upload(std::uint64_t a) { return special(a) && (a >> 33 & 7) == 2; }
constexpr bool upload_b_layout(std::uint64_t a) { return a >> 32 & 1; }
constexpr std::uint64_t upload_destination(std::uint64_t a) {
  return a & (std::uint64_t{3} << 36 | ((1ull << 32) - 1));
}

// A host that reaches several meshes adds this to the inside address: (mesh+1) << 40.
constexpr std::uint64_t host_outside(unsigned mesh_id, std::uint64_t inside) {
  return static_cast<std::uint64_t>(mesh_id + 1) << 40 | (inside & kMask);
}

// Register space, orchestrator.md section 1: bit 28 chooses the control agent.
inline constexpr std::uint32_t kCommandEngineBase = 0x00000000;
inline constexpr std::uint32_t kAgentBase = 0x10000000;

// Fixed sizes of one operand entry and word (memory.md section 1).
inline constexpr std::uint32_t kEntryBytesFp16 = 256;
inline constexpr std::uint32_t kEntryBytesMxfp7 = 128;
// Staging memory: four banks of 4096 rows of one entry; higher address bits within the aperture alias
// (memory.md section 7.2).
inline constexpr std::uint64_t kStagingBytes = 4ull * 4096 * kEntryBytesMxfp7;
inline constexpr std::uint32_t kSubTileBytes = 32;  // a 4x4 FP16 result, one memory word

}  // namespace ktpu::arch::address
