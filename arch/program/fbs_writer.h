// SPDX-License-Identifier: Apache-2.0
// Program -> FlatBuffer body of a program file. Internal to program_file.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::arch {

std::vector<std::uint8_t> write_fbs(const Program& program);  // multiple of 8 bytes

}  // namespace ktpu::arch
