// SPDX-License-Identifier: Apache-2.0
// compiler.md section 19: the encoder and its witness agree bit for bit on random instructions.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "compiler/bytes/encode.h"
#include "tests/unit/compiler/witness_encoder.h"

namespace ktpu::bytes {
namespace {

constexpr int kInstructions = 1'000'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) { std::cout << "seed " << seed << "\n"; }
  std::uint32_t bits(unsigned count) { return static_cast<std::uint32_t>(engine_() >> (64 - count)); }
  std::uint64_t address() { return engine_() >> 24; }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

 private:
  std::mt19937_64 engine_;
};

TEST(Compiler19Witness, ClusterInstructions) {
  const std::uint64_t seed = 190'001;
  Random random(seed);
  for (int i = 0; i < kInstructions; ++i) {
    witness::Cluster w;
    arch::ClusterInst p;
    p.op = w.op = 1 + random.below(3);
    p.addr = w.addr = random.address();
    p.n = w.n = w.op == 1 ? random.bits(8) : random.bits(16);
    p.sel = w.sel = random.bits(1);
    p.acc = w.acc = random.bits(1);
    p.gm = w.gm = random.bits(8);
    p.gn = w.gn = random.bits(8);
    p.nk = w.nk = random.bits(8);
    p.anchor = w.anchor = random.bits(8);
    p.peer0 = w.peers[0] = random.bits(8);
    p.peer1 = w.peers[1] = random.bits(8);
    p.peer2 = w.peers[2] = random.bits(8);
    p.npeer = w.npeer = random.bits(2);
    p.preq = w.preq = random.bits(1);
    p.eoff = w.eoff = random.bits(8);
    p.aoff = w.aoff = random.bits(8);
    p.boff = w.boff = random.bits(8);
    p.emit = w.emit = random.bits(1);
    p.fuse = w.fuse = random.bits(1);
    p.abank = w.abank = random.bits(1);
    p.bbank = w.bbank = random.bits(1);
    p.fbank = w.fbank = random.bits(1);
    p.dnode = w.dnode = random.bits(1);
    p.dst_x = w.dst_x = random.bits(4);
    p.dst_y = w.dst_y = random.bits(4);
    p.dbuf = w.dbuf = random.bits(8);
    p.dflags = w.dflags = random.bits(8);
    p.dack_y = w.dack_y = random.bits(4);
    p.dack_x = w.dack_x = random.bits(4);
    p.dmesh = w.dmesh = random.bits(2);
    p.dfin = w.dfin = random.bits(8);
    ASSERT_EQ(encode(p).w, witness::encode(w)) << "seed " << seed << ", instruction " << i;
  }
}

TEST(Compiler19Witness, VectorInstructions) {
  const std::uint64_t seed = 190'002;
  Random random(seed);
  for (int i = 0; i < kInstructions; ++i) {
    arch::VectorInst p;
    witness::Words expected{};
    switch (random.below(4)) {
      case 0:
        p.op = 1;
        p.addr = random.bits(9);
        p.word = random.bits(32);
        expected = witness::encode_imem(p.addr, p.word);
        break;
      case 1:
        p.op = 2;
        p.ad = random.bits(3);
        p.value = random.address();
        expected = witness::encode_base(p.ad, p.value);
        break;
      case 2: {
        const std::int32_t stride = static_cast<std::int32_t>(random.bits(18)) - (1 << 17);
        const std::uint32_t bound = random.bits(16);
        p.op = 2;
        p.ad = random.bits(3);
        p.fld = 1 + random.below(4);
        p.value = std::uint64_t{static_cast<std::uint32_t>(stride) & 0x3'FFFFu} << 16 | bound;
        expected = witness::encode_dimension(p.ad, p.fld, stride, bound);
        break;
      }
      default:
        p.op = 3;
        p.addr = random.bits(9);
        expected = witness::encode_run(p.addr);
        break;
    }
    ASSERT_EQ(encode(p).w, expected) << "seed " << seed << ", instruction " << i;
  }
}

TEST(Compiler19Witness, VectorWords) {
  const std::uint64_t seed = 190'003;
  Random random(seed);
  for (int i = 0; i < kInstructions; ++i) {
    witness::Vector w;
    arch::VectorWord p;
    p.op = w.op = random.bits(5);
    p.sa = w.sa = random.bits(2);
    p.sb = w.sb = random.bits(2);
    p.sc = w.sc = random.bits(2);
    p.vd = w.vd = random.bits(4);
    p.va = w.va = random.bits(4);
    p.vb = w.vb = random.bits(4);
    p.vc = w.vc = random.bits(4);
    p.pr = w.pr = random.bits(2);
    p.pm = w.pm = random.bits(2);
    p.kind = w.kind = random.bits(3);
    p.dtype = w.dtype = random.bits(3);
    p.ad = w.ad = random.bits(3);
    p.offset = random.bits(w.op == 0x1D || w.op == 0x1E ? 9 : 14);
    w.offset = static_cast<std::int32_t>(p.offset);
    p.peer = w.peer = random.bits(1);
    p.signal = w.signal = random.bits(1);
    p.peer_x = w.peer_x = random.bits(4);
    p.peer_y = w.peer_y = random.bits(4);
    p.buf = w.buffer = random.bits(4);
    ASSERT_EQ(encode(p), witness::encode(w)) << "seed " << seed << ", word " << i << ", op " << w.op;
  }
}

TEST(Compiler19Witness, Headers) {
  const std::uint64_t seed = 190'004;
  Random random(seed);
  for (int i = 0; i < kInstructions; ++i) {
    const arch::Coord to = arch::Coord::from_node_byte(random.bits(8)),
                      from = arch::Coord::from_node_byte(random.bits(8));
    const std::uint32_t type = random.bits(4), txn = random.bits(8);
    const bool last = random.bits(1) != 0;
    ASSERT_EQ(arch::make_header(to, from, static_cast<arch::FlitType>(type), txn, last),
              witness::encode_header(to.x, to.y, from.x, from.y, type, txn, last))
        << "seed " << seed << ", header " << i;
  }
}

}  // namespace
}  // namespace ktpu::bytes
