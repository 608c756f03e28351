// SPDX-License-Identifier: Apache-2.0
#include "arch/program/program.h"

#include <array>

namespace ktpu::arch {

std::string_view step_name(const Action& action) {
  static constexpr std::array<std::string_view, std::variant_size_v<Action>> kNames{
      "round",    "baseline", "stage", "credit", "kick",     "await", "write",     "poll",
      "commands", "window",   "load",  "quiet",  "relayout", "reset", "pe_stream", "firmware"};
  return kNames[action.index()];
}

namespace {
struct DTypeRow {
  std::string_view name;
  unsigned bits;
};
constexpr std::array<DTypeRow, kDTypes> kDTypeRows{{{"fp16", 16},
                                                    {"fp32", 32},
                                                    {"u8", 8},
                                                    {"u16", 16},
                                                    {"u32", 32},
                                                    {"i8", 8},
                                                    {"i16", 16},
                                                    {"i32", 32},
                                                    {"mxfp7", 0}}};
}  // namespace

unsigned dtype_bits(DType type) { return kDTypeRows[static_cast<std::size_t>(type)].bits; }
std::string_view dtype_name(DType type) { return kDTypeRows[static_cast<std::size_t>(type)].name; }
std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kDTypeRows.size(); ++i)
    if (kDTypeRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace ktpu::arch
