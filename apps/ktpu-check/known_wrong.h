// SPDX-License-Identifier: Apache-2.0
// A file whose recorded program computes something wrong (reference_wrong): not to be matched, but the kernel
// has to compile, and to come out right.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/ktpu-check/compare.h"
#include "compiler/driver/compile.h"

namespace ktpu::check {

// Compiles with policy best, runs the program on the recorded machine without quirks, and holds the results
// against FP64 (format_bound.h).
void check_known_wrong(const nlohmann::json& file, const kernel::Definition& definition,
                       const std::map<std::string, kernel::Shape>& inputs, const kernel::Knobs& knobs,
                       driver::Options options, Differences& differences);

}  // namespace ktpu::check
