// SPDX-License-Identifier: Apache-2.0
#include "tests/layering/rules.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <regex>
#include <set>

namespace ktpu::layering {
namespace {

// --- The allowed edges. A component sees itself and what its line lists: a component, or one file of it.
// A line that is missing is an error: a new folder has to take its place here.
const std::map<std::string, std::set<std::string>>& allowed_edges() {
  static const std::map<std::string, std::set<std::string>> kEdges{
      {"arch", {}},
      {"topologies", {"arch"}},
      {"tlm/sim", {"arch"}},
      {"tlm/observe", {"arch", "tlm/sim"}},
      {"tlm/noc", {"arch", "tlm/sim"}},
      {"tlm/memory", {"arch", "tlm/sim", "tlm/noc"}},
      {"tlm/orchestrator", {"arch", "tlm/sim", "tlm/noc", "tlm/memory"}},
      {"tlm/cluster", {"arch", "tlm/sim", "tlm/noc"}},
      {"tlm/vector", {"arch", "tlm/sim", "tlm/noc"}},
      {"tlm/pe", {"arch", "tlm/sim", "tlm/noc"}},
      {"tlm/controller", {"arch", "tlm/sim", "tlm/noc"}},
      {"tlm/traffic", {"arch", "tlm/sim"}},
      // What brings a module from outside into a machine, and a SystemC module's pins.
      {"tlm/plugin", {"arch", "tlm/sim", "tlm/noc", "tlm/cluster", "tlm/vector"}},
      {"tlm/pins", {"arch", "tlm/sim", "tlm/noc", "tlm/plugin"}},
      {"tlm/platform",
       {"arch", "tlm/sim", "tlm/pins", "tlm/observe", "tlm/noc", "tlm/memory", "tlm/orchestrator",
        "tlm/cluster", "tlm/vector", "tlm/pe", "tlm/controller", "tlm/traffic", "topologies/description.h",
        "topologies/needs.h", "topologies/writer.h"}},
      {"rtl_models", {"arch", "tlm/sim", "topologies/description.h"}},
      // A level knows only the machine contract and the arithmetic all levels share (compiler/base); a
      // lowering lists its two levels.
      {"compiler/base", {"arch"}},
      {"compiler/bytes", {"arch", "compiler/base"}},
      // The generic passes, for any machine of units and meshes.
      {"compiler/framework", {"arch", "compiler/base"}},
      // A whole product straight to rounds: no level, and on the way of none.
      {"compiler/planner", {"arch", "compiler/base", "compiler/bytes"}},
      {"compiler/program", {"arch", "compiler/base"}},
      {"compiler/schedule", {"arch", "compiler/base"}},
      {"compiler/graph", {"arch", "compiler/base"}},
      {"compiler/kernel", {"arch", "compiler/base"}},
      {"compiler/tensor", {"arch", "compiler/base"}},
      {"compiler/traced", {"arch", "compiler/base"}},
      {"compiler/kernel_to_graph", {"arch", "compiler/base", "compiler/kernel", "compiler/graph"}},
      {"compiler/graph_to_schedule", {"arch", "compiler/base", "compiler/graph", "compiler/schedule"}},
      {"compiler/schedule_to_program", {"arch", "compiler/base", "compiler/schedule", "compiler/program"}},
      {"compiler/program_to_bytes", {"arch", "compiler/base", "compiler/program", "compiler/bytes"}},
      // Kernels are written at L4.
      {"compiler/kernels", {"arch", "compiler/base", "compiler/kernel"}},
      // Runs the lowerings one after the other, and makes the program file.
      {"compiler/driver",
       {"arch", "topologies", "compiler/base", "compiler/kernel", "compiler/graph", "compiler/schedule",
        "compiler/program", "compiler/bytes", "compiler/kernel_to_graph", "compiler/graph_to_schedule",
        "compiler/schedule_to_program", "compiler/program_to_bytes"}},
      // Executes and costs what the compiler made; sees programs, not how they came about.
      {"compiler/interpret", {"arch", "compiler/base", "compiler/program", "compiler/bytes"}},
      {"compiler/cost", {"arch", "compiler/base", "compiler/program", "compiler/bytes"}},
      {"compiler/tensor_to_kernel",
       {"arch", "compiler/base", "compiler/tensor", "compiler/kernel", "compiler/kernels"}},
      // Arrays computed on a machine: the tensor level, its kernels, the driver, and who runs the program.
      {"compiler/device",
       {"arch", "topologies/description.h", "compiler/base", "compiler/tensor", "compiler/tensor_to_kernel",
        "compiler/kernel", "compiler/driver", "compiler/interpret"}},
      {"firmware", {"arch"}},
  };
  return kEdges;
}

// These see everything: they put the parts together, or try them.
bool sees_all(std::string_view component) {
  return component == "apps" || component == "python" || component == "tests" || component == "bench" ||
         component == "examples";
}

struct Foreign {
  std::string_view what;
  std::function<bool(std::string_view)> matches;
  std::set<std::string> components;  // where it may be included
};

bool is_verilated(std::string_view include) {
  if (include.starts_with("verilated")) return true;
  // A Verilated class: V and the module's name.
  return include.size() > 3 && include[0] == 'V' && include.ends_with(".h") &&
         include.find('/') == std::string_view::npos &&
         (std::islower(static_cast<unsigned char>(include[1])) || include[1] == '_');
}

const std::vector<Foreign>& foreign_headers() {
  static const std::vector<Foreign> kForeign{
      {"a SystemC header",
       [](std::string_view h) {
         return h == "systemc" || h == "systemc.h" || h == "tlm" || h == "tlm.h" ||
                h.starts_with("tlm_utils/") || h.starts_with("sysc/");
       },
       {"tlm/pins", "tlm/platform", "apps", "tests", "bench", "examples"}},
      {"a YAML header", [](std::string_view h) { return h.starts_with("yaml-cpp/"); }, {"topologies"}},
      {"a Verilated header", is_verilated, {"rtl_models", "tests"}},
  };
  return kForeign;
}

struct Include {
  std::size_t line;
  std::string name;
  bool quoted;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<Include> includes_of(const std::string& text) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> found;
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (lines[i].find("include") == std::string::npos || !std::regex_match(lines[i], match, kInclude))
      continue;
    found.push_back({i + 1, match[2].str(), match[1].str() == "\""});
  }
  return found;
}

std::string at(const std::string& path, std::size_t line) { return path + ":" + std::to_string(line) + ": "; }

void each_include(const SourceTree& tree,
                  const std::function<void(const std::string& path, const Include& include)>& body) {
  for (const auto& [path, text] : tree)
    if (is_cpp(path) || has_extension(path, ".c"))
      for (const Include& include : includes_of(text)) body(path, include);
}

bool is_generated(std::string_view include) {
  return include.ends_with("_generated.h") || include.ends_with(".inc") || is_verilated(include);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string file_name(const std::string& path) { return path.substr(folder_of(path).size()); }

std::string without_comments(const std::string& cmake) {
  std::string text;
  for (const std::string& line : lines_of(cmake)) text += line.substr(0, line.find('#')) + "\n";
  return text;
}

// The words of the commands that list source files.
std::vector<std::string> named_sources(const std::string& cmake) {
  static const std::regex kCommand(
      R"((ktpu_add_library|ktpu_add_test|ktpu_verilate|verilate|add_library|add_executable|target_sources|set_source_files_properties)\s*\(([^)]*)\))");
  static const std::regex kSource(R"([^\s"]+\.(cpp|h|sv|svh|c|S|vlt|fbs))");
  std::vector<std::string> words;
  const std::string text = without_comments(cmake);
  for (std::sregex_iterator it(text.begin(), text.end(), kCommand), end; it != end; ++it) {
    const std::string arguments = (*it)[2].str();
    for (std::sregex_iterator word(arguments.begin(), arguments.end(), kSource); word != end; ++word)
      words.push_back(word->str());
  }
  return words;
}

}  // namespace

std::string component_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view top = path.substr(0, slash);
  if (top != "tlm" && top != "compiler") return std::string(top);
  const std::size_t next = path.find('/', slash + 1);
  return std::string(path.substr(0, next == std::string_view::npos ? slash : next));
}

Violations check_edges(const SourceTree& tree) {
  Violations found;
  each_include(tree, [&](const std::string& path, const Include& include) {
    if (!include.quoted || include.name.find('/') == std::string::npos) return;
    const std::string from = component_of(path), to = component_of(include.name);
    if (from == to || sees_all(from)) return;
    const auto edge = allowed_edges().find(from);
    if (edge == allowed_edges().end()) {
      found.push_back(at(path, include.line) + "'" + from + "' has no line in the table of allowed edges");
      return;
    }
    if (!edge->second.contains(to) && !edge->second.contains(include.name))
      found.push_back(at(path, include.line) + from + " must not see " + include.name);
  });
  return found;
}

Violations check_foreign_headers(const SourceTree& tree) {
  Violations found;
  each_include(tree, [&](const std::string& path, const Include& include) {
    for (const Foreign& foreign : foreign_headers())
      if (foreign.matches(include.name) && !foreign.components.contains(component_of(path)))
        found.push_back(at(path, include.line) + include.name + " is " + std::string(foreign.what) +
                        ", which this folder must not see");
  });
  return found;
}

Violations check_include_paths(const SourceTree& tree) {
  Violations found;
  each_include(tree, [&](const std::string& path, const Include& include) {
    if (!include.quoted || is_generated(include.name) || tree.contains(include.name)) return;
    // An example in a folder of its own is another project.
    const std::string folder = folder_of(path);
    if (folder.starts_with("examples/") && folder != "examples/" && tree.contains(folder + include.name))
      return;
    found.push_back(at(path, include.line) + "\"" + include.name +
                    "\" is no path from the root of the repository");
  });
  return found;
}

Violations check_cmake(const SourceTree& tree) {
  Violations found;
  std::string all;
  for (const auto& [path, text] : tree) {
    if (!is_cmake(path)) continue;
    all += without_comments(text);
    for (std::string word : named_sources(text)) {
      const std::string original = word;
      bool from_root = false;
      for (const std::string_view variable : {"${PROJECT_SOURCE_DIR}/", "${CMAKE_SOURCE_DIR}/"})
        if (word.starts_with(variable)) {
          word.erase(0, variable.size());
          from_root = true;
        }
      if (word.starts_with("${CMAKE_CURRENT_SOURCE_DIR}/")) word.erase(0, word.find('/') + 1);
      if (word.find("${") != std::string::npos) continue;  // made during the build
      if (!from_root) word = folder_of(path) + word;
      for (std::size_t up = word.find("/../"); up != std::string::npos; up = word.find("/../")) {
        const std::size_t begin = up == 0 ? std::string::npos : word.rfind('/', up - 1);
        word.erase(begin == std::string::npos ? 0 : begin + 1,
                   up + 4 - (begin == std::string::npos ? 0 : begin + 1));
      }
      if (!tree.contains(word)) found.push_back(path + ": names " + original + ", which does not exist");
    }
  }
  for (const auto& [path, text] : tree)
    if (has_extension(path, ".cpp") && all.find(file_name(path)) == std::string::npos)
      found.push_back(path + ": is in no CMake file, so nothing builds it");
  return found;
}

Violations check_headers(const SourceTree& tree) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!is_cpp(path) && !is_rtl(path) && !is_cmake(path) && !has_extension(path, ".c")) continue;
    const std::string first = text.substr(0, text.find('\n'));
    if (first.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos)
      found.push_back(at(path, 1) + "the licence line is missing");
    // The firmware's headers are C for any compiler: they may have a guard instead.
    const bool guarded = path.starts_with("firmware/") && text.find("\n#ifndef ") != std::string::npos;
    if (is_header(path) && !guarded && text.find("\n#pragma once\n") == std::string::npos)
      found.push_back(at(path, 1) + "no #pragma once");
  }
  return found;
}

Violations check_length(const SourceTree& tree, std::size_t limit) {
  Violations found;
  for (const auto& [path, text] : tree) {
    if (!is_cpp(path) && !is_rtl(path)) continue;
    const std::size_t lines = lines_of(text).size();
    if (lines > limit)
      found.push_back(path + ": " + std::to_string(lines) + " lines, more than " + std::to_string(limit));
  }
  return found;
}

Violations check_no_machine_paths(const SourceTree& tree) {
  // Put together so that this file does not hold them.
  const std::string slash = "/";
  const std::vector<std::string> forbidden{slash + "work/", slash + "tmp/b_", slash + "root/"};
  Violations found;
  for (const auto& [path, text] : tree)
    for (const std::string& word : forbidden)
      for (std::size_t where = text.find(word); where != std::string::npos;
           where = text.find(word, where + 1)) {
        const bool inside = where > 0 && (std::isalnum(static_cast<unsigned char>(text[where - 1])) != 0 ||
                                          text[where - 1] == '.' || text[where - 1] == '_');
        if (inside) continue;  // part of a longer path
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(where), '\n');
        found.push_back(at(path, static_cast<std::size_t>(line)) + "holds the path " + word);
      }
  return found;
}

}  // namespace ktpu::layering
