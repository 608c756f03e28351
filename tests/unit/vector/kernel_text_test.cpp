// SPDX-License-Identifier: Apache-2.0
// The complete kernel of vector.md section 15, from text to its completion signal.
#include <gtest/gtest.h>

#include "apps/ktpu-check/vector_rig.h"
#include "arch/encoding/vector_inst.h"
#include "arch/program/text.h"

namespace ktpu::test {
namespace {

constexpr const char* kStage = R"(stage 0 {
  kernel {
   relu:
    VSETI S0, int 64
    VSETI S4, 1.5
    VSETI S5, -0.25
    VSETI S6, 0.0
    VSETVL S0
    VSETMODE FLAT
    VBCAST v1, S4
    VBCAST v2, S5
    VBCAST v3, S6
    VFILL A0, 0
    VBAR
    VLD.fp16 v0, A1
    VFMA v7, v0, v1, v2
    VMAX v7, v7, v3
    VST.fp16 v7, A2
    VDRAIN A3, 4
    VHALT
  }
  desc A1.base=0
  desc A1.dim0=(1,4)
  desc A2.base=4
  desc A2.dim0=(1,4)
  desc A0.dim0=(32,4)
  desc A3.dim0=(32,4)
  desc A0.base=0x80001000
  desc A3.base=0x80002000
  run relu
}
)";

// Payloads as the section prints them: first digits, zeros, last digits.
constexpr std::pair<const char*, const char*> kPayloads[] = {
    {"1000", "d0000000"},      {"1008", "00000040"},      {"1010", "d0080000"},
    {"1018", "003fc000"},      {"1020", "d00a0000"},      {"1028", "00be8000"},
    {"1030", "d00c0000"},      {"1038", "00000000"},      {"1040", "c0000000"},
    {"1048", "c8000000"},      {"1050", "b2028000"},      {"1058", "b204a000"},
    {"1060", "b206c000"},      {"1068", "e8000000"},      {"1070", "e0000000"},
    {"1078", "a1200000"},      {"1080", "300e0240"},      {"1088", "400ee600"},
    {"1090", "a94e0000"},      {"1098", "f0600004"},      {"10a0", "f8000000"},
    {"2200000000000000", "0"}, {"2240001000400000", "0"}, {"2400000000400000", "0"},
    {"2440001000400000", "0"}, {"2040020000400000", "0"}, {"2640020000400000", "0"},
    {"2008000100000000", "0"}, {"2608000200000000", "0"}, {"3000000000000000", "0"},
};

std::vector<arch::Flit> envelopes() {
  const arch::Program p = arch::assemble(kStage, "section 15");
  return std::get<arch::StepStage>(p.steps.at(0).action).flits;
}

TEST(VectorKernelText, Vector_S15_PayloadOfEveryEnvelope) {
  const std::vector<arch::Flit> flits = envelopes();
  ASSERT_EQ(flits.size(), std::size(kPayloads));
  for (std::size_t i = 0; i < flits.size(); ++i) {
    const std::string front = kPayloads[i].first, back = kPayloads[i].second;
    EXPECT_EQ(arch::to_hex(flits[i]).substr(8),
              front + std::string(64 - front.size() - back.size(), '0') + back)
        << i;
  }
}

TEST(VectorKernelText, Vector_S15_ResultAndSignal) {
  check::VectorRig rig(check::VectorRig::recorded_params());
  std::vector<std::uint16_t> x(64, 0x3C00);  // 1.0 -> 1.25
  x[0] = 0xC400;
  x[1] = 0x7BFF;
  x[2] = 0x8000;
  x[61] = 0x4400;
  for (unsigned i = 0; i < 64; ++i)
    rig.memory[0x80001000 / 32 + i / 16][i % 16 / 4] |= std::uint64_t{x[i]} << 16 * (i % 4);
  for (const arch::Flit& f : envelopes()) {
    const auto inst = arch::unpack<arch::VectorInst>(f);
    if (inst.is(arch::VectorOp::kImem)) rig.write_imem(inst.addr, std::span(&inst.word, 1));
    if (inst.is(arch::VectorOp::kDesc)) rig.write_descriptor(inst.ad, inst.fld, inst.value);
  }
  const check::VectorRig::Result r = rig.run(0);
  ASSERT_TRUE(r.completed);
  EXPECT_EQ(r.code, 0u);
  EXPECT_EQ(r.arg, 283u);
  EXPECT_EQ(r.signalled - r.accepted, 293u);
  auto y = [&](unsigned i) {
    return static_cast<std::uint16_t>(rig.memory[0x80002000 / 32 + i / 16][i % 16 / 4] >> 16 * (i % 4));
  };
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(y(i), i == 0 || i == 2 ? 0 : i == 1 ? 0x7BFF : i == 61 ? 0x45C0 : 0x3D00) << i;
}

}  // namespace
}  // namespace ktpu::test
