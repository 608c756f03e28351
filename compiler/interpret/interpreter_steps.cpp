// SPDX-License-Identifier: Apache-2.0
// What the host does.
#include <algorithm>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "arch/formats/quantise.h"
#include "arch/program/image.h"
#include "compiler/interpret/interpreter_machine.h"

namespace ktpu::interpret {

using arch::ExitStatus;
using arch::UserError;

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

void Interpreter::Machine::run(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    step_ = i;
    try {
      step(i);
    } catch (const UserError& error) {
      if (error.status() != ExitStatus::kUserError) throw;
      throw UserError(
          fmt::format("step {} ({}): {}", i, arch::step_name(program.steps[i].action), error.what()));
    }
  }
}

void Interpreter::Machine::step(std::size_t index) {
  const arch::Step& step = program.steps[index];
  const unsigned m = step.mesh;
  if (m >= meshes_.size()) throw UserError::make("for mesh {} of {}", m, meshes_.size());
  Mesh& mesh = meshes_[m];
  namespace reg = arch::agent;
  std::visit(Overloaded{
                 [&](const arch::StepRound& s) {
                   mesh.baseline.fill(0);
                   ++mesh.round;
                   mesh.round_name = s.name;
                   ++counters.rounds;
                   traffic.begin_round(s.name);
                 },
                 [&](const arch::StepBaseline& s) {
                   for (const Coord node : s.nodes)
                     mesh.baseline[node.node_byte()] = mesh.registers.count(node);
                 },
                 [&](const arch::StepStage& s) {
                   for (std::size_t f = 0; f < s.flits.size(); ++f)
                     mesh.registers.stage(static_cast<unsigned>(s.base + f), s.flits[f]);
                 },
                 [&](const arch::StepCredit& s) { mesh.registers.write(reg::kProgCred, s.seed); },
                 [&](const arch::StepKick& s) { dispatch(m, mesh.registers.kick(s.to, s.base, s.count)); },
                 [&](const arch::StepAwait& s) {
                   const std::uint8_t node = s.node.node_byte();
                   await(m, reg::node_status(node), reg::node_status_word::kCountAndValidMask,
                         std::uint64_t{(mesh.baseline[node] + s.count) & 0xFFFF} << 8 | 1);
                 },
                 [&](const arch::StepWrite& s) {
                   if (const auto d = mesh.registers.write(s.offset, s.value)) dispatch(m, *d);
                 },
                 [&](const arch::StepPoll& s) { await(m, s.offset, s.mask, s.want); },
                 [&](const arch::StepCommands& s) { commands(m, s); },
                 [&](const arch::StepWindow& s) { window(m, s); },
                 [&](const arch::StepLoad& s) { load(m, s.image); },
                 [&](const arch::StepQuiet&) { ++stamp_; },
                 [&](const arch::StepRelayout& s) { relayout(m, s); },
                 [&](const arch::StepReset&) { build_units(m); },
                 [&](const auto&) { throw UserError("is not interpreted"); },
             },
             step.action);
}

void Interpreter::Machine::await(unsigned m, std::uint32_t offset, std::uint64_t mask, std::uint64_t want) {
  const std::uint64_t value = meshes_[m].registers.read(offset);
  if ((value & mask) == want) return;
  throw UserError(
      fmt::format("step {} ({}): a poll of register 0x{:x} for 0x{:x} under mask 0x{:x} is never met, "
                  "it reads 0x{:x}{}",
                  step_, arch::step_name(program.steps[step_].action), offset, want, mask, value, waiting()),
      ExitStatus::kNoProgress);
}

void Interpreter::Machine::commands(unsigned m, const arch::StepCommands& step) {
  using Op = arch::engine::CommandOp;
  for (const arch::Command& c : step.commands) {
    const std::uint32_t offset = c.address & 0xFFFF;
    if (c.op == static_cast<std::uint32_t>(Op::kDone)) return;
    if (c.op == static_cast<std::uint32_t>(Op::kWrite)) {
      if (const auto d = meshes_[m].registers.write(offset, c.data)) dispatch(m, *d);
    } else if (c.op == static_cast<std::uint32_t>(Op::kPoll)) {
      await(m, offset, c.mask, c.data);
    } else {
      throw UserError::make("opcode {} stops the command engine", c.op);
    }
  }
}

void Interpreter::Machine::window(unsigned m, const arch::StepWindow& step) {
  if (!step.write) return;  // what is read is discarded
  const std::vector<std::uint8_t> data = arch::image_data(step.data);
  Memory& to = meshes_[m].memory;
  namespace address = arch::address;
  if (!address::upload(step.address)) return to.write(step.address, data, Memory::kHost);
  if (data.size() % address::kEntryBytesFp16 != 0)
    throw UserError::make("an upload of {} bytes; entries take {}", data.size(), address::kEntryBytesFp16);
  const auto side = address::upload_b_layout(step.address) ? arch::Side::kB : arch::Side::kA;
  std::uint64_t at = address::upload_destination(step.address);
  for (std::size_t from = 0; from < data.size(); from += address::kEntryBytesFp16) {
    std::array<std::uint16_t, arch::kLanes * arch::kBlockK> source;
    std::memcpy(source.data(), data.data() + from, sizeof source);
    const arch::OperandEntry entry = arch::quantise_entry(source);
    for (unsigned w = 0; w < arch::kEntryWords; ++w, at += arch::kWordBytes) {
      const Word256 word = arch::operand_word(side, w, entry);
      to.write(at, {reinterpret_cast<const std::uint8_t*>(word.data()), arch::kWordBytes}, Memory::kHost);
    }
  }
}

void Interpreter::Machine::load(unsigned m, const arch::MemoryImage& image) {
  arch::generate(image, [&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
    meshes_[m].memory.write(address, bytes, Memory::kHost);
  });
}

void Interpreter::Machine::relayout(unsigned m, const arch::StepRelayout& step) {
  constexpr std::size_t kHalf = 2;
  Memory& memory = meshes_[m].memory;
  std::int64_t last = -1;
  std::size_t count = 0;
  const auto source = [](const arch::GatherRun& run, std::uint32_t t, std::uint32_t k) {
    return run.source + run.advance * t + std::int64_t{run.step} * k;
  };
  for (const arch::GatherRun& run : step.gather) {
    count += std::size_t{run.count} * run.times;
    if (run.source < 0 || run.count == 0 || run.times == 0) continue;
    for (const std::uint32_t t : {0u, run.times - 1})
      for (const std::uint32_t k : {0u, run.count - 1}) {
        if (source(run, t, k) < 0) throw UserError("a gather run reads in front of the buffer");
        last = std::max(last, source(run, t, k));
      }
  }
  std::vector<std::uint8_t> from(static_cast<std::size_t>(last + 1) * kHalf), to;
  memory.read(step.address, from);
  to.reserve(count * kHalf);
  for (const arch::GatherRun& run : step.gather)
    for (std::uint32_t t = 0; t < run.times; ++t)
      for (std::uint32_t k = 0; k < run.count; ++k)
        for (std::size_t b = 0; b < kHalf; ++b)
          to.push_back(run.source < 0 ? std::uint8_t{0}
                                      : from[static_cast<std::size_t>(source(run, t, k)) * kHalf + b]);
  memory.write(step.address, to, Memory::kHost);
  ++stamp_;
}

}  // namespace ktpu::interpret
