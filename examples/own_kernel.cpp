// SPDX-License-Identifier: Apache-2.0
// A kernel of one's own, called by hand and put in the place of a pattern of operations.
#include <cstdio>

#include "arch/error.h"
#include "compiler/device/device.h"
#include "compiler/kernel/trace.h"
#include "topologies/reader.h"

namespace {

using namespace ktpu::kernel;

// y = clamp(x @ w^T, -limit, limit), on the accumulator before it leaves.
void body(Trace& L) {
  const Ref x = L.port("x"), w = L.port("w"), y = L.port("y");
  const std::int64_t gm = L.whole("gm"), gn = L.whole("gn"), nk = L.whole("nk");
  const double limit = L.number("limit");
  L.units(x.tiles(gm), w.tiles(gn), [&](const ktpu::base::Index& i, const ktpu::base::Index& j) {
    const Accumulator acc = L.tile(gm, gn, nk);
    L.loop(x.chunks32(nk), [&](const ktpu::base::Index& k) { acc += matmul(x(i, k), w(j, k)); });
    y(i, j) <<= maximum(minimum(acc, limit), -limit);
  });
}

}  // namespace

int main() {
  try {
    const auto clamped = std::make_shared<const Definition>(
        Definition{"mine.linear_clamp",
                   {in("x", {"...", "M", "K"}), in("w", {"N", "K"}), out("y", {"...", "M", "N"})},
                   {{"gm", 8}, {"gn", 8}, {"nk", 2}, {"limit", 6.0}},
                   body});
    ktpu::device::Device dev(ktpu::topo::read_file("mesh8"));
    const ktpu::device::Array x = dev.array({32, 64}, std::vector<float>(32 * 64, 0.5F)),
                              w = dev.array({32, 64}, std::vector<float>(32 * 64, 0.75F));
    std::printf(
        "called by hand: %g\n",
        static_cast<double>(dev.call(*clamped, {{"x", x}, {"w", w}}, {{"limit", 10.0}})[0].values()[0]));

    using ktpu::tensor::Op;
    using ktpu::tensor_to_kernel::Pattern;
    // max(min(x @ w, high), low) calls it from now on, where the limits are each other's negative.
    dev.substitute(
        {"clamped product",
         Pattern::op(
             Op::kMaximum,
             {Pattern::op(Op::kMinimum, {Pattern::op(Op::kMatmul, {Pattern::any("x"), Pattern::any("w")}),
                                         Pattern::constant("high")}),
              Pattern::constant("low")}),
         clamped,
         {{"x", "x"}, {"w", "w"}},
         [](const auto& site) { return site("low").value == -site("high").value; },
         [](const auto& site) {
           return Knobs{{"limit", site("high").value}};
         }});
    const ktpu::device::Array y = maximum(minimum(matmul(x, w), 6.0), -6.0);
    std::printf("%s", dev.explain({y}).c_str());
    std::printf("value %g\n", static_cast<double>(y.values()[0]));
    return 0;
  } catch (const ktpu::arch::UserError& error) {
    std::fprintf(stderr, "own_kernel: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}
