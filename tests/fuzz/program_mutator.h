// SPDX-License-Identifier: Apache-2.0
// Broken programs. Bytes: what storage and transport do to a file. Meaning: what a faulty compiler does; such
// a program is written out without validation, with a right hash, so that it reaches parser and machine.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/program/program.h"
#include "tests/fuzz/random.h"

namespace ktpu::fuzz {

// A file as serialize_program() makes it, but of any program, however wrong.
std::vector<std::uint8_t> write_unchecked(const arch::Program& program);

// Flips, truncations, extensions, copies within the file and splices of `other`. The trailer keeps its old
// hash.
std::vector<std::uint8_t> mutate_bytes(std::vector<std::uint8_t> bytes,
                                       const std::vector<std::uint8_t>& other, Random& random);

// One to four wrong values, steps or instructions.
arch::Program mutate_program(arch::Program program, const arch::Program& other, Random& random);

}  // namespace ktpu::fuzz
