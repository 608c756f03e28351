// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/glob.h"

#include <fmt/format.h>

#include "arch/suggest.h"

namespace ktpu::observe {

bool glob_match(std::string_view pattern, std::string_view text) {
  // What follows the last '*' first: of thousands of names that are asked, nearly all differ there.
  for (std::size_t k = pattern.size(), end = text.size(); k-- > 0 && pattern[k] != '*';) {
    if (end == 0) return false;
    --end;
    if (pattern[k] != '?' && pattern[k] != text[end]) return false;
  }
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, resume = 0;  // last '*', and where its run would grow from
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool selects(std::string_view pattern, std::string_view name) {
  if (glob_match(pattern, name)) return true;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
    if (glob_match(pattern, name.substr(0, dot))) return true;
  return false;
}

bool is_glob(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (const std::string_view candidate : arch::nearest(name, known, kMost))
    text += fmt::format("{}'{}'", text.empty() ? " Did you mean " : ", ", candidate);
  return text.empty() ? text : text + "?";
}

}  // namespace ktpu::observe
