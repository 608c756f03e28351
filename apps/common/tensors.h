// SPDX-License-Identifier: Apache-2.0
// A program's named inputs and outputs as NumPy files.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "arch/program/program.h"

namespace ktpu::apps {

// Where a program's tensors are; `mesh` is an index, addresses count bytes.
struct TensorMemory {
  std::function<std::vector<std::uint8_t>(unsigned mesh, std::uint64_t address, std::uint64_t bytes)> read;
  std::function<void(unsigned mesh, std::uint64_t address, std::span<const std::uint8_t> bytes)> write;
};

struct Binding {  // "name=file"
  std::string name;
  std::string file;
};
// Throws UserError unless `text` is NAME=FILE.
Binding parse_binding(const std::string& option, const std::string& text);

// Puts the file into memory in the input's layout. Type and shape must be the input's.
void load_input(const TensorMemory& memory, const arch::Program& program, const Binding& binding);
// A note for each of the program's inputs that `given` does not name and of which no image of the program
// holds any part: the run reads zeros there.
std::vector<std::string> missing_inputs(const arch::Program& program, const std::vector<Binding>& given);
// What can be said before a run: the output exists and has a NumPy type; with `expected`, the file is there
// and has the output's shape. Throws UserError.
void check_output(const arch::Program& program, const Binding& binding, bool expected);
void save_output(const TensorMemory& memory, const arch::Program& program, const Binding& binding);

struct Comparison {
  std::string name;
  std::uint64_t elements = 0;
  std::uint64_t different = 0;  // |value - expected| > atol + rtol * |expected|, or one of them NaN
  std::uint64_t worst = 0;      // flat index of the largest error
  double worst_value = 0, worst_expected = 0, max_error = 0;
};
Comparison compare_output(const TensorMemory& memory, const arch::Program& program, const Binding& binding,
                          double atol, double rtol);

}  // namespace ktpu::apps
