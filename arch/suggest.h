// SPDX-License-Identifier: Apache-2.0
// Spelling help for messages: one rule of what is near enough to be a slip, for all readers and reports.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::arch {

// Insertions, deletions, replacements and swaps of neighbours; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The words of `known` that may be meant by `word`, nearest first, at most `most`; no word twice.
std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known,
                                      std::size_t most);

// "; did you mean \"kick\"?" for the nearest, else the empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known, char quote = '"');

}  // namespace ktpu::arch
