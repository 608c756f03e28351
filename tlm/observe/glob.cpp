// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/glob.h"

#include <algorithm>
#include <utility>

namespace ktpu::observe {

bool glob_match(std::string_view pattern, std::string_view text) {
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

unsigned edit_distance(std::string_view a, std::string_view b) {
  std::vector<unsigned> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string_view> known) {
  const unsigned limit = std::max<unsigned>(2, static_cast<unsigned>(name.size()) / 4);
  std::vector<std::pair<unsigned, std::string_view>> close;
  for (const std::string_view candidate : known) {
    const std::size_t gap =
        candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (gap > limit) continue;
    const unsigned distance = edit_distance(name, candidate);
    if (distance <= limit) close.emplace_back(distance, candidate);
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : close) {
    if (names.size() == 3) break;
    if (std::find(names.begin(), names.end(), candidate) == names.end()) names.emplace_back(candidate);
  }
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  std::string text;
  for (const std::string& candidate : nearest(name, known)) {
    text += text.empty() ? " Did you mean '" : ", '";
    text += candidate + "'";
  }
  return text.empty() ? text : text + "?";
}

}  // namespace ktpu::observe
