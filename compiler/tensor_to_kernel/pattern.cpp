// SPDX-License-Identifier: Apache-2.0
#include "compiler/tensor_to_kernel/pattern.h"

#include <algorithm>
#include <set>

#include "arch/error.h"

namespace ktpu::tensor_to_kernel {

using tensor::Graph;
using tensor::Id;
using tensor::Op;

Pattern Pattern::any(std::string name) {
  Pattern pattern;
  pattern.name_ = std::move(name);
  return pattern;
}
Pattern Pattern::constant(std::string name) {
  Pattern pattern = any(std::move(name));
  pattern.kind_ = Kind::kConstant;
  return pattern;
}
Pattern Pattern::op(tensor::Op op, std::vector<Pattern> args) {
  Pattern pattern;
  pattern.kind_ = Kind::kOp;
  pattern.op_ = op;
  pattern.args_ = std::move(args);
  return pattern;
}

struct Matching {
  const Graph& graph;
  const std::vector<std::uint32_t>& uses;
  Match found;

  bool capture(const std::string& name, Id id) {
    const auto [at, fresh] = found.values.emplace(name, id);
    return fresh || at->second == id;
  }

  bool arguments(const Pattern& pattern, const tensor::Node& node, bool swapped) {
    for (std::size_t i = 0; i < node.args.size(); ++i)
      if (!at(pattern.args_[i], node.args[swapped ? node.args.size() - 1 - i : i], false)) return false;
    return true;
  }

  bool at(const Pattern& pattern, Id id, bool root) {
    const tensor::Node& node = graph[id];
    switch (pattern.kind_) {
      case Pattern::Kind::kAny:
        return node.op != Op::kConstant && capture(pattern.name_, id);
      case Pattern::Kind::kConstant:
        return node.op == Op::kConstant && capture(pattern.name_, id);
      case Pattern::Kind::kOp:
        break;
    }
    if (node.op != pattern.op_ || node.args.size() != pattern.args_.size()) return false;
    if (!root && uses[id] != 1) return false;
    const Match before = found;
    if (!root) found.inner.push_back(id);
    if (arguments(pattern, node, false)) return true;
    if (info(node.op).commutes) {
      found = before;
      if (!root) found.inner.push_back(id);
      if (arguments(pattern, node, true)) return true;
    }
    found = before;
    return false;
  }
};

std::optional<Match> match(const Pattern& pattern, const Graph& graph, const std::vector<std::uint32_t>& uses,
                           Id root) {
  Matching matching{graph, uses, {}};
  if (!matching.at(pattern, root, true)) return std::nullopt;
  matching.found.root = root;
  return std::move(matching.found);
}

void Registry::add(Substitution substitution) {
  if (!substitution.kernel) throw arch::UserError::make("substitution {} has no kernel", substitution.name);
  std::set<std::string> filled;
  for (const auto& [value, port] : substitution.ports) filled.insert(port);
  std::size_t results = 0;
  for (const kernel::Port& port : substitution.kernel->ports) {
    results += port.role == kernel::Role::kOut;
    if (port.role == kernel::Role::kIn && filled.erase(port.name) == 0)
      throw arch::UserError::make("substitution {}: nothing of the pattern goes to port {} of {}",
                                  substitution.name, port.name, substitution.kernel->name);
  }
  if (!filled.empty())
    throw arch::UserError::make("substitution {}: {} has no input port {}", substitution.name,
                                substitution.kernel->name, *filled.begin());
  if (results != 1)
    throw arch::UserError::make("substitution {}: {} has {} results, a pattern has one", substitution.name,
                                substitution.kernel->name, results);
  all_.push_back(std::move(substitution));
}

Registry Registry::library() {
  Registry registry;
  registry.add_library();
  return registry;
}

}  // namespace ktpu::tensor_to_kernel
