// SPDX-License-Identifier: Apache-2.0
// How far a kernel's results may be off from FP64: as far as the machine's number formats alone put them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/ktpu-check/float64_kernels.h"
#include "arch/formats/acc.h"

namespace ktpu::check {

// Largest absolute differences from FP64, over all outputs.
struct FormatBound {
  double error = 0;    // of the results
  double formats = 0;  // of evaluate_formats(), with constants from memory or from registers
  double allowed = 0;  // 1.25 times that, and one FP16 ulp of the largest value
  bool holds() const { return error <= allowed; }
};

// `outputs` FP16, row-major, by port; elements that a kernel leaves to chance are not looked at. Nothing for
// a kernel that is not evaluated. Throws UserError when shapes do not fit.
std::optional<FormatBound> format_bound(const std::string& kernel, const Reals& inputs,
                                        const nlohmann::json& knobs,
                                        const std::map<std::string, std::vector<std::uint16_t>>& outputs,
                                        unsigned acc_mw = arch::kDefaultAccMw);

}  // namespace ktpu::check
