// SPDX-License-Identifier: Apache-2.0
// The 288-bit flit: 32 header bits above a 256-bit payload (fabric.md section 2).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "arch/bits.h"

namespace ktpu::arch {

inline constexpr unsigned kFlitBits = 288;  // fabric.md section 2
inline constexpr unsigned kPayloadBits = 256;
inline constexpr unsigned kHeaderBits = 32;
inline constexpr unsigned kPosBits = 4;     // coordinates 0..15
inline constexpr unsigned kWordBytes = 32;  // one payload = one memory word (memory.md section 1)

// Flit types (fabric.md section 2.2). 0x9..0xE are reserved to the fabric, 0xF is named but never sent.
enum class FlitType : std::uint8_t {
  kMemRdReq = 0x0,
  kMemWrReq = 0x1,
  kMemRdResp = 0x2,
  kMemWrAck = 0x3,
  kMemWrData = 0x4,
  kCuInst = 0x5,
  kCuSignal = 0x6,
  kCuCtrl = 0x7,
  kCuData = 0x8,
  kError = 0xF,
};
// The spec's name of a type code (0..15), e.g. "MEM_RD_REQ"; "TYPE_0x9" for a reserved code.
std::string_view flit_type_name(unsigned type);

// A mesh coordinate. The header is x-first; a node byte is {y[3:0], x[3:0]} (fabric.md section 4).
struct Coord {
  std::uint8_t x = 0;
  std::uint8_t y = 0;

  constexpr std::uint8_t node_byte() const { return static_cast<std::uint8_t>(y << 4 | x); }
  static constexpr Coord from_node_byte(unsigned byte) {
    return {static_cast<std::uint8_t>(byte & 15), static_cast<std::uint8_t>((byte >> 4) & 15)};
  }
  auto operator<=>(const Coord&) const = default;
};

namespace header {  // absolute bit positions in the flit, fabric.md section 2.1
inline constexpr Field kDstX{"dst_x", 284, 4, "destination column"};
inline constexpr Field kDstY{"dst_y", 280, 4, "destination row"};
inline constexpr Field kSrcX{"src_x", 276, 4, "sender's column"};
inline constexpr Field kSrcY{"src_y", 272, 4, "sender's row"};
inline constexpr Field kType{"type", 268, 4, "flit type"};
inline constexpr Field kTxn{"txn", 260, 8, "tag, meaning by type"};
inline constexpr Field kLast{"last", 259, 1, "last flit of a message, meaning by type"};
inline constexpr Field kRsvd{"rsvd", 256, 3, "remote marker and mesh, or word index of a response"};
inline constexpr std::array<Field, 8> kFields{kDstX, kDstY, kSrcX, kSrcY, kType, kTxn, kLast, kRsvd};
}  // namespace header

// Five 64-bit words as the host sees them: w[0] = bits [63:0] .. w[3] = [255:192], w[4] = the 32-bit header.
struct Flit {
  std::array<std::uint64_t, 5> w{};

  constexpr std::uint32_t hdr() const { return static_cast<std::uint32_t>(w[4]); }
  constexpr unsigned dst_x() const { return (hdr() >> 28) & 15; }
  constexpr unsigned dst_y() const { return (hdr() >> 24) & 15; }
  constexpr unsigned src_x() const { return (hdr() >> 20) & 15; }
  constexpr unsigned src_y() const { return (hdr() >> 16) & 15; }
  constexpr FlitType type() const { return static_cast<FlitType>((hdr() >> 12) & 15); }
  constexpr unsigned type_code() const { return (hdr() >> 12) & 15; }
  constexpr unsigned txn() const { return (hdr() >> 4) & 255; }
  constexpr bool last() const { return (hdr() >> 3) & 1; }
  constexpr unsigned rsvd() const { return hdr() & 7; }
  constexpr Coord dst() const {
    return {static_cast<std::uint8_t>(dst_x()), static_cast<std::uint8_t>(dst_y())};
  }
  constexpr Coord src() const {
    return {static_cast<std::uint8_t>(src_x()), static_cast<std::uint8_t>(src_y())};
  }

  constexpr std::uint64_t get(const Field& f) const { return arch::get(w.data(), f); }
  constexpr void set(const Field& f, std::uint64_t value) { arch::set(w.data(), f, value); }
  constexpr std::uint64_t bits(unsigned lsb, unsigned width) const { return get_bits(w.data(), lsb, width); }

  constexpr void set_dst(Coord c) {
    w[4] = (w[4] & ~0xFF000000ull) | static_cast<std::uint64_t>(c.x) << 28 |
           static_cast<std::uint64_t>(c.y) << 24;
  }
  constexpr void set_src(Coord c) {
    w[4] = (w[4] & ~0x00FF0000ull) | static_cast<std::uint64_t>(c.x) << 20 |
           static_cast<std::uint64_t>(c.y) << 16;
  }

  constexpr bool operator==(const Flit&) const = default;
};

// The 32-bit header from its fields; each is masked to its width.
constexpr std::uint32_t make_header(Coord dst, Coord src, FlitType type, unsigned txn, bool last,
                                    unsigned rsvd = 0) {
  return static_cast<std::uint32_t>(dst.x & 15u) << 28 | static_cast<std::uint32_t>(dst.y & 15u) << 24 |
         static_cast<std::uint32_t>(src.x & 15u) << 20 | static_cast<std::uint32_t>(src.y & 15u) << 16 |
         static_cast<std::uint32_t>(type) << 12 | (txn & 255u) << 4 | static_cast<std::uint32_t>(last) << 3 |
         (rsvd & 7u);
}
constexpr Flit make_flit(Coord dst, Coord src, FlitType type, unsigned txn, bool last, unsigned rsvd = 0) {
  Flit f;
  f.w[4] = make_header(dst, src, type, txn, last, rsvd);
  return f;
}

// 72 hex digits, most significant first (the notation of the spec), and back.
std::string to_hex(const Flit& flit);
// Throws UserError unless `hex` is 72 hex digits.
Flit flit_from_hex(std::string_view hex);

}  // namespace ktpu::arch
