// SPDX-License-Identifier: Apache-2.0
// Two matmuls in one kernel: one after the other, or side by side with a gate.
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::Definition;
using kernel::in;
using kernel::out;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

namespace {

Value activation(const std::string& name, const Value& v) {
  if (name == "silu") return silu(v);
  if (name == "relu") return maximum(v, 0.0);
  if (name == "gelu") return gelu_sigmoid(v);
  throw base::Refusal(base::Phase::kTrace, "UNKNOWN_ACTIVATION", fmt::format("knob act is \"{}\"", name),
                      "give it silu, relu or gelu");
}

void mlp(Trace& L) {
  const Ref x = L.port("x"), up = L.port("up"), down = L.port("down"), y = L.port("y");
  const Ref h = L.temp({static_cast<std::uint32_t>(L.dim("M")), static_cast<std::uint32_t>(L.dim("F"))});
  for_each_tile(L, x, up, [&](const Index& i, const Index& j, const Accumulator& acc) {
    h(i, j) <<= activation(L.word("act"), acc);
  });
  for_each_tile(L, h, down, [&](const Index& i, const Index& j, const Accumulator& acc) { y(i, j) <<= acc; });
}

// Both sweeps of a tile share what x brings.
Definition gated(const char* name, Value (*gate)(const Value&)) {
  return {
      name,
      {in("x", {"...", "M", "K"}), in("wg", {"N", "K"}), in("wu", {"N", "K"}), out("y", {"...", "M", "N"})},
      {{"gm", 8}, {"gn", 8}, {"nk", 2}, {"part", 8192}},
      [gate](Trace& L) {
        const Ref x = L.port("x"), wg = L.port("wg"), wu = L.port("wu"), y = L.port("y");
        const Ref g = L.temp(y.view().shape), u = L.temp(y.view().shape);
        L.units(x.tiles(L.whole("gm")), wg.tiles(L.whole("gn")), [&](const Index& i, const Index& j) {
          g(i, j) <<= gate(sweep(L, x, wg, i, j));
          u(i, j) <<= sweep(L, x, wu, i, j);
        });
        for_each_part(L, y, [&](const Index& e) { y(e) <<= g(e) * u(e); });
      }};
}

}  // namespace

void add_gated(Definitions& all) {
  all.push_back({"kernels.mlp",
                 {in("x", {"...", "M", "K"}), in("up", {"F", "K"}), in("down", {"N", "F"}),
                  out("y", {"...", "M", "N"})},
                 {{"act", "silu"}, {"gm", 8}, {"gn", 8}, {"nk", 2}},
                 mlp});
  all.push_back(gated("kernels.geglu", gelu_sigmoid));
  all.push_back(gated("kernels.swiglu", silu));
}

}  // namespace ktpu::kernels
