// SPDX-License-Identifier: Apache-2.0
// Who runs a device's programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "compiler/interpret/machine.h"

namespace ktpu::device {

using Values = std::vector<std::uint16_t>;  // FP16 patterns, row-major

struct RunResult {
  std::map<std::string, Values> outputs;  // of the program, by name
  std::uint64_t rounds = 0, flits = 0;
  std::uint64_t saturated = 0;  // stored values that stopped at +-65504, where the runner counts them
  std::uint64_t cycles = 0;     // 0: the runner knows no time
};

class Runner {
 public:
  virtual ~Runner() = default;
  // The program's inputs are in its images. Throws UserError.
  virtual RunResult run(const arch::Program& program) = 0;
};

// The functional interpreter: bit for bit the machine's results, no time.
class InterpreterRunner final : public Runner {
 public:
  explicit InterpreterRunner(interpret::MachineFacts machine) : machine_(std::move(machine)) {}
  RunResult run(const arch::Program& program) override;

 private:
  interpret::MachineFacts machine_;
};

}  // namespace ktpu::device
