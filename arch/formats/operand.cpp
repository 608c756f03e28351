// SPDX-License-Identifier: Apache-2.0
#include "arch/formats/operand.h"

#include <bit>
#include <cstring>

#include "arch/bits.h"

namespace ktpu::arch {
namespace {

static_assert(std::endian::native == std::endian::little, "byte lanes below are read in little-endian order");

// Eight 7-bit fields (field 0 lowest) to eight sign-extended bytes, and back.
constexpr std::uint64_t spread(std::uint64_t x) {
  x = (x & 0x000000000FFFFFFF) | ((x & 0x00FFFFFFF0000000) << 4);
  x = (x & 0x00003FFF00003FFF) | ((x & 0x0FFFC0000FFFC000) << 2);
  x = (x & 0x007F007F007F007F) | ((x & 0x3F803F803F803F80) << 1);
  return x | ((x & 0x4040404040404040) << 1);
}
constexpr std::uint64_t squeeze(std::uint64_t x) {
  x = (x & 0x007F007F007F007F) | ((x & 0x7F007F007F007F00) >> 1);
  x = (x & 0x00003FFF00003FFF) | ((x & 0x3FFF00003FFF0000) >> 2);
  return (x & 0x000000000FFFFFFF) | ((x & 0x0FFFFFFF00000000) >> 4);
}
static_assert(squeeze(spread(0x00FEDCBA98765432)) == 0x00FEDCBA98765432);

// One group = eight elements that lie next to each other in the layout. A: eight k of one lane. B: two k of
// four lanes, lane fastest. `first_k` is the group's smallest k, `lane` is used by A only.
std::uint64_t load_group(Side side, unsigned lane, unsigned first_k, const OperandEntry& entry) {
  std::uint64_t bytes = 0;
  if (side == Side::kA) {
    std::memcpy(&bytes, &entry.q[lane][first_k], 8);
  } else {
    for (unsigned i = 0; i < 8; ++i)
      bytes |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(entry.q[i % 4][first_k + i / 4]))
               << (8 * i);
  }
  return bytes;
}

void store_group(Side side, unsigned lane, unsigned first_k, std::uint64_t bytes, OperandEntry& entry) {
  if (side == Side::kA) {
    std::memcpy(&entry.q[lane][first_k], &bytes, 8);
  } else {
    for (unsigned i = 0; i < 8; ++i)
      entry.q[i % 4][first_k + i / 4] = static_cast<std::int8_t>(bytes >> (8 * i));
  }
}

}  // namespace

// Slot 0 of an operand word is its top field, hence the byte swaps.
void store_operand_word(Side side, unsigned word, const std::uint64_t* payload, OperandEntry& entry) {
  for (unsigned group = 0; group < 4; ++group) {
    const std::uint64_t bytes = __builtin_bswap64(spread(get_bits(payload, 200 - 56 * group, 56)));
    const unsigned first_k = 8 * word + (side == Side::kB ? 2 * group : 0);
    store_group(side, group, first_k, bytes, entry);
  }
  if (word == 0)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      entry.scale[lane] = static_cast<std::uint8_t>(payload[0] >> (24 - 8 * lane));
}

Word256 operand_word(Side side, unsigned word, const OperandEntry& entry) {
  Word256 payload{};
  for (unsigned group = 0; group < 4; ++group) {
    const unsigned first_k = 8 * word + (side == Side::kB ? 2 * group : 0);
    set_bits(payload.data(), 200 - 56 * group, 56,
             squeeze(__builtin_bswap64(load_group(side, group, first_k, entry))));
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    payload[0] |= static_cast<std::uint64_t>(entry.scale[lane]) << (24 - 8 * lane);
  return payload;
}

EntryBits entry_bits(Side side, const OperandEntry& entry) {
  EntryBits bits{};
  for (unsigned group = 0; group < 16; ++group) {
    const bool a = side == Side::kA;
    const std::uint64_t bytes = load_group(side, a ? group / 4 : 0, a ? group % 4 * 8 : group * 2, entry);
    set_bits(bits.data(), 56 * group, 56, squeeze(bytes));
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) set_bits(bits.data(), 896 + 8 * lane, 8, entry.scale[lane]);
  return bits;
}

OperandEntry entry_from_bits(Side side, const EntryBits& bits) {
  OperandEntry entry;
  for (unsigned group = 0; group < 16; ++group) {
    const bool a = side == Side::kA;
    store_group(side, a ? group / 4 : 0, a ? group % 4 * 8 : group * 2,
                spread(get_bits(bits.data(), 56 * group, 56)), entry);
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    entry.scale[lane] = static_cast<std::uint8_t>(get_bits(bits.data(), 896 + 8 * lane, 8));
  return entry;
}

}  // namespace ktpu::arch
