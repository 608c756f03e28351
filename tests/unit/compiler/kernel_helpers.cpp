// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/kernel_helpers.h"

#include <fmt/format.h>

#include "compiler/kernel/trace.h"
#include "compiler/kernel_to_graph/lower.h"

namespace ktpu::kernel::test {

using base::Index;

Kernel elementwise(const Make& body) {
  const Definition definition{"test.elementwise", {in("x", {"..."}), out("y", {"..."})}, {}, body};
  return trace(definition, {{"x", {3, 20}}}, {});
}

Kernel product(const Make& body, std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  const Definition definition{
      "test.product", {in("a", {"M", "K"}), in("b", {"N", "K"}), out("c", {"M", "N"})}, {}, body};
  return trace(definition, {{"a", {m, k}}, {"b", {n, k}}}, {});
}

Definition two_epilogues() {
  return {"test.two_epilogues",
          {in("a", {"M", "K"}), in("b", {"N", "K"}), out("c", {"M", "N"}), out("d", {"M", "N"})},
          {},
          [](Trace& L) {
            const Ref a = L.port("a"), b = L.port("b"), c = L.port("c"), d = L.port("d");
            const Ref t = L.temp({8, 8}), k = L.table({1, 1}, {1.0});
            L.units(a.tiles(2), b.tiles(2), [&](const Index& i, const Index& j) {
              for (const Ref& result : {t, c}) {
                const Accumulator acc = L.tile(2, 2, 1);
                L.loop(1, [&](const Index& s) { acc += matmul(a(i, s), b(j, s)); });
                result(i, j) <<= acc * 2.0;
              }
            });
            const Ref last = L.temp({8, 8});
            last <<= t * k.repeated();
            d <<= last * 2.0;
          }};
}

graph::Graph lowered(const Kernel& kernel) {
  graph::Graph graph = kernel_to_graph::lower(kernel);
  verify(graph);
  return graph;
}

namespace {

// An index of a leaf, a buffer or a target, in the words of the graph's own text.
std::string leaf_text(const graph::Graph& graph, const graph::Leaf& leaf) {
  // A one-leaf statement prints its leaf on a line of its own.
  graph::Apply alone;
  alone.leaves = {leaf};
  alone.expr.set_root(alone.expr.leaf(0));
  const std::string text = print_statement(graph, {alone});
  const std::size_t begin = text.find("%0 = ") + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string expr_text(const graph::Graph& graph, const graph::Apply& apply, base::Expr::Id id) {
  const base::Expr::Node& node = apply.expr[id];
  if (node.op == base::LaneOp::kLeaf) return leaf_text(graph, apply.leaves[node.leaf]);
  std::string text(info(node.op).name);
  for (unsigned i = 0; i < info(node.op).arguments; ++i) {
    text += i == 0 ? "(" : ", ";
    text += expr_text(graph, apply, node.args[i]);
  }
  return text + ")";
}

void walk(const graph::Graph& graph, const graph::Body& body, std::string& out) {
  for (const graph::Node& node : body) {
    if (const auto* tiling = std::get_if<graph::Tiling>(&node.it)) {
      walk(graph, *tiling->body, out);
    } else if (const auto* loop = std::get_if<graph::Loop>(&node.it)) {
      walk(graph, *loop->body, out);
    } else if (const auto* apply = std::get_if<graph::Apply>(&node.it)) {
      const std::string text = print_statement(graph, node);
      out += text.substr(0, text.find(" {")) + ": " + expr_text(graph, *apply, apply->expr.root()) + "\n";
    } else if (!std::holds_alternative<graph::OpenTile>(node.it)) {
      out += print_statement(graph, node) + "\n";
    }
  }
}

const graph::Apply* find_apply(const graph::Body& body) {
  for (const graph::Node& node : body) {
    if (const auto* apply = std::get_if<graph::Apply>(&node.it)) return apply;
    const auto* tiling = std::get_if<graph::Tiling>(&node.it);
    const auto* loop = std::get_if<graph::Loop>(&node.it);
    if (!tiling && !loop) continue;
    if (const graph::Apply* found = find_apply(tiling ? *tiling->body : *loop->body)) return found;
  }
  return nullptr;
}

}  // namespace

std::string statements(const Kernel& kernel) {
  const graph::Graph graph = lowered(kernel);
  std::string out;
  walk(graph, graph.body, out);
  return out;
}

const graph::Apply& first_apply(const graph::Graph& graph) { return *find_apply(graph.body); }

}  // namespace ktpu::kernel::test
