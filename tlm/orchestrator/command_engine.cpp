// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/command_engine.h"

#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "tlm/orchestrator/poll_text.h"

namespace ktpu::orchestrator {

namespace reg = arch::engine;

namespace {

// A failed poll counts 31..0 and issues again: 36 cycles from read to read (orchestrator.md section 8).
constexpr sim::Cycle kPollWait = 32;

}  // namespace

CommandEngine::CommandEngine(std::string name, unsigned commands, RegisterBus& host, RegisterBus& agent)
    : Unit(std::move(name)), host_(host), agent_(agent), ram_(commands) {
  host_.beat.bind_receiver(*this);
  agent_.beat.bind_sender(*this);
}

void CommandEngine::reset(sim::Cycle start) {
  cycles_.reset(start);
  state_ = State::kIdle;
  pc_ = 0;
  code_ = polls_ = 0;
  done_ = error_ = go_ = beat_on_ = false;
  for (Command& c : ram_) c.opcode = 0;  // only the opcode fields have a reset value
}

std::uint64_t CommandEngine::peek(std::uint32_t offset) const {
  switch (offset) {
    case reg::kCtrl:
      return (busy() ? 1u : 0u) | (done_ ? 2u : 0u) | (error_ ? 4u : 0u);
    case reg::kPc:
      return pc_;
    case reg::kCode:
      return code_;
    case reg::kPolls:
      return polls_;
    default:
      return 0;
  }
}

void CommandEngine::drive(sim::Cycle) {
  host_.read_data = read_q_;
  if (state_ == State::kBeat) {
    const Command& c = ram_[pc_];
    BusBeat beat;
    beat.write = c.opcode == static_cast<std::uint64_t>(reg::CommandOp::kWrite);
    beat.read = !beat.write;
    beat.write_offset = beat.read_offset = static_cast<std::uint32_t>(c.address);
    beat.data = c.data;
    agent_.beat.offer(beat);
    beat_on_ = true;
  } else if (beat_on_) {
    agent_.beat.withdraw();
    beat_on_ = false;
  }
}

void CommandEngine::host_access(sim::Cycle) {
  if (!host_.beat.valid()) return;
  const BusBeat& beat = host_.beat.data();
  if (beat.read) read_q_ = peek(beat.read_offset);
  if (!beat.write) return;
  if (beat.write_offset == reg::kCtrl) {
    if ((beat.data & 1) && !busy()) go_ = true;
    return;
  }
  const std::uint32_t end = reg::kCmd + static_cast<std::uint32_t>(ram_.size()) * reg::kCommandBytes;
  if (beat.write_offset < reg::kCmd || beat.write_offset >= end) return;
  Command& c = ram_[(beat.write_offset - reg::kCmd) / reg::kCommandBytes];
  switch ((beat.write_offset / 8) % 4) {
    case 0:
      c.opcode = beat.data & 15;
      break;
    case 1:
      c.address = beat.data;
      break;
    case 2:
      c.data = beat.data;
      break;
    default:
      c.mask = beat.data;
      break;
  }
}

// One state a cycle: fetch, issue, address, beat, response (orchestrator.md section 8: five cycles a
// command).
sim::Cycle CommandEngine::advance(sim::Cycle now) {
  switch (state_) {
    case State::kIdle:
      return sim::kNever;
    case State::kFetch: {
      const Command& c = ram_[pc_];
      const auto op = static_cast<reg::CommandOp>(c.opcode);
      if (op == reg::CommandOp::kWrite || op == reg::CommandOp::kPoll) {
        state_ = State::kIssue;
      } else {
        error_ = op != reg::CommandOp::kDone;
        if (!error_) code_ = c.data;
        done_ = true;
        state_ = State::kIdle;
        return sim::kNever;
      }
      break;
    }
    case State::kIssue:
      state_ = State::kAddress;
      break;
    case State::kAddress:
      state_ = State::kBeat;
      break;
    case State::kBeat:
      state_ = State::kResponse;
      break;
    case State::kResponse: {
      const Command& c = ram_[pc_];
      bool met = true;
      if (c.opcode == static_cast<std::uint64_t>(reg::CommandOp::kPoll)) {
        ++polls_;
        met = (agent_.read_data & c.mask) == c.data;
      } else {
        ++writes_;
      }
      if (met) {
        pc_ = (pc_ + 1) % static_cast<unsigned>(ram_.size());
        state_ = State::kFetch;
      } else {
        state_ = State::kWait;
        wait_until_ = now + kPollWait;
        return wait_until_;
      }
      break;
    }
    case State::kWait:
      if (now < wait_until_) return wait_until_;
      state_ = State::kIssue;
      break;
  }
  return now + 1;
}

sim::Cycle CommandEngine::clock(sim::Cycle now) {
  const bool go = go_;
  go_ = false;
  const sim::Cycle next = advance(now);
  const bool reading = host_.beat.valid() && host_.beat.data().read;
  host_access(now);
  if (go) {  // written in g: acts in g+1, busy from g+2
    state_ = State::kFetch;
    pc_ = 0;
    polls_ = 0;
    done_ = error_ = false;
  }
  cycles_.enter(now + 1, cycle_state());
  return go || go_ || reading || beat_on_ ? now + 1 : next;
}

CommandCycle CommandEngine::cycle_state() const {
  if (state_ == State::kIdle) return CommandCycle::kIdle;
  if (state_ == State::kWait) return CommandCycle::kPollWait;
  return ram_[pc_].opcode == static_cast<std::uint64_t>(reg::CommandOp::kPoll) ? CommandCycle::kPoll
                                                                               : CommandCycle::kCommand;
}

void CommandEngine::visit(sim::Archive& a) {
  cycles_.visit(a);
  a.state("state", state_, 3);
  a.state("pc", pc_, 7);
  a.state("code", code_);
  a.state("done", done_, 1);
  a.state("err", error_, 1);
  a.memory("commands", &ram_[0].opcode, ram_.size() * 4);
  a.counter("polls", polls_, "reads", "Poll reads since the last GO");
  a.counter("writes", writes_, "writes", "WRITE commands executed");
}

std::vector<sim::Wait> CommandEngine::waits(sim::Cycle) const {
  if (state_ == State::kIdle) return {};
  const Command& c = ram_[pc_];
  if (c.opcode != static_cast<std::uint64_t>(reg::CommandOp::kPoll)) return {};
  return {{fmt::format(
               "command {}: {}", pc_,
               poll_text(static_cast<std::uint32_t>(c.address & 0xFFFF), c.mask, c.data, agent_.read_data)),
           nullptr}};
}

}  // namespace ktpu::orchestrator
