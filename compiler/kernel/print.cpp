// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/expr_text.h"
#include "compiler/kernel/kernel.h"

namespace ktpu::kernel {
namespace {

using base::index_operand_text;
using base::name_text;

constexpr std::string_view kRoles[] = {"in", "out", "temp", "table"};

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    put("kernel {} batch {}", name_text('@', kernel_.name), kernel_.batch);
    if (!kernel_.lead.empty()) put(" lead {}", base::extents_text(kernel_.lead));
    if (kernel_.flat != 0) put(" flat {}", kernel_.flat);
    if (kernel_.part != Kernel{}.part) put(" part {}", kernel_.part);
    if (!kernel_.fuse) put(" unfused");
    put(" {{\n");
    indent_ = "  ";
    for (const auto& [name, value] : kernel_.knobs) put("  knob {} {}\n", name, print(value));
    for (const auto& [name, value] : kernel_.extents) put("  extent {} {}\n", name, value);
    for (const Buffer& buffer : kernel_.buffers) declare(buffer);
    body(kernel_.body);
    put("}}\n");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void declare(const Buffer& buffer) {
    put("  buffer {} {} {}", name_text('%', buffer.name), kRoles[static_cast<std::size_t>(buffer.role)],
        base::tensor_type_text(buffer.shape));
    if (buffer.batched) put(" batched");
    if (buffer.flat) put(" flat");
    if (!buffer.values.empty()) put(" {}", base::words16_text(buffer.values, "  "));
    put("\n");
  }

  void body(const Body& nodes) {
    for (const Node& node : nodes) {
      put("{}", indent_);
      std::visit([this](const auto& it) { one(it); }, node.it);
      put("\n");
    }
  }
  void block(const std::shared_ptr<Body>& nodes) {
    put(" {{\n");
    indent_ += "  ";
    if (nodes) body(*nodes);
    indent_.resize(indent_.size() - 2);
    put("{}}}", indent_);
  }
  static std::string axis(const Axis& axis) {
    return fmt::format("%{} in {}", axis.name, index_operand_text(axis.extent));
  }

  // %x[%i, %k], with what the view makes of the buffer behind it.
  std::string access(const Access& access) const {
    const View& view = access.view;
    const Buffer& of = kernel_.buffers.at(view.buffer);
    std::string text = name_text('%', of.name);
    for (std::size_t i = 0; i < access.index.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? "[" : ", ", access.index[i].print());
    if (!access.index.empty()) text += "]";
    if (view.shape != of.shape) text += fmt::format(" as {}", base::extents_text(view.shape));
    if (view.offset != 0) text += fmt::format(" offset {}", view.offset);
    if (view.kind == View::Kind::kSpread)
      text += fmt::format(" spread {} of {}", view.spread.take, view.spread.period);
    if (view.kind == View::Kind::kTaps) text += " taps";
    return text;
  }
  std::string factor(const Factor& factor) const {
    if (const auto* region = std::get_if<RegionId>(&factor)) return fmt::format("region %r{}", *region);
    return access(std::get<Access>(factor));
  }

  void one(const Tiling& tiling) {
    put("{} (", tiling.barrier ? "units" : "grid");
    for (std::size_t i = 0; i < tiling.axes.size(); ++i) put("{}{}", i > 0 ? ", " : "", axis(tiling.axes[i]));
    put(")");
    block(tiling.body);
  }
  void one(const Loop& loop) {
    put("loop {}", axis(loop.axis));
    block(loop.body);
  }
  void one(const OpenTile& open) {
    put("tile %t{} {}x{}x{}", open.tile, open.gm, open.gn, open.nk);
    if (!open.land.empty()) put(" land {}", name_text('%', open.land));
  }
  void one(const OpenRegion& open) { put("region %r{} {}x{}", open.region, open.groups, open.blocks); }
  void one(const FillRegion& fill) { put("fill %r{} from {}", fill.region, access(fill.source)); }
  void one(const Contraction& product) {
    put("multiply %t{} {}, {}", product.tile, factor(product.a), factor(product.b));
  }
  void one(const Store& store) {
    put("{} {}", store.reduce ? "reduce" : "store", access(store.target));
    if (store.part != Store{}.part) put(" part {}", store.part);
    std::vector<std::string> leaves;
    for (const Leaf& leaf : store.leaves)
      leaves.push_back(leaf.kind == Leaf::Kind::kTile       ? fmt::format("tile %t{}", leaf.tile)
                       : leaf.kind == Leaf::Kind::kConstant ? "const " + base::decimal(leaf.value)
                                                            : "load " + access(leaf.access));
    put(" {}", base::print(store.expr, leaves, indent_));
  }

  const Kernel& kernel_;
  std::string out_, indent_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace ktpu::kernel
