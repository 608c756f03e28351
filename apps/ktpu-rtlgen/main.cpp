// SPDX-License-Identifier: Apache-2.0
// ktpu-rtlgen: a topology -> the same machine in SystemVerilog, and the list of its sources.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "arch/error.h"
#include "rtl_models/top/file_list.h"
#include "topologies/reader.h"

int main(int argc, char** argv) {
  using namespace ktpu;
  CLI::App app{"Writes a topology's machine as a SystemVerilog top with the list of its sources."};
  std::string topology, folder = ".";
  std::vector<std::string> sets;
  bool copy = false;
  app.add_option("-t,--topology", topology, "the machine: a YAML file, or the name of a shipped one")
      ->type_name("FILE")
      ->required();
  app.add_option("-o,--output", folder, "write into this folder; made if need be")->type_name("DIR");
  app.add_option("--set", sets, "change a key of the topology: meshes.0.router.fifo_depth=16")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--copy", copy, "copy the sources to DIR/rtl and name them relative to the lists");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : static_cast<int>(arch::ExitStatus::kUserError);
  }
  try {
    const topo::Machine machine = topo::read_file(topology, sets);
    const rtl::Top top = rtl::write_top(machine);
    const rtl::Written written = rtl::write_files(top, folder, copy);
    fmt::print("{}: {}\n", machine.name, top.summary);
    for (const auto& file : written.files) fmt::print("wrote {}\n", file.string());
    fmt::print("{} sources; check them with: verilator --lint-only -Wall {} {}\n", written.sources,
               copy ? "-F" : "-f", written.files.back().string());
    return 0;
  } catch (const arch::UserError& e) {
    fmt::print(stderr, "ktpu-rtlgen: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ktpu-rtlgen: internal error: {}\nPlease report this with the topology.\n", e.what());
    return static_cast<int>(arch::ExitStatus::kInternal);
  }
}
