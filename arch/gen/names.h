// SPDX-License-Identifier: Apache-2.0
// Spelling of one name in the two generated languages.
#pragma once

#include <string>
#include <string_view>

namespace ktpu::arch {

// prog_dst, PROG_DST -> ProgDst
inline std::string upper_camel(std::string_view name) {
  std::string out;
  bool start = true;
  for (const char c : name) {
    if (c == '_') {
      start = true;
      continue;
    }
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    out += start && lower ? static_cast<char>(c - 32) : !start && upper ? static_cast<char>(c + 32) : c;
    start = false;
  }
  return out;
}
// prog_dst -> PROG_DST
inline std::string upper(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

}  // namespace ktpu::arch
