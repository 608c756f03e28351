// SPDX-License-Identifier: Apache-2.0
// ktpu-objdump: prog.bin -> program text, its static check, its hash.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "apps/common/machine_facts.h"
#include "arch/error.h"
#include "arch/program/lint.h"
#include "arch/program/program_file.h"
#include "arch/program/text.h"
#include "topologies/reader.h"

namespace {

using namespace ktpu::arch;

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError::make("{}: can't be opened", path);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_bytes(const std::string& path, const char* data, std::size_t size) {
  std::ofstream out(path, std::ios::binary);
  if (!out.write(data, static_cast<std::streamsize>(size)).flush())
    throw UserError::make("{}: can't be written", path);
}

// `topology`: of the machine it is for; empty: what the program itself says.
int lint_report(const Program& program, const std::string& input, const std::string& topology) {
  std::size_t errors = 0;
  MachineNeeds machine;
  if (!topology.empty()) machine = ktpu::apps::machine_facts(ktpu::topo::read_file(topology, {}));
  const std::vector<LintFinding> findings = lint(program, topology.empty() ? nullptr : &machine);
  for (const LintFinding& f : findings) {
    fmt::print("{}: {}\n", input, to_text(f));
    errors += f.error();
  }
  fmt::print("{}: {} error{}, {} warning{}\n", input, errors, errors == 1 ? "" : "s",
             findings.size() - errors, findings.size() - errors == 1 ? "" : "s");
  return static_cast<int>(errors ? ExitStatus::kUserError : ExitStatus::kOk);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints a program file as text that ktpu-asm turns back into the same bytes."};
  std::string input, output, topology, rehashed;
  bool want_lint = false, want_hash = false;
  app.add_option("FILE", input, "program file")->required();
  app.add_option("-o,--output", output, "write the text here instead of to standard output");
  CLI::Option* lint_flag =
      app.add_flag("--lint", want_lint,
                   "check for programs the machine would run wrongly; exit status 2 if there are any");
  app.add_option("--topology,-t", topology,
                 "with --lint: the machine it is for, for its units and their sizes")
      ->type_name("FILE")
      ->needs(lint_flag);
  app.add_flag("--hash", want_hash, "print the content hash only");
  app.add_option("--rehash", rehashed, "copy FILE to this file with a fitting trailer, unchecked (for tests)")
      ->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  try {
    if (!rehashed.empty()) {
      const auto bytes = rehash(read_bytes(input));
      write_bytes(rehashed, reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return 0;
    }
    if (want_hash) {
      fmt::print("{:016x}\n", program_hash(read_bytes(input), input));
      return 0;
    }
    const Program program = load_program(input);
    if (want_lint) return lint_report(program, input, topology);
    const std::string text = disassemble(program);
    if (output.empty())
      std::cout << text << std::flush;
    else
      write_bytes(output, text.data(), text.size());
    return 0;
  } catch (const UserError& e) {
    fmt::print(stderr, "ktpu-objdump: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ktpu-objdump: internal error: {}\nPlease report this with the input file.\n",
               e.what());
    return static_cast<int>(ExitStatus::kInternal);
  }
}
