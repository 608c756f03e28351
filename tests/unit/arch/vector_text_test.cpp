// SPDX-License-Identifier: Apache-2.0
// Vector kernels in the program text (vector.md sections 3, 5, 7, 10, 11, 15).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "arch/program/text.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

// A program whose stage block goes to a vector core.
std::string program(const std::string& stage, std::size_t slots = 1) {
  return fmt::format("unit vector_core (1,0)\nstage 0 {{\n{}}}\nkick (1,0) slots=0..{}\n", stage, slots - 1);
}
std::vector<Flit> flits(const std::string& stage) {
  const Program p = assemble(program(stage), "f.kasm");
  return std::get<StepStage>(p.steps.at(0).action).flits;
}
std::vector<std::uint32_t> words(const std::string& kernel) {
  if (kernel.empty()) return {};
  std::vector<std::uint32_t> out;
  for (const Flit& f : flits(fmt::format("kernel {{\n{}\n}}\n", kernel)))
    out.push_back(unpack<VectorInst>(f).word);
  return out;
}
std::string text(std::vector<Flit> stage) {
  Program p;
  p.needs.units = {{0, {1, 0}, "vector_core", 0, 0, 0, 0}};
  const auto count = static_cast<std::uint32_t>(stage.size());
  p.steps = {{0, StepStage{0, std::move(stage)}}, {0, StepKick{{1, 0}, 0, count}}};
  return disassemble(p);
}
Flit imem(std::uint32_t at, std::uint32_t word) {
  VectorInst i;
  i.op = static_cast<std::uint32_t>(VectorOp::kImem);
  i.addr = at;
  i.word = word;
  return make_flit(make_header({}, {}, FlitType::kCuInst, 0x40, false), i);
}
std::string listing(const std::vector<std::uint32_t>& kernel) {
  std::vector<Flit> stage;
  for (std::size_t i = 0; i < kernel.size(); ++i)
    stage.push_back(imem(static_cast<std::uint32_t>(i), kernel[i]));
  return text(std::move(stage));
}
std::string message(const std::string& kernel) {
  return error_of([&] { words(kernel); });
}

struct Example {
  const char* before;  // lines it stands behind
  const char* text;
  std::vector<std::uint32_t> words;  // its own
};
const std::vector<Example> kExamples{
    {"", "VADD v2, v0, v1 b=v1", {0x18040220}},
    {"", "VFMA v7, v0, v1, v2", {0x300E0240}},
    {"", "VFMA v5, v3, S4, S5", {0x30AA68A0}},
    {"", "VSUB v9, K1, v9", {0x26122120}},
    {"", "VMAX v7, v7, v3", {0x400EE600}},
    {"", "VEXP2 v4, v4", {0x70088000}},
    {"", "VRSQRT v6, v5", {0x880CA000}},
    {"", "VCMPGT P0, v0, K3 c=K3", {0x61E00660}},
    {"", "VCMPLT P1, v0, S4", {0x58800808}},
    {"", "VMOV v2, v0 where P0", {0x00040002}},
    {"", "VMOV v2, v1 where not P3", {0x0004201C}},
    {"VSETMODE D2", "VMUL v3, v0, K1", {0x29E60200}},
    {"VSETMODE D2\nVMUL v3, v0, K1", "VADD v3, C, K1 b=K1", {0x1DE60220}},
    {"", "VSETI S0, int 128", {0xD0000000, 0x00000080}},
    {"", "VSETI K3, 64.0", {0xD6000000, 0x00428000}},
    {"", "VSETVL S0", {0xC0000000}},
    {"", "VSETMODE FLAT", {0xC8000000}},
    {"", "VSETMODE D2", {0xC8002000}},
    {"", "VSETMODE D4", {0xC8004000}},
    {"", "VSETMODE TREE", {0xC8006000}},
    {"", "VLOOP S4, 3", {0xD8008600}},
    {"", "VLD.fp16 v0, A1", {0xA1200000}},
    {"", "VLD.fp32 v3, A2, -8", {0xA2463FF8}},
    {"", "VST.fp16 v2, A3", {0xA9640000}},
    {"", "VFILL A0, 16", {0xE8000010}},
    {"", "VDRAIN A4, 0", {0xF0800000}},
    {"", "VDRAIN A1, 64 to=(3,3) signal", {0xF3266040}},
    {"", "VRED.SUM S1, v0", {0x98020000}},
    {"", "VRED.SUMSQ S1, v4", {0x98028860}},
    {"", "VRED.DOT S1, v4, v5", {0x98028A80}},
    {"", "VRED.EXPSUM S2, v1, v3", {0x980426A0}},
    {"", "VRED.ANY S3, P0", {0x980600C0}},
    {"", "VRED.ALL S4, P1", {0x980800E8}},
    {"", "VBCAST v4, S1", {0xB2082000}},
    {"", "VBCAST S6, v1", {0xB00C2000}},
    {"", "VSHUF v2, v0, S3", {0xB8040600}},
    {"", "VCVT.fp16 v3, v0", {0x91060000}},
    {"", "VBAR", {0xE0000000}},
    {"", "VHALT", {0xF8000000}},
};

TEST(VectorText, Vector_S11_EveryWorkedEncodingAssembles) {
  for (const Example& e : kExamples) {
    const std::vector<std::uint32_t> before = words(e.before),
                                     all = words(fmt::format("{}\n{}", e.before, e.text));
    EXPECT_EQ(std::vector<std::uint32_t>(all.begin() + static_cast<std::ptrdiff_t>(before.size()), all.end()),
              e.words)
        << e.text;
  }
}

TEST(VectorText, Vector_S11_EveryWorkedEncodingIsListed) {
  for (const Example& e : kExamples) {
    std::vector<std::uint32_t> kernel = words(e.before);
    kernel.insert(kernel.end(), e.words.begin(), e.words.end());
    while (kernel.size() < 8) kernel.push_back(0xF8000000);
    const std::string t = listing(kernel);
    // A loop names the label behind its body.
    const std::string line = e.text == std::string_view("VLOOP S4, 3") ? "VLOOP S4, end4" : e.text;
    EXPECT_NE(t.find(fmt::format("\n    {} ", line)), std::string::npos) << e.text << '\n' << t;
  }
}

TEST(VectorText, Vector_S15_ShortBody) {
  EXPECT_EQ(words("VFMA v7, v0, S4, S5\nVMAX v7, v7, K0 c=v0"),
            (std::vector<std::uint32_t>{0x30AE08A0, 0x418EE000}));
}

// vector.md 7: a V in a slot that a chain word ignores would fault, so such slots hold K0.
TEST(VectorText, Vector_S7_UnusedSlotsOfAChainAreConstants) {
  const auto w = words("VSETMODE D4\nVMOV C, v0\nVEXP2 C, C\nVINV C, C\nVNEG v1, C\nVMOV v2, v3\n");
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(decode_vector_word(w[i]).sb, 3u) << i;
    EXPECT_EQ(decode_vector_word(w[i]).sc, 3u) << i;
    EXPECT_EQ(decode_vector_word(w[i]).vb, 0u) << i;
  }
  // Nothing is known about the mode here, but C stands in a chain only.
  EXPECT_EQ(decode_vector_word(words("VMOV v1, C")[0]).sb, 3u);
  EXPECT_EQ(decode_vector_word(words(".mode D2\nVMOV v1, v0")[0]).sb, 3u);
  EXPECT_EQ(decode_vector_word(words("VSETMODE D2\nVSETMODE FLAT\nVMOV v1, v0")[1 + 1]).sb, 0u);
}

TEST(VectorText, Vector_S3_5_ConstantsAreExactUnlessAskedFor) {
  auto constant = [](const std::string& c) { return words(fmt::format("VSETI S0, {}", c)).at(1); };
  EXPECT_EQ(constant("1.5"), 0x3FC000u);
  EXPECT_EQ(constant("-0.25"), 0xBE8000u);
  EXPECT_EQ(constant("0.0"), 0u);
  EXPECT_EQ(constant("-0.0"), 0x800000u);
  EXPECT_EQ(constant("1e0"), 0x3F8000u);
  EXPECT_EQ(constant("inf"), 0x7F8000u);
  EXPECT_EQ(constant("-inf"), 0xFF8000u);
  EXPECT_EQ(constant("nan"), 0x7FC000u);
  EXPECT_EQ(constant("int 64"), 64u);
  EXPECT_EQ(constant("0x3fc000"), 0x3FC000u);
  EXPECT_EQ(constant("round 0.1"), 0x3DCCCDu);  // FP32 3dcccccd
  EXPECT_EQ(constant("trunc 0.1"), 0x3DCCCCu);
  EXPECT_EQ(constant("round -0.1"), 0xBDCCCDu);
  EXPECT_EQ(
      message("VSETI S0, 0.1"),
      "f.kasm:4:11: 0.1 is between two numbers of the format; `round 0.1` gives the nearest, `trunc 0.1` "
      "the one towards zero");
  EXPECT_EQ(message("VSETI S0, 64"),
            "f.kasm:4:11: 64 may be the number 64.0 or the count `int 64`: write which");
  EXPECT_EQ(message("VSETI S0, 1e39"), "f.kasm:4:11: 1e39 is outside the range of the format");
  EXPECT_EQ(message("VSETI S0, round 1e-40"), "f.kasm:4:17: 1e-40 is outside the range of the format");
  EXPECT_EQ(message("VSETI S0, round 3.4028235e38"),
            "f.kasm:4:17: 3.4028235e38 is outside the range of the format");
  EXPECT_EQ(message("VSETI S0, 0x1000000"), "f.kasm:4:11: 0x1000000 does not fit 24 bits");
  EXPECT_EQ(message("VSETI K1, 1.0"), "f.kasm:4:7: K1 is fixed; only K3 can be written");
}

// Every 24-bit constant of a VSETI comes back from its text.
TEST(VectorText, Vector_S3_5_ConstantsComeBack) {
  constexpr std::uint64_t kSeed = 43;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  std::vector<std::uint32_t> kernel;
  for (int n = 0; n < 100; ++n) {
    kernel.clear();
    while (kernel.size() < 500) {
      kernel.push_back(0xD0000000);
      kernel.push_back(random() & (random() % 2 ? 0xFFFFFF : 0xFFF000));
    }
    const std::string t = listing(kernel);
    const std::size_t begin = t.find("{\n", t.find("kernel")) + 2;
    EXPECT_EQ(words(t.substr(begin, t.find("\n  }", begin) - begin)), kernel);
  }
}

TEST(VectorText, Vector_S10_LoopsEndAtALabel) {
  EXPECT_EQ(words("VLOOP S4, done\nVBAR\nVSETI S1, int 2\ndone:\nVHALT")[0], 0xD8008600u);
  EXPECT_EQ(message("VLOOP S4, dome\ndone:\nVHALT"),
            "f.kasm:4:11: no label \"dome\" in this block; did you mean \"done\"?");
  EXPECT_EQ(message("top:\nVBAR\nVLOOP S4, top"),
            "f.kasm:6:11: the body would be words 2..-1; VLOOP repeats the 0 to 15 words behind it");
  EXPECT_EQ(message("VLOOP S4, 16"), "f.kasm:4:11: the length of the loop 16 is above 15");
  EXPECT_EQ(message("a:\na:\n"), "f.kasm:5:1: label \"a\" stands at word 0 already");
}

TEST(VectorText, Vector_S5_Descriptors) {
  const auto f = flits("desc A3 base=0x2000000040 dims=[(32,4), (-1,65535)] txn=7 last\n");
  ASSERT_EQ(f.size(), 5u);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto d = unpack<VectorInst>(f[i]);
    EXPECT_EQ(d.op, 2u);
    EXPECT_EQ(d.ad, 3u);
    EXPECT_EQ(d.fld, i);
    EXPECT_EQ(f[i].txn(), 7u);
    EXPECT_EQ(f[i].last(), i == 4);
  }
  EXPECT_EQ(unpack<VectorInst>(f[0]).value, 0x2000000040u);
  EXPECT_EQ(unpack<VectorInst>(f[1]).value, 32u << 16 | 4);
  EXPECT_EQ(unpack<VectorInst>(f[2]).value, 0x3FFFFull << 16 | 65535);
  EXPECT_EQ(unpack<VectorInst>(f[4]).value, 1u);
  EXPECT_NE(text(f).find("\n  desc A3 base=0x2000000040 dims=[(32,4), (-1,65535)] txn=0x7 last\n"),
            std::string::npos)
      << text(f);
}

// vector.md 5.5: the base of a drain to a node says where the words go.
TEST(VectorText, Vector_S5_5_PeerRecord) {
  const auto f = flits(
      "kernel {\nVDRAIN A2, 8 to=(3,0) buf=1\nVHALT\n}\n"
      "desc A2 peer offset=64 ack=(5,6) mesh=2 final=(3,4) dims=[(0,16)]\n");
  EXPECT_EQ(unpack<VectorInst>(f[2]).value, 0x10E650040u) << std::hex << unpack<VectorInst>(f[2]).value;
  EXPECT_NE(text(f).find("\n  desc A2 peer offset=0x40 ack=(5,6) mesh=2 final=(3,4) dims=[(0,16)]\n"),
            std::string::npos)
      << text(f);
}

TEST(VectorText, Vector_S7_GroupsAreBracketed) {
  const std::string t =
      listing(words("VSETMODE D2\nVMUL C, v0, K1\nVADD v3, C, K1\nVSETMODE FLAT\nVMUL v3, v0, v1"));
  EXPECT_NE(t.find(" D2 [\n    VADD v3, C, K1"), std::string::npos) << t;
  EXPECT_NE(t.find(" D2 ]\n    VSETMODE FLAT"), std::string::npos) << t;
}

TEST(VectorText, RunNamesTheEntry) {
  const std::string stage =
      "kernel at=8 {\nfirst:\nVHALT\nsecond:\nVBAR\nVHALT\n}\nrun second last\nrun 8\nrun addr=3\nrun\n";
  const auto f = flits(stage);
  EXPECT_EQ(unpack<VectorInst>(f[3]).addr, 9u);
  EXPECT_TRUE(f[3].last());
  const std::string t = text(f);
  EXPECT_NE(t.find("   entry9:\n"), std::string::npos) << t;
  EXPECT_NE(t.find("\n  run entry9 last\n  run entry8\n  run addr=3\n  run\n"), std::string::npos) << t;
  EXPECT_EQ(error_of([] { flits("kernel {\nfirst:\nVHALT\n}\nrun frist\n"); }),
            "f.kasm:7:5: no kernel above has a label \"frist\"; did you mean \"first\"?");
}

TEST(VectorText, NamesStandForRegistersAndNumbers) {
  EXPECT_EQ(words(".equ x = v0\n.equ scale = S4\n.equ rows = 0x10\nVFMA v5, x, scale, S5\nVFILL A0, rows"),
            (std::vector<std::uint32_t>{0x30AA08A0, 0xE8000010}));
  EXPECT_EQ(message(".equ v1 = v0"),
            "f.kasm:4:6: \"v1\" can't be a name: letters, digits and _, no register");
  EXPECT_EQ(message(".equ scale = S4\nVSETVL scael"),
            "f.kasm:5:8: S0..S15 expected, not \"scael\"; did you mean \"scale\"?");
}

TEST(VectorText, ErrorsHavePlaceCauseAndCure) {
  EXPECT_EQ(message("VFAM v7, v0, v1, v2"),
            "f.kasm:4:1: \"VFAM\" is no instruction of the vector core; did you mean \"VFMA\"?");
  EXPECT_EQ(message("vmul v7, v0, v1"),
            "f.kasm:4:1: \"vmul\" is no instruction of the vector core; did you mean \"VMUL\"?");
  EXPECT_EQ(message("VLD v0, A1"), "f.kasm:4:1: VLD wants a memory type: VLD.fp16 or VLD.fp32");
  EXPECT_EQ(
      message("VRED.SUN S0, v1"),
      "f.kasm:4:1: VRED wants a kind: VRED.SUM VRED.MAX VRED.MIN VRED.SUMSQ VRED.DOT VRED.EXPSUM VRED.ANY "
      "VRED.ALL; did you mean \"VRED.SUM\"?");
  EXPECT_EQ(message("VADD v16, v0, v1"), "f.kasm:4:6: v0..v15 or C expected, not \"v16\"");
  EXPECT_EQ(message("VADD v1, v0"), "f.kasm:4:12: ',' expected, not the end of the line");
  EXPECT_EQ(message("VADD v1, v0, K4"), "f.kasm:4:14: v0..v15, S0..S15, K0..K3 or C expected, not \"K4\"");
  EXPECT_EQ(message("VADD v1, v0, v1, v2"), "f.kasm:4:16: VADD should end here, but \",\" follows");
  EXPECT_EQ(
      message("VADD v1, v0, v1 wher P0"),
      "f.kasm:4:17: \"wher\" is not known here (allowed: `where P0`, `where not P0`, fields VADD does not "
      "use); did you mean \"where\"?");
  EXPECT_EQ(message("VCMPLT P0, v0, v1 where P1"),
            "f.kasm:4:19: a compare writes every active element: no `where`");
  EXPECT_EQ(message("VLD.fp16 v0, A8"), "f.kasm:4:14: A0..A7 expected, not \"A8\"");
  EXPECT_EQ(message("VLD.fp16 v0, A1, 8192"), "f.kasm:4:18: offset 8192 is outside -8192..8191");
  EXPECT_EQ(message("VSETMODE D3"),
            "f.kasm:4:10: \"D3\" is no lane mode (FLAT D2 D4 TREE); did you mean \"D2\"?");
  EXPECT_EQ(
      message("VSETMODE D2\nVMUL C, v0, K1\nVBAR"),
      "f.kasm:6:1: stage 1 of a chain must be arithmetic; the lanes take VBAR for another operation (quirk "
      "V10)");
  EXPECT_EQ(
      message(".word 0xd0000000\nVBAR"),
      "f.kasm:5:1: the word behind a VSETI is its constant: write it with .word, or VSETI S0, CONSTANT");
  EXPECT_EQ(message(".wrd 0"),
            "f.kasm:4:1: \".wrd\" is no directive (.word .equ .mode); did you mean \".word\"?");
  auto stage = [](const std::string& s) { return error_of([&] { flits(s); }); };
  EXPECT_EQ(stage("kernel at=511 {\nVBAR\nVHALT\n}\n"),
            "f.kasm:5:1: word 512: the instruction memory ends at 511");
  EXPECT_EQ(stage("kernel att=4 {\n}\n"),
            "f.kasm:3:8: at, txn, last or '{' expected, not \"att\"; did you mean \"at\"?");
  EXPECT_EQ(stage("desc A8 base=0\n"),
            "f.kasm:3:6: A0..A7 expected, or one field as A0.base, A0.dim0 to A0.dim3, not \"A8\"");
  EXPECT_EQ(stage("desc A1 dims=[(1,1)]\n"),
            "f.kasm:3:6: a descriptor wants either base=ADDRESS or peer and its fields");
  EXPECT_EQ(stage("desc A1.bas=0\n"),
            "f.kasm:3:6: a descriptor has the fields base dim0 dim1 dim2 dim3, not \"bas\"; did you mean "
            "\"base\"?");
  EXPECT_EQ(stage("desc A1 base=0 dims=[(1,1) (1,1)]\n"), "f.kasm:3:28: ',' expected, not \"(\"");
  EXPECT_EQ(stage("desc A1 base=0 dims=[(131072,1)]\n"),
            "f.kasm:3:23: stride 131072 is outside -131072..131071");
}

// Programs of random envelopes: whole random words, words of one opcode, and words that mean something.
TEST(VectorText, RandomProgramsComeBack) {
  constexpr std::uint64_t kSeed = 47;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int n = 0; n < 1500; ++n) {
    std::vector<Flit> stage;
    const std::uint32_t txn = below(2) * 0x40;
    const std::uint32_t count = 1 + below(60);
    while (stage.size() < count) {
      VectorInst i;
      i.op = 1 + below(3);
      i.ad = below(8);
      if (i.is(VectorOp::kImem)) {
        i.addr = below(500);
        for (std::uint32_t words = 1 + below(30); words > 0 && i.addr < 512; --words, ++i.addr) {
          VectorWord w = decode_vector_word(static_cast<std::uint32_t>(random()));
          if (below(2)) w.rest = 0;
          if (below(3)) w.va &= 3, w.vb &= 3, w.vc &= 3, w.pm &= 1;
          if (below(4) == 0) w.op = static_cast<std::uint32_t>(VectorOpcode::kVsetmode);
          i.word = encode_vector_word(w);
          if (below(8) == 0) i.word &= 0xFFFFFF;
          stage.push_back(make_flit(make_header({}, {}, FlitType::kCuInst, txn, below(20) == 0), i));
        }
        continue;
      }
      const std::uint32_t fields = i.is(VectorOp::kRun) ? 1 : 1 + below(6);
      i.addr = below(512);
      for (i.fld = below(4) ? 0 : below(8); i.fld < fields; ++i.fld) {
        i.value = random() & (below(2) ? 0xFFFFFFFFFF : 0x3FFFFFFFF);
        if (below(2)) i.value &= 0x10001;
        stage.push_back(make_flit(make_header({}, {}, FlitType::kCuInst, txn, below(20) == 0), i));
      }
    }
    const std::string t = text(stage);
    const Program again = assemble(t, "again");
    ASSERT_EQ(std::get<StepStage>(again.steps.at(0).action).flits, stage) << t;
    ASSERT_EQ(disassemble(again), t);
  }
}

// Damaged kernels are refused with a place or are programs.
TEST(VectorText, MutantsAreRefusedWithAPlaceOrValid) {
  constexpr std::uint64_t kSeed = 53;
  std::cout << "seed " << kSeed << '\n';
  std::mt19937_64 random(kSeed);
  std::string body;
  for (const Example& e : kExamples) body += fmt::format("{}\n{}\n", e.before, e.text);
  const std::string good =
      program(fmt::format("kernel at=3 {{\n.mode FLAT\nVSETMODE FLAT\nentry:\n{}}}\ndesc A1 peer offset=1 "
                          "dims=[(1,2)]\nrun entry last\n",
                          // Examples of chains leave a group open.
                          body.substr(body.find("VSETI"))));
  ASSERT_EQ(error_of([&] { assemble(good, "f.kasm"); }), "");
  constexpr std::string_view kBytes = "{}()[],=&#\"\\0x9-.\n avSKC\x80";
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string mutant = good;
    for (int n = static_cast<int>(random() % 3); n >= 0; --n) {
      const std::size_t at = random() % mutant.size();
      if (random() % 3 == 0)
        mutant.erase(at, 1 + random() % 40);
      else
        mutant[at] = kBytes[random() % kBytes.size()];
    }
    Program p;
    const std::string problem = error_of([&] { p = assemble(mutant, "f.kasm"); });
    refused += !problem.empty();
    if (problem.empty())
      ASSERT_EQ(assemble(disassemble(p), "again"), p) << mutant;
    else
      ASSERT_TRUE(problem.starts_with("f.kasm:")) << problem;
  }
  EXPECT_GT(refused, 500);
}

// Every vector word the reference compiler sends has words of its own here, and comes back.
TEST(VectorText, RecordedKernelsComeBack) {
  const char* from_environment = std::getenv("KTPU_VECTORS");
  const std::filesystem::path folder =
      (from_environment ? std::filesystem::path(from_environment)
                        : std::filesystem::path(KTPU_SOURCE_DIR).parent_path() / "shared" / "vectors") /
      "compiler";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "vectors not found: " << folder;
  std::size_t kernels = 0, raw = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    std::vector<Flit> stage;
    auto check = [&] {
      if (stage.empty()) return;
      const std::string t = text(stage);
      ASSERT_EQ(std::get<StepStage>(assemble(t, "again").steps.at(0).action).flits, stage)
          << entry.path() << '\n'
          << t;
      for (std::size_t at = t.find("kernel"); at != std::string::npos; at = t.find("kernel", at + 1))
        ++kernels;
      for (std::size_t at = t.find(".word"); at != std::string::npos; at = t.find(".word", at + 1)) {
        if (raw++ < 5)
          std::cout << entry.path().filename() << ": " << t.substr(at, t.find('\n', at) - at) << '\n';
      }
      stage.clear();
    };
    // Vector words are quoted, 68 digits; a pause in the row of them ends a kick.
    std::size_t behind = 0;
    for (std::size_t at = json.find("\"54"); at != std::string::npos; at = json.find("\"54", at + 1)) {
      if (at + 69 >= json.size() || json[at + 69] != '"') continue;
      const std::string digits = json.substr(at + 1, 68);
      if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
      if (at != behind) check();
      stage.push_back(flit_from_hex("0000" + digits));
      behind = at + 71;
      if (HasFatalFailure()) return;
    }
    check();
  }
  std::cout << kernels << " kernels, " << raw << " raw words\n";
  EXPECT_GT(kernels, 100u);
  EXPECT_EQ(raw, 0u);
}

}  // namespace
}  // namespace ktpu::arch
