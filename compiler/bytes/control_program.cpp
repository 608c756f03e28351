// SPDX-License-Identifier: Apache-2.0
#include "compiler/bytes/control_program.h"

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::bytes {
namespace {

namespace agent = arch::agent;
using arch::engine::CommandOp;

std::uint64_t at(const arch::Field& field, std::uint64_t value) {
  return (value & field.mask()) << field.lsb;
}
std::uint64_t all(const arch::Field& field) { return at(field, ~0ull); }

std::uint32_t node_status(arch::Coord node) { return agent::node_status(node.node_byte()); }

arch::Command command(CommandOp op, std::uint32_t offset, std::uint64_t data, std::uint64_t mask) {
  return {static_cast<std::uint32_t>(op), arch::address::kAgentBase + offset, data, mask};
}

}  // namespace

bool keeps_value(std::uint32_t offset) {
  return offset == agent::kProgDst || offset == agent::kProgBase || offset == agent::kProgLen;
}

void ControlProgram::write(std::uint32_t offset, std::uint64_t data) {
  commands_.push_back(command(CommandOp::kWrite, offset, data, 0));
  if (keeps_value(offset)) shadow_[offset] = data;
}

void ControlProgram::write_changed(std::uint32_t offset, std::uint64_t data) {
  KTPU_CHECK(keeps_value(offset), "register {:#x} does not keep what is written to it", offset);
  const auto held = shadow_.find(offset);
  if (held == shadow_.end() || held->second != data) write(offset, data);
}

void ControlProgram::poll(std::uint32_t offset, std::uint64_t want, std::uint64_t mask) {
  commands_.push_back(command(CommandOp::kPoll, offset, want, mask));
}

void ControlProgram::seed_credits(std::uint32_t credit) { write(agent::kProgCred, credit); }

void ControlProgram::kick(const Kick& kick) {
  poll(agent::kProgStat, 0, all(agent::prog_stat::kRun));
  write_changed(agent::kProgDst, kick.to.node_byte());
  write_changed(agent::kProgBase, kick.base.index());
  write_changed(agent::kProgLen, kick.count);
  write(agent::kProgKick, 1);
}

void ControlProgram::await_node(arch::Coord node, std::uint32_t count) {
  namespace word = agent::node_status_word;
  poll(node_status(node), at(word::kCount, count) | at(word::kValid, 1), word::kCountAndValidMask);
}

void ControlProgram::await_signal(arch::Coord node, arch::SignalCode code, std::uint32_t count,
                                  std::optional<std::uint32_t> argument) {
  namespace word = agent::node_status_word;
  std::uint64_t want =
      at(word::kCount, count) | at(word::kValid, 1) | at(word::kCode, static_cast<std::uint64_t>(code));
  std::uint64_t mask = word::kCountAndValidMask | all(word::kCode);
  if (argument) {
    want |= at(word::kArg, *argument);
    mask |= all(word::kArg);
  }
  poll(node_status(node), want, mask);
}

void ControlProgram::clear_done() { write(agent::kSigDone, 0); }

void ControlProgram::await_all(std::uint32_t signals) { poll(agent::kSigDone, signals, 0xFFFF); }

void ControlProgram::done(std::uint64_t code) {
  commands_.push_back({static_cast<std::uint32_t>(CommandOp::kDone), 0, code, 0});
}

std::uint16_t Baselines::of(arch::Coord node) const {
  const auto found = counts_.find(node);
  return found == counts_.end() ? std::uint16_t{0} : found->second;
}

void Baselines::add(const Artifact& round) {
  for (const RoundStep& step : round.steps)
    if (const Await* await = std::get_if<Await>(&step))
      set(await->node, static_cast<std::uint16_t>(of(await->node) + await->count));
}

std::vector<arch::Command> control_program(const Artifact& round, const Baselines& before) {
  ControlProgram program;
  for (const RoundStep& step : round.steps) {
    if (const Seed* seed = std::get_if<Seed>(&step)) program.seed_credits(seed->credit);
    if (const Kick* kick = std::get_if<Kick>(&step)) program.kick(*kick);
    if (const Await* await = std::get_if<Await>(&step))
      program.await_node(await->node, before.of(await->node) + await->count);
  }
  program.done();
  return program.commands();
}

std::vector<arch::HostWrite> setup_writes(const Artifact& round) {
  const std::vector<arch::Flit> flits = staged_flits(round);
  std::vector<bool> staged(flits.size());
  std::vector<arch::HostWrite> writes;
  for (const RoundStep& step : round.steps) {
    const Kick* kick = std::get_if<Kick>(&step);
    if (kick == nullptr) continue;
    for (std::uint32_t slot = kick->base.index(); slot < kick->base.index() + kick->count; ++slot) {
      if (staged.at(slot)) continue;
      staged[slot] = true;
      const auto words = arch::staging_writes({slot, {flits[slot]}});
      writes.insert(writes.end(), words.begin(), words.end());
    }
  }
  return writes;
}

}  // namespace ktpu::bytes
