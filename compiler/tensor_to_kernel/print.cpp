// SPDX-License-Identifier: Apache-2.0
#include "arch/error.h"
#include "compiler/tensor_to_kernel/plan.h"

namespace ktpu::tensor_to_kernel {

namespace {

std::string name_of(const tensor::Graph& graph, tensor::Id id) {
  return "%" + (graph[id].name.empty() ? std::to_string(id) : graph[id].name);
}

std::string line(const tensor::Graph& graph, const KernelCall& call) {
  std::string text = fmt::format("{} = call {} (", name_of(graph, call.result), call.kernel->name);
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", call.operands[i].port,
                        name_of(graph, call.operands[i].value));
  text += ")";
  for (const auto& [name, value] : call.knobs) text += fmt::format(" {}={}", name, kernel::print(value));
  if (call.why != call.kernel->name) text += fmt::format("  # {}", call.why);
  return text;
}

std::string line(const tensor::Graph& graph, const HostStep& step) {
  const tensor::Node& node = graph[step.result];
  return fmt::format("{} = host {} {}", name_of(graph, step.result), info(node.op).name,
                     name_of(graph, node.args[0]));
}

}  // namespace

std::string print(const tensor::Graph& graph, const Plan& plan) {
  std::string text;
  for (const auto& step : plan.steps)
    text += std::visit([&](const auto& it) { return line(graph, it); }, step) + "\n";
  return text;
}

}  // namespace ktpu::tensor_to_kernel
