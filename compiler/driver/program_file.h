// SPDX-License-Identifier: Apache-2.0
// What the compiler made as a program file: operand images, rounds, relayouts, named inputs and outputs
// (design.md section 6).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/program/program.h"
#include "compiler/driver/compile.h"

namespace ktpu::driver {

// FP16 patterns, row-major, by port. A port that is not named is left to --in.
using Inputs = std::map<std::string, std::vector<std::uint16_t>>;

// Throws UserError for an input of another size, or of no port.
arch::Program program_file(const Compiled& compiled, const Machine& machine, const Inputs& inputs = {});

}  // namespace ktpu::driver
