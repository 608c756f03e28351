// SPDX-License-Identifier: Apache-2.0
// The memory mover's command registers (memory.md section 10.1). Offsets are bytes in its window, which lies
// at agent::kAuxCfgMover of the control agent; every register is 8 bytes and write only.
#pragma once

#include <array>
#include <cstdint>

#include "arch/bits.h"
#include "arch/encoding/registers.h"

namespace ktpu::arch::mover {

inline constexpr std::uint32_t kControl = 0x00, kBase = 0x10, kDimension = 0x18, kAxis = 0x20, kExtent = 0x28,
                               kIndex = 0x30, kSeed = 0x38, kImmediate = 0x40, kGatherRow = 0x50;

// By name, at the control agent's offsets.
inline constexpr std::array<Register, 9> kRegisters{{
    {"MOVER_CONTROL", agent::kAuxCfgMover + kControl, 17, Access::kWriteOnly, 0, 1, "mode, width, flags, GO"},
    {"MOVER_BASE", agent::kAuxCfgMover + kBase, 47, Access::kWriteOnly, 0, 1, "walker, base, dimensions"},
    {"MOVER_DIMENSION", agent::kAuxCfgMover + kDimension, 52, Access::kWriteOnly, 0, 1,
     "walker, dimension, count, stride; latched"},
    {"MOVER_AXIS", agent::kAuxCfgMover + kAxis, 18, Access::kWriteOnly, 0, 1,
     "axis and step; commits the dimension"},
    {"MOVER_EXTENT", agent::kAuxCfgMover + kExtent, 34, Access::kWriteOnly, 0, 1,
     "walker, axis, first position, extent"},
    {"MOVER_INDEX", agent::kAuxCfgMover + kIndex, 56, Access::kWriteOnly, 0, 1, "index buffer and count"},
    {"MOVER_SEED", agent::kAuxCfgMover + kSeed, 64, Access::kWriteOnly, 0, 1, "seed of the generator"},
    {"MOVER_IMMEDIATE", agent::kAuxCfgMover + kImmediate, 32, Access::kWriteOnly, 0, 1,
     "fill value and padding"},
    {"MOVER_GATHER", agent::kAuxCfgMover + kGatherRow, 48, Access::kWriteOnly, 0, 1, "row pitch and words"},
}};

enum class Mode : std::uint8_t { kCopy = 0, kTranspose = 1, kGather = 2, kGenerate = 3, kFill = 4 };
enum class Fault : std::uint8_t {
  kNone = 0,
  kIndexLength = 1,
  kRange = 2,  // nothing raises it
  kAxi = 3,    // out of reach behind the DRAM port
  kMode = 4,
  kWidth = 5,
  kAlignment = 6,
};

inline constexpr unsigned kDimensions = 6;
inline constexpr unsigned kAxes = 2;
inline constexpr unsigned kMaxIndices = 2048;

namespace control {
inline constexpr Field kMode{"mode", 0, 3, "0 copy, 1 transpose (faults), 2 gather, 3 generate, 4 fill"};
inline constexpr Field kWidth{"width", 3, 2, "element width: 0 = 8, 1 = 16, 2 = 32 bits"};
inline constexpr Field kCoalesce{"coalesce", 11, 1, "gather writes of following words into bursts"};
inline constexpr Field kCap{"cap", 13, 3, "longest burst: 0 = 128 words, n = 2^(n-1)"};
inline constexpr Field kGo{"go", 16, 1, "start; ignored while busy"};
}  // namespace control
namespace base {
inline constexpr Field kWalker{"walker", 0, 1, "0 source, 1 destination"};
inline constexpr Field kBase{"base", 4, 40, "byte address"};
inline constexpr Field kNdim{"ndim", 44, 3, "dimensions, 0..6"};
}  // namespace base
namespace dimension {  // latched; axis commits it
inline constexpr Field kWalker{"walker", 0, 1, "0 source, 1 destination"};
inline constexpr Field kDimension{"dimension", 1, 3, "0..5, 5 innermost"};
inline constexpr Field kCount{"count", 4, 16, "0 acts as 1"};
inline constexpr Field kStride{"stride", 20, 32, "bytes, signed"};
}  // namespace dimension
namespace axis {
inline constexpr Field kAxis{"axis", 0, 2, "0 none, 1, 2"};
inline constexpr Field kStep{"step", 2, 16, "signed"};
}  // namespace axis
namespace extent {
inline constexpr Field kWalker{"walker", 0, 1, "0 source, 1 destination"};
inline constexpr Field kAxis{"axis", 1, 1, "0 = axis 1, 1 = axis 2"};
inline constexpr Field kBase{"base", 2, 16, "signed"};
inline constexpr Field kExtent{"extent", 18, 16, "0 = unbounded"};
}  // namespace extent
namespace index {
inline constexpr Field kAddress{"address", 0, 40, "byte address of the index buffer"};
inline constexpr Field kCount{"count", 40, 16, "32-bit indices, at most 2048"};
}  // namespace index
namespace gather {
inline constexpr Field kPitch{"pitch", 0, 32, "bytes between rows"};
inline constexpr Field kWords{"words", 32, 16, "32-byte words a row"};
}  // namespace gather

// The register words.
constexpr std::uint64_t base_word(bool destination, std::uint64_t address, unsigned ndim) {
  std::uint64_t w = 0;
  set(&w, base::kWalker, destination);
  set(&w, base::kBase, address);
  set(&w, base::kNdim, ndim);
  return w;
}
constexpr std::uint64_t dimension_word(bool destination, unsigned number, unsigned count,
                                       std::int64_t stride) {
  std::uint64_t w = 0;
  set(&w, dimension::kWalker, destination);
  set(&w, dimension::kDimension, number);
  set(&w, dimension::kCount, count);
  set(&w, dimension::kStride, static_cast<std::uint64_t>(stride));
  return w;
}
constexpr std::uint64_t axis_word(unsigned number, std::int64_t step) {  // 0 none, 1, 2
  std::uint64_t w = 0;
  set(&w, axis::kAxis, number);
  set(&w, axis::kStep, static_cast<std::uint64_t>(step));
  return w;
}
constexpr std::uint64_t extent_word(bool destination, unsigned number, std::int64_t first,
                                    unsigned bound) {  // axis 1, 2
  std::uint64_t w = 0;
  set(&w, extent::kWalker, destination);
  set(&w, extent::kAxis, number - 1);
  set(&w, extent::kBase, static_cast<std::uint64_t>(first));
  set(&w, extent::kExtent, bound);
  return w;
}
struct Control {
  Mode mode = Mode::kCopy;
  unsigned width = 1;  // 0 = 8, 1 = 16, 2 = 32 bits
  bool coalesce = false;
  unsigned cap_code = 0;
  bool go = true;
};
constexpr std::uint64_t control_word(const Control& c) {
  std::uint64_t w = 0;
  set(&w, control::kMode, static_cast<std::uint64_t>(c.mode));
  set(&w, control::kWidth, c.width);
  set(&w, control::kCoalesce, c.coalesce);
  set(&w, control::kCap, c.cap_code);
  set(&w, control::kGo, c.go);
  return w;
}

}  // namespace ktpu::arch::mover
