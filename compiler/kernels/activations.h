// SPDX-License-Identifier: Apache-2.0
// Activations as the library writes them (compiler.md section 20). The operand order inside each is the
// recorded one: it decides the words.
#pragma once

#include "compiler/kernel/value.h"

namespace ktpu::kernels {

constexpr double kLog2E = 1.4426950408889634;

kernel::Value sigmoid(const kernel::Value& v);  // recip(exp2(v * -log2e) + 1)
kernel::Value silu(const kernel::Value& v);     // v * sigmoid(v)
kernel::Value gelu_tanh(const kernel::Value& v);
kernel::Value gelu_sigmoid(const kernel::Value& v);  // v * sigmoid(1.702 v)
kernel::Value relu_abs(const kernel::Value& v);      // (v + |v|) * 0.5

}  // namespace ktpu::kernels
