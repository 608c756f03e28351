// SPDX-License-Identifier: Apache-2.0
#include "topologies/suggest.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/suggest.h"

namespace ktpu::topo {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed) {
  const std::vector<std::string_view> known(allowed.begin(), allowed.end());
  return arch::did_you_mean(word, known, '\'');
}

std::string join(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string show_text(std::string_view text) {
  constexpr std::size_t kMax = 60;
  std::string out = "'";
  std::size_t end = std::min(text.size(), kMax);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  for (char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  out += end < text.size() ? "...'" : "'";
  return out;
}

}  // namespace ktpu::topo
