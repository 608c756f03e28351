// SPDX-License-Identifier: Apache-2.0
// The repository's text files in memory, so that the rules can be tried on trees that exist nowhere.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ktpu::layering {

// Path from the repository's root, with '/' -> content.
using SourceTree = std::map<std::string, std::string>;

// All files of kinds the rules look at; build folders and what begins with a dot (but .ci) left out.
SourceTree read_tree(const std::string& root);

bool has_extension(std::string_view path, std::string_view extension);
bool is_header(std::string_view path);  // .h
bool is_cpp(std::string_view path);     // .h .cpp
bool is_rtl(std::string_view path);     // .sv .svh
bool is_cmake(std::string_view path);   // CMakeLists.txt .cmake

}  // namespace ktpu::layering
