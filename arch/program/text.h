// SPDX-License-Identifier: Apache-2.0
// Programs as text, for ktpu-asm and ktpu-objdump. docs: `ktpu-asm --help` and the examples folder.
#pragma once

#include <string>
#include <string_view>

#include "arch/program/program.h"

namespace ktpu::arch {

// Throws UserError "file:line:column: what is wrong; what is allowed". The result is validated.
Program assemble(std::string_view text, std::string_view file_name);

// assemble(disassemble(p)) == p, for every valid program.
std::string disassemble(const Program& program);

// One step as text without its end of line; blocks (stage, commands) are cut to "{ ... }". For messages and
// logs.
std::string step_to_text(const Step& step);

}  // namespace ktpu::arch
