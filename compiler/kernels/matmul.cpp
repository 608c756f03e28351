// SPDX-License-Identifier: Apache-2.0
// Matmul and what may follow it in one kernel (compiler.md section 20).
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::Definition;
using kernel::Dim;
using kernel::in;
using kernel::Knobs;
using kernel::out;
using kernel::Port;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

namespace {

const std::vector<Dim> kX{"...", "M", "K"}, kW{"N", "K"}, kY{"...", "M", "N"};
const Knobs kTile{{"gm", 8}, {"gn", 8}, {"nk", 2}};

// The epilogue works on the accumulator before it leaves; `fuse` may put it behind instead.
Definition fused(const char* name, std::function<Value(Trace&, const Value&)> epilogue, Knobs more = {}) {
  more.insert(kTile.begin(), kTile.end());
  more.emplace("fuse", true);
  return {name,
          {in("x", kX), in("w", kW), out("y", kY)},
          std::move(more),
          [epilogue = std::move(epilogue)](Trace& L) {
            const Ref x = L.port("x"), w = L.port("w"), y = L.port("y");
            for_each_tile(L, x, w, [&](const Index& i, const Index& j, const Accumulator& acc) {
              y(i, j) <<= epilogue(L, acc);
            });
          }};
}

// The product goes through memory, a second pass adds operands of the result's shape.
Definition staged(const char* name, const std::vector<std::string>& more,
                  std::function<Value(const Value&, const std::vector<Value>&)> epilogue) {
  std::vector<Port> ports{in("x", kX), in("w", kW)};
  for (const std::string& one : more) ports.push_back(in(one, kY));
  ports.push_back(out("y", kY));
  return {name, std::move(ports), kTile, [more, epilogue = std::move(epilogue)](Trace& L) {
            const Ref x = L.port("x"), w = L.port("w"), y = L.port("y");
            const Ref h = L.temp(y.view().shape);
            for_each_tile(L, x, w,
                          [&](const Index& i, const Index& j, const Accumulator& acc) { h(i, j) <<= acc; });
            std::vector<Value> operands;
            for (const std::string& one : more) operands.emplace_back(L.port(one));
            y <<= epilogue(h, operands);
          }};
}

void matmul_body(Trace& L) {
  const Ref a = L.port("a"), b = L.port("b"), c = L.port("c");
  for_each_tile(L, a, b, [&](const Index& i, const Index& j, const Accumulator& acc) { c(i, j) <<= acc; });
}

void linear_bias(Trace& L) {
  const Ref x = L.port("x"), w = L.port("w"), b = L.port("b"), y = L.port("y");
  for_each_tile(L, x, w,
                [&](const Index& i, const Index& j, const Accumulator& acc) { y(i, j) <<= acc + b(j); });
}

// This epilogue can't be staged: it stays fused, with a tile that a vector core takes beside the bias
// (section 18.8), whose columns a chunk of eight words begins anew.
void settle_bias(const kernel::Kernel&, Knobs& knobs) {
  constexpr std::int64_t kChunk = 8, kL1Words = 320;
  knobs.insert_or_assign("fuse", kernel::Knob(true));
  std::int64_t gm = knob_of(knobs, "gm"), gn = knob_of(knobs, "gn");
  if (gm == 0 || gn == 0) return;
  if (kChunk % gn != 0) gn = (gn + kChunk - 1) / kChunk * kChunk;
  const auto words = [&] { return 2 * ((gm * gn + kChunk - 1) / kChunk * kChunk) + gn; };
  while (words() > kL1Words && (gm > 1 || gn > kChunk)) {
    if (gm > 1 && (gm >= gn || gn <= kChunk))
      gm = (gm + 1) / 2;
    else
      gn = (gn / 2 + kChunk - 1) / kChunk * kChunk;
  }
  knobs.insert_or_assign("gm", gm);
  knobs.insert_or_assign("gn", gn);
}

}  // namespace

void add_matmul(Definitions& all) {
  all.push_back({"ops.matmul", {in("a", kX), in("b", kW), out("c", kY)}, kTile, matmul_body});
  all.push_back(fused("kernels.linear_silu", [](Trace&, const Value& acc) { return silu(acc); }));
  all.push_back(fused("kernels.linear_relu", [](Trace&, const Value& acc) { return relu_abs(acc); }));
  all.push_back(fused("kernels.linear_gelu", [](Trace&, const Value& acc) { return gelu_tanh(acc); }));
  all.push_back(fused("kernels.linear_scale", [](Trace& L, const Value& acc) { return acc * L.number("s"); },
                      {{"s", 1.0}}));
  all.push_back({"kernels.linear_bias",
                 {in("x", kX), in("w", kW), in("b", {"N"}), out("y", kY)},
                 kTile,
                 linear_bias,
                 settle_bias});
  using Values = std::vector<Value>;
  all.push_back(
      staged("kernels.linear_add", {"b"}, [](const Value& h, const Values& more) { return h + more[0]; }));
  all.push_back(staged("kernels.linear_add_relu", {"b"},
                       [](const Value& h, const Values& more) { return relu_abs(h + more[0]); }));
  all.push_back(staged("kernels.linear_add_silu", {"b"},
                       [](const Value& h, const Values& more) { return silu(h + more[0]); }));
  all.push_back(staged("kernels.linear_add_gelu", {"b"},
                       [](const Value& h, const Values& more) { return gelu_tanh(h + more[0]); }));
  all.push_back(staged("kernels.linear_gate_add", {"g", "r"},
                       [](const Value& h, const Values& more) { return h * more[0] + more[1]; }));
}

}  // namespace ktpu::kernels
