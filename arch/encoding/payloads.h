// SPDX-License-Identifier: Apache-2.0
// Payloads of the fabric's own flit types (fabric.md section 3). Unlisted bits are zero when sent, ignored
// when read.
#pragma once

#include "arch/encoding/layout.h"

namespace ktpu::arch {

// MEM_RD_REQ and MEM_WR_REQ, fabric.md section 3.1. A write reads only `addr` and `len`.
struct MemReq {
  std::uint64_t addr = 0;   // 40-bit byte address, map in address_map.h
  std::uint32_t len = 0;    // beats - 1: plain reads, and writes (at most kMaxWriteLen)
  std::uint32_t flags = 0;  // kMemFlag...
  std::uint32_t count = 0;  // entries of a STREAM read; 0 means 1
  std::uint32_t peer0 = 0;  // node bytes {y,x} of further destinations of an entry read
  std::uint32_t peer1 = 0;
  std::uint32_t peer2 = 0;
  std::uint32_t n_peer = 0;       // how many of them
  std::uint32_t entry_words = 0;  // words per raw entry 1..4; 0 or more than 4 means 4

  constexpr bool quant() const { return flags >> 4 & 1; }
  constexpr bool b_layout() const { return flags >> 5 & 1; }
  constexpr bool stream() const { return flags >> 6 & 1; }
  constexpr std::uint32_t peer(unsigned i) const { return i == 0 ? peer0 : i == 1 ? peer1 : peer2; }
  bool operator==(const MemReq&) const = default;
};
inline constexpr std::uint32_t kMemFlagQuant = 1u << 4;    // convert FP16 to MXFP7 on the way, 256 B an entry
inline constexpr std::uint32_t kMemFlagBLayout = 1u << 5;  // pack for the B side; only with QUANT
inline constexpr std::uint32_t kMemFlagStream = 1u << 6;   // `count` entries
inline constexpr std::uint32_t kMaxWriteLen = 7;           // 8 beats a write, memory.md section 1

template <>
struct Layout<MemReq> {
  static constexpr std::string_view name = "mem_req";
  static constexpr std::array<Binding<MemReq>, 9> fields{{
      {{"addr", 216, 40, "byte address"}, &MemReq::addr},
      {{"len", 208, 8, "beats - 1 (plain reads and writes)"}, &MemReq::len},
      {{"flags", 200, 8, "[4] QUANT, [5] BLAYOUT, [6] STREAM"}, &MemReq::flags, Format::kHex},
      {{"count", 192, 8, "entries of a STREAM read, 0 means 1"}, &MemReq::count},
      {{"peer0", 168, 8, "node byte of peer 0"}, &MemReq::peer0, Format::kNode},
      {{"peer1", 176, 8, "node byte of peer 1"}, &MemReq::peer1, Format::kNode},
      {{"peer2", 184, 8, "node byte of peer 2"}, &MemReq::peer2, Format::kNode},
      {{"n_peer", 166, 2, "peers that also receive each entry"}, &MemReq::n_peer},
      {{"entry_words", 158, 8, "words per raw entry, 0 means 4"}, &MemReq::entry_words},
  }};
};

// CU_SIGNAL, fabric.md section 3.5.
struct Signal {
  std::uint32_t code = 0;  // SignalCode
  std::uint32_t arg = 0;
  bool operator==(const Signal&) const = default;
};
template <>
struct Layout<Signal> {
  static constexpr std::string_view name = "signal";
  static constexpr std::array<Binding<Signal>, 2> fields{{
      {{"code", 248, 8, "signal code"}, &Signal::code, Format::kHex},
      {{"arg", 216, 32, "unit-defined, txn for a completed batch"}, &Signal::arg, Format::kHex},
  }};
};

// CU_CTRL, request and reply, fabric.md section 3.6.
struct Ctrl {
  std::uint32_t op = 0;     // kCtrlRead, kCtrlWrite, kCtrlReply
  std::uint32_t index = 0;  // CtrlIndex
  std::uint64_t value = 0;
  bool operator==(const Ctrl&) const = default;
};
inline constexpr std::uint32_t kCtrlRead = 0;
inline constexpr std::uint32_t kCtrlWrite = 1;  // only link addons understand it, fabric.md section 12
inline constexpr std::uint32_t kCtrlReply = 2;
template <>
struct Layout<Ctrl> {
  static constexpr std::string_view name = "ctrl";
  static constexpr std::array<Binding<Ctrl>, 3> fields{{
      {{"op", 248, 8, "0 read, 1 write, 2 reply"}, &Ctrl::op},
      {{"index", 240, 8, "register index"}, &Ctrl::index},
      {{"value", 176, 64, "data written, or register contents"}, &Ctrl::value},
  }};
};

// CU_DATA descriptor, fabric.md section 3.7.
struct CuDataDesc {
  std::uint32_t buf_id = 0;
  std::uint32_t offset = 0;  // first 32-byte granule
  std::uint32_t len = 0;     // data flits - 1
  std::uint32_t flags = 0;   // bit 0 kCuDataSignal
  std::uint32_t ack_y = 0;   // where DATA_RECEIVED goes; (0,0) means the descriptor's source
  std::uint32_t ack_x = 0;

  constexpr bool signal_on_complete() const { return flags & 1; }
  constexpr Coord ack() const { return {static_cast<std::uint8_t>(ack_x), static_cast<std::uint8_t>(ack_y)}; }
  bool operator==(const CuDataDesc&) const = default;
};
inline constexpr std::uint32_t kCuDataSignal = 1;
template <>
struct Layout<CuDataDesc> {
  static constexpr std::string_view name = "cu_data";
  static constexpr std::array<Binding<CuDataDesc>, 6> fields{{
      {{"buf_id", 248, 8, "destination buffer"}, &CuDataDesc::buf_id},
      {{"offset", 232, 16, "first 32-byte granule"}, &CuDataDesc::offset},
      {{"len", 224, 8, "data flits - 1"}, &CuDataDesc::len},
      {{"flags", 216, 8, "[0] signal on completion"}, &CuDataDesc::flags, Format::kHex},
      {{"ack_y", 212, 4, "row of the node that gets DATA_RECEIVED"}, &CuDataDesc::ack_y, Format::kCoordY},
      {{"ack_x", 208, 4, "its column"}, &CuDataDesc::ack_x, Format::kCoordX},
  }};
};

// Header `rsvd` of a flit that leaves the mesh: marker and destination mesh (fabric.md section 2.5).
inline constexpr unsigned kRsvdRemote = 4;
inline constexpr unsigned kRsvdMeshMask = 3;
inline constexpr unsigned kRsvdWordMask = 3;  // MEM_RD_RESP: word index within the entry

}  // namespace ktpu::arch
