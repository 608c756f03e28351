// SPDX-License-Identifier: Apache-2.0
#include "tlm/cluster/accumulator.h"

#include <algorithm>
#include <cstring>

#include "arch/encoding/latencies.h"
#include "arch/error.h"

namespace ktpu::cluster {

using arch::OperandEntry;
using arch::Side;
using arch::SubTile;
using sim::Cycle;

namespace {
constexpr Cycle kToCommand = arch::latency::kIssueToCommand.value;
constexpr Cycle kReuseMin = arch::latency::kReuseMin.value;
}  // namespace

Accumulator::Accumulator(unsigned tiles, unsigned l1_a, unsigned l1_b, unsigned mw)
    : kernel_(&arch::accumulate_kernel(mw)),
      tile_mask_(tiles - 1),
      a_mask_(l1_a - 1),
      b_mask_(l1_b - 1),
      a_(l1_a),
      b_(l1_b),
      tile_(tiles),
      loaded_((tiles + 63) / 64) {
  // Also the padding, which archives see.
  std::memset(static_cast<void*>(a_.data()), 0, a_.size() * sizeof(OperandEntry));
  std::memset(static_cast<void*>(b_.data()), 0, b_.size() * sizeof(OperandEntry));
}

void Accumulator::set_entry(Side side, unsigned index, const OperandEntry& value) {
  OperandEntry& to = side == Side::kA ? a_[index] : b_[index];
  std::memcpy(to.q, value.q, sizeof to.q);
  std::memcpy(to.scale, value.scale, sizeof to.scale);
}

void Accumulator::reset() {
  // The memories have no reset; a model starts them at zero, and a second reset leaves them (section 7).
  job_ = {};
  hazard_ = false;
  executed_ = g_ = h_ = kb_ = 0;
  job_total_ = 0;
  lost_ = 0;
  stash_end_ = 0;
  emit_base_ = emit_tail_ = 0;
  undo_ = {};
  undo_tail_ = 0;
  tracked_until_ = 0;
}

void Accumulator::start(const SweepJob& job, std::uint32_t period) {
  KTPU_CHECK(executed_ == job_total_, "a sweep started before the one before was worked off");
  job_ = job;
  job_total_ = job.total();
  executed_ = g_ = h_ = kb_ = 0;
  stash_end_ = 0;
  lost_ = 0;
  plain_[0] = job.gm * job.nk <= std::min(256u, a_mask_ + 1);
  plain_[1] = job.gn * job.nk <= std::min(256u, b_mask_ + 1);
  // Pacing only looks at gm*gn (section 8). A walk over more sub-tiles than there are comes back to a tile
  // after `tiles` commands, and at a new K block after the remainder.
  hazard_ = false;
  if (job.tiles() > tile_mask_ + 1) {
    const std::uint32_t rest = job.tiles() & tile_mask_;
    hazard_ = (tile_mask_ + 1) * period < kReuseMin || (job.nk > 1 && rest != 0 && rest * period < kReuseMin);
  }
}

bool Accumulator::reads(Side side, unsigned entry, std::uint32_t& first, std::uint32_t& last) const {
  const bool is_a = side == Side::kA;
  const std::uint32_t mask = is_a ? a_mask_ : b_mask_;
  if (mask > 255 && entry >> 8 != (is_a ? job_.abank : job_.bbank)) return false;
  const std::uint32_t groups = is_a ? job_.gm : job_.gn;
  const std::uint32_t at = (entry - (is_a ? job_.aoff : job_.boff)) & std::min(mask, 255u);
  if (at >= groups * job_.nk) return false;
  const std::uint32_t group = at / job_.nk, start = at % job_.nk * job_.tiles();
  first = is_a ? start + group * job_.gn : start + group;
  last = is_a ? first + job_.gn - 1 : first + (job_.gm - 1) * job_.gn;
  return true;
}

bool Accumulator::pending_read(Side side, unsigned entry, std::uint32_t issued) const {
  if (executed_ >= issued) return false;
  if (!plain_[static_cast<unsigned>(side)]) return true;
  std::uint32_t first = 0, last = 0;
  return reads(side, entry, first, last) && first < issued && last >= executed_;
}

bool Accumulator::future_read(Side side, unsigned entry, std::uint32_t issued) const {
  if (issued >= job_total_ || !plain_[static_cast<unsigned>(side)]) return false;
  std::uint32_t first = 0, last = 0;
  return reads(side, entry, first, last) && last >= issued;
}

void Accumulator::stash(std::uint32_t issued) {
  for (std::uint32_t k = std::max(executed_, stash_end_); k < issued; ++k) {
    const std::uint32_t kb = k / job_.tiles(), t = k % job_.tiles();
    kernel_->chain(a_[a_index(t / job_.gn, kb)], b_[b_index(t % job_.gn, kb)], job_.anchor,
                   stash_[k % kStash]);
  }
  KTPU_CHECK(issued <= executed_ + kStash, "{} chains to keep", issued - executed_);
  stash_end_ = std::max(stash_end_, issued);
}

void Accumulator::execute(std::uint32_t count, const SweepSchedule& schedule, bool tracked) {
  if (count <= executed_) return;
  if (tracked_until_ != 0) {
    if (schedule.cycle_of(executed_) + kToCommand < tracked_until_)
      tracked = true;
    else
      tracked_until_ = 0;
  }
  if (tracked || hazard_ || lost_ != 0 || stash_end_ > executed_)
    execute_slow(count, schedule, tracked);
  else
    execute_fast(count, schedule);
}

void Accumulator::execute_fast(std::uint32_t count, const SweepSchedule& schedule) {
  const SweepJob& j = job_;
  while (executed_ < count) {
    const std::uint32_t run = std::min(j.gn - h_, count - executed_);
    const OperandEntry& a = a_[a_index(g_, kb_)];
    const std::uint32_t first_tile = g_ * j.gn + h_;
    const auto chain = j.load(kb_) ? kernel_->load_chain : kernel_->add_chain;
    const bool emits = j.counts_emit(kb_) && !j.load(kb_);
    std::uint32_t b_offset = j.boff + h_ * j.nk + kb_;
    const std::uint32_t b_bank = j.bbank << 8;
    for (std::uint32_t i = 0; i < run; ++i, b_offset += j.nk) {
      SubTile& tile = tile_[(first_tile + i) & tile_mask_];
      chain(a, b_[(b_bank | (b_offset & 255)) & b_mask_], j.anchor, tile);
      if (emits) emit_[emit_tail_++ % kEmitRing] = kernel_->emit(tile);
    }
    if (kb_ == 0) {
      for (std::uint32_t i = 0; i < run; ++i) {
        const std::uint32_t t = (first_tile + i) & tile_mask_;
        if (j.load(0))
          mark_loaded(t);
        else if (!is_loaded(t))
          note_unloaded(t, schedule.cycle_of(executed_ + i) + kToCommand);
      }
    }
    executed_ += run;
    h_ += run;
    if (h_ == j.gn) next_row();
  }
}

void Accumulator::next_row() {
  h_ = 0;
  if (++g_ == job_.gm) {
    g_ = 0;
    ++kb_;
  }
}

void Accumulator::execute_slow(std::uint32_t count, const SweepSchedule& schedule, bool tracked) {
  const SweepJob& j = job_;
  for (; executed_ < count; ++executed_) {
    const std::uint32_t k = executed_;
    const std::uint64_t lost_bit = 1ull << (k % 64);
    if (lost_ & lost_bit) {
      lost_ &= ~lost_bit;
    } else {
      const Cycle command = schedule.cycle_of(k) + kToCommand;
      const std::uint32_t t = (g_ * j.gn + h_) & tile_mask_;
      const bool load = j.load(kb_);
      SubTile value;
      if (k < stash_end_)
        value = stash_[k % kStash];
      else
        kernel_->chain(a_[a_index(g_, kb_)], b_[b_index(h_, kb_)], j.anchor, value);
      if (load) {
        value = arch::canonical(value, kernel_->mw);
        mark_loaded(t);
      } else {
        if (!is_loaded(t)) note_unloaded(t, command);
        SubTile sum = before(t, command);
        kernel_->add(sum, value);
        value = sum;
      }
      if (tracked || hazard_)
        write(t, value, command);
      else
        tile_[t] = value;
      if (j.counts_emit(kb_) && !load) emit_[emit_tail_++ % kEmitRing] = kernel_->emit(value);
    }
    if (++h_ == j.gn) next_row();
  }
}

// The tile as a command in cycle c reads it: without the writes of commands less than REUSE_MIN before.
const SubTile& Accumulator::before(unsigned tile, Cycle c) {
  const SubTile* value = &tile_[tile];
  const std::uint32_t kept = std::min(undo_tail_, kUndo);
  for (std::uint32_t i = 1; i <= kept; ++i) {  // newest first: the oldest that is still in flight decides
    const Undo& undo = undo_[(undo_tail_ - i) % kUndo];
    if (undo.cycle + kReuseMin <= c) break;
    if (undo.tile == tile) value = &undo.old;
  }
  if (value != &tile_[tile]) ++hazards_;
  return *value;
}

void Accumulator::write(unsigned tile, const SubTile& value, Cycle c) {
  Undo& undo = undo_[undo_tail_++ % kUndo];
  undo.cycle = c;
  undo.tile = tile;
  undo.old = tile_[tile];
  tile_[tile] = value;
}

arch::Word256 Accumulator::emit(unsigned tile, Cycle c) {
  const unsigned t = tile & tile_mask_;
  if (!is_loaded(t)) note_unloaded(t, c);
  return kernel_->emit(before(t, c));
}

arch::PeerGranules Accumulator::send(unsigned tile, Cycle c) {
  const unsigned t = tile & tile_mask_;
  if (!is_loaded(t)) note_unloaded(t, c);
  return arch::send_granules(before(t, c), kernel_->mw);
}

void Accumulator::add_peer(unsigned tile, const SubTile& peer, Cycle c) {
  const unsigned t = tile & tile_mask_;
  if (!is_loaded(t)) note_unloaded(t, c);
  SubTile sum = before(t, c);
  kernel_->add(sum, peer);
  write(t, sum, c);
  tracked_until_ = c + kReuseMin;
}

void Accumulator::visit(sim::Archive& a) {
  a.memory("l1_a", a_.data(), a_.size());
  a.memory("l1_b", b_.data(), b_.size());
  a.memory("tiles", tile_.data(), tile_.size());
  a.memory("tile_loaded", loaded_.data(), loaded_.size());
  a.state("executed", executed_, 24);
  if (!a.is_checkpoint()) return;
  // The sweep under way: its commands run late, so where they are says nothing about the machine.
  SweepJob& j = job_;
  for (std::uint32_t* number : {&j.gm, &j.gn, &j.nk, &j.aoff, &j.boff, &j.abank, &j.bbank, &j.anchor})
    a.kept("job", *number);
  a.kept("job_acc", j.acc);
  a.kept("job_emit", j.emit);
  a.kept("job_total", job_total_);
  a.kept("hazard", hazard_);
  a.kept_memory("plain", plain_, 2);
  a.kept("g", g_);
  a.kept("h", h_);
  a.kept("kb", kb_);
  a.kept("lost", lost_);
  a.kept("stash_end", stash_end_);
  a.kept_memory("stash", stash_.data(), stash_.size());
  a.kept_memory("emit", emit_.data(), emit_.size());
  a.kept("emit_base", emit_base_);
  a.kept("emit_tail", emit_tail_);
  for (Undo& undo : undo_) {
    a.kept("undo_cycle", undo.cycle);
    a.kept("undo_tile", undo.tile);
    a.kept_memory("undo_old", &undo.old, 1);
  }
  a.kept("undo_tail", undo_tail_);
  a.kept("tracked_until", tracked_until_);
  a.kept("unloaded_count", unloaded_.count);
  a.kept("unloaded_tile", unloaded_.tile);
  a.kept("unloaded_cycle", unloaded_.cycle);
  a.kept("hazards", hazards_);
}

}  // namespace ktpu::cluster
