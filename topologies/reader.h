// SPDX-License-Identifier: Apache-2.0
// YAML -> Machine, strictly (design.md section 5). Every function throws arch::UserError with
// "file:line:column: key.path: what is wrong; what is allowed; did you mean" and never anything else for bad
// input, however malformed. Nothing is printed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/description.h"

namespace ktpu::topo {

using Overrides = std::vector<std::string>;  // "meshes.0.dram.first_read_beat=80", as after --set

// The folders of the topologies that come with the product: source tree, then installation. Those that exist.
std::vector<std::filesystem::path> shipped_folders();
// Names without ".yaml" of the machines in `shipped`, sorted.
std::vector<std::string> shipped_names(const std::vector<std::filesystem::path>& shipped = shipped_folders());

// A name with a folder in it is that file. Without one (`mesh8`, `mesh8.yaml`) it is looked for in the
// current folder, then in `shipped`, each time first as it is and then with ".yaml" behind it.
std::filesystem::path find_topology(const std::string& name,
                                    const std::vector<std::filesystem::path>& shipped = shipped_folders());

// Finds, reads and checks. Includes are relative to the file that names them.
Machine read_file(const std::string& name, const Overrides& overrides = {},
                  const std::vector<std::filesystem::path>& shipped = shipped_folders());

// The same from a text; `name` stands for the file in messages, and its folder is where includes are looked
// for.
Machine read_string(std::string_view text, const std::string& name = "topology",
                    const Overrides& overrides = {});

}  // namespace ktpu::topo
