// SPDX-License-Identifier: Apache-2.0
#include "arch/program/program_file.h"
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets/targets.h"

namespace ktpu::fuzz {

namespace {

// The machine a program names when it is among the small ones, else the first.
const topo::Machine& machine_for(const arch::Program& program) {
  for (const SeedMachine& machine : machines())
    if (machine.name == program.needs.machine) return machine.machine;
  return machines().front().machine;
}

std::string try_file(std::span<const std::uint8_t> bytes) {
  arch::Program program;
  const Outcome read = read_program(bytes, program);
  if (!read.wrong.empty()) return read.wrong + ": " + read.message;
  if (read.status != arch::ExitStatus::kOk) return {};
  const Outcome ran = run(machine_for(program), &program, {3000, 1000});
  return ran.wrong.empty() ? std::string() : ran.wrong + ": " + ran.message;
}

}  // namespace

std::string fuzz_program(std::span<const std::uint8_t> bytes) {
  if (std::string wrong = try_file(bytes); !wrong.empty()) return wrong;
  // Hardly any change keeps the hash right; behind it lie the parser, the validator and the machine.
  const std::vector<std::uint8_t> rehashed = arch::rehash({bytes.begin(), bytes.end()});
  return try_file(rehashed);
}

}  // namespace ktpu::fuzz
