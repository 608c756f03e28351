// SPDX-License-Identifier: Apache-2.0
// The kinds of recorded rows: how to tell them and how to replay one.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "apps/ktpu-check/compare.h"

namespace ktpu::check {

struct Kind {
  std::string_view folder;  // where such files lie in the recorded tree
  std::string_view stem;    // file name without endings, of compiler rows their group; empty: any
  // Replays a row and compares it; null: `why_not` says why there is nothing to replay.
  void (*check)(const nlohmann::json& row, Differences& differences) = nullptr;
  std::string_view why_not = {};  // "needs ..."
  bool information_only = false;  // nothing in such a file is exact
  // Fields by which a row of this kind is known when folder and name say nothing.
  std::vector<std::string_view> fields = {};
};

const std::vector<Kind>& kinds();

// The kind of a row: by the folder and stem of its file, else by its fields, else by the stem alone. Null:
// none.
const Kind* kind_of(const std::filesystem::path& file, const nlohmann::json& row);
// A file of vectors/compiler/misc is one object with `id` and `rows`: the kind of those rows, known by the
// id. Null: it is no such file, or of a group this version does not make.
const Kind* kind_of_group(const nlohmann::json& file);

}  // namespace ktpu::check
