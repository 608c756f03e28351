// SPDX-License-Identifier: Apache-2.0
#include "arch/flit.h"

#include "arch/error.h"

namespace ktpu::arch {

std::string_view flit_type_name(unsigned type) {
  static constexpr std::array<std::string_view, 16> kNames{
      "MEM_RD_REQ", "MEM_WR_REQ", "MEM_RD_RESP", "MEM_WR_ACK", "MEM_WR_DATA", "CU_INST",
      "CU_SIGNAL",  "CU_CTRL",    "CU_DATA",     "TYPE_0x9",   "TYPE_0xA",    "TYPE_0xB",
      "TYPE_0xC",   "TYPE_0xD",   "TYPE_0xE",    "ERROR"};
  return kNames[type & 15];
}

std::string to_hex(const Flit& flit) {
  return fmt::format("{:08x}{:016x}{:016x}{:016x}{:016x}", flit.hdr(), flit.w[3], flit.w[2], flit.w[1],
                     flit.w[0]);
}

Flit flit_from_hex(std::string_view hex) {
  if (hex.size() != kFlitBits / 4)
    throw UserError::make("a flit is 72 hex digits, not {}: \"{}\"", hex.size(), hex);
  Flit f;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) throw UserError::make("\"{}\" is not a hex digit in flit \"{}\"", c, hex);
    set_bits(f.w.data(), static_cast<unsigned>(4 * (hex.size() - 1 - i)), 4,
             static_cast<std::uint64_t>(digit));
  }
  return f;
}

}  // namespace ktpu::arch
