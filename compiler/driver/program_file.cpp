// SPDX-License-Identifier: Apache-2.0
#include "compiler/driver/program_file.h"

#include <algorithm>

#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/relayout.h"

namespace ktpu::driver {
namespace {

using arch::UserError;
using schedule::Role;

// DRAM cycles without a handshake before a later step may read what earlier rounds stored (orchestrator.md
// section 9).
constexpr std::uint32_t kLanded = 256;

std::vector<std::uint8_t> little_endian(const std::vector<std::uint16_t>& values) {
  std::vector<std::uint8_t> bytes(2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes[2 * i] = static_cast<std::uint8_t>(values[i]);
    bytes[2 * i + 1] = static_cast<std::uint8_t>(values[i] >> 8);
  }
  return bytes;
}

class Writing {
 public:
  Writing(const Compiled& compiled, const Machine& machine, const Inputs& inputs)
      : compiled_(compiled), machine_(machine), mesh_(machine.bytes.mesh) {
    program_.name = compiled.name();
    program_.needs.machine = machine.name;
    memory(inputs);
    steps();
    needs();
    if (!buffers_.empty()) program_.debug.push_back({"buffers", buffers_});
    if (compiled.first <= Level::kGraph) program_.debug.push_back({"graph", print(compiled.graph)});
    if (compiled.first <= Level::kSchedule) program_.debug.push_back({"schedule", print(compiled.schedule)});
    if (compiled.first <= Level::kProgram) program_.debug.push_back({"program", print(compiled.program)});
  }
  arch::Program take() { return std::move(program_); }

 private:
  void image(std::uint64_t at, std::vector<std::uint8_t> data, std::uint64_t size) {
    program_.images.emplace_back(mesh_, arch::MemoryImage{at, arch::ImageBytes{std::move(data), size}});
  }

  std::string why_no_input() const {
    if (compiled_.first > Level::kSchedule)
      return fmt::format(
          "{} began below the schedule, where tensors have no names: begin at a schedule, or at a level "
          "above",
          compiled_.name());
    std::string names;
    for (const schedule::Buffer& buffer : compiled_.schedule.buffers)
      if (buffer.role == Role::kIn) names += (names.empty() ? "" : ", ") + buffer.name;
    return fmt::format("{} has no such input; it has: {}", compiled_.name(), names);
  }

  void memory(const Inputs& inputs) {
    for (const auto& [name, values] : inputs)
      if (std::none_of(compiled_.schedule.buffers.begin(), compiled_.schedule.buffers.end(),
                       [&](const auto& b) { return b.role == Role::kIn && b.name == name; }))
        throw UserError::make("input \"{}\": {}", name, why_no_input());
    for (const schedule::BufferId id : compiled_.schedule.allocation) {
      const schedule::Buffer& buffer = compiled_.schedule.buffers[id];
      const std::uint64_t at = buffer.address->value();
      low_ = std::min(low_, at);
      high_ = std::max(high_, at + buffer.nbytes);
      std::string word = buffer.name;
      std::replace(word.begin(), word.end(), ' ', '_');
      buffers_ += fmt::format("{} {:#x} {} {}\n", word, at, buffer.nbytes, mesh_);
      switch (buffer.role) {
        case Role::kIn:
          program_.inputs.push_back(
              {buffer.name, mesh_, at, arch::DType::kFp16, buffer.shape, buffer.first.key()});
          if (const auto found = inputs.find(buffer.name); found != inputs.end())
            image(at, packed(buffer, found->second), 0);
          break;
        case Role::kOut:
          program_.outputs.push_back(
              {buffer.name, mesh_, at, arch::DType::kFp16, buffer.shape, buffer.last.key()});
          break;
        case Role::kTable:
          image(at, packed(buffer, buffer.values), 0);
          break;
        case Role::kConstant: {
          const std::uint16_t half = arch::double_to_fp16(buffer.value);
          image(at, little_endian({half}), 2 * buffer.held);
          break;
        }
        case Role::kTemp:
        case Role::kScratch:
          break;
      }
    }
  }

  static std::vector<std::uint8_t> packed(const schedule::Buffer& buffer,
                                          const std::vector<std::uint16_t>& values) {
    std::uint64_t count = 1;
    for (const std::uint32_t extent : buffer.shape) count *= extent;
    if (values.size() != count)
      throw UserError::make("input \"{}\" has {} values, its shape holds {}", buffer.name, values.size(),
                            count);
    return buffer.first.pack(little_endian(values), buffer.shape);
  }

  void add(arch::Action action) { program_.steps.push_back({mesh_, std::move(action)}); }

  void steps() {
    for (const bytes::ExecStep& step : compiled_.executable.steps) {
      if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step)) {
        for (const bytes::Round& round : dispatch->plan.rounds) {
          std::vector<arch::Step> made = bytes::program_steps(round.artifact, mesh_);
          for (arch::Step& each : made) {
            if (auto* name = std::get_if<arch::StepRound>(&each.action))
              name->name = fmt::format("stage {} {} round {}", dispatch->stage, dispatch->unit,
                                       round.artifact.round + 1);
            program_.steps.push_back(std::move(each));
          }
        }
      } else if (const auto* relayout = std::get_if<bytes::HostRelayout>(&step)) {
        add(relayout_step(*relayout));
      } else {
        add(arch::StepQuiet{kLanded});
      }
    }
  }

  static arch::StepRelayout relayout_step(const bytes::HostRelayout& relayout) {
    arch::StepRelayout step;
    step.address = relayout.address;
    step.quiet_cycles = kLanded;
    step.from_layout = relayout.from;
    step.to_layout = relayout.to;
    step.gather =
        arch::gather_between(arch::TensorLayout(relayout.from, relayout.shape, 2, relayout.batch_stride),
                             arch::TensorLayout(relayout.to, relayout.shape, 2, relayout.batch_stride));
    return step;
  }

  void needs() {
    arch::MachineNeeds& needs = program_.needs;
    needs.meshes = mesh_ + 1u;
    for (const bytes::ExecStep& step : compiled_.executable.steps)
      if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step))
        for (const bytes::Round& round : dispatch->plan.rounds) {
          needs.staging_flits =
              std::max(needs.staging_flits, static_cast<std::uint32_t>(round.artifact.words.size()));
          for (const bytes::RoundStep& each : round.artifact.steps)
            if (const auto* kick = std::get_if<bytes::Kick>(&each)) used_[kick->to] = dispatch->unit;
        }
    for (const auto& [at, unit] : used_) {
      arch::UnitNeed need;
      need.mesh = mesh_;
      need.at = at;
      need.kind = unit == "MG" ? "matmul_cluster" : "vector_core";
      needs.units.push_back(need);
    }
    if (low_ < high_) needs.memory.push_back({mesh_, low_, high_});
  }

  const Compiled& compiled_;
  const Machine& machine_;
  std::uint8_t mesh_;
  arch::Program program_;
  std::map<arch::Coord, std::string> used_;
  std::uint64_t low_ = ~0ull, high_ = 0;
  std::string buffers_;  // NAME ADDRESS BYTES MESH a line, for those who account for memory
};

}  // namespace

arch::Program program_file(const Compiled& compiled, const Machine& machine, const Inputs& inputs) {
  return Writing(compiled, machine, inputs).take();
}

}  // namespace ktpu::driver
