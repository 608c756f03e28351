// SPDX-License-Identifier: Apache-2.0
// The second encoder that compiler.md section 19 asks for: packed by hand from the text of the specification
// (compiler.md section 19, vector.md sections 2 and 3, fabric.md section 2). It includes nothing of the
// encoder it witnesses.
#pragma once

#include <array>
#include <cstdint>

namespace ktpu::witness {

// Bits 255:0 and the header, lowest word first.
using Words = std::array<std::uint64_t, 5>;

struct Cluster {
  std::uint32_t op = 0;
  std::uint64_t addr = 0;
  std::uint32_t n = 0, sel = 0, acc = 0, gm = 0, gn = 0, nk = 1, anchor = 40;
  std::array<std::uint32_t, 3> peers{};
  std::uint32_t npeer = 0, preq = 0, eoff = 0, aoff = 0, boff = 0, emit = 0, fuse = 0;
  std::uint32_t abank = 0, bbank = 0, fbank = 0, dnode = 0, dst_x = 0, dst_y = 0, dbuf = 0, dflags = 0;
  std::uint32_t dack_y = 0, dack_x = 0, dmesh = 0, dfin = 0;
};
Words encode(const Cluster& inst);

Words encode_imem(std::uint32_t address, std::uint32_t word);
Words encode_base(std::uint32_t descriptor, std::uint64_t address);
// `dimension` 1 to 4.
Words encode_dimension(std::uint32_t descriptor, std::uint32_t dimension, std::int32_t stride,
                       std::uint32_t bound);
Words encode_run(std::uint32_t pc);

// Every field a vector word can have; an opcode takes those of its format.
struct Vector {
  std::uint32_t op = 0, sa = 0, sb = 0, sc = 0, vd = 0, va = 0, vb = 0, vc = 0, pr = 0, pm = 0;
  std::uint32_t kind = 0, dtype = 0, ad = 0;
  std::int32_t offset = 0;  // VLD, VST: signed, 14 bits; VFILL, VDRAIN: 9 bits
  std::uint32_t peer = 0, signal = 0, peer_x = 0, peer_y = 0, buffer = 0;
};
std::uint32_t encode(const Vector& word);

std::uint32_t encode_header(std::uint32_t dst_x, std::uint32_t dst_y, std::uint32_t src_x,
                            std::uint32_t src_y, std::uint32_t type, std::uint32_t txn, bool last);

}  // namespace ktpu::witness
