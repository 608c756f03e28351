// SPDX-License-Identifier: Apache-2.0
// Runs a program functionally: what it computes and moves, not when.
#include <CLI/CLI.hpp>
#include <fstream>

#include "apps/common/interpreted_machine.h"
#include "apps/common/tensors.h"
#include "arch/error.h"
#include "arch/program/program_file.h"
#include "compiler/interpret/interpreter.h"
#include "topologies/needs.h"
#include "topologies/reader.h"

namespace {

using namespace ktpu;
using apps::Binding;
using arch::ExitStatus;
using arch::UserError;

struct Options {
  std::string program, topology, rounding = "hardware", traffic_json;
  std::vector<std::string> sets, in, out, expect;
  double atol = 0, rtol = 0;
  bool traffic = false, warnings = false;
};

std::vector<Binding> bindings(const char* option, const std::vector<std::string>& texts) {
  std::vector<Binding> all;
  for (const std::string& text : texts) all.push_back(apps::parse_binding(option, text));
  return all;
}

ExitStatus compare(const apps::TensorMemory& memory, const arch::Program& program, const Binding& binding,
                   const Options& options) {
  const apps::Comparison c = apps::compare_output(memory, program, binding, options.atol, options.rtol);
  if (c.different == 0) {
    fmt::print("expect {}: {} elements equal\n", c.name, c.elements);
    return ExitStatus::kOk;
  }
  fmt::print(stderr, "ktpu-interpret: expect {}: {} of {} elements differ; worst [{}]: got {}, expected {}\n",
             c.name, c.different, c.elements, c.worst, c.worst_value, c.worst_expected);
  return ExitStatus::kExpectFailed;
}

void report(const interpret::Interpreter& interpreter, const Options& options) {
  for (const std::string& warning : interpreter.warnings()) fmt::print(stderr, "warning: {}\n", warning);
  const interpret::Counters& c = interpreter.counters();
  fmt::print("{} rounds, {} kicks, {} flits; {} FILL, {} GEMM, {} DRAIN, {} RUN; {} values saturated\n",
             c.rounds, c.kicks, c.flits, c.fills, c.gemms, c.drains, c.runs, c.saturated);
  if (options.traffic) fmt::print("{}", interpreter.traffic().table());
  if (options.traffic_json.empty()) return;
  std::ofstream file(options.traffic_json);
  file << interpreter.traffic().json();
  if (!file.flush()) throw UserError::make("{}: cannot be written", options.traffic_json);
}

ExitStatus run(const Options& options) {
  const auto in = bindings("--in", options.in), out = bindings("--out", options.out),
             expect = bindings("--expect", options.expect);
  const topo::Machine machine = topo::read_file(options.topology, options.sets);
  const arch::Program program = arch::load_program(options.program);
  topo::check_needs(program, machine);
  for (const Binding& binding : out) apps::check_output(program, binding, false);
  for (const Binding& binding : expect) apps::check_output(program, binding, true);

  interpret::Options interpreted;
  interpreted.rounding =
      options.rounding == "model" ? interpret::Rounding::kReferenceModel : interpret::Rounding::kHardware;
  interpreted.warnings = options.warnings;
  interpret::Interpreter interpreter(program, apps::interpreted_machine(machine), interpreted);
  const apps::TensorMemory memory{
      [&](unsigned mesh, std::uint64_t address, std::uint64_t bytes) {
        return interpreter.read_memory(mesh, address, bytes);
      },
      [&](unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes) {
        interpreter.write_memory(mesh, address, bytes);
      }};
  for (const Binding& binding : in) apps::load_input(memory, program, binding);
  for (const std::string& note : apps::missing_inputs(program, in))
    fmt::print(stderr, "ktpu-interpret: {}: {}\n", options.program, note);
  interpreter.run();
  report(interpreter, options);
  for (const Binding& binding : out) apps::save_output(memory, program, binding);
  ExitStatus status = ExitStatus::kOk;
  for (const Binding& binding : expect)
    if (compare(memory, program, binding, options) != ExitStatus::kOk) status = ExitStatus::kExpectFailed;
  return status;
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  CLI::App app{"Runs a program functionally on a machine described in YAML: exact to the bit, without time.",
               "ktpu-interpret"};
  const auto many = [&](const char* name, std::vector<std::string>& list, const char* what,
                        const char* type) {
    return app.add_option(name, list, what)->type_name(type)->take_all()->allow_extra_args(false);
  };
  app.add_option("program", o.program, "Program file (ktpu-asm makes one)")->required();
  app.add_option("--topology,-t", o.topology, "Machine: a YAML file, or the name of a shipped one (mesh8)")
      ->required();
  many("--set", o.sets, "Override a key of the topology: meshes.0.dram.size_mib=64", "KEY=VALUE");
  many("--in", o.in, "Load a program input from a .npy file", "NAME=FILE");
  many("--out", o.out, "Write a program output to a .npy file", "NAME=FILE");
  CLI::Option* expect =
      many("--expect", o.expect, "Compare an output with a .npy file; exit 1 if it differs", "NAME=FILE");
  app.add_option("--atol", o.atol, "Absolute tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->needs(expect);
  app.add_option("--rtol", o.rtol, "Relative tolerance of --expect")
      ->check(CLI::NonNegativeNumber)
      ->needs(expect);
  app.add_option("--rounding", o.rounding, "As the machine rounds, or as the recorded functional model does")
      ->check(CLI::IsMember({"hardware", "model"}))
      ->capture_default_str();
  app.add_flag("--traffic", o.traffic, "Print the bytes read and written by round, unit and buffer");
  app.add_option("--traffic-json", o.traffic_json, "Write them to FILE")->type_name("FILE");
  app.add_flag("--warnings", o.warnings,
               "Tell reads of what nothing wrote, and of memory whose write may not have landed yet");
  app.footer(
      "Exit status: 0 finished, 1 an --expect failed, 2 user error, 3 a unit would fault, 4 a poll is never "
      "met, 70 internal error.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  return std::nullopt;
}

// A message quotes names of files it was given; what these hold must not steer a terminal.
int fail(ExitStatus status, std::string_view text) {
  std::string shown;
  for (const char c : text) shown += static_cast<unsigned char>(c) < 32 && c != '\n' ? '?' : c;
  fmt::print(stderr, "ktpu-interpret: {}\n", shown);
  return static_cast<int>(status);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    if (const auto status = parse(argc, argv, options)) return *status;
    return static_cast<int>(run(options));
  } catch (const UserError& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitStatus::kUserError,
                "out of memory: the machine or the program is too large for this computer");
  } catch (const std::exception& error) {
    return fail(ExitStatus::kInternal, fmt::format("internal error: {}", error.what()));
  }
}
