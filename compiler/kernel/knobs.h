// SPDX-License-Identifier: Apache-2.0
// Compile-time values of a kernel (compiler.md section 14): tile sizes, switches, choices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace ktpu::kernel {

// Nothing at all ("qblock: not given") is a value too.
using Knob = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Knobs = std::map<std::string, Knob, std::less<>>;

// "none", "true", "8", "0.125", "\"silu\"": parse_knob(print(k)) is the same value of the same type.
std::string print(const Knob& knob);
Knob parse_knob(std::string_view text);  // throws UserError

}  // namespace ktpu::kernel
