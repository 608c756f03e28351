// SPDX-License-Identifier: Apache-2.0
// What a program costs on a machine, modelled: cycles, by band, and what limits them; two programs, or two
// machines, next to each other.
#include <CLI/CLI.hpp>
#include <charconv>

#include "apps/common/cost_machine.h"
#include "arch/error.h"
#include "arch/program/program_file.h"
#include "compiler/cost/fields.h"
#include "compiler/cost/model.h"
#include "topologies/reader.h"

namespace {

using namespace ktpu;
using arch::ExitStatus;
using arch::UserError;

struct Options {
  std::string program, topology, against;
  std::vector<std::string> sets, with, against_with;
  bool json = false, fields = false;
};

void change(cost::CostMachine& machine, const std::vector<std::string>& changes, const char* option) {
  for (const std::string& text : changes) {
    const std::size_t equals = text.find('=');
    double value = 0;
    const char* end = text.data() + text.size();
    if (equals == std::string::npos || std::from_chars(text.data() + equals + 1, end, value).ptr != end ||
        equals + 1 == text.size())
      throw UserError::make("{} {}: NAME=NUMBER is wanted, as in vector.lanes=32", option, text);
    cost::set_field(machine, text.substr(0, equals), value);
    machine.name += fmt::format(" {}", text);
  }
}

void print_fields(const cost::CostMachine& machine) {
  fmt::print("{:<28} {:>8}  {:<20} {}\n", "number", "value", "said by", "meaning");
  for (const cost::Field& f : cost::fields())
    fmt::print("{:<28} {:>8g}  {:<20} {}\n", f.name, cost::field(machine, f.name), f.source, f.meaning);
}

void run(const Options& o) {
  cost::CostMachine machine = apps::cost_machine(topo::read_file(o.topology, o.sets));
  cost::CostMachine other = machine;
  change(machine, o.with, "--with");
  change(other, o.against_with, "--against-with");
  if (o.fields) {
    print_fields(machine);
    return;
  }
  const arch::Program program = arch::load_program(o.program);
  cost::Report report = cost::estimate(program, machine);
  if (o.against.empty() && o.against_with.empty()) {
    fmt::print("{}", o.json ? json(report) : text(report));
    return;
  }
  cost::Report second = cost::estimate(o.against.empty() ? program : arch::load_program(o.against), other);
  for (cost::Report* r : {&report, &second}) r->program += fmt::format(" on {}", r->machine);
  const cost::Comparison comparison = cost::compare(report, second);
  fmt::print("{}", o.json ? json(comparison) : text(comparison));
}

std::optional<int> parse(int argc, char** argv, Options& o) {
  CLI::App app{
      "What a program costs on a machine described in YAML: cycles by band and what limits them. Modelled "
      "from the specification's timing rules, not measured: ktpu-sim measures.",
      "ktpu-cost"};
  const auto many = [&](const char* name, std::vector<std::string>& list, const char* what,
                        const char* type) {
    return app.add_option(name, list, what)->type_name(type)->take_all()->allow_extra_args(false);
  };
  CLI::Option* program = app.add_option("program", o.program, "Program file");
  app.add_option("--topology,-t", o.topology, "Machine: a YAML file, or the name of a shipped one (mesh8)")
      ->required();
  many("--set", o.sets, "Override a key of the topology: meshes.0.dram.bus_bits=256", "KEY=VALUE");
  many("--with", o.with, "Change a number of the machine: vector.lanes=32. May build what does not exist",
       "NAME=NUMBER");
  app.add_option("--against", o.against, "Another program: the two are compared, band by band")
      ->type_name("PROGRAM");
  many("--against-with", o.against_with,
       "Numbers of the machine it runs on; without --against, the same program there", "NAME=NUMBER");
  app.add_flag("--json", o.json, "JSON instead of tables");
  app.add_flag("--fields", o.fields, "Print the numbers of the machine, and where each is said, and stop");
  app.footer(
      "Exit status: 0 finished, 2 user error (a program that does not come to an end is one), 70 internal "
      "error.");
  try {
    app.parse(argc, argv);
    if (program->count() == 0 && !o.fields) throw CLI::RequiredError("program");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  return std::nullopt;
}

// A message quotes names of files it was given; what these hold must not steer a terminal.
int fail(ExitStatus status, std::string_view text) {
  std::string shown;
  for (const char c : text) shown += static_cast<unsigned char>(c) < 32 && c != '\n' ? '?' : c;
  fmt::print(stderr, "ktpu-cost: {}\n", shown);
  return static_cast<int>(status);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    if (const auto status = parse(argc, argv, options)) return *status;
    run(options);
    return 0;
  } catch (const UserError& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitStatus::kUserError,
                "out of memory: the machine or the program is too large for this computer");
  } catch (const std::exception& error) {
    return fail(ExitStatus::kInternal, fmt::format("internal error: {}", error.what()));
  }
}
