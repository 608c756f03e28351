// SPDX-License-Identifier: Apache-2.0
// Values given on the command line, as the compiler takes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/driver/program_file.h"
#include "compiler/kernel/kernel.h"

namespace ktpu::apps {

struct Operands {
  driver::Inputs values;
  std::map<std::string, kernel::Shape> shapes;
  std::vector<std::string> notes;  // values that FP16 does not hold
};

// "x=x.npy", repeated: FP16 as it is, other numbers rounded to FP16 (nearest even, saturating at 65504).
// Throws UserError.
Operands read_operands(const std::vector<std::string>& bindings);

}  // namespace ktpu::apps
