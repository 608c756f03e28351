// SPDX-License-Identifier: Apache-2.0
// The kernel library (compiler.md section 20), by the names the recorded cases use: "ops.matmul",
// "kernels.flash_attention", "custom.k_gated".
#pragma once

#include <string_view>
#include <vector>

#include "compiler/kernel/definition.h"

namespace ktpu::kernels {

const kernel::Definition* find(std::string_view name);  // nullptr: there is none
std::vector<const kernel::Definition*> all();           // by name

}  // namespace ktpu::kernels
