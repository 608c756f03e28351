// SPDX-License-Identifier: Apache-2.0
// ktpu-asm: program text -> prog.bin.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "arch/error.h"
#include "arch/program/program_file.h"
#include "arch/program/text.h"

namespace {

using namespace ktpu::arch;

constexpr const char* kLanguage =
    R"(The language, one statement a line, '#' starts a comment, numbers decimal, 0x or 0b:

  program "NAME"                          machine "NAME" [fingerprint=N meshes=N staging=N commands=N]
  unit KIND (x,y) [tiles=N l1_a=N l1_b=N inst_depth=N]       memory FIRST..END
  image ADDR zeros size=N                 image ADDR bytes [size=N] { hex }
  image ADDR lcg count=N seed=N [shift=N offset=R abs]
  image ADDR tensor [r,c] layout=KEY seed=N [shift=N offset=R abs]
  input NAME fp16 [r,c] at=ADDR layout=KEY                   output ... the same
  debug "NAME" "TEXT"

  round "NAME"                            baseline (x,y) ...
  stage SLOT {                            commands {
    fill a|b n=N from=ADDR txn=N ...        write REGISTER = N
    gemm gm=N gn=N nk=N [acc emit to=ADDR]  poll REGISTER & MASK == N
    drain n=N to=ADDR [fuse] last           done CODE
  }                                       }
  credit N                                kick (x,y) slots=FIRST..LAST
  await (x,y) COUNT                       write REGISTER = N
  poll REGISTER & MASK == N               window write ADDR [size=N] { hex }
  window read ADDR size=N                 load ADDR (as image)
  quiet CYCLES                            relayout ADDR [quiet=N from=KEY to=KEY] { [source,count,step,times,advance] }
  reset CYCLES                            pe_stream (x,y) index=N { hex }       firmware (x,y) at=ADDR { hex }

Vector cores, in a stage block (docs/programs.md lists the instructions):
  kernel [at=WORD] { LABEL: VSETI S4, 1.5 / VLD.fp16 v0, A1 / VFMA v7, v0, S4, S5 where P0 / ... }
  desc A0 base=ADDR dims=[(STRIDE,BOUND), ...]               run LABEL

Every statement but program, machine and debug takes mesh=N. Layouts: flat, entry:GxB, tile:IxJ:MxN, bias:N,
batchC:KEY. `ktpu-objdump prog.bin` prints this language.)";

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) throw UserError::make("{}: can't be opened", path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Assembles program text into a program file for ktpu-sim."};
  std::string input, output;
  bool check = false;
  app.add_option("FILE", input, "program text (*.kasm), - for standard input")->required();
  app.add_option("-o,--output", output, "program file to write (default: FILE with the ending .bin)");
  app.add_flag("--check", check, "check only, write nothing");
  app.footer(kLanguage);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  try {
    const Program program = assemble(read_text(input), input == "-" ? "<stdin>" : input);
    if (check) return 0;
    if (output.empty()) {
      if (input == "-") throw UserError("reading standard input: name the output with -o FILE");
      output = std::filesystem::path(input).replace_extension(".bin").string();
    }
    save_program(program, output);
    return 0;
  } catch (const UserError& e) {
    fmt::print(stderr, "ktpu-asm: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ktpu-asm: internal error: {}\nPlease report this with the input file.\n", e.what());
    return static_cast<int>(ExitStatus::kInternal);
  }
}
