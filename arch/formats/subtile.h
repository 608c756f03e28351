// SPDX-License-Identifier: Apache-2.0
// A 4x4 sub-tile of accumulators and its two bit views: peer granules and the emitted FP16 word
// (number-formats.md section 5.4).
#pragma once

#include <array>
#include <cstdint>

#include "arch/formats/acc.h"
#include "arch/formats/operand.h"

namespace ktpu::arch {

inline constexpr unsigned kSubTileLanes = 16;

// lane[row*4 + column] is an ACC value of the cluster's MW.
struct SubTile {
  alignas(64) std::uint32_t lane[kSubTileLanes] = {};

  bool operator==(const SubTile&) const = default;
};

// The 16*(MW+8) bits of a sub-tile as two payloads: [0] = bits 255:0, [1] = the rest in its low bits, zero
// above.
using PeerGranules = std::array<Word256, 2>;

// Packs the stored bits as they are.
PeerGranules pack_granules(const SubTile& tile, unsigned mw);
// What SEND puts on the wire: the tile after an add with forced zero, so exponent 0 leaves as all zeros
// (section 8).
PeerGranules send_granules(const SubTile& tile, unsigned mw);
// Bits of granule 1 above 16*(MW+8)-256 are ignored.
SubTile unpack_granules(const PeerGranules& granules, unsigned mw);
// One received payload at a time: `half` is the granule's lowest index bit. Touches only the lanes (or parts
// of lanes) that this half carries; after both halves the tile equals unpack_granules of them.
void store_granule(unsigned half, const std::uint64_t* payload, unsigned mw, SubTile& tile);

// The tile after an add with forced zero (EMIT, SEND): exponent 0 becomes all zeros.
SubTile canonical(const SubTile& tile, unsigned mw);

}  // namespace ktpu::arch
