// SPDX-License-Identifier: Apache-2.0
// FlatBuffer body of a program file -> Program. Internal to program_file.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

// `body` starts at an 8-byte boundary and is at least 8 bytes. Throws UserError that names the damaged part.
Program read_fbs(const std::vector<std::uint8_t>& body);

}  // namespace ktpu::arch
