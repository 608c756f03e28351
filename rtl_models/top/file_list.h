// SPDX-License-Identifier: Apache-2.0
// The sources behind a top, and the files that ktpu-rtlgen writes.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "rtl_models/top/top_writer.h"

namespace ktpu::rtl {

// Paths below the folder of the RTL sources.
struct SourceList {
  std::vector<std::string> sources;  // .sv in compile order, each once
  std::vector<std::string> waivers;  // of Verilator's lint, with their reasons
};
// `blocks`: folders of rtl_models.
SourceList sources_of(const std::set<std::string>& blocks);

// The folder of the RTL sources: in the source tree while developing, then in the installation. Throws
// UserError when there is none.
std::filesystem::path rtl_folder();

struct Written {
  std::vector<std::filesystem::path> files;  // written here, the sources copied left out
  std::size_t sources = 0;                   // in the list
};
// Writes into `folder`, which is made if need be:
//   <module>.sv, the top
//   <name>.f, for Verilator: lint waivers, then
//   <name>_sources.f, the include folder and all sources in compile order, for any tool
//   <name>.vlt, the waivers of the top itself
// `copy`: the sources are copied to <folder>/rtl, and the lists name them relative to themselves (read them
// with -F); else they name them where they are, by absolute paths. Throws UserError for what cannot be
// written.
Written write_files(const Top& top, const std::filesystem::path& folder, bool copy);

}  // namespace ktpu::rtl
