// SPDX-License-Identifier: Apache-2.0
// CU_INST envelope of a vector core (vector.md section 2.1).
#pragma once

#include "arch/encoding/layout.h"

namespace ktpu::arch {

enum class VectorOp : std::uint8_t { kImem = 1, kDesc = 2, kRun = 3 };

struct VectorInst {
  std::uint32_t op = 0;     // VectorOp; any other value retires with result 0
  std::uint32_t addr = 0;   // IMEM: word address, RUN: start pc; 9 bits
  std::uint32_t word = 0;   // IMEM: the instruction word
  std::uint32_t ad = 0;     // DESC: descriptor 0..7
  std::uint32_t fld = 0;    // DESC: 0 base, 1..4 dimension 0..3, others ignored
  std::uint64_t value = 0;  // DESC: base (40 bits), or stride[33:16] and bound[15:0]

  constexpr bool is(VectorOp o) const { return op == static_cast<std::uint32_t>(o); }
  bool operator==(const VectorInst&) const = default;
};

template <>
struct Layout<VectorInst> {
  using V = VectorInst;
  static constexpr std::uint32_t kImem = 1u << 1, kDesc = 1u << 2, kRun = 1u << 3;
  static constexpr std::string_view name = "vector_inst";
  static constexpr std::array<Binding<V>, 7> fields{{
      {{"op", 252, 4, "1 IMEM, 2 DESC, 3 RUN"}, &V::op, Format::kOp},
      {{"addr", 243, 9, "IMEM word address, RUN start pc"}, &V::addr, Format::kDec, kImem | kRun},
      {{"word", 0, 32, "IMEM instruction word"}, &V::word, Format::kHex, kImem},
      {{"ad", 249, 3, "DESC descriptor"}, &V::ad, Format::kDec, kDesc},
      {{"fld", 246, 3, "DESC field: 0 base, 1..4 dimension"}, &V::fld, Format::kDec, kDesc},
      {{"value", 212, 34, "DESC value [33:0]"}, &V::value, Format::kHex, 0, kDesc},
      {{"value_hi", 63, 6, "DESC value [39:34]"}, &V::value, Format::kHex, 34, kDesc},
  }};
};

// The base of a descriptor that VDRAIN to a node reads as a destination (vector.md section 5.5).
struct VectorPeer {
  std::uint32_t offset = 0;  // first L1 word there
  std::uint32_t ack_x = 0;   // who gets DATA_RECEIVED; (0,0): the sender
  std::uint32_t ack_y = 0;
  std::uint32_t mesh = 0;        // destination mesh, only with final_node != 0
  std::uint32_t final_node = 0;  // node byte in that mesh; 0: in this mesh
  bool operator==(const VectorPeer&) const = default;
};

template <>
struct Layout<VectorPeer> {
  using P = VectorPeer;
  static constexpr std::string_view name = "vector_peer";
  static constexpr std::array<Binding<P>, 5> fields{{
      {{"offset", 0, 16, "first L1 word at the destination"}, &P::offset},
      {{"ack_x", 16, 4, "acknowledge column"}, &P::ack_x, Format::kCoordX},
      {{"ack_y", 20, 4, "acknowledge row"}, &P::ack_y, Format::kCoordY},
      {{"mesh", 24, 2, "destination mesh"}, &P::mesh},
      {{"final_node", 26, 8, "node byte in the far mesh"}, &P::final_node, Format::kNode},
  }};
};

}  // namespace ktpu::arch
