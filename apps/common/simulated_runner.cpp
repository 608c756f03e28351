// SPDX-License-Identifier: Apache-2.0
#include "apps/common/simulated_runner.h"

#include "apps/common/register_units.h"
#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::apps {

device::RunResult SimulatedRunner::run(const arch::Program& program) {
  platform::Registry registry;
  register_units(registry);
  platform::System system(machine_, registry);
  platform::Runner runner(system, &program, {});
  const platform::RunResult& ran = runner.run();
  if (ran.status != arch::ExitStatus::kOk) throw arch::UserError(ran.message, ran.status);
  device::RunResult result;
  result.cycles = ran.machine_cycles().value_or(0);
  for (const arch::Step& step : program.steps) {
    result.rounds += std::holds_alternative<arch::StepRound>(step.action);
    if (const auto* stage = std::get_if<arch::StepStage>(&step.action)) result.flits += stage->flits.size();
  }
  for (const arch::Tensor& tensor : program.outputs) {
    const arch::TensorLayout layout(tensor.layout, tensor.shape, 2);
    const std::vector<std::uint8_t> bytes =
        layout.unpack(platform::read_memory(system.mesh(tensor.mesh), tensor.address, layout.elements() * 2));
    device::Values& values = result.outputs[tensor.name];
    values.resize(bytes.size() / 2);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  }
  return result;
}

}  // namespace ktpu::apps
