// SPDX-License-Identifier: Apache-2.0
// The entry read engine of a memory port with its transform slot, entry buffer and emit buffer (memory.md
// sections 4.3 and 6): it fetches entry i+1 while it sends entry i to up to four destinations.
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "tlm/memory/dram_path.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/staging.h"

namespace ktpu::memory {

class EntryReader {
 public:
  // `port`: source of the responses. `reads_in_flight` entries may be requested before the first one is
  // complete; 1 is the reference.
  // `store`: the port's own staging memory, null if there is none.
  EntryReader(arch::Coord port, unsigned reads_in_flight, const StagingConfig& staging = {},
              const SparseMemory* store = nullptr)
      : port_(port), reads_in_flight_(reads_in_flight), staging_(staging), store_(store) {}

  void reset();

  // Registers, as the other parts of the port see them in the present cycle.
  bool idle() const { return state_ == State::kIdle; }
  bool emitting() const { return emit_.valid; }
  // Whether a beat offered in this cycle is taken.
  bool takes_beat() const { return state_ == State::kFill && !start_ && beats_ < entry_beats_; }

  // The phases of one cycle, called in this order; `emit_was_empty` is !emitting() before emit().
  // Puts the next word into the output register.
  void emit(arch::Flit& out);
  // The engine; `beat` is the R beat taken in this cycle or null.
  void clock(sim::Cycle now, const std::uint64_t* beat, bool emit_was_empty);
  // Takes a request; one for an aperture that nobody serves is dropped, and the engine stays idle.
  void take(sim::Cycle now, const arch::Flit& request, const arch::MemReq& fields, MisuseLog& misuse);
  // Raises the next read address, if one is due and the wires are free.
  void issue(DramWires& wires);

  // Next cycle in which the engine has something to do without an event; `beat_waits`: the skid holds a beat.
  sim::Cycle next(sim::Cycle now, bool beat_waits) const;

  // What the engine is in without a beat; `address_waits`: its read address has no grant yet.
  ReadCycle cycle_state(bool address_waits) const {
    if (state_ == State::kIdle) return ReadCycle::kIdle;
    if (state_ == State::kWait) return emit_.valid ? ReadCycle::kEmitFull : ReadCycle::kStep;
    if (state_ == State::kStg) return ReadCycle::kMemory;
    if (start_) return ReadCycle::kStep;
    if (beats_ == entry_beats_) return ReadCycle::kConverting;
    return address_waits ? ReadCycle::kGrant : ReadCycle::kMemory;
  }

  std::uint64_t bursts() const { return bursts_; }
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kFill,  // taking beats, and converting the last of them
    kWait,  // entry complete, the emit buffer is not yet free
    kStg,   // waiting for an entry of the port's own staging memory
  };
  struct Emit {
    bool valid = false;
    std::uint8_t words = 0;
    std::uint8_t word = 0;
    std::uint8_t destination = 0;
    std::uint8_t txn = 0;
    std::array<std::array<std::uint64_t, 4>, 4> data{};
  };

  void convert();
  void read_store(sim::Cycle now);

  arch::Coord port_;
  unsigned reads_in_flight_;
  StagingConfig staging_;
  const SparseMemory* store_;

  State state_ = State::kIdle;
  bool start_ = false;  // transform start pulse
  bool quant_ = false, b_layout_ = false;
  bool stored_ = false;  // the run is served by the port's own staging memory
  std::uint8_t txn_ = 0;
  std::uint8_t destinations_ = 1;
  std::array<arch::Coord, 4> destination_{};
  std::uint32_t entry_words_ = 4;
  std::uint32_t entry_beats_ = 0;  // internal beats of an entry
  std::uint32_t entry_bytes_ = 0;
  std::uint32_t total_ = 0;      // entries of the request
  std::uint32_t requested_ = 0;  // entries whose burst was issued
  std::uint32_t entry_ = 0;      // index of the entry being filled
  std::uint32_t outstanding_ = 0;
  std::uint32_t beats_ = 0;    // taken of this entry
  std::uint64_t address_ = 0;  // of the next burst
  // Transform: cycle in which `done` is high; kNever while it has not got its 8 beats.
  sim::Cycle done_at_ = sim::kNever;
  sim::Cycle stored_at_ = 0;  // the next entry of the port's own staging memory is there
  alignas(32) std::array<std::array<std::uint64_t, 4>, 8> buffer_{};
  Emit emit_;

  std::uint64_t bursts_ = 0, entries_ = 0, quantised_ = 0, requests_ = 0, responses_ = 0, dropped_ = 0;
};

}  // namespace ktpu::memory
