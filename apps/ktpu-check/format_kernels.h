// SPDX-License-Identifier: Apache-2.0
// The kernel library of compiler.md section 20 on plain tensors in the machine's number formats: what a
// correct program may be off from FP64, found without the compiler.
#pragma once

#include <optional>
#include <string>

#include "apps/ktpu-check/float64_kernels.h"
#include "arch/formats/acc.h"

namespace ktpu::check {

// As evaluate_float64(): the same kernels, inputs, names and shapes, NaN where a kernel leaves an element to
// chance. `truncated_constants`: constants come from registers (FP32, the top 24 bits) instead of FP16
// arrays.
std::optional<Reals> evaluate_formats(const std::string& kernel, const Reals& inputs,
                                      const nlohmann::json& knobs, bool truncated_constants,
                                      unsigned acc_mw = arch::kDefaultAccMw);

}  // namespace ktpu::check
