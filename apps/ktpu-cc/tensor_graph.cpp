// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cc/tensor_graph.h"

#include <map>

#include "apps/common/tensors.h"
#include "apps/common/whole_file.h"
#include "compiler/device/device.h"
#include "compiler/tensor_to_kernel/lower.h"

namespace ktpu::apps {

using arch::UserError;

arch::ExitStatus run_tensors(const tensor::Graph& graph, const CcOptions& options, const Operands& operands,
                             const topo::Machine& machine) {
  if (!options.knobs.empty() || !options.shapes.empty() || !options.expect.empty() || options.cost ||
      !options.compare.empty() || options.explain_tile)
    throw UserError::make("{}: a graph of operations takes --emit plan, --run, --in and --out",
                          options.kernel);
  tensor::verify(graph);
  device::Device dev(machine, nullptr, options.mesh);
  dev.set_options(options.compile);
  if (!options.emit.empty()) {
    if (options.emit != "plan")
      throw UserError::make("--emit {}: a graph of operations is several kernels; --emit plan names them",
                            options.emit);
    const tensor_to_kernel::Plan plan =
        tensor_to_kernel::lower(graph, tensor_to_kernel::Registry::library(),
                                device::capacity_of(driver::machine_of(machine, options.mesh)));
    const std::string text = tensor::print(graph) + tensor_to_kernel::print(graph, plan);
    if (options.output.empty())
      fmt::print("{}", text);
    else
      write_whole(options.output, text);
  } else if (!options.output.empty()) {
    throw UserError::make(
        "-o {}: a graph of operations is several programs; --run computes it, --emit plan names the kernels",
        options.output);
  }
  if (!options.run) return arch::ExitStatus::kOk;
  std::map<std::string, device::Array> inputs;
  for (const auto& [name, values] : operands.values)
    inputs.emplace(name, dev.halves(operands.shapes.at(name), values));
  std::map<std::string, std::string> files;
  for (const std::string& text : options.out) {
    const Binding binding = parse_binding("--out", text);
    files.emplace(binding.name, binding.file);
  }
  const std::vector<device::Array> results = dev.evaluate(graph, inputs);
  dev.sync();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const tensor::Node& node = graph[graph.results[i]];
    const auto file = files.find(node.name.empty() ? std::to_string(graph.results[i]) : node.name);
    if (file == files.end()) continue;
    const std::vector<std::uint8_t> bytes = results[i].numpy();
    write_whole(file->second, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    files.erase(file);
  }
  if (!files.empty()) throw UserError::make("--out {}: the graph has no such result", files.begin()->first);
  fmt::print("{}", dev.stats().text());
  return arch::ExitStatus::kOk;
}

}  // namespace ktpu::apps
