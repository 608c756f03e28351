// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/options.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "arch/error.h"

namespace ktpu::apps {

namespace {

const CLI::Validator kTolerance(
    [](const std::string& text) {
      double value = 0;
      const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
      return good ? std::string() : fmt::format("'{}' is no tolerance: give a number, 0 or more", text);
    },
    "");

CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& into, const char* type,
                      const char* what) {
  return app.add_option(name, into, what)->type_name(type)->take_all()->allow_extra_args(false);
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, CcOptions& o) {
  CLI::App app{"Compiles a kernel for a machine described in YAML into a program file for ktpu-sim.",
               "ktpu-cc"};
  app.add_option(
      "KERNEL", o.kernel,
      "A kernel of the library (--list), or a file with the text of a level: compilation goes on from there. "
      "tensors: a graph of operations, which --run computes kernel by kernel");
  app.add_flag("--list", o.list, "Name the kernels of the library with their ports and knobs, and stop");
  app.add_option("--topology,-t", o.topology, "Machine: a YAML file, or the name of a shipped one (mesh8)");
  add_list(app, "--set", o.sets, "KEY=VALUE", "Override a key of the topology: meshes.0.units.mat.tiles=256");
  app.add_option("--mesh", o.mesh, "Which mesh of the machine")->type_name("N")->capture_default_str();
  app.add_option("-o,--output", o.output, "Program file to write; with --emit: the text")->type_name("FILE");

  add_list(app, "--shape,-s", o.shapes, "PORT=AxB", "Shape of an input: x=64x128");
  CLI::Option* in =
      add_list(app, "--in", o.in, "PORT=FILE",
               "Values of an input from a .npy file, kept in the program file; the shape comes with them");
  add_list(app, "--knob,-k", o.knobs, "NAME=VALUE", "A compile-time value of the kernel: gm=8, act=silu");
  app.add_flag("--auto-tile", o.auto_tile,
               "Choose gm, gn and nk for the shape where no --knob gives them (--explain-tile tells how)");
  std::string policy = "best";
  app.add_option("--policy", policy,
                 "best: right wherever it compiles; compat: the reference compiler's words and refusals")
      ->check(CLI::IsMember({"best", "compat"}))
      ->capture_default_str();
  app.add_flag("--regrid", o.compile.regrid,
               "Spread elementwise passes over as many instances as their operands have parts");
  app.add_flag("--reuse-temps", o.compile.reuse_temps,
               "Temporaries share memory where their lifetimes allow");

  app.add_option(
         "--emit", o.emit,
         "Print this level as text instead of writing a program file; plan: the kernels that tensors call")
      ->check(CLI::IsMember({"plan", "kernel", "graph", "schedule", "program", "bytes", "all"}))
      ->type_name("LEVEL");
  app.add_flag("--explain-tile", o.explain_tile,
               "Print every candidate for the tile of each product, and the choice");

  app.add_flag("--cost", o.cost, "Print what the program costs, modelled: cycles by stage, unit and cause");
  app.add_option(
         "--compare", o.compare,
         "Compile a second time with these knobs and print the modelled costs of both, stage by stage")
      ->type_name("NAME=VALUE[,...]")
      ->delimiter(',')
      ->allow_extra_args(false);

  CLI::Option* run = app.add_flag("--run", o.run, "Execute the program at once, functionally (no cycles)");
  run->needs(in);
  add_list(app, "--out", o.out, "NAME=FILE", "With --run: write an output to a .npy file")->needs(run);
  CLI::Option* expect = add_list(app, "--expect", o.expect, "NAME=FILE",
                                 "With --run: compare an output with a .npy file; exit 1 if it differs");
  expect->needs(run);
  app.add_option("--atol", o.atol, "Absolute tolerance of --expect")->check(kTolerance)->needs(expect);
  app.add_option("--rtol", o.rtol, "Relative tolerance of --expect")->check(kTolerance)->needs(expect);
  app.footer(
      "  ktpu-cc ops.matmul -t mesh8 -s a=64x128 -s b=32x128 -o prog.bin\n"
      "  ktpu-sim -t mesh8 prog.bin --in a=a.npy --in b=b.npy --out c=c.npy\n"
      "Exit status: 0 done, 1 an --expect failed, 2 refused or user error, 70 internal error.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(arch::ExitStatus::kUserError);
  }
  if (policy == "compat") o.compile.policy = schedule::Policy::kCompat;
  return std::nullopt;
}

}  // namespace ktpu::apps
