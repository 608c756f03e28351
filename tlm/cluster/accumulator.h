// SPDX-License-Identifier: Apache-2.0
// The values of a cluster: both L1 memories, the array and the accumulator with its tile RAM (cluster.md
// sections 5.2, 6 and 7; number-formats.md sections 5 to 9).
//
// Timing is not kept here. The sweep's commands run late and in batches: the owner says how far (execute()),
// and must do so before anything could tell the difference. Two things could: an L1 write to an entry that
// commands not yet run have already read (l1_write() then computes those chains first), and another command
// at the accumulator (the owner runs the sweep up to that command's cycle first). A command reads its tile at
// the end of c+2 and writes at the end of c+6; running in order at once is the same while commands to one
// tile are at least REUSE_MIN apart, and where they may be closer the last few writes are remembered
// (`tracked`).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/formats/kernel.h"
#include "tlm/cluster/sweep_schedule.h"

namespace ktpu::cluster {

// The operands and the tile walk of a sweep; 0 was already turned into 1.
struct SweepJob {
  std::uint32_t gm = 1, gn = 1, nk = 1;  // 1..255
  std::uint32_t aoff = 0, boff = 0;      // first entries within the bank
  std::uint32_t abank = 0, bbank = 0;
  std::uint32_t anchor = 40;
  bool acc = false, emit = false;

  std::uint32_t tiles() const { return gm * gn; }
  std::uint32_t total() const { return gm * gn * nk; }
  // emit with acc = 0 and nk = 1: LOAD wins, nothing is ever emitted (section 5.2).
  bool load(std::uint32_t kb) const { return kb == 0 && !acc; }
  bool counts_emit(std::uint32_t kb) const { return emit && kb == nk - 1; }
};

class Accumulator {
 public:
  // `tiles`, `l1_a`, `l1_b`: powers of two.
  Accumulator(unsigned tiles, unsigned l1_a, unsigned l1_b, unsigned mw);

  void reset();

  // --- Sweep. The one before must have been executed to its end.
  // `period`: of the issues (section 8).
  void start(const SweepJob& job, std::uint32_t period);
  const SweepJob& job() const { return job_; }
  std::uint32_t executed() const { return executed_; }
  // Runs the commands up to number `count` (exclusive). `tracked`: remember the old tiles, because another
  // command may follow within REUSE_MIN.
  void execute(std::uint32_t count, const SweepSchedule& schedule, bool tracked = false);
  // The command issued as number k >= executed() loses the port and has no effect; at most 64 ahead.
  void lose(std::uint32_t k) { lost_ |= 1ull << (k % 64); }
  // Results of executed ADD_EMITs, oldest first.
  std::uint32_t emitted() const { return emit_tail_ - emit_base_; }
  const arch::Word256& take_emitted() { return emit_[emit_base_++ % kEmitRing]; }

  // --- Single commands at the port in cycle c; every sweep command before c must have run.
  arch::Word256 emit(unsigned tile, sim::Cycle c);
  arch::PeerGranules send(unsigned tile, sim::Cycle c);
  void add_peer(unsigned tile, const arch::SubTile& peer, sim::Cycle c);
  // Sweep commands before this cycle need `tracked`.
  sim::Cycle tracked_until() const { return tracked_until_; }

  // --- L1.
  // Whether one of the first `issued` commands that has not run yet reads this entry.
  bool pending_read(arch::Side side, unsigned entry, std::uint32_t issued) const;
  // Whether a command from number `issued` on will read it.
  bool future_read(arch::Side side, unsigned entry, std::uint32_t issued) const;
  // Computes the chains of all commands below `issued` (at most kStash not yet run) from the present L1.
  static constexpr std::uint32_t kStash = 32;
  void stash(std::uint32_t issued);
  unsigned entry_index(arch::Side side, unsigned bank_and_offset) const {
    return bank_and_offset & (side == arch::Side::kA ? a_mask_ : b_mask_);
  }
  const arch::OperandEntry& entry(arch::Side side, unsigned index) const {
    return side == arch::Side::kA ? a_[index] : b_[index];
  }
  void set_entry(arch::Side side, unsigned index, const arch::OperandEntry& value);

  // --- Tiles, as executed so far.
  unsigned tiles() const { return tile_mask_ + 1; }
  unsigned mw() const { return kernel_->mw; }
  const arch::SubTile& tile(unsigned t) const { return tile_[t & tile_mask_]; }
  void set_tile(unsigned t, const arch::SubTile& value) {
    tile_[t & tile_mask_] = value;
    mark_loaded(t & tile_mask_);
  }

  // Reads of tiles that no LOAD ever wrote, since the last call.
  struct Unloaded {
    std::uint32_t count = 0;
    std::uint32_t tile = 0;  // of the first one
    sim::Cycle cycle = 0;    // its command
  };
  Unloaded take_unloaded() {
    const Unloaded u = unloaded_;
    unloaded_ = {};
    return u;
  }
  // Commands whose tile had an unfinished write (REUSE_MIN), since the last call.
  std::uint32_t take_hazards() {
    const std::uint32_t n = hazards_;
    hazards_ = 0;
    return n;
  }

  void visit(sim::Archive& archive);

 private:
  static constexpr std::uint32_t kEmitRing = 64, kUndo = 8;
  struct Undo {
    sim::Cycle cycle = 0;  // command
    std::uint32_t tile = ~0u;
    arch::SubTile old;
  };

  unsigned a_index(std::uint32_t g, std::uint32_t kb) const {
    return (job_.abank << 8 | ((job_.aoff + g * job_.nk + kb) & 255)) & a_mask_;
  }
  unsigned b_index(std::uint32_t h, std::uint32_t kb) const {
    return (job_.bbank << 8 | ((job_.boff + h * job_.nk + kb) & 255)) & b_mask_;
  }
  void execute_fast(std::uint32_t count, const SweepSchedule& schedule);
  void execute_slow(std::uint32_t count, const SweepSchedule& schedule, bool tracked);
  void next_row();
  const arch::SubTile& before(unsigned tile, sim::Cycle c);
  void write(unsigned tile, const arch::SubTile& value, sim::Cycle c);
  bool is_loaded(unsigned tile) const { return loaded_[tile / 64] >> (tile % 64) & 1; }
  void mark_loaded(unsigned tile) { loaded_[tile / 64] |= 1ull << (tile % 64); }
  void note_unloaded(unsigned tile, sim::Cycle cycle) {
    if (unloaded_.count++ == 0) unloaded_ = {1, tile, cycle};
  }
  // First and last command that reads an entry; false: none does. Needs plain_[side].
  bool reads(arch::Side side, unsigned entry, std::uint32_t& first, std::uint32_t& last) const;

  const arch::AccumulateKernel* kernel_;
  std::uint32_t tile_mask_, a_mask_, b_mask_;
  std::vector<arch::OperandEntry> a_, b_;
  std::vector<arch::SubTile> tile_;
  std::vector<std::uint64_t> loaded_;

  SweepJob job_;
  std::uint32_t job_total_ = 0;
  bool hazard_ = false;         // the sweep itself comes back to a tile too early
  bool plain_[2]{};             // the sweep's entries of a side are all different
  std::uint32_t executed_ = 0;  // commands run, and the position of the next one:
  std::uint32_t g_ = 0, h_ = 0, kb_ = 0;
  std::uint64_t lost_ = 0;       // bit k mod 64: command k is lost
  std::uint32_t stash_end_ = 0;  // chains of commands [executed_, stash_end_) are in stash_
  std::array<arch::SubTile, kStash> stash_{};
  std::array<arch::Word256, kEmitRing> emit_{};
  std::uint32_t emit_base_ = 0, emit_tail_ = 0;
  std::array<Undo, kUndo> undo_{};
  std::uint32_t undo_tail_ = 0;
  sim::Cycle tracked_until_ = 0;
  Unloaded unloaded_;
  std::uint32_t hazards_ = 0;
};

}  // namespace ktpu::cluster
