// SPDX-License-Identifier: Apache-2.0
// What the families share.
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

Value sigmoid(const Value& v) { return recip(exp2(v * -kLog2E) + 1.0); }
Value silu(const Value& v) { return v * sigmoid(v); }
Value gelu_tanh(const Value& v) {
  const Value inner = v * v * v * 0.044715 + v;
  return v * recip(exp2(inner * (-(2 * 0.7978845608028654) * kLog2E)) + 1.0);
}
Value gelu_sigmoid(const Value& v) { return v * recip(exp2(v * (-1.702 * kLog2E)) + 1.0); }
Value relu_abs(const Value& v) { return (v + absolute(v)) * 0.5; }

std::int64_t knob_of(const kernel::Knobs& knobs, std::string_view name) {
  const auto found = knobs.find(name);
  const auto* number = found == knobs.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number != nullptr && *number >= 1 ? *number : 0;
}
void settle_part(kernel::Knobs& knobs, std::int64_t unit) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (const std::int64_t part = knob_of(knobs, "part"); part != 0 && part < kMost && unit >= 1)
    knobs.insert_or_assign("part", (part + unit - 1) / unit * unit);
}

Accumulator sweep(Trace& L, const Ref& x, const Ref& w, const Index& i, const Index& j) {
  const std::int64_t nk = L.whole("nk");
  const Accumulator acc = L.tile(L.whole("gm"), L.whole("gn"), nk);
  L.loop(x.chunks32(nk), [&](const Index& k) { acc += matmul(x(i, k), w(j, k)); });
  return acc;
}

void for_each_tile(Trace& L, const Ref& x, const Ref& w, const TileStore& store) {
  L.units(x.tiles(L.whole("gm")), w.tiles(L.whole("gn")),
          [&](const Index& i, const Index& j) { store(i, j, sweep(L, x, w, i, j)); });
}

void for_each_part(Trace& L, const Ref& result, const std::function<void(const Index&)>& store) {
  L.units(result.parts(L.whole("part")), store);
}

}  // namespace ktpu::kernels
