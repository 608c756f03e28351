// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a vector core's sequencer go (tlm/sim/attribution.h), by priority.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/sim/attribution.h"

namespace ktpu::vector {

enum class VectorCycle : std::uint8_t {
  kBeat,
  kHazard,
  kPipe,
  kFill,
  kSend,
  kLanding,
  kMove,
  kFetch,
  kStep,
  kIdle
};
inline constexpr std::array<sim::CycleState, 10> kVectorCycles{{
    {"beat", "Cycles in which a beat was issued to the lanes"},
    {"hazard", "Cycles in which an instruction waited for a register or predicate to be written"},
    {"pipe",
     "Cycles in which an instruction waited for the lane pipeline to run empty, or a reduction for its tree"},
    {"fill", "Cycles in which VBAR, VFILL or VHALT waited for read responses"},
    {"send", "Cycles in which VFILL or VDRAIN waited for the way out"},
    {"landing", "Cycles in which a VST word waited for the L1 write port, which an arriving word held"},
    {"move", "Cycles in which VLD, VST, VCVT, VSHUF, VBCAST, VFILL or VDRAIN moved words"},
    {"fetch", "Cycles from an instruction's fetch to its execution"},
    {"step", "Other cycles of a kernel, and those of instruction-memory and descriptor writes"},
    {"idle", "Cycles without an instruction in execution"},
}};

}  // namespace ktpu::vector
