// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/witness_encoder.h"

namespace ktpu::witness {
namespace {

// Bits high..low of the flit.
void put(Words& words, unsigned high, unsigned low, std::uint64_t value) {
  for (unsigned bit = low; bit <= high; ++bit)
    if ((value >> (bit - low) & 1) != 0) words[bit / 64] |= 1ull << bit % 64;
}

std::uint32_t at(std::uint32_t value, unsigned high, unsigned low) {
  const std::uint32_t mask = high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1;
  return (value & mask) << low;
}

// A word of a vector core travels with type 5 and transaction 0x40.
Words vector_flit() {
  Words words{};
  words[4] = encode_header(0, 0, 0, 0, 5, 0x40, false);
  return words;
}

}  // namespace

Words encode(const Cluster& i) {
  Words w{};
  put(w, 255, 252, i.op);
  put(w, 251, 218, i.addr & 0x3'FFFF'FFFF);
  put(w, 217, 202, i.n);
  put(w, 201, 201, i.sel);
  put(w, 200, 200, i.acc);
  put(w, 199, 192, i.gm);
  put(w, 191, 184, i.gn);
  put(w, 183, 176, i.nk);
  put(w, 175, 168, i.anchor);
  put(w, 167, 160, i.peers[2]);
  put(w, 159, 152, i.peers[1]);
  put(w, 151, 144, i.peers[0]);
  put(w, 143, 142, i.npeer);
  put(w, 141, 141, i.preq);
  put(w, 140, 133, i.eoff);
  put(w, 132, 125, i.aoff);
  put(w, 124, 117, i.boff);
  put(w, 116, 116, i.emit);
  put(w, 115, 115, i.fuse);
  put(w, 114, 114, i.abank);
  put(w, 113, 113, i.bbank);
  put(w, 112, 112, i.fbank);
  put(w, 111, 111, i.dnode);
  put(w, 110, 107, i.dst_x);
  put(w, 106, 103, i.dst_y);
  put(w, 102, 95, i.dbuf);
  put(w, 94, 87, i.dflags);
  put(w, 86, 83, i.dack_y);
  put(w, 82, 79, i.dack_x);
  put(w, 78, 77, i.dmesh);
  put(w, 76, 69, i.dfin);
  put(w, 68, 63, i.addr >> 34);
  return w;
}

Words encode_imem(std::uint32_t address, std::uint32_t word) {
  Words w = vector_flit();
  put(w, 255, 252, 1);
  put(w, 251, 243, address);
  put(w, 31, 0, word);
  return w;
}

Words encode_base(std::uint32_t descriptor, std::uint64_t address) {
  Words w = vector_flit();
  put(w, 255, 252, 2);
  put(w, 251, 249, descriptor);
  put(w, 245, 212, address & 0x3'FFFF'FFFF);
  put(w, 68, 63, address >> 34);
  return w;
}

Words encode_dimension(std::uint32_t descriptor, std::uint32_t dimension, std::int32_t stride,
                       std::uint32_t bound) {
  Words w = vector_flit();
  put(w, 255, 252, 2);
  put(w, 251, 249, descriptor);
  put(w, 248, 246, dimension);
  put(w, 245, 228, static_cast<std::uint32_t>(stride) & 0x3'FFFF);
  put(w, 227, 212, bound);
  return w;
}

Words encode_run(std::uint32_t pc) {
  Words w = vector_flit();
  put(w, 255, 252, 3);
  put(w, 251, 243, pc);
  return w;
}

std::uint32_t encode(const Vector& v) {
  std::uint32_t w = at(v.op, 31, 27);
  switch (v.op) {
    default:  // 0x00 to 0x11, arithmetic
      return w | at(v.sa, 26, 25) | at(v.sb, 24, 23) | at(v.sc, 22, 21) | at(v.vd, 20, 17) |
             at(v.va, 16, 13) | at(v.vb, 12, 9) | at(v.vc, 8, 5) | at(v.pr, 4, 3) | at(v.pm, 2, 1);
    case 0x12:  // VCVT
      return w | at(v.dtype, 26, 24) | at(v.vd, 20, 17) | at(v.va, 16, 13);
    case 0x13:  // VRED
      return w | at(v.vd, 20, 17) | at(v.va, 16, 13) | at(v.vb, 12, 9) | at(v.kind, 7, 5) | at(v.pr, 4, 3);
    case 0x14:  // VLD
    case 0x15:  // VST
      return w | at(v.dtype, 26, 24) | at(v.ad, 23, 21) | at(v.vd, 20, 17) |
             at(static_cast<std::uint32_t>(v.offset), 13, 0);
    case 0x16:  // VBCAST
      return w | at(v.sa, 26, 25) | at(v.vd, 20, 17) | at(v.va, 16, 13);
    case 0x17:  // VSHUF
      return w | at(v.vd, 20, 17) | at(v.va, 16, 13) | at(v.vb, 12, 9);
    case 0x18:  // VSETVL
    case 0x19:  // VSETMODE
      return w | at(v.va, 16, 13);
    case 0x1A:  // VSETI
      return w | at(v.sa, 26, 25) | at(v.vd, 20, 17);
    case 0x1B:  // VLOOP
      return w | at(v.va, 16, 13) | at(v.vb, 12, 9);
    case 0x1C:  // VBAR
    case 0x1F:  // VHALT
      return w;
    case 0x1D:  // VFILL
      return w | at(v.ad, 23, 21) | at(static_cast<std::uint32_t>(v.offset), 8, 0);
    case 0x1E:  // VDRAIN
      w |= at(v.ad, 23, 21) | at(static_cast<std::uint32_t>(v.offset), 8, 0);
      return w | at(v.signal, 25, 25) | at(v.peer, 24, 24) | at(v.peer_x, 20, 17) | at(v.peer_y, 16, 13) |
             at(v.buffer, 12, 9);
  }
}

std::uint32_t encode_header(std::uint32_t dst_x, std::uint32_t dst_y, std::uint32_t src_x,
                            std::uint32_t src_y, std::uint32_t type, std::uint32_t txn, bool last) {
  return at(dst_x, 31, 28) | at(dst_y, 27, 24) | at(src_x, 23, 20) | at(src_y, 19, 16) | at(type, 15, 12) |
         at(txn, 11, 4) | at(last ? 1 : 0, 3, 3);
}

}  // namespace ktpu::witness
