// SPDX-License-Identifier: Apache-2.0
#include "compiler/device/runner.h"

#include "compiler/interpret/interpreter.h"

namespace ktpu::device {

RunResult InterpreterRunner::run(const arch::Program& program) {
  interpret::Interpreter interpreter(program, machine_);
  interpreter.run();
  RunResult result;
  for (const arch::Tensor& tensor : program.outputs) {
    const std::vector<std::uint8_t> bytes = interpreter.output(tensor.name);
    Values& values = result.outputs[tensor.name];
    values.resize(bytes.size() / 2);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  }
  const interpret::Counters& counters = interpreter.counters();
  result.rounds = counters.rounds;
  result.flits = counters.flits;
  result.saturated = counters.saturated;
  return result;
}

}  // namespace ktpu::device
