// SPDX-License-Identifier: Apache-2.0
// The patterns of the library's kernels (compiler.md sections 20 and 22), the larger before what they
// contain.
#include <bit>

#include "arch/error.h"
#include "compiler/base/tile_choice.h"
#include "compiler/kernels/kernels.h"
#include "compiler/tensor_to_kernel/pattern.h"

namespace ktpu::tensor_to_kernel {

namespace {

using kernel::Knobs;
using tensor::Op;
using tensor::Shape;
using Site = Substitution::Site;

constexpr std::uint32_t kVectorLength = 128;
constexpr std::int64_t kPart = 8192;

Pattern any(const char* name) { return Pattern::any(name); }
Pattern op(Op which, std::vector<Pattern> args) { return Pattern::op(which, std::move(args)); }
Pattern product() { return op(Op::kMatmul, {any("x"), any("w")}); }

// The library's kernels live as long as the program.
std::shared_ptr<const kernel::Definition> library_kernel(const char* name) {
  const kernel::Definition* found = kernels::find(name);
  KTPU_CHECK(found != nullptr, "the library has no {}", name);
  return {found, [](const kernel::Definition*) {}};
}

Substitution make(const char* kernel, Pattern pattern,
                  const std::vector<std::pair<const char*, const char*>>& ports) {
  Substitution made{kernel, std::move(pattern), library_kernel(kernel), {}};
  for (const auto& [value, port] : ports) made.ports.emplace(value, port);
  return made;
}

std::uint32_t columns(const Site& site) { return site.root().shape.back(); }
bool narrow(const Site& site) { return columns(site) <= kVectorLength; }
bool wide(const Site& site) { return !narrow(site); }

Knobs eps(const Site& site) { return {{"eps", site.root().value}}; }
// Sub-rows of 128; what does not divide is refused by the kernel.
Knobs sub_rows(const Site& site) {
  const std::int64_t rows = (columns(site) + kVectorLength - 1) / kVectorLength;
  Knobs knobs{{"rows", rows}};
  if (const std::int64_t width = rows * kVectorLength; kPart % width != 0) knobs["part"] = width;
  return knobs;
}
Knobs sub_rows_eps(const Site& site) {
  Knobs knobs = sub_rows(site);
  knobs["eps"] = site.root().value;
  return knobs;
}

// A bias of the columns is read beside the accumulator, and cannot be staged.
bool bias_fits(const Site& site) {
  const Shape& shape = site.root().shape;
  if (site("b").shape.size() != 1 || site("b").shape[0] != shape.back()) return false;
  const std::uint64_t m = shape[shape.size() - 2], n = shape.back();
  const std::uint64_t batch = tensor::elements(shape) / (m * n);
  const auto cores = static_cast<std::uint32_t>(site.capacity.vector_cores / batch);
  return cores > 0 && base::fused_tile(m, n, cores).has_value();
}

Knobs attention_knobs(const Site& site) {
  const Shape &k = site("k").shape, &v = site("v").shape;
  const std::int64_t block = v[v.size() - 2];
  const std::int64_t inner = std::min<std::int64_t>(block, k.back());
  Knobs knobs{{"block", block}, {"nk", std::clamp<std::int64_t>(inner / 32, 1, 2)}};
  if (site.root().causal) {
    knobs["causal"] = true;
    knobs["qblock"] = block;
  }
  return knobs;
}

struct Activation {
  Op op;
  const char* word;  // of the knob `act`; null: mlp has none of it
  const char *linear, *linear_add;
};
constexpr Activation kActivations[] = {
    {Op::kSilu, "silu", "kernels.linear_silu", "kernels.linear_add_silu"},
    {Op::kRelu, "relu", "kernels.linear_relu", "kernels.linear_add_relu"},
    {Op::kGelu, "gelu", nullptr, nullptr},
    {Op::kGeluTanh, nullptr, "kernels.linear_gelu", "kernels.linear_add_gelu"},
};

void add_products(Registry& registry) {
  const auto gated = [&](const char* kernel, Op gate) {
    registry.add(make(kernel,
                      op(Op::kMul, {op(gate, {op(Op::kMatmul, {any("x"), any("wg")})}),
                                    op(Op::kMatmul, {any("x"), any("wu")})}),
                      {{"x", "x"}, {"wg", "wg"}, {"wu", "wu"}}));
  };
  gated("kernels.swiglu", Op::kSilu);
  gated("kernels.geglu", Op::kGelu);
  for (const Activation& act : kActivations) {
    if (act.word == nullptr) continue;
    Substitution mlp = make(
        "kernels.mlp", op(Op::kMatmul, {op(act.op, {op(Op::kMatmul, {any("x"), any("up")})}), any("down")}),
        {{"x", "x"}, {"up", "up"}, {"down", "down"}});
    mlp.name += fmt::format(" ({})", act.word);
    mlp.takes = [](const Site& site) { return site("x").shape.size() == 2; };
    mlp.knobs = [word = std::string(act.word)](const Site&) { return Knobs{{"act", word}}; };
    registry.add(std::move(mlp));
  }
  registry.add(make("kernels.linear_gate_add", op(Op::kAdd, {op(Op::kMul, {product(), any("g")}), any("r")}),
                    {{"x", "x"}, {"w", "w"}, {"g", "g"}, {"r", "r"}}));
  for (const Activation& act : kActivations)
    if (act.linear_add != nullptr)
      registry.add(make(act.linear_add, op(act.op, {op(Op::kAdd, {product(), any("b")})}),
                        {{"x", "x"}, {"w", "w"}, {"b", "b"}}));
  Substitution bias = make("kernels.linear_bias", op(Op::kAdd, {product(), op(Op::kBroadcast, {any("b")})}),
                           {{"x", "x"}, {"w", "w"}, {"b", "b"}});
  bias.takes = bias_fits;
  registry.add(std::move(bias));
  registry.add(
      make("kernels.linear_add", op(Op::kAdd, {product(), any("b")}), {{"x", "x"}, {"w", "w"}, {"b", "b"}}));
  for (const Activation& act : kActivations)
    if (act.linear != nullptr)
      registry.add(make(act.linear, op(act.op, {product()}), {{"x", "x"}, {"w", "w"}}));
  Substitution scale = make("kernels.linear_scale", op(Op::kMul, {product(), Pattern::constant("s")}),
                            {{"x", "x"}, {"w", "w"}});
  scale.knobs = [](const Site& site) { return Knobs{{"s", site("s").value}}; };
  registry.add(std::move(scale));
  registry.add(make("ops.matmul", product(), {{"x", "a"}, {"w", "b"}}));
}

void add_rows(Registry& registry) {
  const auto one = [&](const char* kernel, Op which, std::vector<const char*> names,
                       std::function<bool(const Site&)> takes, std::function<Knobs(const Site&)> knobs) {
    std::vector<Pattern> args;
    std::vector<std::pair<const char*, const char*>> ports;
    for (const char* name : names) {
      args.push_back(any(name));
      ports.emplace_back(name, name);
    }
    Substitution made = make(kernel, op(which, std::move(args)), ports);
    made.takes = std::move(takes);
    made.knobs = std::move(knobs);
    registry.add(std::move(made));
  };
  one("kernels.softmax", Op::kSoftmax, {"x"}, narrow, {});
  one("kernels.softmax_wide", Op::kSoftmax, {"x"}, wide, sub_rows);
  one("ops.rmsnorm", Op::kRmsnorm, {"x"}, {}, eps);
  one("kernels.rmsnorm", Op::kRmsnorm, {"x", "w"}, narrow, eps);
  one("kernels.rmsnorm_wide", Op::kRmsnorm, {"x", "w"}, wide, sub_rows_eps);
  one("ops.layernorm", Op::kLayernorm, {"x"}, {}, eps);
  one("kernels.layernorm", Op::kLayernorm, {"x", "w", "b"}, narrow, eps);
  one("kernels.layernorm_wide", Op::kLayernorm, {"x", "w", "b"}, wide, sub_rows_eps);
  one("ops.row_sum", Op::kRowSum, {"x"}, {}, {});
  one("ops.row_max", Op::kRowMax, {"x"}, {}, {});
  one("kernels.flash_attention", Op::kAttention, {"q", "k", "v"}, {}, attention_knobs);
}

}  // namespace

void Registry::add_library() {
  add_products(*this);
  add_rows(*this);
}

}  // namespace ktpu::tensor_to_kernel
