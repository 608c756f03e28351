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

// The converged staging memory (section 7.2).
enum class StagingCycle : std::uint8_t { kMoving, kClaiming, kResponding, kReading, kRequester, kIdle };
inline constexpr std::array<sim::CycleState, 6> kStagingCycles{{
    {"moving", "Cycles in which a word was read from or written to the staging memory"},
    {"claiming", "Cycles from choosing a burst to its first cycle in the staging memory"},
    {"responding", "Cycles in which a write was answered"},
    {"reading", "Cycles in which the RAM worked on the next word of a read"},
    {"requester", "Cycles in which the requester had no word for its write or no room for its read"},
    {"idle", "Cycles without a burst"},
}};

// The host memory window (section 8).
enum class WindowCycle : std::uint8_t { kMoving, kConverting, kGrant, kHost, kMemory, kIdle };
inline constexpr std::array<sim::CycleState, 6> kWindowCycles{{
    {"moving", "Cycles in which a word went to the memory or came from it"},
    {"converting", "Cycles in which a complete entry of an upload was being quantised"},
    {"grant", "Cycles in which an address waited to be presented, or for its grant at the DRAM path"},
    {"host", "Cycles in which the window waited for the host: for a word, or to take a word or the response"},
    {"memory",
     "Cycles in which the window waited for read data, for a word to be taken, or for the response"},
    {"idle", "Cycles without a transaction"},
}};

// The mover's two engines (section 10.4).
enum class IssueCycle : std::uint8_t { kRequest, kCommand, kData, kWalking, kIndices, kStep, kDrain, kIdle };
inline constexpr std::array<sim::CycleState, 8> kIssueCycles{{
    {"request",
     "Cycles in which a read run could not be closed: the request register was taken, or 16 bursts "
     "were in flight"},
    {"command", "Cycles in which a write run could not be closed: the command FIFO was full"},
    {"data", "Cycles in which an element waited for room in the data FIFO"},
    {"walking", "Cycles in which the walk went on by an element, or the next one was on its way to it"},
    {"indices", "Cycles in which a gather loaded its index vector"},
    {"step", "Cycles that a move spends on its start, on closing its last runs and on its end"},
    {"drain", "Cycles in which all elements were done and reads or writes were still on their way"},
    {"idle", "Cycles without a move"},
}};
enum class MoverWriteCycle : std::uint8_t {
  kMoving,
  kGrant,
  kPath,
  kData,
  kResponses,
  kGenerating,
  kStep,
  kAnswer,
  kIdle
};
inline constexpr std::array<sim::CycleState, 9> kMoverWriteCycles{{
    {"moving", "Cycles in which a word left for memory or another mesh"},
    {"grant", "Cycles in which a write address waited for its grant"},
    {"path", "Cycles in which a word was offered and not taken"},
    {"data", "Cycles in which a write waited for its read data"},
    {"responses", "Cycles in which a command waited because 32 writes were not answered"},
    {"generating", "Cycles in which the generator worked on a word"},
    {"step", "Cycles in which a command was on its way through the FIFO, or being taken"},
    {"answer", "Cycles without a command in which at least one write was not answered"},
    {"idle", "Cycles with nothing to write"},
}};

// The interlink (section 11): the way out of the mesh, either link, the way in.
enum class SenderCycle : std::uint8_t { kSending, kDropping, kLink, kWord, kStep, kIdle };
inline constexpr std::array<sim::CycleState, 6> kSenderCycles{{
    {"sending", "Cycles in which a beat of a packet went to its link"},
    {"dropping",
     "Cycles in which a beat was dropped: no link leads to its mesh, or the interlink is disabled"},
    {"link", "Cycles in which a packet waited for its grant: its link was taken, or short of credit"},
    {"word", "Cycles in which a packet waited for its first word"},
    {"step", "Cycles spent on choosing a packet, on its header and on the grant itself"},
    {"idle", "Cycles without a packet"},
}};
enum class LinkCycle : std::uint8_t { kMoving, kCredit, kGranting, kStarved, kNoCredit, kIdle };
inline constexpr std::array<sim::CycleState, 6> kLinkCycles{{
    {"moving", "Cycles in which a beat of a packet was put on the link"},
    {"credit", "Cycles in which a credit packet was put on the link"},
    {"granting", "Cycles in which a packet or a credit packet was chosen"},
    {"starved", "Cycles in which the link was kept for a packet whose next beat had not come"},
    {"no_credit", "Cycles in which a packet waited because the far end had not given back enough credit"},
    {"idle", "Cycles without a packet for this link"},
}};
enum class IngressCycle : std::uint8_t { kTaking, kMesh, kMemory, kOrder, kStep, kArriving, kLanding, kIdle };
inline constexpr std::array<sim::CycleState, 8> kIngressCycles{{
    {"taking", "Cycles in which a beat from another mesh was taken"},
    {"mesh", "Cycles in which a flit waited because the one before it had not entered the mesh"},
    {"memory", "Cycles in which a word waited for the DRAM path, or because 8 writes were not answered"},
    {"order", "Cycles in which a doorbell waited for the words before it to land"},
    {"step", "Cycles in which the next packet was chosen"},
    {"arriving", "Cycles in which the next beat of a packet had not come"},
    {"landing",
     "Cycles without a packet in which a flit waited to enter the mesh or a word was not answered"},
    {"idle", "Cycles with nothing from another mesh"},
}};

}  // namespace ktpu::memory
