// SPDX-License-Identifier: Apache-2.0
// One pass over blocks of any rank: ops.neg, ops.mul, ...
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Definition;
using kernel::in;
using kernel::out;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

namespace {

using Unary = Value (*)(const Value&);
using Binary = Value (*)(const Value&, const Value&);

Definition unary(const char* name, Unary op) {
  return {name, {in("x", {"..."}), out("y", {"..."})}, {{"part", 8192}}, [op](Trace& L) {
            const Ref x = L.port("x"), y = L.port("y");
            for_each_part(L, y, [&](const Index& e) { y(e) <<= op(x(e)); });
          }};
}
Definition binary(const char* name, Binary op) {
  return {name, {in("a", {"..."}), in("b", {"..."}), out("y", {"..."})}, {{"part", 8192}}, [op](Trace& L) {
            const Ref a = L.port("a"), b = L.port("b"), y = L.port("y");
            for_each_part(L, y, [&](const Index& e) { y(e) <<= op(a(e), b(e)); });
          }};
}

}  // namespace

void add_elementwise(Definitions& all) {
  all.push_back(unary("ops.neg", [](const Value& x) { return -x; }));
  all.push_back(unary("ops.absolute", kernel::absolute));
  all.push_back(unary("ops.exp2", kernel::exp2));
  all.push_back(unary("ops.log2", kernel::log2));
  all.push_back(unary("ops.recip", kernel::recip));
  all.push_back(unary("ops.rsqrt", kernel::rsqrt));
  all.push_back(unary("ops.silu", silu));
  all.push_back(unary("ops.gelu", gelu_sigmoid));
  all.push_back(unary("ops.relu", [](const Value& x) { return maximum(x, 0.0); }));
  all.push_back(binary("ops.sub", [](const Value& a, const Value& b) { return a - b; }));
  all.push_back(binary("ops.mul", [](const Value& a, const Value& b) { return a * b; }));
  all.push_back(binary("ops.div", [](const Value& a, const Value& b) { return a / b; }));
  all.push_back(binary("ops.residual", [](const Value& a, const Value& b) { return a + b; }));
  all.push_back(binary("ops.maximum", kernel::maximum));
  all.push_back(binary("ops.minimum", kernel::minimum));
  all.push_back({"ops.where",
                 {in("c", {"..."}), in("a", {"..."}), in("b", {"..."}), out("y", {"..."})},
                 {{"part", 8192}},
                 [](Trace& L) {
                   const Ref c = L.port("c"), a = L.port("a"), b = L.port("b"), y = L.port("y");
                   for_each_part(L, y, [&](const Index& e) { y(e) <<= where(c(e), a(e), b(e)); });
                 }});
}

}  // namespace ktpu::kernels
