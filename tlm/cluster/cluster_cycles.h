// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a cluster's engines go (tlm/sim/attribution.h): names and meanings of their states, by
// priority.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/sim/attribution.h"

namespace ktpu::cluster {

// The sequencer, one instruction at a time (cluster.md section 5). Of the causes that hold a GEMM or DRAIN
// back, those go first that the passage of time alone does not end.
enum class SequencerCycle : std::uint8_t { kFill, kPeer, kBatch, kSweep, kResults, kSend, kStep, kIdle };
inline constexpr std::array<sim::CycleState, 8> kSequencerCycles{{
    {"fill", "Cycles in which a FILL waited for entries"},
    {"peer", "Cycles in which a GEMM or DRAIN waited for the end of a CU_DATA stream"},
    {"batch", "Cycles in which an emitting GEMM waited for the results of the batch before to leave"},
    {"sweep", "Cycles in which a GEMM or DRAIN waited for the sweep before it or for the accumulator"},
    {"results", "Cycles in which a DRAIN waited for its results to be taken by the write port"},
    {"send", "Cycles in which a DRAIN whose results are all taken waited for the last burst to leave"},
    {"step", "Cycles that the sequencer spends on an instruction without waiting"},
    {"idle", "Cycles without an instruction in execution"},
}};

// The sweep and the accumulator behind it (sections 7 and 8).
enum class SweepCycle : std::uint8_t { kStalled, kIssuing, kPacing, kAccumulating, kIdle };
inline constexpr std::array<sim::CycleState, 5> kSweepCycles{{
    {"stalled", "Cycles in which a sweep could not issue because 112 or more results waited to leave"},
    {"issuing", "Cycles in which a sweep issued a command"},
    {"pacing",
     "Cycles between two commands of a sweep with fewer than 5 sub-tiles, which has to keep its "
     "distance from its own writes"},
    {"accumulating",
     "Cycles without a sweep in which the accumulator finished commands: the end of a sweep, "
     "a drain's reads, a peer's sub-tile"},
    {"idle", "Cycles in which neither had anything to do"},
}};

// The way out: drain queue, collect banks, burst sender (section 9).
enum class DrainCycle : std::uint8_t { kBlocked, kSending, kCollecting, kIdle };
inline constexpr std::array<sim::CycleState, 4> kDrainCycles{{
    {"blocked", "Cycles in which a flit of a burst waited: the output was held, or another flit went first"},
    {"sending", "Cycles in which a burst was being sent"},
    {"collecting", "Cycles without a burst in which results were read, on their way, or fewer than a burst"},
    {"idle", "Cycles without results"},
}};

// The head of the receive FIFO (sections 5.1 and 9.3).
enum class ReceiveCycle : std::uint8_t { kTaking, kNoFill, kPeerHold, kIdle };
inline constexpr std::array<sim::CycleState, 4> kReceiveCycles{{
    {"taking", "Cycles in which a flit was taken from the receive FIFO"},
    {"no_fill", "Cycles in which a read response at the head of the receive FIFO waited for a FILL"},
    {"peer_hold",
     "Cycles in which a CU_DATA flit at the head of the receive FIFO waited for the accumulator "
     "to add the sub-tile before, or for an acknowledgement to leave"},
    {"idle", "Cycles without a flit, or with one on its way through the FIFO"},
}};

}  // namespace ktpu::cluster
