// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/case.h"

#include <algorithm>
#include <random>

#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/rig.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/kernels/kernels.h"
#include "topologies/reader.h"

namespace ktpu::test {

using arch::UserError;

namespace {

constexpr sim::Cycle kHang = 400'000;

template <typename Level, typename Parse>
void check_level(const char* name, const Level& level, const Parse& parse_text, std::string& problems) {
  try {
    verify(level);
    const std::string text = print(level);
    if (print(parse_text(text)) != text)
      problems += fmt::format("{}: its text reads back as another. ", name);
  } catch (const UserError& error) {
    problems += fmt::format("{}: {}. ", name, error.what());
  }
}

std::vector<std::uint16_t> halves(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint16_t> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  return values;
}

nlohmann::json as_json(const kernel::Knobs& knobs) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, knob] : knobs)
    std::visit(
        [&all, &name = name](const auto& value) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) all[name] = value;
        },
        knob);
  return all;
}

std::vector<double> doubles(const std::vector<std::uint16_t>& values) {
  std::vector<double> all(values.size());
  std::transform(values.begin(), values.end(), all.begin(), arch::fp16_to_double);
  return all;
}

}  // namespace

Target shipped(const std::string& name, unsigned mesh) { return {name, check::shipped_machine(name), mesh}; }

Target made(const MadeMachine& like) {
  static constexpr std::pair<unsigned, unsigned> kInside[] = {{1, 1}, {2, 1}, {3, 1}, {1, 2},
                                                              {2, 2}, {3, 2}, {1, 3}, {2, 3}};
  static constexpr std::pair<unsigned, unsigned> kEdge[] = {{1, 0}, {2, 0}, {3, 0}, {4, 1},
                                                            {4, 2}, {4, 3}, {1, 4}, {2, 4}};
  const char* cells[5][5];
  for (auto& row : cells) std::fill(std::begin(row), std::end(row), ".");
  cells[1][0] = cells[3][0] = "mem";
  for (unsigned i = 0; i < like.clusters; ++i) cells[kInside[i].second][kInside[i].first] = "mat";
  for (unsigned i = 0; i < like.vector_cores; ++i) cells[kEdge[i].second][kEdge[i].first] = "vec";
  std::string yaml = "version: 1\nname: made\nclock_mhz: 300\nmeshes:\n  - grid:\n";
  for (const auto& row : cells)
    yaml += fmt::format("      - [ {} ]\n", fmt::join(std::begin(row), std::end(row), ", "));
  yaml += "    units:\n      mem: {kind: memory_port}\n";
  if (like.clusters != 0)
    yaml += fmt::format("      mat: {{kind: matmul_cluster, inst_depth: {}}}\n", like.inst_depth);
  if (like.vector_cores != 0)
    yaml += fmt::format("      vec: {{kind: vector_core, l1_words: 512, inst_depth: {}}}\n", like.inst_depth);
  yaml += fmt::format("    agent: {{staging_flits: {}, commands: {}}}\n", like.staging_flits, like.commands);
  yaml += "    dram: {model: simple, bus_bits: 512, base: 0x80000000, size_mib: 64}\n";
  yaml += "host: {kind: command_engine}\n";
  const std::string name =
      fmt::format("{} clusters, {} vector cores, staging {}, {} commands, depth {}", like.clusters,
                  like.vector_cores, like.staging_flits, like.commands, like.inst_depth);
  return {name, topo::read_string(yaml, "a made machine"), 0};
}

void set_quirks(Target& target, topo::Quirks quirks) {
  for (topo::Mesh& mesh : target.machine.meshes)
    for (topo::Node& node : mesh.nodes) node.quirks = quirks;
}

std::string print(const Case& c) {
  std::string text = c.kernel;
  for (const auto& [name, shape] : c.inputs) text += fmt::format(" {}[{}]", name, fmt::join(shape, "x"));
  for (const auto& [name, knob] : c.knobs) text += fmt::format(" {}={}", name, kernel::print(knob));
  if (c.regrid) text += " regrid";
  if (c.reuse_temps) text += " reuse_temps";
  return text;
}

driver::Compiled compiled(const Case& c, const Target& target, schedule::Policy policy) {
  const kernel::Definition* definition = kernels::find(c.kernel);
  if (definition == nullptr) throw UserError::make("the library has no kernel {}", c.kernel);
  driver::Options options;
  options.policy = policy;
  options.regrid = c.regrid;
  options.reuse_temps = c.reuse_temps;
  return driver::compile(*definition, c.inputs, c.knobs, driver::machine_of(target.machine, target.mesh),
                         options);
}

std::string check_levels(const driver::Compiled& all) {
  std::string problems;
  const char* file = "test";
  check_level(
      "kernel", all.kernel, [&](const auto& text) { return kernel::parse(text, file); }, problems);
  check_level(
      "graph", all.graph, [&](const auto& text) { return graph::parse(text, file); }, problems);
  check_level(
      "schedule", all.schedule, [&](const auto& t) { return schedule::parse(t, file); }, problems);
  check_level(
      "program", all.program, [&](const auto& text) { return program::parse(text, file); }, problems);
  check_level(
      "executable", all.executable, [&](const auto& t) { return bytes::parse(t, file); }, problems);
  return problems;
}

driver::Inputs operands(const Case& c) {
  std::mt19937 random(c.seed);
  driver::Inputs all;
  for (const auto& [name, shape] : c.inputs) {
    std::size_t count = 1;
    for (const std::uint32_t extent : shape) count *= extent;
    // Away from zero where it is divided by, or a root or logarithm is taken.
    const bool positive = c.kernel == "ops.log2" || c.kernel == "ops.rsqrt" || c.kernel == "ops.recip" ||
                          c.kernel.starts_with("custom.k_sqrt") || (c.kernel == "ops.div" && name == "b");
    std::uniform_real_distribution<double> values(positive ? 0.25 : -2, positive ? 4 : 2);
    std::vector<std::uint16_t>& tensor = all[name];
    for (std::size_t i = 0; i < count; ++i) tensor.push_back(arch::double_to_fp16(values(random)));
    if (c.kernel == "ops.where" && name == "c")
      for (std::uint16_t& v : tensor) v = v & 1 ? 0x3C00 : 0;
  }
  return all;
}

Run interpreted(const arch::Program& program, const Target& target) {
  Run run;
  try {
    interpret::Options options;
    options.warnings = true;
    interpret::Interpreter interpreter(program, apps::interpreted_machine(target.machine), options);
    interpreter.run();
    for (const arch::Tensor& output : program.outputs)
      run.outputs[output.name] = halves(interpreter.output(output.name));
    run.saturated = interpreter.counters().saturated;
    run.early_reads = interpreter.counters().early_reads;
    if (run.early_reads != 0) run.problem = fmt::format("interpreter: {}", interpreter.warnings().back());
  } catch (const UserError& error) {
    run.problem = fmt::format("interpreter: {}", error.what());
  }
  return run;
}

Run simulated(const arch::Program& program, const Target& target) {
  Run run;
  try {
    check::Rig rig(target.machine, &program, check::Watch::kOutside);
    platform::RunLimits limits;
    limits.watchdog = kHang;
    const platform::RunResult& result = rig.run_unchecked(limits);
    if (result.status != arch::ExitStatus::kOk) {
      run.problem = fmt::format("simulator: {}", result.message);
      return run;
    }
    for (const arch::Tensor& output : program.outputs) {
      const arch::TensorLayout layout(output.layout, output.shape);
      const std::uint64_t bytes = 2 * layout.elements();
      run.outputs[output.name] =
          halves(layout.unpack(platform::read_memory(rig.system().mesh(target.mesh), output.address, bytes)));
    }
  } catch (const UserError& error) {
    run.problem = fmt::format("simulator: {}", error.what());
  }
  return run;
}

std::optional<check::FormatBound> bound_of(const Case& c, const driver::Compiled& all,
                                           const driver::Inputs& inputs, const Outputs& outputs) {
  check::Reals reals;
  for (const auto& [name, values] : inputs) reals[name] = {c.inputs.at(name), doubles(values)};
  return check::format_bound(c.kernel, reals, as_json(all.kernel.knobs), outputs);
}

std::string problem_with(const Case& c, const Target& target, bool simulate, schedule::Policy policy) {
  const driver::Compiled all = compiled(c, target, policy);
  std::string problem = check_levels(all);
  if (!problem.empty()) return problem;
  const driver::Inputs inputs = operands(c);
  const arch::Program program =
      driver::program_file(all, driver::machine_of(target.machine, target.mesh), inputs);
  Target with = target;
  for (const topo::Quirks quirks : {topo::Quirks::kNone, topo::Quirks::kReference}) {
    const bool none = quirks == topo::Quirks::kNone;
    if (!none && !simulate) break;
    set_quirks(with, quirks);
    const Run got = interpreted(program, with);
    if (!got.problem.empty()) return got.problem;
    const std::optional<check::FormatBound> bound = bound_of(c, all, inputs, got.outputs);
    // What the machine's own defects make of a right program is not the compiler's.
    if (none && bound && !bound->holds() && got.saturated == 0)
      return fmt::format("error {:.4g}, allowed {:.4g} (the formats alone: {:.4g})", bound->error,
                         bound->allowed, bound->formats);
    if (!simulate) break;
    const Run machine = simulated(program, with);
    if (!machine.problem.empty()) return machine.problem;
    if (machine.outputs != got.outputs)
      return fmt::format("simulator and interpreter leave different results, quirks {}",
                         none ? "none" : "reference");
  }
  return {};
}

}  // namespace ktpu::test
