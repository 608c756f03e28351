// SPDX-License-Identifier: Apache-2.0
#include "apps/common/whole_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "arch/error.h"

namespace ktpu::apps {

void write_whole(const std::string& path, std::string_view bytes) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool in_place = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string target = in_place ? path : path + ".part";
  std::ofstream file(target, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file && (in_place || std::rename(target.c_str(), path.c_str()) == 0)) return;
  if (!in_place) std::remove(target.c_str());
  throw arch::UserError::make("{}: cannot be written", path);
}

}  // namespace ktpu::apps
