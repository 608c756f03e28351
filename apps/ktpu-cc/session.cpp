// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/session.h"

#include <cstdio>

#include "apps/common/cost_machine.h"
#include "apps/common/whole_file.h"
#include "apps/ktpu-cc/emit.h"
#include "apps/ktpu-cc/operands.h"
#include "apps/ktpu-cc/run.h"
#include "apps/ktpu-cc/source.h"
#include "apps/ktpu-cc/tensor_graph.h"
#include "arch/program/program_file.h"
#include "compiler/cost/model.h"
#include "compiler/device/device.h"
#include "compiler/kernels/kernels.h"
#include "compiler/tensor_to_kernel/tiles.h"
#include "topologies/reader.h"

namespace ktpu::apps {

using arch::ExitStatus;
using arch::UserError;

namespace {

void note(const std::string& text) { fmt::print(stderr, "ktpu-cc: note: {}\n", text); }

topo::Machine read_machine(const CcOptions& options) {
  if (options.topology.empty()) {
    std::string names;
    for (const std::string& name : topo::shipped_names()) names += (names.empty() ? "" : ", ") + name;
    throw UserError::make("no machine given: use --topology FILE.yaml, or a shipped one: {}", names);
  }
  return topo::read_file(options.topology, options.sets);
}

// Whatever is given for a text has to be what the text says already.
void require_no_choices(const CcOptions& options) {
  if (!options.knobs.empty() || options.auto_tile)
    throw UserError::make(
        "--knob: {} is the text of one compiled call, its knobs are worked in; give them to "
        "the kernel of the library it came from",
        options.kernel);
  if (!options.shapes.empty())
    throw UserError::make("--shape: {} is the text of one compiled call and has its shapes", options.kernel);
}

std::map<std::string, kernel::Shape> shapes_of(const CcOptions& options, const Operands& operands) {
  std::map<std::string, kernel::Shape> shapes = parse_shapes(options.shapes);
  for (const auto& [name, shape] : operands.shapes) {
    const auto [at, fresh] = shapes.emplace(name, shape);
    if (!fresh && at->second != shape)
      throw UserError::make("--shape {}={}: the file of --in {} has {}", name, kernel::print(at->second),
                            name, kernel::print(shape));
  }
  return shapes;
}

driver::Compiled compile(const CcOptions& options, const Source& source, const Operands& operands,
                         const driver::Machine& machine) {
  driver::Options how = options.compile;
  if (!options.emit.empty() && !options.run && !options.cost && options.compare.empty())
    how.last = level_named(options.emit);
  if (options.explain_tile && options.emit.empty() && options.output.empty() && !options.run && !options.cost)
    how.last = driver::Level::kKernel;
  if (const auto* definition = std::get_if<const kernel::Definition*>(&source)) {
    const auto shapes = shapes_of(options, operands);
    kernel::Knobs knobs = parse_knobs(options.knobs);
    if (options.auto_tile)
      knobs = tensor_to_kernel::with_tiles(**definition, shapes, knobs, device::capacity_of(machine));
    return driver::compile(**definition, shapes, knobs, machine, how);
  }
  require_no_choices(options);
  if (const auto* text = std::get_if<kernel::Kernel>(&source)) return driver::compile(*text, machine, how);
  if (const auto* text = std::get_if<graph::Graph>(&source)) return driver::compile(*text, machine, how);
  if (const auto* text = std::get_if<schedule::Schedule>(&source))
    return driver::compile(*text, machine, how);
  if (const auto* text = std::get_if<program::Program>(&source)) return driver::compile(*text, machine, how);
  return driver::compile(std::get<bytes::Executable>(source), machine);
}

arch::Program made(const CcOptions& options, const Source& source, const Operands& operands,
                   const driver::Machine& machine) {
  return driver::program_file(compile(options, source, operands, machine), machine, operands.values);
}

// The same call with the knobs of --compare.
void print_comparison(const CcOptions& options, const Source& source, const Operands& operands,
                      const driver::Machine& machine, const topo::Machine& described,
                      const cost::Report& first) {
  CcOptions other = options;
  for (const std::string& text : options.compare)
    std::erase_if(other.knobs, [&](const std::string& old) {
      return old.substr(0, old.find('=')) == text.substr(0, text.find('='));
    });
  other.knobs.insert(other.knobs.end(), options.compare.begin(), options.compare.end());
  other.emit.clear();
  cost::Report second = cost::estimate(made(other, source, operands, machine), cost_machine(described));
  for (const std::string& text : options.compare) second.program += " " + text;
  fmt::print("{}", cost::text(cost::compare(first, second)));
}

void require_values(const arch::Program& program, const Operands& operands) {
  for (const arch::Tensor& tensor : program.inputs)
    if (!operands.values.contains(tensor.name))
      throw UserError::make("--run: input {} has no values: add --in {}=FILE.npy", tensor.name, tensor.name);
}

}  // namespace

ExitStatus run_session(const CcOptions& options) {
  if (options.list) {
    for (const kernel::Definition* one : kernels::all()) fmt::print("{}\n", list_line(*one));
    return ExitStatus::kOk;
  }
  if (options.kernel.empty()) throw UserError("no kernel given: ktpu-cc --list names those of the library");
  const bool wants_cost = options.cost || !options.compare.empty();
  if (options.output.empty() && options.emit.empty() && !options.run && !wants_cost && !options.explain_tile)
    throw UserError(
        "nothing to do: give -o FILE for a program file, --emit LEVEL for a text, --run or --cost");
  const topo::Machine described = read_machine(options);
  const driver::Machine machine = driver::machine_of(described, options.mesh);
  const Operands operands = read_operands(options.in);
  for (const std::string& text : operands.notes) note(text);
  const Source source = find_source(options.kernel);
  if (const auto* tensors = std::get_if<tensor::Graph>(&source))
    return run_tensors(*tensors, options, operands, described);
  if (options.emit == "plan") throw UserError::make("--emit plan: {} is no text of tensors", options.kernel);
  const driver::Compiled compiled = compile(options, source, operands, machine);
  if (!compiled.refused.empty()) note(fmt::format("epilogue staged through memory: {}", compiled.refused));
  if (options.explain_tile) {
    if (compiled.first != driver::Level::kKernel)
      throw UserError::make("--explain-tile: {} is below the level at which tiles are chosen",
                            options.kernel);
    fmt::print("{}", tensor_to_kernel::explain_tiles(compiled.kernel, device::capacity_of(machine)));
    if (options.emit.empty() && options.output.empty() && !options.run && !wants_cost) return ExitStatus::kOk;
  }
  if (!options.emit.empty()) {
    const std::string text = emitted(compiled, options.emit);
    if (options.output.empty())
      std::fwrite(text.data(), 1, text.size(), stdout);
    else
      write_whole(options.output, text);
    if (!options.run && !wants_cost) return ExitStatus::kOk;
  }
  const arch::Program program = driver::program_file(compiled, machine, operands.values);
  if (options.run) require_values(program, operands);
  if (options.emit.empty() && !options.output.empty()) {
    const std::vector<std::uint8_t> file = arch::serialize_program(program);
    write_whole(options.output, {reinterpret_cast<const char*>(file.data()), file.size()});
    fmt::print("{}: {}\n", options.output, summary(compiled, program));
  }
  if (wants_cost) {
    const cost::Report report = cost::estimate(program, cost_machine(described));
    if (options.cost) fmt::print("{}", cost::text(report));
    if (!options.compare.empty()) print_comparison(options, source, operands, machine, described, report);
  }
  return options.run ? run_program(program, described, options) : ExitStatus::kOk;
}

}  // namespace ktpu::apps
