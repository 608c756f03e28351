// SPDX-License-Identifier: Apache-2.0
// Folds along rows of up to 128: sums, softmax, the norms. The norms divide by the width before they square,
// so that FP16 partial sums stay below 65504 (compiler.md section 20).
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using base::LaneOp;
using kernel::Dim;
using kernel::in;
using kernel::Knobs;
using kernel::out;
using kernel::Port;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

namespace {

const std::vector<Dim> kRows{"...", "M", "N"};
constexpr double kEps = 1e-5;

// A part of whole rows.
void settle_rows(const kernel::Kernel& bound, Knobs& knobs) { settle_part(knobs, bound.extents.at("N")); }

// x[e] -> y[e], with the further operands `more` of the same shape.
void add_pass(Definitions& all, const char* name, const std::vector<std::string>& more, const Knobs& knobs,
              const std::function<Value(Trace&, const Value&, const std::vector<Value>&)>& body) {
  std::vector<Port> ports{in("x", kRows)};
  for (const std::string& one : more) ports.push_back(in(one, kRows));
  ports.push_back(out("y", kRows));
  all.push_back({name, std::move(ports), knobs,
                 [more, body](Trace& L) {
                   const Ref x = L.port("x"), y = L.port("y");
                   for_each_part(L, y, [&](const Index& e) {
                     std::vector<Value> operands;
                     for (const std::string& one : more) operands.emplace_back(L.port(one)(e));
                     y(e) <<= body(L, x(e), operands);
                   });
                 },
                 settle_rows});
}

void add_fold(Definitions& all, const char* name, LaneOp fold) {
  all.push_back({name, {in("x", kRows), out("y", kRows)}, {}, [fold](Trace& L) {
                   const Ref x = L.port("x"), y = L.port("y");
                   // One instance walks all rows.
                   L.units(1, [&](const Index& e) { L.reduce(fold, y(e), x(e)); });
                 }});
}

}  // namespace

Value softmax(const Value& x) {
  const Value ex = exp2((x - row_max(x)) * kLog2E);
  return ex / row_sum(ex);
}
Value rms_normal(Trace& L, const Value& x) {
  const auto n = static_cast<double>(L.port("x").columns());
  return x * rsqrt(row_sum(x / n * x) + L.number("eps"));
}
Value layer_normal(Trace& L, const Value& x) {
  const auto n = static_cast<double>(L.port("x").columns());
  const Value mu = row_sum(x) / n, dev = x - mu;
  return dev * rsqrt(row_sum(dev / n * dev) + L.number("eps"));
}

namespace {

// The steps of group_norm, each in memory: as many statements of one stage as its limits take.
void group_norm_silu(Trace& L) {
  const Ref x = L.port("x"), w = L.port("w"), b = L.port("b"), y = L.port("y");
  const auto n = static_cast<double>(L.dim("N"));
  const auto make = [&] { return L.temp(x.view().shape); };
  const Ref total = make(), mu = make(), dev = make(), sq = make(), var = make(), inv = make(),
            scaled = make(), h = make();
  L.reduce(LaneOp::kRowSum, total, x);
  mu <<= total / n;
  dev <<= x - mu;
  sq <<= dev / n * dev;
  L.reduce(LaneOp::kRowSum, var, sq);
  inv <<= rsqrt(var + L.number("eps"));
  scaled <<= dev * inv;
  h <<= scaled * w + b;
  y <<= silu(h);
}

}  // namespace

void add_rows(Definitions& all) {
  add_fold(all, "ops.row_sum", LaneOp::kRowSum);
  add_fold(all, "ops.row_max", LaneOp::kRowMax);
  const Knobs part{{"part", 8192}}, eps{{"part", 8192}, {"eps", kEps}};
  using Values = std::vector<Value>;
  add_pass(all, "kernels.softmax", {}, part,
           [](Trace&, const Value& x, const Values&) { return softmax(x); });
  add_pass(all, "ops.rmsnorm", {}, eps,
           [](Trace& L, const Value& x, const Values&) { return rms_normal(L, x); });
  add_pass(all, "kernels.rmsnorm", {"w"}, eps,
           [](Trace& L, const Value& x, const Values& more) { return rms_normal(L, x) * more[0]; });
  add_pass(all, "ops.layernorm", {}, eps,
           [](Trace& L, const Value& x, const Values&) { return layer_normal(L, x); });
  for (const char* name : {"kernels.layernorm", "kernels.group_norm"})
    add_pass(all, name, {"w", "b"}, eps, [](Trace& L, const Value& x, const Values& more) {
      return layer_normal(L, x) * more[0] + more[1];
    });
  all.push_back({"kernels.group_norm_silu",
                 {in("x", kRows), in("w", kRows), in("b", kRows), out("y", kRows)},
                 {{"eps", kEps}},
                 group_norm_silu});
}

}  // namespace ktpu::kernels
