// SPDX-License-Identifier: Apache-2.0
// Patterns over the dotted names of a machine, and the nearest name to a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::observe {

// `*` stands for any run of characters, dots included; `?` for exactly one. Everything else is itself.
bool glob_match(std::string_view pattern, std::string_view text);
// Whether `pattern` matches `name` or one of the scopes it lies in: "cluster@2,1" selects
// "cluster@2,1.dispatch.credit".
bool selects(std::string_view pattern, std::string_view name);
// Whether `text` holds a pattern character.
bool is_glob(std::string_view text);

// " Did you mean 'a', 'b'?" of the names nearest to `name` (arch/suggest.h), or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace ktpu::observe
