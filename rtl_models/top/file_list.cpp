// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/top/file_list.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "arch/error.h"

namespace ktpu::rtl {

namespace fs = std::filesystem;

namespace {

struct Block {
  std::string_view name;
  std::vector<std::string_view> sources;  // in dependency order, below rtl_models
};

// From the lists that the twins are built from.
const std::vector<Block>& blocks() {
  static const std::vector<Block> kBlocks{
#include "rtl_models/top/rtl_sources.inc"
  };
  return kBlocks;
}

constexpr std::string_view kIncludeFolder = "prim";
constexpr std::string_view kIncluded = "prim/ktpu_assert.svh";

template <typename T>
void add_once(std::vector<std::string>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.emplace_back(item);
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  if (!out.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
    throw arch::UserError::make("{}: can't be written", path.string());
}

void copy_source(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  if (!failed) fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed);
  if (failed) throw arch::UserError::make("{}: can't be written: {}", to.string(), failed.message());
}

}  // namespace

SourceList sources_of(const std::set<std::string>& used) {
  SourceList list;
  for (const Block& block : blocks()) {
    if (!used.contains(std::string(block.name))) continue;
    add_once(list.waivers, fmt::format("{}/lint_waiver.vlt", block.name));
    for (const std::string_view source : block.sources) add_once(list.sources, source);
  }
  for (const std::string& name : used)
    KTPU_CHECK(std::any_of(blocks().begin(), blocks().end(), [&](const Block& b) { return b.name == name; }),
               "no sources of block {}", name);
  return list;
}

fs::path rtl_folder() {
  constexpr std::array<std::string_view, 2> kFolders{KTPU_RTL_SOURCE_FOLDER, KTPU_RTL_INSTALL_FOLDER};
  for (const std::string_view folder : kFolders)
    if (fs::exists(fs::path(folder) / "ktpu_pkg.sv")) return folder;
  throw arch::UserError::make("the RTL sources are neither in {} nor in {}: install them again", kFolders[0],
                              kFolders[1]);
}

Written write_files(const Top& top, const fs::path& folder, bool copy) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw arch::UserError::make("{}: can't be made: {}", folder.string(), failed.message());
  const SourceList list = sources_of(top.blocks);
  const fs::path from = rtl_folder();
  if (copy) {
    copy_source(from / kIncluded, folder / "rtl" / kIncluded);
    for (const auto* files : {&list.sources, &list.waivers})
      for (const std::string& file : *files) copy_source(from / file, folder / "rtl" / file);
  }
  // What the lists name, as they name it.
  const auto source = [&](std::string_view file) {
    return copy ? fmt::format("rtl/{}", file) : (from / file).string();
  };
  const auto own = [&](const std::string& file) {
    return copy ? file : (fs::absolute(folder) / file).lexically_normal().string();
  };
  const std::string name = top.module.substr(0, top.module.rfind("_top"));

  std::string sources =
      fmt::format("// Sources of {}, in compile order.\n+incdir+{}\n", top.module, source(kIncludeFolder));
  for (const std::string& file : list.sources) sources += source(file) + '\n';
  sources += own(top.module + ".sv") + '\n';

  std::string verilator =
      fmt::format("// {} for Verilator: waivers of its lint, then the sources.\n", top.module);
  for (const std::string& file : list.waivers) verilator += source(file) + '\n';
  verilator += own(name + ".vlt") + '\n';
  verilator += fmt::format("-F {}\n", own(name + "_sources.f"));

  const std::string waivers = fmt::format(
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// Waivers of `verilator --lint-only -Wall` for {}.\n"
      "`verilator_config\n"
      "// The registers use rst_ni asynchronously; `disable iff (!rst_ni)` of the assertions counts as a\n"
      "// synchronous use. Assertions are not synthesised, so no flip-flop mixes the two.\n"
      "lint_off -rule SYNCASYNCNET -file \"*/{}.sv\"\n"
      "// The linter takes the signals of the module around an instance for an upper scope of the "
      "instance's\n"
      "// functions, whose arguments then \"hide\" them. No name in the RTL reaches into another module.\n"
      "lint_off -rule VARHIDDEN -file \"*/ktpu_*.sv\"\n",
      top.module, top.module);

  Written written;
  written.sources = list.sources.size() + 1;
  const auto put = [&](const std::string& file, const std::string& text) {
    write(folder / file, text);
    written.files.push_back(folder / file);
  };
  put(top.module + ".sv", top.text);
  put(name + "_sources.f", sources);
  put(name + ".vlt", waivers);
  put(name + ".f", verilator);
  return written;
}

}  // namespace ktpu::rtl
