// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/program_script.h"

#include <cstring>
#include <type_traits>

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/program/host_writes.h"
#include "tlm/orchestrator/poll_text.h"
#include "tlm/orchestrator/window_bursts.h"

namespace ktpu::orchestrator {

namespace reg = arch::agent;
namespace eng = arch::engine;

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;  // clang 14 does not deduce it

}  // namespace

ProgramScript::ProgramScript(const arch::Program& program, std::vector<Buses> buses, Backdoor backdoor)
    : program_(program), buses_(std::move(buses)), backdoor_(std::move(backdoor)), rounds_(buses_.size()) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const arch::Step& step = program.steps[i];
    if (step.mesh >= buses_.size())
      throw arch::UserError::make("step {} ({}) is for mesh {}, but the machine has {}", i,
                                  arch::step_name(step.action), step.mesh,
                                  buses_.size() == 1 ? "one mesh" : fmt::format("{} meshes", buses_.size()));
    if (std::holds_alternative<arch::StepWindow>(step.action) && buses_[step.mesh].window < 0)
      throw arch::UserError::make("step {} (window): mesh {} has no memory port, so no memory window", i,
                                  step.mesh);
    const bool later = std::holds_alternative<arch::StepReset>(step.action) ||
                       std::holds_alternative<arch::StepPeStream>(step.action) ||
                       std::holds_alternative<arch::StepFirmware>(step.action);
    if (later)
      throw arch::UserError::make("step {}: a \"{}\" step is not supported by this version", i,
                                  arch::step_name(step.action));
  }
}

void ProgramScript::write(std::uint8_t bus, std::uint32_t offset, std::uint64_t data) {
  queue_.push_back({Transaction::Kind::kWrite, bus, offset, data, 0});
}

void ProgramScript::poll(std::uint8_t bus, std::uint32_t offset, std::uint64_t mask, std::uint64_t want) {
  queue_.push_back({Transaction::Kind::kPoll, bus, offset, want, mask});
}

void ProgramScript::kick(std::uint8_t mesh, const arch::StepKick& step) {
  const std::uint8_t bus = buses_[mesh].agent;
  poll(bus, reg::kProgStat, 1, 0);
  const std::array<std::pair<std::uint32_t, std::int64_t>, 3> registers{
      {{reg::kProgDst, step.to.node_byte()}, {reg::kProgBase, step.base}, {reg::kProgLen, step.count}}};
  for (std::size_t r = 0; r < registers.size(); ++r) {
    std::int64_t& written = rounds_[mesh].written[r];
    if (written == registers[r].second) continue;
    written = registers[r].second;
    write(bus, registers[r].first, static_cast<std::uint64_t>(written));
  }
  write(bus, reg::kProgKick, 1);
}

// With an engine: load, go and wait part by part, each cut just before a poll of PROG_STAT run == 0 and ended
// by a DONE (orchestrator.md section 8). Without one the host executes the list itself.
void ProgramScript::expand_commands(const Buses& buses, const arch::StepCommands& step) {
  const auto is_op = [](const arch::Command& c, eng::CommandOp op) {
    return c.op == static_cast<std::uint32_t>(op);
  };
  if (buses.engine < 0) {
    for (const arch::Command& c : step.commands) {
      const std::uint32_t offset = c.address & 0xFFFF;
      if (is_op(c, eng::CommandOp::kWrite)) {
        write(buses.agent, offset, c.data);
      } else if (is_op(c, eng::CommandOp::kPoll)) {
        poll(buses.agent, offset, c.mask, c.data);
      } else {
        return;  // DONE, or the stop of an unknown opcode
      }
    }
    return;
  }
  if (step.commands.empty()) return;
  const auto bus = static_cast<std::uint8_t>(buses.engine);
  try {
    for (const std::vector<arch::Command>& part : arch::split_commands(step.commands, buses.commands)) {
      for (const arch::HostWrite& w : arch::command_writes(part)) write(bus, w.address, w.data);
      write(bus, eng::kCtrl, 1);
      poll(bus, eng::kCtrl, 2, 2);
      queue_.push_back({Transaction::Kind::kEngineCheck, bus, eng::kCtrl, 0, 0});
    }
  } catch (const arch::UserError& error) {
    throw arch::UserError::make("step {}: {}", step_, error.what());
  }
}

void ProgramScript::window(std::uint8_t bus, const arch::StepWindow& step) {
  const std::uint64_t bytes = !step.write           ? step.read_bytes
                              : step.data.size != 0 ? step.data.size
                                                    : step.data.data.size();
  for_each_window_burst(
      step.address, bytes, step.write, [&](std::uint64_t address, std::uint64_t first, std::uint64_t n) {
        queue_.push_back({Transaction::Kind::kWindow, bus, static_cast<std::uint32_t>(n / arch::kWordBytes),
                          address, first});
      });
}

memory::WindowWord ProgramScript::window_word(std::uint32_t beat) {
  const arch::ImageBytes& image = std::get<arch::StepWindow>(program_.steps[step_].action).data;
  std::array<std::uint8_t, arch::kWordBytes> bytes{};
  const std::uint64_t from = current_.mask + std::uint64_t{beat} * arch::kWordBytes;
  if (!image.data.empty())
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = image.data[(from + i) % image.data.size()];
  memory::WindowWord word;
  std::memcpy(word.data(), bytes.data(), bytes.size());
  return word;
}

void ProgramScript::expand(const arch::Step& step, sim::Cycle) {
  const std::uint8_t mesh = step.mesh;
  const Buses& buses = buses_[mesh];
  std::visit(Overloaded{
                 [&](const arch::StepRound&) {
                   rounds_[mesh] = RoundState{};
                   if (quiet_before_round_ != 0)
                     queue_.push_back({Transaction::Kind::kQuiet, 0, 0, quiet_before_round_, 0});
                 },
                 [&](const arch::StepBaseline& s) {
                   for (const arch::Coord node : s.nodes)
                     queue_.push_back({Transaction::Kind::kRead, buses.agent,
                                       reg::node_status(node.node_byte()), node.node_byte(), 0});
                 },
                 [&](const arch::StepStage& s) {
                   for (std::size_t f = 0; f < s.flits.size(); ++f)
                     for (unsigned w = 0; w < reg::kWordsPerFlit; ++w)
                       write(buses.agent, reg::stage_word(s.base + static_cast<unsigned>(f), w),
                             s.flits[f].w[w]);
                 },
                 [&](const arch::StepCredit& s) { write(buses.agent, reg::kProgCred, s.seed); },
                 [&](const arch::StepKick& s) { kick(mesh, s); },
                 [&](const arch::StepAwait& s) {
                   const unsigned node = s.node.node_byte();
                   const std::uint64_t count = (rounds_[mesh].baseline[node] + s.count) & 0xFFFF;
                   poll(buses.agent, reg::node_status(node), reg::node_status_word::kCountAndValidMask,
                        count << 8 | 1);
                 },
                 [&](const arch::StepWrite& s) { write(buses.agent, s.offset, s.value); },
                 [&](const arch::StepPoll& s) { poll(buses.agent, s.offset, s.mask, s.want); },
                 [&](const arch::StepCommands& s) { expand_commands(buses, s); },
                 [&](const arch::StepWindow& s) { window(static_cast<std::uint8_t>(buses.window), s); },
                 [&](const arch::StepLoad& s) { backdoor_.load(mesh, s.image); },
                 [&](const arch::StepQuiet& s) {
                   queue_.push_back({Transaction::Kind::kQuiet, 0, 0, s.cycles, 0});
                 },
                 [&](const arch::StepRelayout& s) {
                   queue_.push_back({Transaction::Kind::kQuiet, 0, 0, s.quiet_cycles, 0});
                   pending_relayout_ = true;
                 },
                 [](const auto&) {},  // refused by the constructor
             },
             step.action);
}

HostAction ProgramScript::next(sim::Cycle now) {
  if (polling_) return {HostAction::Kind::kRead, poll_.bus, poll_.offset, 0, 0, 0};
  while (queue_.empty()) {
    if (pending_relayout_) {
      pending_relayout_ = false;
      if (probe_ != nullptr) probe_->relayout(now, step_, false);
      backdoor_.relayout(program_.steps[step_].mesh,
                         std::get<arch::StepRelayout>(program_.steps[step_].action));
      if (probe_ != nullptr) probe_->relayout(now, step_, true);
    }
    if (!failure_.empty() || index_ == program_.steps.size()) {
      if (!ended_ && probe_ != nullptr) probe_->end(now);
      ended_ = true;
      return {};
    }
    step_ = index_++;
    if (probe_ != nullptr) probe_->step(now, step_);
    expand(program_.steps[step_], now);
  }
  current_ = queue_.front();
  queue_.pop_front();
  ++transactions_;
  switch (current_.kind) {
    case Transaction::Kind::kWrite:
      if (probe_ != nullptr) probe_->write(now, step_, current_.offset, current_.data);
      return {HostAction::Kind::kWrite, current_.bus, current_.offset, current_.data, 0, 0};
    case Transaction::Kind::kPoll:
      polling_ = true;
      poll_ = {current_.bus, current_.offset, current_.mask, current_.data, 0, 0, now};
      return {HostAction::Kind::kRead, current_.bus, current_.offset, 0, 0, 0};
    case Transaction::Kind::kQuiet:
      return {HostAction::Kind::kQuiet, 0, 0, 0, 0, static_cast<std::uint32_t>(current_.data)};
    case Transaction::Kind::kWindow: {
      const bool write = std::get<arch::StepWindow>(program_.steps[step_].action).write;
      HostAction action;
      action.kind = write ? HostAction::Kind::kWindowWrite : HostAction::Kind::kWindowRead;
      action.bus = current_.bus;
      action.address = current_.data;
      action.beats = current_.offset;
      return action;
    }
    case Transaction::Kind::kRead:
    case Transaction::Kind::kEngineCheck:
      break;
  }
  return {HostAction::Kind::kRead, current_.bus, current_.offset, 0, 0, 0};
}

void ProgramScript::read_data(sim::Cycle now, std::uint64_t value) {
  if (polling_) {
    ++poll_.reads;
    poll_.last = value;
    if ((value & poll_.mask) != poll_.want) return;
    polling_ = false;
    if (probe_ != nullptr) probe_->poll_met(now, step_, poll_.offset, poll_.want, poll_.mask, poll_.reads);
    return;
  }
  if (current_.kind == Transaction::Kind::kEngineCheck) {
    if ((value & 4) != 0)
      failure_ = fmt::format(
          "step {}: the command engine stopped with an error: it ran past the last command or met an unknown "
          "opcode. End the list with DONE.",
          step_);
    return;
  }
  rounds_[program_.steps[step_].mesh].baseline[current_.data & 255] = static_cast<std::uint16_t>(value >> 8);
}

void ProgramScript::visit(sim::Archive& a) {
  const auto transaction = [&](Transaction& t) {
    a.kept("kind", t.kind);
    a.kept("bus", t.bus);
    a.kept("offset", t.offset);
    a.kept("data", t.data);
    a.kept("mask", t.mask);
  };
  for (RoundState& round : rounds_) {
    a.kept_memory("baseline", round.baseline.data(), round.baseline.size());
    a.kept_memory("written", round.written.data(), round.written.size());
  }
  a.kept_list("queue", queue_, transaction);
  transaction(current_);
  a.kept("polling", polling_);
  a.kept("poll_bus", poll_.bus);
  a.kept("poll_offset", poll_.offset);
  a.kept("poll_mask", poll_.mask);
  a.kept("poll_want", poll_.want);
  a.kept("poll_reads", poll_.reads);
  a.kept("poll_last", poll_.last);
  a.kept("next_step", index_);
  a.kept("step", step_);
  a.kept("quiet_before_round", quiet_before_round_);
  a.kept("quiet_done", quiet_done_);
  a.kept("pending_relayout", pending_relayout_);
  a.kept("ended", ended_);
  a.kept("failure", failure_);
  a.kept("poll_since", poll_.since);
}

std::optional<PendingPoll> ProgramScript::pending_poll() const {
  if (ended_ || !polling_) return std::nullopt;
  const std::uint8_t mesh = program_.steps[step_].mesh;
  return PendingPoll{mesh,         poll_.bus == buses_[mesh].engine,
                     poll_.offset, poll_.mask,
                     poll_.want,   poll_.last,
                     poll_.reads,  poll_.since};
}

std::string ProgramScript::waiting_for() const {
  if (ended_) return {};
  const auto& steps = program_.steps;
  const std::string_view name = step_ < steps.size() ? arch::step_name(steps[step_].action) : "";
  if (polling_)
    return poll_.bus == buses_[program_.steps[step_].mesh].engine
               ? fmt::format("step {} of {} ({}): until the command engine is done, {} reads so far", step_,
                             steps.size(), name, poll_.reads)
               : fmt::format("step {} of {} ({}): {}, {} reads so far", step_, steps.size(), name,
                             poll_text(poll_.offset, poll_.mask, poll_.want, poll_.last), poll_.reads);
  if (current_.kind == Transaction::Kind::kWindow)
    return fmt::format("step {} of {} ({}): the answer of the memory window to a burst of {} words at {:#x}",
                       step_, steps.size(), name, current_.offset, current_.data);
  return fmt::format("step {} of {} ({})", step_, steps.size(), name);
}

}  // namespace ktpu::orchestrator
