// SPDX-License-Identifier: Apache-2.0
// What there is to compile: a kernel of the library, or the text of any level.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/tensor/graph.h"

namespace ktpu::apps {

using Source = std::variant<const kernel::Definition*, tensor::Graph, kernel::Kernel, graph::Graph,
                            schedule::Schedule, program::Program, bytes::Executable>;

// A name of the library, whole ("ops.matmul") or its last word where only one kernel has it ("matmul"); else
// a file, whose first word says the level. Throws UserError.
Source find_source(const std::string& name);

// "x=64x128", repeated. Throw UserError.
std::map<std::string, kernel::Shape> parse_shapes(const std::vector<std::string>& texts);
kernel::Knobs parse_knobs(const std::vector<std::string>& texts);

// One line of the library: name, ports, knobs.
std::string list_line(const kernel::Definition& definition);

}  // namespace ktpu::apps
