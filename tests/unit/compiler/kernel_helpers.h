// SPDX-License-Identifier: Apache-2.0
// Small kernels to try the language with, and their statements as lines.
#pragma once

#include <functional>
#include <string>

#include "compiler/graph/graph.h"
#include "compiler/kernel/definition.h"

namespace ktpu::kernel::test {

using Make = std::function<void(Trace&)>;
// x[...] -> y[...], 60 elements.
Kernel elementwise(const Make& body);
// a[M, K], b[N, K] -> c[M, N]
Kernel product(const Make& body, std::uint32_t m = 64, std::uint32_t k = 128, std::uint32_t n = 64);
// Two accumulators with an epilogue each, one after the other, a temp and a table before and a temp behind.
Definition two_epilogues();

graph::Graph lowered(const Kernel& kernel);  // verified
// One line a statement, without tilings and loops: "apply %y[%_e]: mul(load %x[%_e], const 2)".
std::string statements(const Kernel& kernel);
const graph::Apply& first_apply(const graph::Graph& graph);

}  // namespace ktpu::kernel::test
