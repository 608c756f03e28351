// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/expr_text.h"
#include "compiler/graph/graph.h"

namespace ktpu::graph {
namespace {

using base::index_operand_text;
using base::name_text;

constexpr std::string_view kRoles[] = {"in", "out", "temp", "table"};

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string run() {
    put("graph {} batch {}", name_text('@', graph_.name), graph_.batch);
    if (graph_.batched) put(" batched");
    if (!graph_.lead.empty()) put(" lead {}", base::extents_text(graph_.lead));
    if (graph_.part != Graph{}.part) put(" part {}", graph_.part);
    if (!graph_.fuse) put(" unfused");
    put(" {{\n");
    indent_ = "  ";
    for (const Buffer& buffer : graph_.buffers) declare(buffer);
    body(&graph_.body);
    put("}}\n");
    return std::move(out_);
  }

  std::string statement(const Node& node) {
    std::visit([this](const auto& it) { one(it); }, node.it);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string name(BufferId id) const {
    return id < graph_.buffers.size() ? name_text('%', graph_.buffers[id].name)
                                      : fmt::format("%\"buffer {}\"", id);
  }
  static std::string part(std::string_view buffer, const base::Index& index, std::uint64_t offset) {
    return fmt::format("{}[{}]{}", buffer, index.print(),
                       offset != 0 ? fmt::format(" offset {}", offset) : std::string());
  }
  static std::string tile(std::string_view buffer, const base::Index& row, const base::Index& column) {
    return fmt::format("{}[{}, {}]", buffer, row.print(), column.print());
  }

  void declare(const Buffer& buffer) {
    put("  buffer {} {} {}", name_text('%', buffer.name), kRoles[static_cast<std::size_t>(buffer.role)],
        base::tensor_type_text(buffer.shape));
    if (buffer.batched) put(" batched");
    if (!buffer.values.empty()) put(" {}", base::words16_text(buffer.values, "  "));
    put("\n");
  }

  void body(const Body* nodes) {
    if (nodes == nullptr) return;
    for (const Node& node : *nodes) {
      put("{}", indent_);
      std::visit([this](const auto& it) { one(it); }, node.it);
      put("\n");
    }
  }
  void block(const std::shared_ptr<Body>& nodes) {
    put(" {{\n");
    indent_ += "  ";
    body(nodes.get());
    indent_.resize(indent_.size() - 2);
    put("{}}}", indent_);
  }
  static std::string axis(const Axis& axis) {
    return fmt::format("%{} in {}", axis.name, index_operand_text(axis.extent));
  }

  void one(const Tiling& tiling) {
    put("grid (");
    for (std::size_t i = 0; i < tiling.axes.size(); ++i) put("{}{}", i > 0 ? ", " : "", axis(tiling.axes[i]));
    put(")");
    if (tiling.barrier) put(" barrier");
    if (tiling.formed) put(" formed");
    block(tiling.body);
  }
  void one(const Loop& loop) {
    put("loop {}", axis(loop.axis));
    block(loop.body);
  }
  void one(const OpenTile& open) {
    put("tile %t{} {}x{}", open.tile, open.gm, open.gn);
    if (!open.land.empty()) put(" land {}", name_text('%', open.land));
  }
  void one(const Fill& fill) {
    put("fill {} {}[{}, {} of {}] {} {}x{}", fill.side == Side::kA ? 'A' : 'B', name(fill.buffer),
        fill.tile.print(), fill.chunk.print(), fill.chunks,
        fill.order.kind == FillOrder::Kind::kEntry ? "entry" : "conv", fill.order.groups, fill.order.blocks);
    put(" step {}", index_operand_text(fill.step));
    if (fill.lane != base::Index(0)) put(" lane {}", index_operand_text(fill.lane));
    if (fill.operand != 0) put(" operand {}", fill.operand);
  }
  void one(const Gemm& gemm) {
    put("gemm %t{} {}x{}x{} acc {}", gemm.tile, gemm.gm, gemm.gn, gemm.nk, index_operand_text(gemm.acc));
    if (gemm.a_operand != 0) put(" a {}", gemm.a_operand);
    if (gemm.b_operand != 0) put(" b {}", gemm.b_operand);
  }
  void one(const Drain& drain) {
    put("drain %t{} {}x{} to {}", drain.tile, drain.gm, drain.gn,
        tile(name(drain.buffer), drain.row, drain.column));
  }

  std::string leaf(const Leaf& leaf) const {
    switch (leaf.kind) {
      case Leaf::Kind::kPart: {
        std::string text = "load " + part(name(leaf.buffer), leaf.part, leaf.offset);
        if (leaf.spread)
          text += fmt::format(" spread {} of {}{}", leaf.spread->take, leaf.spread->period,
                              leaf.spread->whole ? " whole" : "");
        return text;
      }
      case Leaf::Kind::kTile:
        return "tile " + tile(name(leaf.buffer), leaf.row, leaf.column);
      case Leaf::Kind::kChannel:
        return fmt::format("channel {}[{}]", name(leaf.buffer), leaf.column.print());
      case Leaf::Kind::kConstant:
        return "const " + base::decimal(leaf.value);
      case Leaf::Kind::kResident:
        return fmt::format("resident %t{}", leaf.tile);
    }
    return {};
  }
  void one(const Apply& apply) {
    const Target& to = apply.target;
    put("{} {}", apply.reduce ? "reduce" : "apply",
        to.kind == Target::Kind::kPart ? part(name(to.buffer), to.part, to.offset)
                                       : tile(name(to.buffer), to.row, to.column));
    if (apply.part != Apply{}.part) put(" part {}", apply.part);
    std::vector<std::string> leaves;
    for (const Leaf& l : apply.leaves) leaves.push_back(leaf(l));
    put(" {}", base::print(apply.expr, leaves, indent_));
  }

  const Graph& graph_;
  std::string out_, indent_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }
std::string print_statement(const Graph& graph, const Node& node) { return Printer(graph).statement(node); }

}  // namespace ktpu::graph
