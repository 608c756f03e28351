// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/entry.h"

#include <fmt/format.h>

#include <cstring>

#include "tlm/observe/computed_values.h"

namespace ktpu::observe {
namespace {

std::uint64_t load(const void* address, std::size_t bytes) {
  std::uint64_t value = 0;  // little-endian hosts only, as the flit's words are
  std::memcpy(&value, address, bytes < 8 ? bytes : 8);
  return value;
}

}  // namespace

std::string_view kind_name(EntryKind kind) {
  switch (kind) {
    case EntryKind::kState:
      return "state";
    case EntryKind::kMemory:
      return "memory";
    case EntryKind::kCounter:
      return "counter";
    case EntryKind::kWire:
      return "wire";
  }
  return "";
}

std::uint64_t Entry::read() const {
  std::uint64_t value = 0;
  if (location.address != nullptr) {
    if (location.elements != 0) value = load(location.address, location.bytes);
  } else if (location.flits != nullptr) {
    if (location.flits->valid()) value = location.flits->data().bits(location.lsb, width < 64 ? width : 64);
  } else if (location.link != nullptr) {
    value = location.lsb == 0 ? location.link->valid() : location.link->busy();
  } else if (location.rewalk != nullptr) {
    ComputedValues walk;
    value = walk.of(*location.rewalk).at(location.ordinal);
  } else if (location.function) {
    value = location.function();
  }
  return width >= 64 ? value : value & ((1ull << width) - 1);
}

std::string_view Entry::engine() const {
  return priority == 0 ? std::string_view() : std::string_view(path).substr(0, path.rfind(".cycles."));
}

std::string Entry::describe() const {
  std::string text =
      fmt::format("{}\n  kind:     {}, {} bit{}{}\n", path, kind_name(kind), width, width == 1 ? "" : "s",
                  kind == EntryKind::kMemory ? fmt::format(", {} elements", location.elements) : "");
  if (!unit.empty()) text += fmt::format("  unit:     {}\n", unit);
  if (!sentence.empty()) text += fmt::format("  meaning:  {}\n", sentence);
  if (kind == EntryKind::kCounter)
    text += fmt::format("  formula:  {}\n", formula.empty() ? "counted in the run" : formula);
  text += fmt::format("  source:   {}\n", source);
  return text;
}

}  // namespace ktpu::observe
