// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/dram_bus_unit.h"

#include <algorithm>

namespace ktpu::memory {

DramBusUnit::DramBusUnit(std::string name, DramBus& bus, const sim::ClockRatio& to_path, sim::Unit& agent,
                         sim::Cycle& path_due)
    : Unit(std::move(name)), bus_(bus), border_(to_path) {
  border_.set_other(agent, &path_due);
  bus_.border_ = &border_;
  bus_.device().set_report_clock(to_path);
}

// At most one cycle of the path is under way at any instant, so two levels are enough.
void DramBusUnit::tell(const Level& level, sim::Cycle from) {
  if (level == level_) return;
  if (from != level_from_) before_ = level_;
  level_ = level;
  level_from_ = from;
  engine()->wake_at(*this, from);
}

DramBus::Ahead DramBusUnit::ahead(sim::Cycle at) const {
  const Level& seen = at >= level_from_ ? level_ : before_;
  return {seen.reads, seen.writes != bus_.writes_answered_, seen.beats != bus_.beats_taken_};
}

bool DramBusUnit::r_full(sim::Cycle now) const {
  const DramOutputs& out = bus_.device().out();
  return out.r_valid && border_.full(bus_.read_fifo(out.r_id), now);
}

void DramBusUnit::reset(sim::Cycle start) {
  bus_.reset(start);
  level_ = before_ = {};
  level_from_ = start;
  last_handshake_ = sim::kNever;
}

sim::Cycle DramBusUnit::clock(sim::Cycle now) {
  const DramBus::Full full{r_full(now), border_.full(bus_.b, now)};
  bus_.account(now, ahead(now), full.r);  // what the path did while this slept
  if (bus_.move<true>(now, border_.containing(now), probe_, full)) last_handshake_ = now;
  bus_.account(now + 1, ahead(now + 1), r_full(now + 1));
  return next(now);
}

sim::Cycle DramBusUnit::next(sim::Cycle now) const {
  const DramOutputs& out = bus_.device().out();
  sim::Cycle next = bus_.next_from_fifos(now);
  if (out.r_valid) next = std::min(next, border_.room_from(bus_.read_fifo(out.r_id), now + 1));
  if (out.b_valid) next = std::min(next, border_.room_from(bus_.b, now + 1));
  return next;
}

bool DramBusUnit::handshake_due(sim::Cycle at) const {
  const DramOutputs& out = bus_.device().out();
  return (out.ar_ready && bus_.ar.readable(at)) || (out.aw_ready && bus_.aw.readable(at)) ||
         (out.w_ready && bus_.w.readable(at)) || (out.r_valid && !r_full(at)) ||
         (out.b_valid && !border_.full(bus_.b, at));
}

// A cycle here that begins with `now` may run only after whoever asks: it is looked at before.
sim::Cycle DramBusUnit::last_handshake(sim::Cycle now) const {
  const sim::Cycle here = border_.beginning_with(now);
  if (here != sim::kNever && engine()->now() <= here && handshake_due(here)) return now;
  return last_handshake_ == sim::kNever ? sim::kNever : border_.containing(last_handshake_);
}

void DramBusUnit::visit(sim::Archive& archive) {
  bus_.visit(archive);
  if (!archive.is_checkpoint()) return;
  bus_.keep(archive);
  archive.kept("writes_answered", bus_.writes_answered_);
  archive.kept("beats_taken", bus_.beats_taken_);
  for (Level* level : {&level_, &before_}) {
    archive.kept("reads", level->reads);
    archive.kept("writes", level->writes);
    archive.kept("beats", level->beats);
  }
  archive.kept("level_from", level_from_);
  archive.kept("last_handshake", last_handshake_);
}

}  // namespace ktpu::memory
