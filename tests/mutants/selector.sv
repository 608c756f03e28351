// SPDX-License-Identifier: Apache-2.0
// First of the sources of a mutated block: whether fault `number` (hexadecimal) is the active one (selected.h). Verilator
// alone reads these sources.
`define KTPU_FAULT(number) ($c32("ktpu_mutant") == 32'h``number)
