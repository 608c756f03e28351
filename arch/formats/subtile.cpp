// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/subtile.h"

#include <algorithm>

#include "arch/bits.h"

namespace ktpu::arch {

SubTile canonical(const SubTile& tile, unsigned mw) {
  SubTile result;
  for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
    result.lane[lane] = acc_add(tile.lane[lane], 0, mw, false, true);
  return result;
}

PeerGranules pack_granules(const SubTile& tile, unsigned mw) {
  std::array<std::uint64_t, 8> bits{};
  for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
    set_bits(bits.data(), acc_bits(mw) * lane, acc_bits(mw), tile.lane[lane]);
  return {Word256{bits[0], bits[1], bits[2], bits[3]}, Word256{bits[4], bits[5], bits[6], bits[7]}};
}

PeerGranules send_granules(const SubTile& tile, unsigned mw) {
  return pack_granules(canonical(tile, mw), mw);
}

SubTile unpack_granules(const PeerGranules& granules, unsigned mw) {
  std::array<std::uint64_t, 8> bits{};
  std::copy(granules[0].begin(), granules[0].end(), bits.begin());
  std::copy(granules[1].begin(), granules[1].end(), bits.begin() + 4);
  SubTile tile;
  for (unsigned lane = 0; lane < kSubTileLanes; ++lane)
    tile.lane[lane] = static_cast<std::uint32_t>(get_bits(bits.data(), acc_bits(mw) * lane, acc_bits(mw)));
  return tile;
}

void store_granule(unsigned half, const std::uint64_t* payload, unsigned mw, SubTile& tile) {
  PeerGranules granules = pack_granules(tile, mw);
  std::copy(payload, payload + 4, granules[half & 1].begin());
  tile = unpack_granules(granules, mw);
}

}  // namespace ktpu::arch
