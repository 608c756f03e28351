// SPDX-License-Identifier: Apache-2.0
// The matmul cluster's instruction payload (cluster.md section 4). One layout for all opcodes; a field an
// opcode does not use is ignored by the unit and kept by the codec.
#pragma once

#include "arch/encoding/layout.h"

namespace ktpu::arch {

enum class ClusterOp : std::uint8_t { kFill = 1, kGemm = 2, kDrain = 3 };

struct ClusterInst {
  std::uint32_t op = 0;       // ClusterOp; any other value retires at once without effect
  std::uint64_t addr = 0;     // 40-bit byte address: FILL source, DRAIN and emitting GEMM destination
  std::uint32_t n = 0;        // FILL: L1 entries 1..255. DRAIN: sub-tiles. 0 acts as 1
  std::uint32_t sel = 0;      // FILL: 0 = L1 A, 1 = L1 B
  std::uint32_t acc = 0;      // GEMM: the first K block adds instead of loading
  std::uint32_t gm = 0;       // GEMM: row groups of 4; 0 acts as 1
  std::uint32_t gn = 0;       // GEMM: column groups of 4; 0 acts as 1
  std::uint32_t nk = 1;       // GEMM: K blocks of 32; 0 acts as 1
  std::uint32_t anchor = 40;  // GEMM: exponent anchor, encoders put 40 everywhere
  std::uint32_t peer0 = 0;    // FILL: node bytes of clusters that share the fill
  std::uint32_t peer1 = 0;
  std::uint32_t peer2 = 0;
  std::uint32_t npeer = 0;  // FILL: how many of them
  std::uint32_t preq = 0;   // FILL: source already MXFP7, 128 B an entry instead of 256 B
  std::uint32_t eoff = 0;   // FILL: first L1 entry within the bank
  std::uint32_t aoff = 0;   // GEMM: first A entry within its bank
  std::uint32_t boff = 0;   // GEMM: first B entry within its bank
  std::uint32_t emit = 0;   // GEMM: results leave as they are finished
  std::uint32_t fuse = 0;   // DRAIN: wait for emitted results, read nothing
  std::uint32_t abank = 0;  // GEMM: bank of L1 A
  std::uint32_t bbank = 0;  // GEMM: bank of L1 B
  std::uint32_t fbank = 0;  // FILL: bank to write
  std::uint32_t dnode = 0;  // destination: 0 = memory port, 1 = a node
  std::uint32_t dst_x = 0;
  std::uint32_t dst_y = 0;
  std::uint32_t dbuf = 0;    // destination buffer; 2 with dnode makes an explicit drain send raw tiles
  std::uint32_t dflags = 0;  // copied to the CU_DATA descriptor; bit 0 = acknowledge
  std::uint32_t dack_y = 0;  // acknowledge destination; (0,0) = the sender
  std::uint32_t dack_x = 0;
  std::uint32_t dmesh = 0;  // destination mesh, only with dfin != 0
  std::uint32_t dfin = 0;   // node byte in the far mesh; non-zero makes the drain remote

  constexpr bool is(ClusterOp o) const { return op == static_cast<std::uint32_t>(o); }
  constexpr std::uint32_t peer(unsigned i) const { return i == 0 ? peer0 : i == 1 ? peer1 : peer2; }
  // The values the unit works with: 0 acts as 1 (cluster.md section 4).
  constexpr std::uint32_t eff_n() const { return n ? n : 1; }
  constexpr std::uint32_t eff_gm() const { return gm ? gm : 1; }
  constexpr std::uint32_t eff_gn() const { return gn ? gn : 1; }
  constexpr std::uint32_t eff_nk() const { return nk ? nk : 1; }
  bool operator==(const ClusterInst&) const = default;
};

template <>
struct Layout<ClusterInst> {
  using C = ClusterInst;
  static constexpr std::string_view name = "cluster_inst";
  static constexpr std::array<Binding<C>, 32> fields{{
      {{"op", 252, 4, "1 FILL, 2 GEMM, 3 DRAIN"}, &C::op, Format::kOp},
      {{"addr", 218, 34, "byte address [33:0]"}, &C::addr, Format::kHex, 0},
      {{"addr_hi", 63, 6, "byte address [39:34]"}, &C::addr, Format::kHex, 34},
      {{"n", 202, 16, "FILL entries, DRAIN sub-tiles"}, &C::n},
      {{"sel", 201, 1, "FILL side: 0 A, 1 B"}, &C::sel, Format::kFlag},
      {{"acc", 200, 1, "GEMM adds to the tile from the first K block"}, &C::acc, Format::kFlag},
      {{"gm", 192, 8, "row groups of 4"}, &C::gm},
      {{"gn", 184, 8, "column groups of 4"}, &C::gn},
      {{"nk", 176, 8, "K blocks of 32"}, &C::nk},
      {{"anchor", 168, 8, "exponent anchor"}, &C::anchor},
      {{"peer0", 144, 8, "node byte of peer 0"}, &C::peer0, Format::kNode},
      {{"peer1", 152, 8, "node byte of peer 1"}, &C::peer1, Format::kNode},
      {{"peer2", 160, 8, "node byte of peer 2"}, &C::peer2, Format::kNode},
      {{"npeer", 142, 2, "clusters that share the FILL"}, &C::npeer},
      {{"preq", 141, 1, "source is already MXFP7"}, &C::preq, Format::kFlag},
      {{"eoff", 133, 8, "first L1 entry within the bank"}, &C::eoff},
      {{"aoff", 125, 8, "first A entry within its bank"}, &C::aoff},
      {{"boff", 117, 8, "first B entry within its bank"}, &C::boff},
      {{"emit", 116, 1, "last K block sends its results out"}, &C::emit, Format::kFlag},
      {{"fuse", 115, 1, "DRAIN waits for emitted results"}, &C::fuse, Format::kFlag},
      {{"abank", 114, 1, "bank of L1 A to read"}, &C::abank, Format::kDec},
      {{"bbank", 113, 1, "bank of L1 B to read"}, &C::bbank, Format::kDec},
      {{"fbank", 112, 1, "bank to fill"}, &C::fbank, Format::kDec},
      {{"dnode", 111, 1, "destination: 0 memory, 1 node"}, &C::dnode, Format::kFlag},
      {{"dst_x", 107, 4, "destination column"}, &C::dst_x, Format::kCoordX},
      {{"dst_y", 103, 4, "destination row"}, &C::dst_y, Format::kCoordY},
      {{"dbuf", 95, 8, "destination buffer"}, &C::dbuf},
      {{"dflags", 87, 8, "flags of the CU_DATA descriptor"}, &C::dflags, Format::kHex},
      {{"dack_y", 83, 4, "acknowledge row"}, &C::dack_y, Format::kCoordY},
      {{"dack_x", 79, 4, "acknowledge column"}, &C::dack_x, Format::kCoordX},
      {{"dmesh", 77, 2, "destination mesh"}, &C::dmesh},
      {{"dfin", 69, 8, "node byte in the far mesh"}, &C::dfin, Format::kNode},
  }};
};

}  // namespace ktpu::arch
