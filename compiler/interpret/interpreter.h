// SPDX-License-Identifier: Apache-2.0
// Executes a whole program file functionally (compiler.md section 23.1): every kick runs to its end at once,
// nothing takes time. Memory ends up bit for bit as on the machine, whose host waits for quiet memory between
// rounds, except for what only time can tell: reads of data still on their way, the argument a kernel's
// completion carries, quirk V6.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/program/program.h"
#include "compiler/interpret/machine.h"
#include "compiler/interpret/traffic.h"
#include "compiler/interpret/wires.h"

namespace ktpu::interpret {

struct Options {
  Rounding rounding = Rounding::kHardware;
  bool warnings = false;  // note reads of what no one wrote, or of what may not have landed yet
};

class Interpreter {
 public:
  // `program` must outlive the interpreter. Its images are in memory when this returns. Throws UserError.
  Interpreter(const arch::Program& program, MachineFacts machine, const Options& options = {});
  ~Interpreter();

  // All steps. Throws UserError in words: node, round, step, instruction, cause. Status kNoProgress: a poll
  // that nothing can meet any more; kUnitFault: the machine would fault or do something else than was meant.
  void run();
  // Steps [first, last) of the program.
  void run(std::size_t first, std::size_t last);

  // By name, row-major, in the tensor's type. Throws UserError: unknown name, or another size.
  void set_input(std::string_view name, std::span<const std::uint8_t> row_major);
  std::vector<std::uint8_t> output(std::string_view name) const;
  // 40-bit byte addresses of mesh `mesh` (an index).
  std::vector<std::uint8_t> read_memory(unsigned mesh, std::uint64_t address, std::uint64_t bytes) const;
  void write_memory(unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes);

  const Counters& counters() const;
  const Traffic& traffic() const;
  // At most 100, each said once; empty unless asked for.
  const std::vector<std::string>& warnings() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace ktpu::interpret
