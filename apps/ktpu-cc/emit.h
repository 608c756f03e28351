// SPDX-License-Identifier: Apache-2.0
// The levels of a compiled kernel as text, and the line that sums up a program file.
#pragma once

#include <string>

#include "arch/program/program.h"
#include "compiler/driver/compile.h"

namespace ktpu::apps {

// "kernel", ..., "bytes": the lowest level that has to be made for it; "all": kBytes.
driver::Level level_named(const std::string& emit);

// Throws UserError for a level above the one the compilation began at.
std::string emitted(const driver::Compiled& compiled, const std::string& emit);

// "ops.matmul: 2 stages, 3 rounds, 41 words; a 64x128 -> c 64x32".
std::string summary(const driver::Compiled& compiled, const arch::Program& program);

}  // namespace ktpu::apps
