// SPDX-License-Identifier: Apache-2.0
// Small kernels that show one construct each; the recorded cases call them custom.*.
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::in;
using kernel::Knobs;
using kernel::out;
using kernel::Port;
using kernel::Ref;
using kernel::RegionRef;
using kernel::Trace;
using kernel::Value;

namespace {

using Values = std::vector<Value>;

// Operands are whole blocks of any rank, one tiling over parts.
void add_pass(Definitions& all, const char* name, const std::vector<std::string>& operands,
              const std::function<Value(const Values&)>& body) {
  std::vector<Port> ports;
  for (const std::string& one : operands) ports.push_back(in(one, {"..."}));
  ports.push_back(out("y", {"..."}));
  all.push_back({name, std::move(ports), {{"part", 8192}}, [operands, body](Trace& L) {
                   const Ref y = L.port("y");
                   for_each_part(L, y, [&](const Index& e) {
                     Values values;
                     for (const std::string& one : operands) values.emplace_back(L.port(one)(e));
                     y(e) <<= body(values);
                   });
                 }});
}

Value shared(const Values& v) {
  const Value t = v[0] + v[1];
  return t * t - t;
}

// t = x * x; y = t + x: over the whole, in two tilings, in one.
Ref square_temp(Trace& L) { return L.temp({static_cast<std::uint32_t>(L.flat())}); }
void two_stages(Trace& L) {
  const Ref x = L.port("x"), y = L.port("y"), t = square_temp(L);
  t <<= x * x;
  y <<= t + x;
}
void barriers(Trace& L) {
  const Ref x = L.port("x"), y = L.port("y"), t = square_temp(L);
  for_each_part(L, y, [&](const Index& e) { t(e) <<= x(e) * x(e); });
  for_each_part(L, y, [&](const Index& e) { y(e) <<= t(e) + x(e); });
}
void hazard(Trace& L) {
  const Ref x = L.port("x"), y = L.port("y"), t = square_temp(L);
  for_each_part(L, y, [&](const Index& e) {
    t(e) <<= x(e) * x(e);
    y(e) <<= t(e) + x(e);
  });
}

void explicit_regions(Trace& L) {
  const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
  const std::int64_t gm = L.whole("gm"), gn = L.whole("gn"), nk = L.whole("nk");
  L.units(a.tiles(gm), b.tiles(gn), [&](const Index& i, const Index& j) {
    const Accumulator acc = L.tile(gm, gn, nk);
    const RegionRef ra = L.region(gm, nk), rb = L.region(gn, nk);
    L.loop(a.chunks32(nk), [&](const Index& k) {
      ra <<= a(i, k);
      rb <<= b(j, k);
      acc += matmul(ra, rb);
    });
    c(i, j) <<= acc;
  });
}

void gated(Trace& L) {
  const Ref x = L.port("x"), g = L.port("g"), u = L.port("u"), y = L.port("y");
  L.units(x.tiles(L.whole("gm")), g.tiles(L.whole("gn")), [&](const Index& i, const Index& j) {
    const Accumulator ga = sweep(L, x, g, i, j);
    const Accumulator ua = sweep(L, x, u, i, j);
    y(i, j) <<= ga * recip(exp2(ga * -kLog2E) + 1.0) * ua;
  });
}

// Refused: the accumulator would be cleared on every turn of the outer loop.
void nested(Trace& L) {
  const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
  const std::int64_t gm = L.whole("gm"), gn = L.whole("gn"), nk = L.whole("nk");
  L.units(a.tiles(gm), b.tiles(gn), [&](const Index& i, const Index& j) {
    const Accumulator acc = L.tile(gm, gn, nk);
    L.loop(3, [&](const Index&) {
      L.loop(a.chunks32(nk), [&](const Index& k) { acc += matmul(a(i, k), b(j, k)); });
    });
    c(i, j) <<= acc;
  });
}

void whole_product(Trace& L) { L.port("c") <<= matmul(L.port("a"), L.port("b")); }

}  // namespace

void add_custom(Definitions& all) {
  add_pass(all, "custom.k_axpb", {"x"}, [](const Values& v) { return v[0] * 2.0 + 1.0; });
  add_pass(all, "custom.k_select", {"a", "b"},
           [](const Values& v) { return where(v[0] < v[1], v[0] * 2.0, v[1] + 1.0); });
  add_pass(all, "custom.k_select_simple", {"a", "b"},
           [](const Values& v) { return where(v[0] < v[1], v[0], v[1]); });
  add_pass(all, "custom.k_cmp_alone", {"a", "b"}, [](const Values& v) { return v[0] < v[1]; });
  add_pass(all, "custom.k_fma", {"a", "b", "c"}, [](const Values& v) { return fma(v[0], v[1], v[2]); });
  add_pass(all, "custom.k_sqrt_approx", {"x"}, [](const Values& v) { return sqrt_approx(v[0]); });
  add_pass(all, "custom.k_sqrt_newton", {"x"}, [](const Values& v) { return sqrt_newton(v[0]); });
  add_pass(all, "custom.k_four", {"a", "b", "c", "d"},
           [](const Values& v) { return v[0] * v[1] + v[2] * v[3]; });
  add_pass(all, "custom.k_tree", {"a", "b"}, [](const Values& v) { return (v[0] + 1.0) * (v[1] - 1.0); });
  add_pass(all, "custom.k_shared", {"a", "b"}, shared);
  add_pass(all, "custom.k_copy", {"x"}, [](const Values& v) { return v[0]; });
  add_pass(all, "custom.k_fillc", {"x"}, [](const Values&) -> Value { return 3.5; });
  add_pass(all, "custom.k_consts5", {"x"},
           [](const Values& v) { return ((v[0] * 0.5 + 0.25) * 1.5 - 0.75) * 3.0 + 2.0; });
  const std::vector<Port> flat{in("x", {"..."}), out("y", {"..."})};
  const Knobs part{{"part", 8192}};
  all.push_back({"custom.k_twostage", flat, {}, two_stages});
  all.push_back({"custom.k_barriers", flat, part, barriers});
  all.push_back({"custom.k_hazard", flat, part, hazard});
  const std::vector<Port> product{in("a", {"...", "M", "K"}), in("b", {"N", "K"}),
                                  out("c", {"...", "M", "N"})};
  const Knobs tile{{"gm", 8}, {"gn", 8}, {"nk", 2}};
  all.push_back({"custom.k_region", product, {{"gm", 4}, {"gn", 4}, {"nk", 2}}, explicit_regions});
  all.push_back({"custom.k_nested", product, tile, nested});
  all.push_back({"custom.k_whole_matmul", product, {}, whole_product});
  all.push_back(
      {"custom.k_gated",
       {in("x", {"...", "M", "K"}), in("g", {"N", "K"}), in("u", {"N", "K"}), out("y", {"...", "M", "N"})},
       tile,
       gated});
}

}  // namespace ktpu::kernels
