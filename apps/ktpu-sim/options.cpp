// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-sim/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>

#include "arch/error.h"

namespace ktpu::apps {

namespace {

constexpr sim::Cycle kMost = std::numeric_limits<sim::Cycle>::max() / 4;

const CLI::Validator kTolerance(
    [](const std::string& text) {
      double value = 0;
      const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
      return good ? std::string() : fmt::format("'{}' is no tolerance: give a number, 0 or more", text);
    },
    "");

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& o) {
  CLI::App app{"Runs a program on a machine described in YAML, exact to the bit and the cycle.", "ktpu-sim"};
  app.add_option("program", o.program,
                 "Program file (ktpu-asm makes one). Without it traffic nodes run alone");
  app.add_option("--topology,-t", o.topology, "Machine: a YAML file, or the name of a shipped one (mesh8)");
  app.add_option("--set", o.sets, "Override a key of the topology: meshes.0.dram.first_read_beat=80")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--impl", o.impls, "Implementation of nodes: 'router@2,1=rtl', 'router=lockstep'")
      ->type_name("NODE=IMPL")
      ->take_all()
      ->allow_extra_args(false);

  app.add_option("--in", o.in, "Load a program input from a .npy file")
      ->type_name("NAME=FILE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--out", o.out, "Write a program output to a .npy file")
      ->type_name("NAME=FILE")
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option* expect =
      app.add_option("--expect", o.expect, "Compare an output with a .npy file; exit 1 if it differs")
          ->type_name("NAME=FILE")
          ->take_all()
          ->allow_extra_args(false);
  app.add_option("--atol", o.atol, "Absolute tolerance of --expect")->check(kTolerance)->needs(expect);
  app.add_option("--rtol", o.rtol, "Relative tolerance of --expect")->check(kTolerance)->needs(expect);
  app.add_option("--dump", o.dumps, "Print memory after the run, or write it to FILE")
      ->type_name("ADDR:BYTES[:FILE]")
      ->take_all()
      ->allow_extra_args(false);

  app.add_option("--watch-mem", o.watch_memory, "Print every read and write that touches this memory")
      ->type_name("ADDR:BYTES")
      ->take_all()
      ->allow_extra_args(false);

  CLI::Option* stats =
      app.add_option("--stats", o.stats, "Write all statistics to FILE.json or FILE.csv")->type_name("FILE");
  CLI::Option* quiet = app.add_flag("--quiet,-q", o.quiet, "No table");
  app.add_flag("--table", o.table, "Print every statistic, not only the shares and rates")->excludes(quiet);
  app.add_flag("--zeros", o.zeros, "As --table, with the statistics that are 0")->excludes(quiet);
  app.add_option("--history", o.history,
                 "Record these statistics, registers or wires over time, for --stats: names with *")
      ->type_name("PATTERN")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(stats);
  app.add_option("--mismatch-vcd", o.mismatch_vcd,
                 "Where the waves of both sides go when model and RTL differ in lock-step; \"\": nowhere")
      ->type_name("FILE")
      ->capture_default_str();
  CLI::Option* vcd = app.add_option("--vcd", o.vcd, "Write waves")->type_name("FILE");
  app.add_option("--vcd-scope", o.scope, "What to put into the waves: names with * (default: all wires)")
      ->type_name("PATTERN")
      ->take_all()
      ->allow_extra_args(false)
      ->needs(vcd);
  CLI::Option* from = app.add_option("--vcd-from", o.vcd_from, "First cycle of the waves")
                          ->check(CLI::Range(sim::Cycle{0}, kMost))
                          ->needs(vcd);
  CLI::Option* to = app.add_option("--vcd-to", o.vcd_to, "Last cycle of the waves")
                        ->check(CLI::Range(sim::Cycle{0}, kMost))
                        ->needs(vcd);
  CLI::Option* limit = app.add_option("--vcd-limit", o.vcd_limit_mib, "Largest size of the waves, MiB")
                           ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20))
                           ->capture_default_str()
                           ->needs(vcd);
  app.add_option(
         "--wave-on-error,--vcd-last", o.vcd_last,
         "Keep only the last N cycles of waves in memory and write them to the --vcd file if the run fails")
      ->check(CLI::Range(sim::Cycle{1}, sim::Cycle{10'000'000}))
      ->needs(vcd)
      ->excludes(from)
      ->excludes(to)
      ->excludes(limit);

  CLI::Option* checkpoint =
      app.add_option(
             "--checkpoint", o.checkpoint,
             "Save the run in FILE when the cycles below those of --checkpoint-at have run; {cycle} in "
             "FILE stands for the cycle")
          ->type_name("FILE");
  CLI::Option* at = app.add_option("--checkpoint-at", o.checkpoint_at, "Cycle to save at; may be repeated")
                        ->type_name("CYCLE")
                        ->check(CLI::Range(sim::Cycle{0}, kMost))
                        ->take_all()
                        ->allow_extra_args(false)
                        ->needs(checkpoint);
  app.add_option("--checkpoint-every", o.checkpoint_every, "Save every N cycles")
      ->type_name("N")
      ->check(CLI::Range(sim::Cycle{1}, kMost))
      ->needs(checkpoint)
      ->excludes(at);
  CLI::Option* restore =
      app.add_option("--restore", o.restore,
                     "Go on where FILE of --checkpoint was saved, with the same machine and program")
          ->type_name("FILE");
  restore->excludes(app.get_option("--in"));
  app.add_option("--digest", o.digest, "Write a digest of the machine's state every N cycles to FILE")
      ->type_name("N FILE")
      ->expected(2);

  app.add_flag("--elaborate-only", o.elaborate_only, "Build the machine, check the program against it, stop");
  app.add_flag("--print-topology", o.print_topology, "Print the resolved machine as YAML and stop");
  app.add_flag("--list-topologies", o.list_topologies, "Name the shipped machines and stop");
  app.add_option("--explain", o.explain,
                 "Explain a statistic, a finding (fill-count), a quirk id (C1) or an exit status, and stop")
      ->type_name("NAME")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--max-cycles", o.max_cycles, "Stop with exit status 5 after so many cycles")
      ->check(CLI::Range(sim::Cycle{1}, kMost));
  app.add_option("--watchdog", o.watchdog, "Stop with exit status 4 after so many cycles without progress")
      ->check(CLI::Range(sim::Cycle{1}, kMost))
      ->capture_default_str();
  app.add_flag("--strict", o.strict, "Exit status 7 if the program met misuse or a quirk of the reference");
  app.add_flag("--no-lint", o.no_lint,
               "Run a program although the static check (ktpu-objdump --lint) finds errors in it");
  app.add_flag("--no-check", o.no_check,
               "Do not look for reads of memory whose write has not landed (results are the same)");
  app.add_flag("--no-idle-skip", o.no_idle_skip,
               "Run every unit in every cycle (slow; results are the same)");
  app.add_flag("--no-simd", o.no_simd, "Scalar arithmetic (results are the same)");
  app.footer(
      "Exit status: 0 finished, 1 an --expect failed, 2 user error, 3 a unit reported a fault, 4 no "
      "progress,\n"
      "5 cycle limit, 6 lock-step mismatch, 7 --strict, 70 internal error. --explain 4 tells more.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(arch::ExitStatus::kUserError);
  }
  return std::nullopt;
}

}  // namespace ktpu::apps
