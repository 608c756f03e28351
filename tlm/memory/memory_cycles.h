// SPDX-License-Identifier: Apache-2.0
// Where the cycles of the memory's engines go (tlm/sim/attribution.h): names and meanings of their states, by
// priority.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/sim/attribution.h"

namespace ktpu::memory {

// The entry read engine of a port (memory.md sections 4.3 and 6).
enum class ReadCycle : std::uint8_t {
  kReceiving,
  kEmitFull,
  kConverting,
  kGrant,
  kMemory,
  kStep,
  kQueued,
  kIdle
};
inline constexpr std::array<sim::CycleState, 8> kReadCycles{{
    {"receiving", "Cycles in which the engine took a beat from memory"},
    {"emit_full", "Cycles in which a complete entry waited for the emit buffer to be sent"},
    {"converting", "Cycles in which the quantiser worked on a complete entry"},
    {"grant", "Cycles without a beat in which a read address waited for its grant at the DRAM path"},
    {"memory",
     "Cycles without a beat in which the engine waited for read data, from DRAM or the staging memory"},
    {"step", "Cycles that the engine spends on going from one entry to the next"},
    {"queued",
     "Cycles in which a read request was in the queue and no entry read ran: it is on its way "
     "through the queue, or behind the emit buffer or a plain read"},
    {"idle", "Cycles without a request"},
}};

// The emit buffer, one word a cycle to each destination (section 4.3).
enum class EmitCycle : std::uint8_t { kBlocked, kSending, kIdle };
inline constexpr std::array<sim::CycleState, 3> kEmitCycles{{
    {"blocked", "Cycles in which a word waited: the port's output register held a flit that was not taken"},
    {"sending", "Cycles in which a word of an entry went into the port's output register"},
    {"idle", "Cycles with an empty emit buffer"},
}};

// Write reassembly and the state machine that issues writes and plain reads (sections 4.4 and 4.5).
enum class WriteCycle : std::uint8_t {
  kWedged,
  kAcknowledge,
  kGrant,
  kData,
  kAnswer,
  kPlainRead,
  kAssembling,
  kIdle
};
inline constexpr std::array<sim::CycleState, 8> kWriteCycles{{
    {"wedged", "Cycles after data without an open write stopped the write queue for good"},
    {"acknowledge", "Cycles in which the acknowledgement waited for the port's output register"},
    {"grant", "Cycles in which the address of a write or plain read waited for its grant at the DRAM path"},
    {"data",
     "Cycles in which the words of a write were being handed to the DRAM path or the staging memory, or "
     "dropped"},
    {"answer", "Cycles in which a write waited for the response of the memory"},
    {"plain_read", "Cycles in which a plain read was being served"},
    {"assembling", "Cycles in which no write ran and at least one collected its data"},
    {"idle", "Cycles with no write and no plain read"},
}};

// Either arbiter of the DRAM path (section 7.3).
enum class ArbiterCycle : std::uint8_t { kGranted, kBlocked, kDeciding, kLimit, kIdle };
inline constexpr std::array<sim::CycleState, 5> kArbiterCycles{{
    {"granted", "Cycles in which the arbiter granted a requester"},
    {"blocked", "Cycles in which a request stood and the address FIFO to the DRAM was full"},
    {"deciding",
     "Cycles in which a request stood that the arbiter may only grant in the next one: it is "
     "new, or of the requester that was granted last"},
    {"limit",
     "Cycles in which a read address was held back because its requester has as many reads in "
     "flight as it may"},
    {"idle", "Cycles without a request"},
}};

// Either data direction of the DRAM bus.
enum class BusCycle : std::uint8_t { kMoving, kBlocked, kWaiting, kIdle };
inline constexpr std::array<sim::CycleState, 4> kReadBusCycles{{
    {"moving", "Cycles in which a read beat crossed the DRAM bus"},
    {"blocked", "Cycles in which the DRAM offered a beat and the read data FIFO was full"},
    {"waiting", "Cycles without a beat in which at least one granted read had data to come"},
    {"idle", "Cycles without a read under way"},
}};
inline constexpr std::array<sim::CycleState, 4> kWriteBusCycles{{
    {"moving", "Cycles in which a write beat crossed the DRAM bus"},
    {"blocked", "Cycles in which a write beat stood in the FIFO and the DRAM took none"},
    {"waiting", "Cycles without a beat in which at least one granted write was not answered"},
    {"idle", "Cycles without a write under way"},
}};

}  // namespace ktpu::memory
