// SPDX-License-Identifier: Apache-2.0
#include "compiler/device/device.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "arch/error.h"
#include "arch/program/image.h"
#include "compiler/device/array_node.h"
#include "compiler/device/interpreted_machine.h"
#include "compiler/driver/program_file.h"

namespace ktpu::device {

using arch::UserError;
using tensor::Id;
using tensor::Op;
using tensor_to_kernel::HostStep;
using tensor_to_kernel::KernelCall;
using NodePtr = std::shared_ptr<ArrayNode>;

tensor_to_kernel::Capacity capacity_of(const driver::Machine& machine) {
  const schedule::Resources& r = machine.resources;
  return {r.tiles, r.bank_entries, r.banks, r.vector_cores};
}

std::string Stats::text() const {
  std::string text = fmt::format(
      "{} kernel calls, {} compiled ({} staged), {} steps by the host; {} rounds, {} flits, {} values "
      "saturated",
      calls, compiled, relaxed, host_steps, rounds, flits, saturated);
  if (cycles != 0) text += fmt::format(", {} cycles", cycles);
  return text + fmt::format("; {} kernels and {} bytes of values held\n", cached, held_bytes);
}

namespace {

// Operations that are not computed yet, arguments first, as a graph; what has values is an input of it.
class Collecting {
 public:
  tensor::Graph graph;
  std::vector<NodePtr> nodes;  // by id

  explicit Collecting(const std::vector<NodePtr>& wanted) {
    graph.name = "arrays";
    for (const NodePtr& node : wanted) {
      const Id id = visit(node);
      if (std::find(graph.results.begin(), graph.results.end(), id) == graph.results.end())
        graph.results.push_back(id);
    }
    // A pinned array is computed whole.
    for (Id id = 0; id < nodes.size(); ++id)
      if (nodes[id]->pinned && !nodes[id]->values &&
          std::find(graph.results.begin(), graph.results.end(), id) == graph.results.end())
        graph.results.push_back(id);
  }

 private:
  Id visit(const NodePtr& root) {
    // Without recursion: a chain of operations may be long.
    std::vector<std::pair<NodePtr, std::size_t>> open{{root, 0}};
    while (!open.empty()) {
      auto& [node, next] = open.back();
      if (ids_.contains(node.get())) {
        open.pop_back();
      } else if (!node->values && next < node->args.size()) {
        const NodePtr arg = node->args[next++];
        open.emplace_back(arg, 0);
      } else {
        add(node);
        open.pop_back();
      }
    }
    return ids_.at(root.get());
  }
  void add(const NodePtr& node) {
    tensor::Node made = node->op;
    made.args.clear();
    if (node->values) {
      made = {};
      made.shape = node->op.shape;
    } else {
      for (const NodePtr& arg : node->args) made.args.push_back(ids_.at(arg.get()));
    }
    ids_.emplace(node.get(), static_cast<Id>(nodes.size()));
    nodes.push_back(node);
    graph.nodes.push_back(std::move(made));
  }
  std::map<const ArrayNode*, Id> ids_;
};

}  // namespace

struct Device::State {
  driver::Machine machine;
  std::unique_ptr<Runner> runner;
  driver::Options options;
  tensor_to_kernel::Registry registry;
  std::map<std::string, driver::Compiled> cache;
  std::vector<std::weak_ptr<ArrayHandle>> held;
  Stats stats;

  tensor_to_kernel::Capacity capacity() const { return capacity_of(machine); }

  std::map<std::string, Values> run(const kernel::Definition& definition,
                                    const std::map<std::string, kernel::Shape>& shapes,
                                    const kernel::Knobs& knobs, const driver::Inputs& inputs) {
    const kernel::Kernel traced = kernel::trace(
        definition, shapes, knobs,
        options.policy == schedule::Policy::kBest ? kernel::Takes::kAll : kernel::Takes::kReference);
    // Everything a compilation depends on. The kernel's text holds its extents, its knobs, all it does.
    const std::string key = fmt::format(
        "{} {}{}{}\n{}", machine.name, options.policy == schedule::Policy::kBest ? "best" : "compat",
        options.regrid ? " regrid" : "", options.reuse_temps ? " reuse-temps" : "", kernel::print(traced));
    auto found = cache.find(key);
    if (found == cache.end()) {
      found = cache.emplace(key, driver::compile(traced, machine, options)).first;
      ++stats.compiled;
    }
    const driver::Compiled& compiled = found->second;
    RunResult result = runner->run(driver::program_file(compiled, machine, inputs));
    ++stats.calls;
    stats.relaxed += compiled.relaxed;
    stats.rounds += result.rounds;
    stats.flits += result.flits;
    stats.saturated += result.saturated;
    stats.cycles += result.cycles;
    return std::move(result.outputs);
  }
};

Device::Device(const topo::Machine& machine, std::unique_ptr<Runner> runner, unsigned mesh)
    : state_(std::make_unique<State>(State{driver::machine_of(machine, mesh),
                                           std::move(runner),
                                           {},
                                           tensor_to_kernel::Registry::library(),
                                           {},
                                           {},
                                           {}})) {
  if (!state_->runner) state_->runner = std::make_unique<InterpreterRunner>(interpreted_machine(machine));
}
Device::~Device() = default;

Array Device::halves(tensor::Shape shape, Values patterns) {
  if (shape.empty() || patterns.size() != tensor::elements(shape) || patterns.empty())
    throw UserError::make("{} values for an array of {}", patterns.size(), tensor::print(shape));
  auto made = std::make_shared<ArrayNode>();
  made->device = this;
  made->op.shape = std::move(shape);
  made->values = std::move(patterns);
  return Array(std::move(made));
}

Array Device::array(tensor::Shape shape, const std::vector<float>& values) {
  constexpr double kLargest = 65504;
  Values patterns(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    patterns[i] = arch::double_to_fp16(std::isnan(value) ? value : std::clamp(value, -kLargest, kLargest));
  }
  return halves(std::move(shape), std::move(patterns));
}

std::vector<Array> Device::call(const kernel::Definition& kernel, const std::map<std::string, Array>& inputs,
                                const kernel::Knobs& knobs) {
  std::map<std::string, kernel::Shape> shapes;
  std::vector<NodePtr> nodes;
  for (const auto& [port, array] : inputs) {
    shapes.emplace(port, array.shape());
    nodes.push_back(array.node());
  }
  compute(nodes);
  driver::Inputs values;
  for (const auto& [port, array] : inputs) values.emplace(port, *array.node()->values);
  auto outputs = state_->run(kernel, shapes, knobs, values);
  const kernel::Kernel bound = kernel::bind(kernel, shapes, knobs);
  std::vector<Array> results;
  for (const kernel::Buffer& buffer : bound.buffers) {
    if (buffer.role != kernel::Role::kOut) continue;
    tensor::Shape shape = buffer.shape;
    if (buffer.batched) shape.insert(shape.begin(), bound.lead.begin(), bound.lead.end());
    results.push_back(halves(std::move(shape), std::move(outputs.at(buffer.name))));
  }
  return results;
}

std::vector<Array> Device::evaluate(const tensor::Graph& graph, const std::map<std::string, Array>& inputs) {
  tensor::verify(graph);
  std::vector<NodePtr> nodes;
  for (Id id = 0; id < graph.nodes.size(); ++id) {
    const tensor::Node& node = graph[id];
    if (node.op == Op::kInput) {
      const std::string name = node.name.empty() ? std::to_string(id) : node.name;
      const auto given = inputs.find(name);
      if (given == inputs.end()) throw UserError::make("graph {}: input {} has no values", graph.name, name);
      if (given->second.shape() != node.shape || &given->second.device() != this)
        throw UserError::make("graph {}: input {} is {}, not {} of this device", graph.name, name,
                              tensor::print(node.shape), tensor::print(given->second.shape()));
      nodes.push_back(given->second.node());
      continue;
    }
    auto made = std::make_shared<ArrayNode>();
    made->device = this;
    made->op = node;
    made->op.args.clear();
    for (const Id arg : node.args) made->args.push_back(nodes[arg]);
    nodes.push_back(std::move(made));
  }
  std::vector<Array> results;
  for (const Id result : graph.results) results.push_back(Array(nodes[result]));
  return results;
}

void Device::substitute(tensor_to_kernel::Substitution substitution) {
  tensor_to_kernel::Registry registry;
  registry.add(std::move(substitution));
  for (const tensor_to_kernel::Substitution& one : state_->registry.all()) registry.add(one);
  state_->registry = std::move(registry);
}

void Device::set_options(const driver::Options& options) { state_->options = options; }

void Device::hold(const std::shared_ptr<ArrayHandle>& handle) {
  std::vector<std::weak_ptr<ArrayHandle>>& held = state_->held;
  // Swept now and then, so that the list stays as long as what lives.
  if (held.size() == held.capacity()) std::erase_if(held, [](const auto& one) { return one.expired(); });
  held.push_back(handle);
}

void Device::compute(const std::vector<NodePtr>& wanted) {
  const Collecting found(wanted);
  const tensor_to_kernel::Plan plan =
      tensor_to_kernel::lower(found.graph, state_->registry, state_->capacity());
  const auto values = [&](Id id) -> const Values& { return *found.nodes[id]->values; };
  for (const auto& step : plan.steps) {
    if (const auto* host = std::get_if<HostStep>(&step)) {
      const tensor::Node& node = found.graph[host->result];
      const tensor::Node& argument = found.graph[node.args[0]];
      found.nodes[host->result]->become(
          host_step(node, argument, argument.op == Op::kConstant ? Values{} : values(node.args[0])));
      ++state_->stats.host_steps;
      continue;
    }
    const KernelCall& call = std::get<KernelCall>(step);
    std::map<std::string, kernel::Shape> shapes;
    driver::Inputs inputs;
    for (const KernelCall::Operand& operand : call.operands) {
      shapes.emplace(operand.port, operand.shape);
      inputs.emplace(operand.port, values(operand.value));
    }
    auto outputs = state_->run(*call.kernel, shapes, call.knobs, inputs);
    found.nodes[call.result]->become(std::move(outputs.at(call.port)));
  }
}

void Device::sync() {
  std::vector<NodePtr> wanted;
  for (const auto& held : state_->held)
    if (const auto handle = held.lock(); handle && !handle->node->values) wanted.push_back(handle->node);
  if (!wanted.empty()) compute(wanted);
}

void Device::empty_cache() { state_->cache.clear(); }

Stats Device::stats() const {
  Stats now = state_->stats;
  now.cached = state_->cache.size();
  std::set<const ArrayNode*> seen;
  for (const auto& held : state_->held)
    if (const auto handle = held.lock())
      if (const ArrayNode* node = handle->node.get(); node->values && seen.insert(node).second)
        now.held_bytes += 2 * node->values->size();
  return now;
}

tensor::Graph Device::graph(const std::vector<Array>& arrays) {
  std::vector<NodePtr> nodes;
  for (const Array& array : arrays) nodes.push_back(array.node());
  return Collecting(nodes).graph;
}

std::string Device::explain(const std::vector<Array>& arrays) {
  const tensor::Graph made = graph(arrays);
  return tensor::print(made) +
         tensor_to_kernel::print(made, tensor_to_kernel::lower(made, state_->registry, state_->capacity()));
}

}  // namespace ktpu::device
