// SPDX-License-Identifier: Apache-2.0
// Convolution 3x3 with one pixel of padding, as a matmul over the taps (compiler.md section 20). Results
// stand in lines as wide as the padded image.
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::in;
using kernel::out;
using kernel::Ref;
using kernel::Trace;

namespace {

// The pixels of a padded image, whole entries of 4 as in memory (section 9).
std::vector<kernel::Dim> plane() {
  using kernel::symbol;
  return {floordiv((symbol("H") + 2) * (symbol("W") + 2) + 3, 4) * 4, "N"};
}

void sweep_taps(Trace& L, const Ref& result) {
  const Ref a = L.port("a").taps(), b = L.port("b");
  if (b.columns() != a.columns())
    throw base::Refusal(
        base::Phase::kTrace, "CONV_WEIGHTS",
        fmt::format("b has {} columns, 9 taps of the channels have {}", b.columns(), a.columns()),
        "give b N x 9C: tap, channel block, channel");
  const std::int64_t gm = L.whole("gm"), gn = L.whole("gn");
  L.units(a.tiles(gm), b.tiles(gn), [&](const Index& i, const Index& j) {
    const Accumulator acc = L.tile(gm, gn, 1);
    L.loop(b.chunks32(1), [&](const Index& s) { acc += matmul(a(i, s), b(j, s)); });
    result(i, j) <<= acc;
  });
}

void conv2d(Trace& L) { sweep_taps(L, L.port("c")); }

void conv2d_bias(Trace& L) {
  const Ref bias = L.port("bias"), c = L.port("c");
  const Ref t = L.temp(c.view().shape);
  sweep_taps(L, t);
  for_each_part(L, c, [&](const Index& e) { c(e) <<= t(e) + bias(e); });
}

}  // namespace

void add_conv(Definitions& all) {
  all.push_back({"ops.conv2d",
                 {in("a", {"H", "W", "C"}), in("b", {"N", "K"}), out("c", plane())},
                 {{"gm", 16}, {"gn", 32}},
                 conv2d});
  all.push_back({"kernels.conv2d_bias",
                 {in("a", {"H", "W", "C"}), in("b", {"N", "K"}), in("bias", plane()), out("c", plane())},
                 {{"gm", 16}, {"gn", 32}, {"part", 8192}},
                 conv2d_bias});
}

}  // namespace ktpu::kernels
