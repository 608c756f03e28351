// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/known_wrong.h"

#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/format_bound.h"
#include "apps/ktpu-check/live_import.h"
#include "apps/ktpu-check/live_machine.h"
#include "apps/ktpu-check/rig.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "arch/program/tensor_layout.h"
#include "compiler/base/refusal.h"
#include "compiler/driver/program_file.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

std::vector<std::uint16_t> result(const Rig& rig, const arch::Tensor& tensor) {
  const arch::TensorLayout layout(tensor.layout, tensor.shape);
  const std::vector<std::uint8_t> bytes =
      layout.unpack(rig.read_memory(tensor.address, 2 * layout.elements()));
  std::vector<std::uint16_t> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  return values;
}

}  // namespace

void check_known_wrong(const json& file, const kernel::Definition& definition,
                       const std::map<std::string, kernel::Shape>& inputs, const kernel::Knobs& knobs,
                       driver::Options options, Differences& differences) {
  options.policy = schedule::Policy::kBest;
  driver::Inputs operands;
  Reals reals;
  for (const auto& [name, tensor] : member(file, "inputs").items()) {
    operands[name] = tensor_values(tensor, name);
    Real& real = reals[name] = {tensor_shape(tensor), std::vector<double>(operands[name].size())};
    std::transform(operands[name].begin(), operands[name].end(), real.v.begin(), arch::fp16_to_double);
  }
  try {
    // Acknowledgements go to this machine's agent, so it is compiled for as it is.
    topo::Machine described = live_machine(file);
    const driver::Machine machine = driver::machine_of(described);
    const driver::Compiled compiled = driver::compile(definition, inputs, knobs, machine, options);
    const arch::Program program = driver::program_file(compiled, machine, operands);
    for (topo::Mesh& mesh : described.meshes)
      for (topo::Node& node : mesh.nodes) node.quirks = topo::Quirks::kNone;
    Rig rig(std::move(described), &program, Watch::kOutside);
    rig.run();
    std::map<std::string, std::vector<std::uint16_t>> outputs;
    for (const arch::Tensor& output : program.outputs) outputs[output.name] = result(rig, output);
    const auto bound = format_bound(definition.name, reals, member(file, "effective_knobs"), outputs);
    if (!bound)
      differences.add("outputs", "an FP64 reference", "none");
    else if (!bound->holds())
      differences.add("outputs", fmt::format("within {:.4g} of FP64", bound->allowed),
                      fmt::format("{:.4g} off", bound->error));
  } catch (const base::Refusal& refusal) {
    differences.add("status", "\"ok\"", refusal.what());
  }
}

}  // namespace ktpu::check
