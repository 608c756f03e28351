// SPDX-License-Identifier: Apache-2.0
// The rules of the source tree (design.md section 1). Each gives its violations as lines "file:line: what".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/source_tree.h"

namespace ktpu::layering {

using Violations = std::vector<std::string>;

// The part of the tree a path belongs to: "arch", "tlm/noc", "compiler/bytes", "apps", ... Empty for files of
// the root.
std::string component_of(std::string_view path);

// Who may include whom: the table in rules.cpp.
Violations check_edges(const SourceTree& tree);
// SystemC, YAML and Verilator headers only where they may be.
Violations check_foreign_headers(const SourceTree& tree);
// A quoted include shows its whole path from the root, and the file exists; generated files excepted.
Violations check_include_paths(const SourceTree& tree);
// Source files named in CMake exist, and every .cpp is named in some CMake file.
Violations check_cmake(const SourceTree& tree);
// First line holds the licence tag; a header has #pragma once.
Violations check_headers(const SourceTree& tree);
// No file of code beyond `limit` lines.
Violations check_length(const SourceTree& tree, std::size_t limit);
// No path of one particular machine.
Violations check_no_machine_paths(const SourceTree& tree);

}  // namespace ktpu::layering
