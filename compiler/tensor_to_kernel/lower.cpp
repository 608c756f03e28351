// SPDX-License-Identifier: Apache-2.0
#include "compiler/tensor_to_kernel/lower.h"

#include <algorithm>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/tensor_to_kernel/elementwise.h"
#include "compiler/tensor_to_kernel/tiles.h"

namespace ktpu::tensor_to_kernel {

using tensor::Graph;
using tensor::Id;
using tensor::Node;
using tensor::Op;

namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, const Registry& registry, const Capacity& capacity)
      : graph_(graph), registry_(registry), capacity_(capacity), uses_(graph.uses()) {}

  Plan run() {
    std::vector<bool> needed(graph_.nodes.size());
    for (const Id result : graph_.results) needed[result] = true;
    // Users come behind their operands: from the back, every user is seen first.
    for (std::size_t at = graph_.nodes.size(); at-- > 0;) {
      const auto id = static_cast<Id>(at);
      const Node& node = graph_[id];
      if (!needed[id] || node.op == Op::kInput || node.op == Op::kConstant) continue;
      if (node.op == Op::kBroadcast || node.op == Op::kReshape || node.op == Op::kTranspose) {
        plan_.steps.push_back(HostStep{id});
        needed[node.args[0]] = true;
        continue;
      }
      KernelCall call = call_for(id);
      for (const KernelCall::Operand& operand : call.operands) needed[operand.value] = true;
      plan_.steps.push_back(std::move(call));
    }
    std::reverse(plan_.steps.begin(), plan_.steps.end());
    return std::move(plan_);
  }

 private:
  std::optional<std::pair<const Substitution*, Match>> substitution(Id id) const {
    for (const Substitution& one : registry_.all())
      if (auto found = match(one.pattern, graph_, uses_, id))
        if (!one.takes || one.takes({graph_, *found, capacity_})) return std::pair{&one, std::move(*found)};
    return std::nullopt;
  }

  KernelCall call_for(Id id) const {
    if (const auto found = substitution(id)) return call_by(*found->first, found->second);
    if (!info(graph_[id].op).elementwise)
      throw base::Refusal(base::Phase::kBind, "NO_KERNEL",
                          fmt::format("no kernel computes {} to {}", info(graph_[id].op).name,
                                      tensor::print(graph_[id].shape)),
                          "register a substitution for it");
    return call_of(
        graph_, grow_run(graph_, id, [this](Id inner) { return uses_[inner] == 1 && !substitution(inner); }));
  }

  KernelCall call_by(const Substitution& one, const Match& found) const {
    const Substitution::Site site{graph_, found, capacity_};
    KernelCall call;
    call.kernel = one.kernel;
    call.why = one.name;
    call.result = found.root;
    std::map<std::string, kernel::Shape> shapes;
    for (const auto& [value, port] : one.ports) {
      const Id id = found.values.at(value);
      call.operands.push_back({port, id, graph_[id].shape});
      shapes.emplace(port, graph_[id].shape);
    }
    for (const kernel::Port& port : one.kernel->ports)
      if (port.role == kernel::Role::kOut) call.port = port.name;
    call.knobs = with_tiles(*one.kernel, shapes, one.knobs ? one.knobs(site) : kernel::Knobs{}, capacity_);
    return call;
  }

  const Graph& graph_;
  const Registry& registry_;
  const Capacity& capacity_;
  const std::vector<std::uint32_t> uses_;
  Plan plan_;
};

}  // namespace

Plan lower(const Graph& graph, const Registry& registry, const Capacity& capacity) {
  verify(graph);
  return Lowering(graph, registry, capacity).run();
}

}  // namespace ktpu::tensor_to_kernel
