// SPDX-License-Identifier: Apache-2.0
#include "tests/layering/source_tree.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ktpu::layering {

namespace fs = std::filesystem;

bool has_extension(std::string_view path, std::string_view extension) { return path.ends_with(extension); }
bool is_header(std::string_view path) { return has_extension(path, ".h"); }
bool is_cpp(std::string_view path) { return is_header(path) || has_extension(path, ".cpp"); }
bool is_rtl(std::string_view path) { return has_extension(path, ".sv") || has_extension(path, ".svh"); }
bool is_cmake(std::string_view path) {
  return path == "CMakeLists.txt" || has_extension(path, "/CMakeLists.txt") || has_extension(path, ".cmake");
}

SourceTree read_tree(const std::string& root) {
  SourceTree tree;
  if (!fs::is_regular_file(fs::path(root) / "CMakeLists.txt"))
    throw std::runtime_error(root + " is not the root of the repository");
  for (fs::recursive_directory_iterator it(root), end; it != end; ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory()) {
      const bool skipped = (name.starts_with(".") && name != ".ci") || name.starts_with("build") ||
                           name == "__pycache__" || name == "node_modules";
      if (skipped) it.disable_recursion_pending();
      continue;
    }
    const std::string path = fs::relative(it->path(), root).generic_string();
    const bool text = is_cpp(path) || is_rtl(path) || is_cmake(path) || has_extension(path, ".md") ||
                      has_extension(path, ".yaml") || has_extension(path, ".c") ||
                      has_extension(path, ".S") || has_extension(path, ".py") || has_extension(path, ".sh") ||
                      has_extension(path, ".fbs") || path.starts_with(".ci/");
    if (!text) {
      tree.emplace(path, std::string());  // only its name counts
      continue;
    }
    std::ifstream in(it->path(), std::ios::binary);
    std::stringstream content;
    content << in.rdbuf();
    tree.emplace(path, content.str());
  }
  return tree;
}

}  // namespace ktpu::layering
