// SPDX-License-Identifier: Apache-2.0
// compiler.md section 19: encoders, against a packer by hand that shares no table with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "arch/error.h"
#include "compiler/bytes/encode.h"
#include "compiler/bytes/inst_format.h"

namespace ktpu::bytes {
namespace {

using Values = std::map<std::string, std::uint64_t>;

// Bits are put in one by one from the top, in the order and with the widths of the specification.
class HandPacker {
 public:
  HandPacker& put(std::uint64_t value, unsigned width) {
    for (unsigned bit = width; bit-- > 0;) bits_ += static_cast<char>('0' + (value >> bit & 1));
    return *this;
  }
  arch::Flit flit() {
    bits_.resize(256, '0');
    arch::Flit flit;
    for (unsigned i = 0; i < 256; ++i)
      if (bits_[i] == '1') flit.w[(255 - i) / 64] |= 1ull << (255 - i) % 64;
    return flit;
  }

 private:
  std::string bits_;
};

arch::Flit by_hand(unsigned op, const Values& v) {
  HandPacker p;
  p.put(op, 4).put(v.at("addr"), 34).put(v.at("n"), 16).put(v.at("sel"), 1).put(v.at("acc"), 1);
  p.put(v.at("gm"), 8).put(v.at("gn"), 8).put(v.at("nk"), 8).put(v.at("anchor"), 8).put(v.at("peers"), 24);
  p.put(v.at("npeer"), 2).put(v.at("preq"), 1).put(v.at("eoff"), 8).put(v.at("aoff"), 8);
  p.put(v.at("boff"), 8).put(v.at("emit"), 1).put(v.at("fuse"), 1).put(v.at("abank"), 1);
  p.put(v.at("bbank"), 1).put(v.at("fbank"), 1).put(v.at("dnode"), 1).put(v.at("dst_x"), 4);
  p.put(v.at("dst_y"), 4).put(v.at("dbuf"), 8).put(v.at("dflags"), 8).put(v.at("dack_y"), 4);
  p.put(v.at("dack_x"), 4).put(v.at("dmesh"), 2).put(v.at("dfin"), 8).put(v.at("addr_hi"), 6);
  return p.flit();
}

TEST(Compiler19, RandomClusterFieldsAsPackedByHand) {
  std::mt19937_64 random(19);
  unsigned op = 0;
  for (const InstFormat& format : cluster_set().formats()) {
    ++op;
    for (int i = 0; i < 300; ++i) {
      Values values;
      std::vector<InstFormat::Value> given;
      for (const auto& f : format.fields()) {
        const std::uint64_t value = random() & ((1ull << f.width) - 1);
        values[f.name] = value;
        given.push_back({f.name, static_cast<std::int64_t>(value)});
      }
      const arch::Flit word = format.encode(given);
      ASSERT_EQ(arch::to_hex(word), arch::to_hex(by_hand(op, values)));
      ASSERT_EQ(cluster_set().find(word), &format);
      const auto decoded = format.decode(word);
      for (std::size_t f = 0; f < decoded.size(); ++f)
        ASSERT_EQ(decoded[f], values.at(format.fields()[f].name)) << format.fields()[f].name;
    }
  }
}

TEST(Compiler19, DefaultsAreBlocksOfOneAndAnchor40) {
  const arch::Flit word = cluster_set().find("GEMM")->encode({});
  EXPECT_EQ(arch::to_hex(word), "000000002000000000000000000128" + std::string(42, '0'));
}

TEST(Compiler19, VectorEnvelopesAsPackedByHand) {
  std::mt19937_64 random(190);
  for (int i = 0; i < 300; ++i) {
    const auto small = static_cast<std::uint32_t>(random());
    const std::uint64_t base = random() & ((1ull << 40) - 1);
    arch::VectorInst imem, desc, run;
    imem.op = 1;
    imem.addr = small % 512;
    imem.word = small;
    desc.op = 2;
    desc.ad = small % 8;
    desc.fld = small / 8 % 5;
    desc.value = base;
    run.op = 3;
    run.addr = small % 512;
    const auto with_header = [](HandPacker& p) {
      arch::Flit flit = p.flit();
      flit.w[4] = 0x5400;
      return arch::to_hex(flit);
    };
    HandPacker a, b, c;
    a.put(1, 4).put(imem.addr, 9).put(0, 211).put(small, 32);
    b.put(2, 4).put(desc.ad, 3).put(desc.fld, 3).put(base, 34).put(0, 143).put(base >> 34, 6);
    c.put(3, 4).put(run.addr, 9);
    ASSERT_EQ(arch::to_hex(encode(imem)), with_header(a));
    ASSERT_EQ(arch::to_hex(encode(desc)), with_header(b));
    ASSERT_EQ(arch::to_hex(encode(run)), with_header(c));
  }
}

TEST(Compiler19, AnotherOpcodeIsNotDecoded) {
  const arch::Flit drain = cluster_set().find("DRAIN")->encode({});
  EXPECT_FALSE(cluster_set().find("FILL")->matches(drain));
  EXPECT_THROW(cluster_set().find("FILL")->decode(drain), arch::UserError);
  EXPECT_EQ(cluster_set().find(arch::Flit{}), nullptr);
  EXPECT_EQ(cluster_set().find("NOP"), nullptr);
}

TEST(Compiler19, DisassemblyNamesEveryFieldButConstants) {
  const InstFormat* run = vector_set().find("RUN");
  const InstFormat::Value pc{"addr", 17};
  EXPECT_EQ(run->disassemble(run->encode(std::span(&pc, 1))), "RUN addr=0x11");
  EXPECT_EQ(vector_set().find("DESC")->disassemble(vector_set().find("DESC")->encode({})),
            "DESC ad=0x0 fld=0x0 value=0x0 value_hi=0x0");
}

TEST(Compiler19, ValuesOutsideTheirFieldAreRefused) {
  const InstFormat* gemm = cluster_set().find("GEMM");
  for (const InstFormat::Value bad :
       {InstFormat::Value{"gm", 256}, {"gm", -1}, {"addr", 1ll << 34}, {"peer0", 1}, {"op", 2}})
    EXPECT_THROW(gemm->encode(std::span(&bad, 1)), arch::UserError) << bad.name;
}

TEST(Compiler25, WhatTheBitsCannotSayIsRefused) {
  arch::ClusterInst fill;
  fill.op = 1;
  fill.n = 255;
  fill.addr = (1ull << 40) - 1;
  EXPECT_NO_THROW(encode(fill));
  EXPECT_EQ(arch::unpack<arch::ClusterInst>(encode(fill)), fill);
  const auto refused = [&](auto&& change) {
    arch::ClusterInst inst = fill;
    change(inst);
    EXPECT_THROW(encode(inst), arch::UserError);
  };
  refused([](auto& i) { i.n = 256; });
  refused([](auto& i) { i.addr = 1ull << 40; });
  refused([](auto& i) { i.addr = ~0ull; });
  refused([](auto& i) { i.npeer = 4; });
  refused([](auto& i) { i.peer1 = 256; });
  refused([](auto& i) { i.op = 16; });
  fill.op = 3;
  fill.n = 4096;  // a DRAIN may
  EXPECT_NO_THROW(encode(fill));
  arch::VectorInst desc;
  desc.op = 2;
  desc.value = 1ull << 40;
  EXPECT_THROW(encode(desc), arch::UserError);
  arch::VectorWord word;
  word.vd = 16;
  EXPECT_THROW(encode(word), arch::UserError);
}

TEST(Compiler19, ConstantsAreCutNotRounded) {
  EXPECT_EQ(constant_bits(1.0), 0x3F8000u);
  EXPECT_EQ(constant_bits(1.0 + 0xFF * 0x1p-23), 0x3F8000u);
  EXPECT_EQ(constant_bits(-1.0 - 0x1FF * 0x1p-23), 0xBF8001u);
}

}  // namespace
}  // namespace ktpu::bytes
