// SPDX-License-Identifier: Apache-2.0
#include "compiler/program/unit_program.h"

namespace ktpu::program {

std::size_t Instance::size() const {
  return std::visit([](const auto& of) { return of.size(); }, steps);
}

}  // namespace ktpu::program
