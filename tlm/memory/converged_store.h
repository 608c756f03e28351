// SPDX-License-Identifier: Apache-2.0
// Converged staging: one store in front of the DRAM port that every requester reaches (memory.md section
// 7.2). It claims one burst at a time, round robin, and serves it on the requester's own wires.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/misuse.h"
#include "tlm/memory/sparse_memory.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

struct DramWires;

class ConvergedStore {
 public:
  ConvergedStore(unsigned requesters, unsigned mesh_id, MisuseLog& misuse);

  void reset(sim::Cycle start);
  bool claims(std::uint64_t addr) const;
  // Registers of the present cycle. A requester must not be forwarded to DRAM while its own burst of the same
  // kind runs here.
  bool idle() const { return state_ == State::kIdle; }
  bool runs(unsigned requester, bool write) const {
    return state_ >= State::kActive && owner_ == requester && write_ == write;
  }

  // One cycle. Bit i of `reads` / `writes`: requester i presents a burst that may be claimed. Returns the
  // requester granted in this cycle, or -1.
  int clock(sim::Cycle now, std::uint32_t reads, std::uint32_t writes, DramWires* const* wires);
  // Next cycle in which clock() must run for the burst under way; kNever: none, or it waits for its
  // requester.
  sim::Cycle next(sim::Cycle now, const DramWires* owner) const;
  unsigned owner() const { return owner_; }

  SparseMemory& memory() { return memory_; }
  const SparseMemory& memory() const { return memory_; }

  void visit(sim::Archive& archive);
  void sync(sim::Cycle now) { cycles_.sync(now); }
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,     // looks at the waiting requests
    kGrant,    // ready to the winner
    kActive,   // beats
    kRespond,  // write response
  };
  StagingCycle step(sim::Cycle now, std::uint32_t reads, std::uint32_t writes, DramWires* const* wires);
  void begin(sim::Cycle now, DramWires& wires);
  // What cycle `at` is if nothing happens.
  StagingCycle waiting(sim::Cycle at) const;
  void release(sim::Cycle now);

  unsigned requesters_;
  unsigned mesh_id_;
  MisuseLog& misuse_;
  SparseMemory memory_;

  State state_ = State::kIdle;
  bool write_ = false;
  std::uint8_t owner_ = 0;
  std::uint8_t pointer_ = 0;  // of the round robin
  std::uint32_t beats_ = 0;   // to come
  std::uint64_t addr_ = 0;    // of the next beat
  sim::Cycle valid_at_ = 0;   // next read beat
  sim::Cycle claimed_at_ = 0;

  sim::Attribution<StagingCycle, kStagingCycles> cycles_;
  std::uint64_t read_bursts_ = 0, write_bursts_ = 0, words_read_ = 0, words_written_ = 0, busy_ = 0;
};

}  // namespace ktpu::memory
