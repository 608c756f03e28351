// SPDX-License-Identifier: Apache-2.0
// Replays one row of a recorded number-format file on arch/formats and says what differs first. Holds no
// expected value of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ktpu::check {

struct RowResult {
  bool equal = true;
  std::string field;  // the first differing field, with an index where it is a list
  std::string expected;
  std::string got;
};

// `kind` is the file's stem, e.g. "acc_add". Returns false for a kind that is not a number-format file. A row
// without a needed field, or with one of the wrong shape, is an arch::UserError that names the field.
bool check_formats_row(std::string_view kind, const nlohmann::json& row, RowResult& result);

// The `words` of a vectors_quant row: `src` quantised and packed in layout `b_layout`.
void check_quant_words(const nlohmann::json& row, RowResult& result);

}  // namespace ktpu::check
