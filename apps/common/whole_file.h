// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ktpu::apps {

// Writes beside the file and renames, so that nothing half-written is left; what is no ordinary file
// (/dev/null) is written in place. Throws UserError.
void write_whole(const std::string& path, std::string_view bytes);

}  // namespace ktpu::apps
