// SPDX-License-Identifier: Apache-2.0
// Spelling help for messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::arch {

// Edits (insert, delete, replace, swap neighbours) from one word to the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// "; did you mean \"kick\"?" for a word close to one of the known ones, else the empty string.
inline std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > 64) return {};
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 2;  // farther words help nobody
  for (const std::string_view k : known)
    if (const std::size_t distance = edit_distance(word, k); distance < best_distance) {
      best = k;
      best_distance = distance;
    }
  return best.empty() ? std::string() : "; did you mean \"" + std::string(best) + "\"?";
}

}  // namespace ktpu::arch
