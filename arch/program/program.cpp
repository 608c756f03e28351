// SPDX-License-Identifier: Apache-2.0
#include "arch/program/program.h"

#include <array>

#include "arch/formats/dtype.h"

namespace ktpu::arch {

std::string_view step_name(const Action& action) {
  static constexpr std::array<std::string_view, std::variant_size_v<Action>> kNames{
      "round",    "baseline", "stage", "credit", "kick",     "await", "write",     "poll",
      "commands", "window",   "load",  "quiet",  "relayout", "reset", "pe_stream", "firmware"};
  return kNames[action.index()];
}

namespace {
// Unsigned integers are storage only: no value is computed in them.
struct DTypeRow {
  std::string_view name;
  unsigned bits;
};
DTypeRow row_of(NumberType type) {
  const NumberFormat& format = number_format(type);
  return {format.name, format.block == 0 ? format.bits : 0};
}
const std::array<DTypeRow, kDTypes>& dtype_rows() {
  static const std::array<DTypeRow, kDTypes> kRows{{row_of(NumberType::kFp16),
                                                    row_of(NumberType::kFp32),
                                                    {"u8", 8},
                                                    {"u16", 16},
                                                    {"u32", 32},
                                                    row_of(NumberType::kI8),
                                                    row_of(NumberType::kI16),
                                                    row_of(NumberType::kI32),
                                                    row_of(NumberType::kMxfp7)}};
  return kRows;
}
}  // namespace

unsigned dtype_bits(DType type) { return dtype_rows()[static_cast<std::size_t>(type)].bits; }
std::string_view dtype_name(DType type) { return dtype_rows()[static_cast<std::size_t>(type)].name; }
std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kDTypes; ++i)
    if (dtype_rows()[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace ktpu::arch
