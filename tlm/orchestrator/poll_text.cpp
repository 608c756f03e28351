// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/poll_text.h"

#include <fmt/format.h>

#include <string_view>

#include "arch/encoding/registers.h"
#include "arch/flit.h"

namespace ktpu::orchestrator {

namespace reg = arch::agent;

namespace {

constexpr std::uint32_t kNodeAlias = reg::kNodeStatus + 0x800;  // orchestrator.md section 3.1

bool is_node_status(std::uint32_t offset) {
  return offset >= reg::kNodeStatus && offset < kNodeAlias + 0x800;
}

// Empty where there is nothing to say.
std::string reason(std::uint32_t offset, std::uint64_t mask, std::uint64_t want, std::uint64_t last) {
  if (offset == reg::kSigDone) {
    if ((last & mask) < want)
      return ": fewer signals came than are awaited; every instruction sends one, the last of a program too, "
             "and "
             "a clear of SIG_DONE takes those that arrive with it";
    return ": more signals came than are awaited; those of all nodes count, DATA_RECEIVED and faults too";
  }
  if (is_node_status(offset)) {
    namespace ns = reg::node_status_word;
    const auto count = [](std::uint64_t word) { return arch::get(&word, ns::kCount); };
    if (mask == ns::kCountAndValidMask && count(last) != count(want))
      return fmt::format(": {} signals came from the node, {} are awaited", count(last), count(want));
    return {};
  }
  if (offset == reg::kProgStat && (mask & 1) != 0 && (want & 1) == 0 && (last & 1) != 0)
    return ": the dispatcher still runs";
  if (offset == reg::kRxStatus && (last & 0x10000) != 0 && (want & 0x10000) == 0)
    return ": no flit is in the receive mailbox";
  return {};
}

}  // namespace

std::string register_text(std::uint32_t offset) {
  if (is_node_status(offset) && offset % 8 == 0) {
    const arch::Coord node = arch::Coord::from_node_byte((offset >> 3) & 255);
    return fmt::format("NODE_STATUS of ({},{}) (0x{:04x})", node.x, node.y, offset);
  }
  for (const arch::Register& r : reg::kRegisters)
    if (offset >= r.offset && offset < r.offset + 8 * r.count && offset % 8 == 0)
      return fmt::format("{} (0x{:04x})", r.name, offset);
  return fmt::format("0x{:04x}", offset);
}

std::string poll_text(std::uint32_t offset, std::uint64_t mask, std::uint64_t want, std::uint64_t last) {
  const std::string bits =
      (want & ~mask) == 0 ? reason(offset, mask, want, last)
                          : fmt::format(": the wanted value has bits outside the mask, so it is never met");
  return fmt::format("poll of {} until (value & 0x{:x}) == 0x{:x}; last value 0x{:x}{}",
                     register_text(offset), mask, want, last, bits);
}

}  // namespace ktpu::orchestrator
