// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/run.h"

#include "apps/common/interpreted_machine.h"
#include "apps/common/tensors.h"
#include "compiler/interpret/interpreter.h"

namespace ktpu::apps {

using arch::ExitStatus;

ExitStatus run_program(const arch::Program& program, const topo::Machine& machine, const CcOptions& options) {
  // Everything that can be wrong without the run is said before it.
  std::vector<Binding> out, expect;
  for (const std::string& text : options.out) {
    out.push_back(parse_binding("--out", text));
    check_output(program, out.back(), false);
  }
  for (const std::string& text : options.expect) {
    expect.push_back(parse_binding("--expect", text));
    check_output(program, expect.back(), true);
  }
  interpret::Interpreter interpreter(program, interpreted_machine(machine));
  interpreter.run();
  if (const std::uint64_t n = interpreter.counters().saturated)
    fmt::print(stderr, "ktpu-cc: note: {} stored values stopped at +-65504, the end of FP16\n", n);
  const TensorMemory memory{[&](unsigned mesh, std::uint64_t address, std::uint64_t bytes) {
                              return interpreter.read_memory(mesh, address, bytes);
                            },
                            nullptr};
  for (const Binding& binding : out) save_output(memory, program, binding);
  ExitStatus status = ExitStatus::kOk;
  for (const Binding& binding : expect) {
    const Comparison c = compare_output(memory, program, binding, options.atol, options.rtol);
    if (c.different == 0) {
      fmt::print("expect {}: {} elements equal\n", c.name, c.elements);
      continue;
    }
    fmt::print(stderr, "ktpu-cc: expect {}: {} of {} elements differ; worst [{}]: got {}, expected {}\n",
               c.name, c.different, c.elements, c.worst, c.worst_value, c.worst_expected);
    status = ExitStatus::kExpectFailed;
  }
  return status;
}

}  // namespace ktpu::apps
