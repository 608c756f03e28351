// SPDX-License-Identifier: Apache-2.0
// What a program did to the memory system that no program may do. Recorded as it happens, judged elsewhere:
// the platform turns it into exit status 3 or a report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/occurrence_log.h"

namespace ktpu::memory {

enum class MisuseKind : std::uint8_t {
  kOutOfRange,        // DRAM access outside the populated memory
  kAperture,          // DRAM access with bit 39 set: nothing serves that aperture (memory.md section 3)
  kForeignMesh,       // DRAM access whose mesh bits name another mesh; aliases to the local memory
  kDataWithoutSlot,   // MEM_WR_DATA that matches no open write: the write queue is wedged (section 4.5)
  kWriteTooLong,      // MEM_WR_REQ with len > 7 (section 4.5)
  kTagOverflow,       // txn + count - 1 > 255: two entries share a tag (section 4.3)
  kUnclaimedFlit,     // a flit for the control agent where there is none
  kDroppedAperture,   // an access that a port with staging memory drops (section 3): nobody answers
  kStagingAlias,      // an access past the 2 MiB of the staging memory (section 7.2)
  kRemoteWithoutAck,  // a CU_DATA burst for another mesh without an acknowledge node (section 11.7 X4)
  kNoWay,             // a packet for a mesh that no interlink leads to
  kInterlinkOff,      // something for another mesh while the interlink is disabled
  kMoverBusy,         // a GO while a move ran: ignored, but its fields are not (section 10.1)
  kMoverFault,        // a move that ended in a fault (section 10.4)
  kReadLanding,       // a read while a write to the same words is on its way (orchestrator.md section 9)
  kLoadLanding,       // the host writes, behind the machine's back, where a write is on its way
  kOutputLanding,     // a write to an output of the program had not landed at the end
};
std::string_view misuse_name(MisuseKind kind);  // its id in arch/misuse.h

struct Misuse {
  MisuseKind kind;
  sim::Cycle cycle;
  arch::Coord requester;      // the node that asked
  std::uint64_t address = 0;  // as requested, 40 bits; 0 where there is none
  std::string text;           // one sentence for the user, without place and cycle
};

inline bool same_finding(const Misuse& a, const Misuse& b) {
  return a.kind == b.kind && a.requester == b.requester;
}
void visit_occurrence(sim::Archive& archive, Misuse& misuse);

using MisuseLog = sim::OccurrenceLog<Misuse>;

}  // namespace ktpu::memory
