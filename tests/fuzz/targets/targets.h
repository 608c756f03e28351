// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: what each does with any bytes at all. libFuzzer drives them (fuzzer_main.cpp); the tests
// replay the kept corpus through the same functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ktpu::fuzz {

// Each returns why the end was not allowed; empty: it was. Nothing is thrown, nothing printed.

// A machine in YAML: read; if it is one, printed and read again (must be equal), built and run for a while.
std::string fuzz_topology(std::span<const std::uint8_t> bytes);
// A program file, as it is and once more with a right hash; if it is one, run on a small machine.
std::string fuzz_program(std::span<const std::uint8_t> bytes);
// Assembler text; if it is a program, its text form must give the same program again.
std::string fuzz_assembler(std::span<const std::uint8_t> bytes);

}  // namespace ktpu::fuzz
