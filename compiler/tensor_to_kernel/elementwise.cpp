// SPDX-License-Identifier: Apache-2.0
#include "compiler/tensor_to_kernel/elementwise.h"

#include <algorithm>
#include <map>
#include <set>

#include "arch/error.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernels/activations.h"
#include "compiler/kernels/kernels.h"

namespace ktpu::tensor_to_kernel {

using kernel::Value;
using tensor::Graph;
using tensor::Id;
using tensor::Node;
using tensor::Op;

namespace {

// A vector program has eight descriptors: two an array, and one a constant that lives in memory.
constexpr std::size_t kMostArrays = 3, kDescriptors = 8, kMostOperations = 16;

Value computed(Op op, const std::vector<Value>& v) {
  switch (op) {
    case Op::kAdd:
      return v[0] + v[1];
    case Op::kSub:
      return v[0] - v[1];
    case Op::kMul:
      return v[0] * v[1];
    case Op::kDiv:
      return v[0] / v[1];
    case Op::kMaximum:
      return maximum(v[0], v[1]);
    case Op::kMinimum:
      return minimum(v[0], v[1]);
    case Op::kWhere:
      return where(v[0], v[1], v[2]);
    case Op::kNeg:
      return -v[0];
    case Op::kAbsolute:
      return kernel::absolute(v[0]);
    case Op::kExp2:
      return kernel::exp2(v[0]);
    case Op::kLog2:
      return kernel::log2(v[0]);
    case Op::kRecip:
      return recip(v[0]);
    case Op::kRsqrt:
      return rsqrt(v[0]);
    case Op::kRelu:
      return maximum(v[0], 0.0);
    case Op::kSilu:
      return kernels::silu(v[0]);
    case Op::kGelu:
      return kernels::gelu_sigmoid(v[0]);
    case Op::kGeluTanh:
      return kernels::gelu_tanh(v[0]);
    default:
      break;
  }
  KTPU_CHECK(false, "{} is not elementwise", info(op).name);
  return 0.0;
}

// Constants that an operation brings with it.
std::vector<double> brought(Op op) {
  switch (op) {
    case Op::kRelu:
      return {0.0};
    case Op::kSilu:
      return {-kernels::kLog2E, 1.0};
    case Op::kGelu:
      return {-1.702 * kernels::kLog2E, 1.0};
    case Op::kGeluTanh:
      return {0.044715, -2.0, 1.0};
    default:
      return {};
  }
}

// What a run reads.
struct Reads {
  std::vector<Id> arrays;
  std::set<double> constants;

  Reads(const Graph& graph, Id root, const std::vector<Id>& covered) : graph_(graph), covered_(covered) {
    walk(root);
  }
  bool fits() const {
    return arrays.size() <= kMostArrays && 2 * arrays.size() + constants.size() <= kDescriptors;
  }

 private:
  void walk(Id id) {
    const Node& node = graph_[id];
    for (const double value : brought(node.op)) constants.insert(value);
    for (const Id arg : node.args) {
      if (graph_[arg].op == Op::kConstant)
        constants.insert(graph_[arg].value);
      else if (std::find(covered_.begin(), covered_.end(), arg) != covered_.end())
        walk(arg);
      else if (std::find(arrays.begin(), arrays.end(), arg) == arrays.end())
        arrays.push_back(arg);
    }
  }
  const Graph& graph_;
  const std::vector<Id>& covered_;
};

const kernel::Definition* library_kernel(Op op) {
  static const std::map<Op, const char*> kNames{
      {Op::kAdd, "ops.residual"}, {Op::kSub, "ops.sub"},         {Op::kMul, "ops.mul"},
      {Op::kDiv, "ops.div"},      {Op::kMaximum, "ops.maximum"}, {Op::kMinimum, "ops.minimum"},
      {Op::kWhere, "ops.where"},  {Op::kNeg, "ops.neg"},         {Op::kAbsolute, "ops.absolute"},
      {Op::kExp2, "ops.exp2"},    {Op::kLog2, "ops.log2"},       {Op::kRecip, "ops.recip"},
      {Op::kRsqrt, "ops.rsqrt"},  {Op::kRelu, "ops.relu"},       {Op::kSilu, "ops.silu"},
      {Op::kGelu, "ops.gelu"},
  };
  const auto found = kNames.find(op);
  return found == kNames.end() ? nullptr : kernels::find(found->second);
}

// The run as a tree that no longer needs the graph.
struct Tree {
  Op op = Op::kInput;
  double value = 0;
  std::size_t array = 0;
  std::vector<std::shared_ptr<const Tree>> args;
};
using Trees = std::map<Id, std::shared_ptr<const Tree>>;

std::shared_ptr<const Tree> tree_of(const Graph& graph, const Run& run, Id id, Trees& made) {
  if (const auto at = made.find(id); at != made.end()) return at->second;
  auto tree = std::make_shared<Tree>();
  const auto array = std::find(run.arrays.begin(), run.arrays.end(), id);
  if (graph[id].op == Op::kConstant) {
    tree->op = Op::kConstant;
    tree->value = graph[id].value;
  } else if (id != run.root && array != run.arrays.end()) {
    tree->array = static_cast<std::size_t>(array - run.arrays.begin());
  } else {
    tree->op = graph[id].op;
    for (const Id arg : graph[id].args) tree->args.push_back(tree_of(graph, run, arg, made));
  }
  made.emplace(id, tree);
  return tree;
}

std::string text_of(const Tree& tree) {
  if (tree.op == Op::kInput) return fmt::format("x{}", tree.array);
  if (tree.op == Op::kConstant) return fmt::format("{}", tree.value);
  std::string args;
  for (const auto& arg : tree.args) args += (args.empty() ? "" : ", ") + text_of(*arg);
  return fmt::format("{}({})", info(tree.op).name, args);
}

Value value_of(const Tree& tree, const std::vector<Value>& arrays) {
  if (tree.op == Op::kInput) return arrays.at(tree.array);
  if (tree.op == Op::kConstant) return tree.value;
  std::vector<Value> args;
  for (const auto& arg : tree.args) args.push_back(value_of(*arg, arrays));
  return computed(tree.op, args);
}

std::string array_port(std::size_t i) { return fmt::format("x{}", i); }

kernel::Definition definition_of(const std::shared_ptr<const Tree>& tree, std::size_t arrays) {
  kernel::Definition made;
  made.name = "tensor.elementwise";
  for (std::size_t i = 0; i < arrays; ++i) made.ports.push_back(kernel::in(array_port(i), {"..."}));
  made.ports.push_back(kernel::out("y", {"..."}));
  made.knobs = {{"part", 8192}};
  made.body = [tree, arrays](kernel::Trace& L) {
    const kernel::Ref y = L.port("y");
    L.units(y.parts(L.whole("part")), [&](const base::Index& e) {
      std::vector<Value> values;
      for (std::size_t i = 0; i < arrays; ++i) values.emplace_back(L.port(array_port(i))(e));
      y(e) <<= value_of(*tree, values);
    });
  };
  return made;
}

}  // namespace

Run grow_run(const Graph& graph, Id root, const std::function<bool(Id)>& joins) {
  Run run{root, {}, {}};
  // Nearest first: what does not fit is computed before.
  std::vector<Id> open{root};
  for (std::size_t next = 0; next < open.size() && run.covered.size() + 1 < kMostOperations; ++next)
    for (const Id arg : graph[open[next]].args) {
      if (!info(graph[arg].op).elementwise || !joins(arg)) continue;
      if (std::find(run.covered.begin(), run.covered.end(), arg) != run.covered.end()) continue;
      run.covered.push_back(arg);
      if (Reads(graph, root, run.covered).fits())
        open.push_back(arg);
      else
        run.covered.pop_back();
    }
  run.arrays = Reads(graph, root, run.covered).arrays;
  return run;
}

KernelCall call_of(const Graph& graph, const Run& run) {
  const Node& root = graph[run.root];
  KernelCall call;
  call.port.assign(1, 'y');
  call.result = run.root;
  const bool plain = run.covered.empty() && std::none_of(root.args.begin(), root.args.end(), [&](Id arg) {
                       return graph[arg].op == Op::kConstant;
                     });
  if (const kernel::Definition* found = plain ? library_kernel(root.op) : nullptr) {
    call.kernel = {found, [](const kernel::Definition*) {}};
    call.why = found->name;
    for (std::size_t i = 0; i < root.args.size(); ++i)
      call.operands.push_back({found->ports[i].name, root.args[i], root.shape});
    return call;
  }
  Trees made;
  const std::shared_ptr<const Tree> tree = tree_of(graph, run, run.root, made);
  call.kernel = std::make_shared<const kernel::Definition>(definition_of(tree, run.arrays.size()));
  call.why = text_of(*tree);
  for (std::size_t i = 0; i < run.arrays.size(); ++i)
    call.operands.push_back({array_port(i), run.arrays[i], root.shape});
  return call;
}

}  // namespace ktpu::tensor_to_kernel
