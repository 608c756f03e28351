// SPDX-License-Identifier: Apache-2.0
// The substitution registry (compiler.md section 22): a pattern of operations and the kernel that computes
// it. The first registered match wins. A matched kernel's refusal is reported, nothing else is tried.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/definition.h"
#include "compiler/tensor/graph.h"
#include "compiler/tensor_to_kernel/plan.h"

namespace ktpu::tensor_to_kernel {

// any("x"): an array, by that name from then on; the same name twice: the same array. constant("s"): a
// scalar. op(kAdd, {...}): that operation on these; sums, products, maxima and minima match either way round.
class Pattern {
 public:
  static Pattern any(std::string name);
  static Pattern constant(std::string name);
  static Pattern op(tensor::Op op, std::vector<Pattern> args);

 private:
  friend struct Matching;
  enum class Kind : std::uint8_t { kAny, kConstant, kOp } kind_ = Kind::kAny;
  std::string name_;
  tensor::Op op_ = tensor::Op::kInput;
  std::vector<Pattern> args_;
};

struct Match {
  tensor::Id root = 0;
  std::map<std::string, tensor::Id> values;  // by name of the pattern
  std::vector<tensor::Id> inner;             // covered operations but the root
};
// Inner operations may have no other user. None: it does not match there.
std::optional<Match> match(const Pattern& pattern, const tensor::Graph& graph,
                           const std::vector<std::uint32_t>& uses, tensor::Id root);

struct Substitution {
  std::string name;
  Pattern pattern;
  std::shared_ptr<const kernel::Definition> kernel;
  std::map<std::string, std::string> ports;  // value of the pattern -> port; others are not passed
  struct Site {
    const tensor::Graph& graph;
    const Match& match;
    const Capacity& capacity;
    const tensor::Node& operator()(const std::string& value) const { return graph[match.values.at(value)]; }
    const tensor::Node& root() const { return graph[match.root]; }
  };
  std::function<bool(const Site&)> takes = {};           // empty: always
  std::function<kernel::Knobs(const Site&)> knobs = {};  // empty: the kernel's own
};

class Registry {
 public:
  // Behind what is registered already. Throws UserError: a port the kernel does not have, an input port that
  // nothing fills, no or several results.
  void add(Substitution substitution);
  const std::vector<Substitution>& all() const { return all_; }

  static Registry library();  // the kernels of the library
  void add_library();

 private:
  std::vector<Substitution> all_;
};

}  // namespace ktpu::tensor_to_kernel
