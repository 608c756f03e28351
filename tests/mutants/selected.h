// SPDX-License-Identifier: Apache-2.0
// What the Verilated code of a mutated block looks at: $c32("ktpu_mutant") in its SystemVerilog.
#pragma once

// The number of the fault that is active in this process; 0: none.
extern unsigned ktpu_mutant;
