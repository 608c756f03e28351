// SPDX-License-Identifier: Apache-2.0
// Did-you-mean: the nearest of the allowed words by edit distance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ktpu::topo {

// Insertions, deletions, replacements and swaps of neighbours; case does not count.
unsigned edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'x'?" for the nearest word that is near enough to be a slip, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed);

// "a, b, c"
std::string join(const std::vector<std::string>& words);

// The user's text fit for a message: control characters escaped, long text cut.
std::string show_text(std::string_view text);

}  // namespace ktpu::topo
