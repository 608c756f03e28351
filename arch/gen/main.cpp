// SPDX-License-Identifier: Apache-2.0
// ktpu-gen: writes the generated files of the repository, or checks that they are current.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arch/error.h"
#include "arch/gen/gen.h"

int main(int argc, char** argv) {
  using namespace ktpu::arch;
  CLI::App app{"Generates the packages of rtl_models and firmware/ktpu_regs.h from arch."};
  std::string root;
  bool write = false;
  app.add_option("ROOT", root, "root of the source tree")->required();
  app.add_flag("--write", write, "write the files (default: say whether they are current)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitStatus::kUserError);
  }
  int status = 0;
  for (const auto& [name, text] : {std::pair{"rtl_models/ktpu_pkg.sv", generate_sv_package()},
                                   std::pair{"rtl_models/vector/ktpu_seed_pkg.sv", generate_sv_seeds()},
                                   std::pair{"firmware/ktpu_regs.h", generate_c_header()}}) {
    const std::filesystem::path path = std::filesystem::path(root) / name;
    std::ostringstream present;
    present << std::ifstream(path).rdbuf();
    if (present.str() == text) continue;
    if (write) {
      if (!(std::ofstream(path) << text).flush()) {
        fmt::print(stderr, "ktpu-gen: {}: can't be written\n", path.string());
        status = static_cast<int>(ExitStatus::kUserError);
      }
    } else {
      fmt::print(stderr, "{}: not current; run `ktpu-gen --write {}`\n", path.string(), root);
      status = 1;
    }
  }
  return status;
}
