// SPDX-License-Identifier: Apache-2.0
// The views of arch that are not C++. All are checked in; a test says whether they are current.
#pragma once

#include <string>

namespace ktpu::arch {

std::string generate_sv_package();  // rtl_models/ktpu_pkg.sv
std::string generate_sv_seeds();    // rtl_models/vector/ktpu_seed_pkg.sv
std::string generate_c_header();    // firmware/ktpu_regs.h

}  // namespace ktpu::arch
