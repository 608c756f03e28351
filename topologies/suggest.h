// SPDX-License-Identifier: Apache-2.0
// Words of messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ktpu::topo {

// "; did you mean 'x'?" by the rule of arch/suggest.h, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& allowed);

// "a, b, c"
std::string join(const std::vector<std::string>& words);

// The user's text fit for a message: control characters escaped, long text cut.
std::string show_text(std::string_view text);

}  // namespace ktpu::topo
