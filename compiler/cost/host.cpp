// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/host.h"

#include <algorithm>

#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::cost {

namespace reg = arch::agent;

Host::Host(const arch::Program& program, const CostMachine& machine, std::deque<MeshSim>& meshes,
           Ledger& ledger, EventQueue& events)
    : program_(program), cost_(machine.host), meshes_(meshes), ledger_(ledger), events_(events) {
  registers_.resize(meshes.size());
  states_.resize(meshes.size());
  at_ = ledger_.after({}, cost_.start, Cause::kHost);
}

void Host::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

void Host::proceed(Cycles now) {
  while (!done_) {
    while (actions_.empty()) {
      if (step_ == program_.steps.size()) {
        done_ = true;
        waiting_ = false;
        return;
      }
      expand(program_.steps[step_++]);
    }
    if (!execute(actions_.front(), now)) return;
    waiting_ = false;
    actions_.pop_front();
  }
}

bool Host::execute(const Action& action, Cycles now) {
  using Kind = Action::Kind;
  switch (action.kind) {
    case Kind::kWrites:
      at_ = ledger_.after(at_, cost_.write * static_cast<Cycles>(action.data), Cause::kHost);
      return true;
    case Kind::kRead:
      at_ = ledger_.after(at_, cost_.read, Cause::kHost);
      return true;
    case Kind::kIdle:
      at_ = ledger_.after(at_, static_cast<Cycles>(action.data), Cause::kHost);
      return true;
    case Kind::kGo: {
      const Moment beat = ledger_.after(at_, cost_.beat, Cause::kHost);
      grid_ = at_.t + cost_.write;
      at_ = ledger_.after(beat, cost_.engine_go, Cause::kDispatch);
      return true;
    }
    case Kind::kEngineDone: {
      // The host sees it at its next read of the engine, and reads once more.
      const Cycles behind = std::max<Cycles>(0, at_.t - (grid_ + cost_.beat));
      const Cycles reads = (behind + cost_.read - 1) / cost_.read;
      at_ = ledger_.not_before(at_, grid_ + cost_.read * (reads + 1), Cause::kPoll);
      at_ = ledger_.after(at_, cost_.read, Cause::kHost);
      return true;
    }
    case Kind::kRegister:
    case Kind::kEngineRegister:
    case Kind::kBaseline:
    case Kind::kPoll:
    case Kind::kAwait:
    case Kind::kEnginePoll:
    case Kind::kQuiet:
      break;
  }
  // What the mesh does until then must have happened.
  if (at_.t > now) {
    if (asked_ != at_.t) events_.add(at_.t, Event::Kind::kHost, 0);
    asked_ = at_.t;
    return false;
  }
  switch (action.kind) {
    case Kind::kRegister:
      write_register(action, ledger_.after(at_, cost_.beat, Cause::kHost));
      at_ = ledger_.after(at_, cost_.write, Cause::kHost);
      return true;
    case Kind::kEngineRegister:
      write_register(action, ledger_.after(at_, cost_.engine_beat, Cause::kDispatch));
      at_ = ledger_.after(at_, cost_.engine_command, Cause::kDispatch);
      return true;
    case Kind::kBaseline:
      states_[action.mesh].baseline[action.data & 255] =
          static_cast<std::uint16_t>(meshes_[action.mesh].node_status(action.data & 255).bits >> 8);
      at_ = ledger_.after(at_, cost_.read, Cause::kHost);
      return true;
    case Kind::kAwait: {
      const std::uint64_t count = (states_[action.mesh].baseline[action.offset] + action.data) & 0xFFFF;
      Action read = action;
      read.offset = reg::node_status(action.offset);
      read.mask = reg::node_status_word::kCountAndValidMask;
      return poll(read, count << 8 | 1, false);
    }
    case Kind::kPoll:
      return poll(action, action.data, false);
    case Kind::kEnginePoll:
      return poll(action, action.data, true);
    default:
      return quiet(action, now);
  }
}

void Host::write_register(const Action& action, Moment beat) {
  MeshSim& mesh = meshes_[action.mesh];
  Registers& r = registers_[action.mesh];
  switch (action.offset) {
    case reg::kProgDst:
      r.dst = action.data;
      return;
    case reg::kProgBase:
      r.base = action.data;
      return;
    case reg::kProgLen:
      r.len = action.data;
      return;
    case reg::kProgCred:
      mesh.set_credit(beat, static_cast<unsigned>(action.data & 0xFFFF));
      return;
    case reg::kSigDone:
      mesh.clear_done();
      return;
    case reg::kProgKick:
      mesh.kick(beat, arch::Coord::from_node_byte(static_cast<unsigned>(r.dst)),
                static_cast<unsigned>(r.base), static_cast<unsigned>(r.len & 0xFFFF));
      return;
    default:
      if (action.offset >= reg::kAuxCfgMover && action.offset < reg::kAuxCfgEnd)
        note("the memory mover and the interlink take no time here");
      return;
  }
}

MeshSim::Value Host::value_of(const Action& action, bool& known) const {
  const MeshSim& mesh = meshes_[action.mesh];
  known = true;
  if (action.offset == reg::kProgStat) {
    // Once no flit is left the cycle in which `run` falls is known.
    MeshSim::Value v = mesh.run();
    return v;
  }
  if (action.offset == reg::kSigDone) return mesh.signals_done();
  if (action.offset >= reg::kNodeStatus && action.offset < reg::kStage)
    return mesh.node_status((action.offset - reg::kNodeStatus) / 8 & 255);
  known = false;
  return {};
}

// The first read that sees the value is on the grid that the first read began.
bool Host::poll(const Action& action, std::uint64_t want, bool engine) {
  const Cycles period = engine ? cost_.engine_command : cost_.read;
  const Cycles beat = engine ? cost_.engine_beat : cost_.beat;
  const Cycles retry = engine ? cost_.engine_retry : cost_.read;
  const Cause own = engine ? Cause::kDispatch : Cause::kHost;
  bool known = true;
  const MeshSim::Value value = value_of(action, known);
  if (!known) {
    note("polls of registers other than NODE_STATUS, SIG_DONE and PROG_STAT are met at once");
    at_ = ledger_.after(at_, period, own);
    return true;
  }
  if ((value.bits & action.mask) != want) {
    waiting_ = true;
    return false;
  }
  const Cycles sample = at_.t + beat;
  if (value.since.t <= sample) {
    at_ = ledger_.after(at_, period, own);
    return true;
  }
  const Cycles reads = (value.since.t - sample + retry - 1) / retry;
  at_ = ledger_.not_before(value.since, sample + reads * retry - beat + period, Cause::kPoll);
  return true;
}

bool Host::quiet(const Action& action, Cycles now) {
  Moment from = at_;
  for (const MeshSim& mesh : meshes_) from = latest(from, mesh.dram().last_handshake());
  const Cycles until = from.t + static_cast<Cycles>(action.data);
  if (until > now) {
    if (asked_ != until) events_.add(until, Event::Kind::kHost, 0);
    asked_ = until;
    return false;
  }
  at_ = ledger_.not_before(from, until, Cause::kQuiet);
  return true;
}

std::string Host::waiting_for() const {
  if (actions_.empty()) return "nothing";
  const Action& a = actions_.front();
  return fmt::format("step {} of {} ({}): register {:#x} of mesh {} for {:#x}", step_, program_.steps.size(),
                     arch::step_name(program_.steps[step_ - 1].action), a.offset, a.mesh, a.data);
}

}  // namespace ktpu::cost
