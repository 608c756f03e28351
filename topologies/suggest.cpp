// SPDX-License-Identifier: Apache-2.0
#include "topologies/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ktpu::topo {

namespace {

constexpr std::size_t kMaxWord = 64;  // longer words are never a slip; bounds the work

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

unsigned edit_distance(std::string_view a, std::string_view b) {
  const std::size_t n = a.size(), m = b.size();
  std::vector<std::vector<unsigned>> d(n + 1, std::vector<unsigned>(m + 1));
  for (std::size_t i = 0; i <= n; ++i) d[i][0] = static_cast<unsigned>(i);
  for (std::size_t j = 0; j <= m; ++j) d[0][j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= m; ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x == y ? 0u : 1u)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[n][m];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed) {
  if (word.empty() || word.size() > kMaxWord) return "";
  const std::string* best = nullptr;
  unsigned best_distance = 0;
  for (const auto& candidate : allowed) {
    if (candidate.size() > kMaxWord) continue;
    unsigned distance = edit_distance(word, candidate);
    // A word cut short or run on ("matmul" for "matmul_cluster") is near however many letters it lacks.
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (shorter >= 3 && word.substr(0, shorter) == candidate.substr(0, shorter))
      distance = std::min(distance, 1u);
    if (best == nullptr || distance < best_distance) best = &candidate, best_distance = distance;
  }
  if (best == nullptr) return "";
  const std::size_t longer = std::max(word.size(), best->size());
  if (best_distance > std::max<std::size_t>(1, (longer + 1) / 3)) return "";
  if (best_distance >= longer) return "";  // nothing in common
  return fmt::format("; did you mean '{}'?", *best);
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
