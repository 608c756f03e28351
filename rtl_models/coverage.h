// SPDX-License-Identifier: Apache-2.0
// Lines of SystemVerilog executed, with the build option KTPU_RTL_COVERAGE; without it nothing happens. A
// process has many twins, each with counters of its own: they are summed, and written when the process ends
// to the file that the environment variable KTPU_RTL_COVERAGE_FILE names, as verilator_coverage reads it.
// Unset: nowhere.
#pragma once

class VerilatedContext;

namespace ktpu::rtl::detail {

// Adds the counters of `context`, whose module still exists. Ends the process with a message when the file
// cannot be written.
void keep_coverage(VerilatedContext& context);

}  // namespace ktpu::rtl::detail
