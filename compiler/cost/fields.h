// SPDX-License-Identifier: Apache-2.0
// The numbers of a machine by name, with the place in the specification that says them: to print them, and to
// cost a machine that does not exist.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/cost/machine.h"

namespace ktpu::cost {

struct Field {
  std::string_view name;    // "vector.lanes"
  std::string_view source;  // "vector.md 1"
  std::string_view meaning;
  // Writes `*set` where it is not null, then reads into `*get`; all meshes and units have the same.
  void (*access)(CostMachine& machine, const double* set, double* get);
};
const std::vector<Field>& fields();

// Throw UserError for a name that is none, suggesting one, and for a value the field cannot have.
double field(const CostMachine& machine, std::string_view name);
void set_field(CostMachine& machine, std::string_view name, double value);

}  // namespace ktpu::cost
