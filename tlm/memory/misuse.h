// SPDX-License-Identifier: Apache-2.0
// What a program did to the memory system that no program may do. Recorded as it happens, judged elsewhere:
// the platform turns it into exit status 3 or a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::memory {

enum class MisuseKind : std::uint8_t {
  kOutOfRange,       // DRAM access outside the populated memory
  kAperture,         // DRAM access with bit 39 set: nothing serves that aperture (memory.md section 3)
  kForeignMesh,      // DRAM access whose mesh bits name another mesh; aliases to the local memory
  kDataWithoutSlot,  // MEM_WR_DATA that matches no open write: the write queue is wedged (section 4.5)
  kWriteTooLong,     // MEM_WR_REQ with len > 7 (section 4.5)
  kTagOverflow,      // txn + count - 1 > 255: two entries share a tag (section 4.3)
  kUnclaimedFlit,    // a flit for the control agent where there is none
  kDroppedAperture,  // an access that a port with staging memory drops (section 3): nobody answers
  kStagingAlias,     // an access past the 2 MiB of the staging memory (section 7.2)
};
std::string_view misuse_name(MisuseKind kind);

struct Misuse {
  MisuseKind kind;
  sim::Cycle cycle;
  arch::Coord requester;      // the node that asked
  std::uint64_t address = 0;  // as requested, 40 bits; 0 where there is none
  std::string text;           // one sentence for the user, without place and cycle
};

// Keeps the first kKept of them and counts all.
class MisuseLog {
 public:
  static constexpr std::size_t kKept = 64;
  void add(Misuse misuse) {
    ++total_;
    if (kept_.size() < kKept) kept_.push_back(std::move(misuse));
  }
  const std::vector<Misuse>& kept() const { return kept_; }
  std::uint64_t total() const { return total_; }
  void visit(sim::Archive& archive);

 private:
  std::vector<Misuse> kept_;
  std::uint64_t total_ = 0;
};

}  // namespace ktpu::memory
