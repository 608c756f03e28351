// SPDX-License-Identifier: Apache-2.0
// What crosses an interlink in a cycle: one beat, output register to input register; no ready comes back
// (memory.md sections 11.1 and 11.2).
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/interlink.h"
#include "arch/flit.h"
#include "tlm/sim/link.h"

namespace ktpu::memory {

struct Beat {
  arch::Flit data;                        // a flit, or a memory word in its payload
  std::array<std::uint64_t, 2> header{};  // arch::interlink::header; all zero on all beats but the first
  bool first() const { return header[0] != 0; }
  bool operator==(const Beat&) const = default;
};
inline void visit_data(sim::Archive& archive, Beat& beat) {
  archive.flit("data", beat.data);
  archive.memory("header", beat.header.data(), beat.header.size());
}
using BeatLink = sim::Link<Beat>;
inline constexpr unsigned kBeatWireBits = arch::interlink::kBeatBits + arch::interlink::kHeaderBits;

}  // namespace ktpu::memory
