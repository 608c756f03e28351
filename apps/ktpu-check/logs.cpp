// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/logs.h"

namespace ktpu::check {

std::size_t LinkLog::watch(const sim::FlitLink& link) {
  watched_.push_back({&link, {}, 0});
  return watched_.size() - 1;
}

void LinkLog::on_cycle(Cycle now) {
  for (Watched& w : watched_) {
    if (!w.link->valid()) continue;
    if (w.link->busy())
      ++w.stalled;
    else
      w.flits.push_back({now, w.link->data()});
  }
}

// Nobody runs, so nothing moves; a flit may still stand there.
void LinkLog::on_skip(Cycle first, Cycle end) {
  for (Watched& w : watched_)
    if (w.link->valid() && w.link->busy()) w.stalled += end - first;
}

void ClusterLog::on_busy(Cycle now, cluster::BusyFlag flag, bool level) {
  std::vector<Interval>& list = busy[static_cast<std::size_t>(flag)];
  if (level)
    list.push_back({now, now});
  else if (!list.empty())
    list.back().end = now;
}

std::vector<ClusterLog::Command> ClusterLog::sweep_commands() const {
  std::vector<Command> sweep;
  for (const Command& c : commands)
    if (c.op == cluster::AccOp::kLoad || c.op == cluster::AccOp::kAdd || c.op == cluster::AccOp::kAddEmit)
      sweep.push_back(c);
  return sweep;
}

Cycles cycles_of(const std::vector<FlitEvent>& events, arch::FlitType type) {
  Cycles cycles;
  for (const FlitEvent& e : events)
    if (e.flit.type() == type) cycles.push_back(e.cycle);
  return cycles;
}

void VectorLog::on_done(Cycle now, std::uint32_t result, bool fault, bool run) {
  if (!run) return;
  Run& last = runs.back();
  last.done = true;
  last.fault = fault;
  last.result = result;
  last.cycles = static_cast<std::uint32_t>(now - 1 - last.start);  // done comes one cycle after busy fell
}

}  // namespace ktpu::check
