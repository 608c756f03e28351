// SPDX-License-Identifier: Apache-2.0
#include "arch/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace ktpu::arch {

namespace {

constexpr std::size_t kMaxWord = 64;  // longer words are never a slip; bounds the work
constexpr std::size_t kMinPrefix = 3;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = lower(a[i - 1]), y = lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x == y ? 0u : 1u)});
      if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known,
                                      std::size_t most) {
  std::vector<std::string_view> names;
  if (word.empty() || word.size() > kMaxWord) return names;
  std::vector<std::pair<std::size_t, std::string_view>> close;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kMaxWord) continue;
    const std::size_t shorter = std::min(word.size(), candidate.size()),
                      longer = std::max(word.size(), candidate.size());
    // A word cut short or run on ("matmul" for "matmul_cluster") is near however many letters it lacks.
    const bool prefix = shorter >= kMinPrefix && word.substr(0, shorter) == candidate.substr(0, shorter);
    const std::size_t limit = std::max<std::size_t>(1, (longer + 1) / 3);
    if (!prefix && longer - shorter > limit) continue;
    const std::size_t distance =
        prefix ? std::min<std::size_t>(1, longer - shorter) : edit_distance(word, candidate);
    if (distance <= limit && distance < longer) close.emplace_back(distance, candidate);
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [distance, candidate] : close) {
    if (names.size() == most || distance > close.front().first + 1) break;
    if (std::find(names.begin(), names.end(), candidate) == names.end()) names.push_back(candidate);
  }
  return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, char quote) {
  const std::vector<std::string_view> names = nearest(word, known, 1);
  return names.empty() ? std::string() : fmt::format("; did you mean {0}{1}{0}?", quote, names.front());
}

}  // namespace ktpu::arch
