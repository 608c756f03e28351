// SPDX-License-Identifier: Apache-2.0
// From a file name to one merged Doc: includes, then command-line overrides. Internal to topologies/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "topologies/document.h"

namespace ktpu::topo {

inline constexpr unsigned kMaxIncludes = 8;  // files deep

// Reads a regular file of at most kMaxFileBytes. `from` is where the name was written, for messages (may be
// null).
std::string read_text(const std::filesystem::path& path, const std::string& shown, const Mark* from);

// Replaces every `include: FILE` (or a list of files) of `doc` by that file's map, found relative to
// `folder`. The map's own keys win; maps on both sides are merged key by key, anything else is replaced
// whole.
void resolve_includes(Doc& doc, const std::filesystem::path& folder, Budget& budget);

// Applies "--set a.b.0.c=value" items in order. Keys that the machine does not have are found by the reader
// later, which then names the override as the place.
void apply_overrides(Doc& doc, const std::vector<std::string>& overrides, Budget& budget);

}  // namespace ktpu::topo
