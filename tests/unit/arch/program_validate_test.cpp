// SPDX-License-Identifier: Apache-2.0
// What a program must keep to before anything runs it; each message names the part.
#include "arch/program/validate.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

std::string error_with(Action action) {
  Program p;
  p.needs.staging_flits = 128;
  p.steps = {{0, StepRound{"r"}}, {0, std::move(action)}};
  return error_of([&] { validate(p); });
}
std::string image_error(MemoryImage image) {
  Program p;
  p.images = {{0, std::move(image)}};
  return error_of([&] { validate(p); });
}

TEST(Validate, AcceptsEveryKind) {
  EXPECT_EQ(error_of([] { validate(everything()); }), "");
}

TEST(Validate, Steps) {
  EXPECT_EQ(error_with(StepKick{{1, 1}, 0, 0}), "step 1 (kick): count 0; allowed are 1..65535");
  EXPECT_EQ(error_with(StepKick{{1, 1}, 120, 9}),
            "step 1 (kick): slots 120..128, but the staging RAM of this program has 128 (0..127)");
  EXPECT_EQ(error_with(StepKick{{16, 1}, 0, 1}), "step 1 (kick): node (16,1); coordinates are 0..15");
  EXPECT_EQ(error_with(StepStage{0, {}}), "step 1 (stage): stages no flit");
  EXPECT_EQ(
      error_with(StepStage{0xFFFFFFFF, std::vector<Flit>(1)}),
      "step 1 (stage): slots 4294967295..4294967295, but the staging RAM of this program has 128 (0..127)");
  EXPECT_EQ(error_with(StepStage{0, {Flit{{0, 0, 0, 0, 1ull << 32}}}}),
            "step 1 (stage): flit 0 has bits above its 32-bit header");
  EXPECT_EQ(error_with(StepAwait{{1, 1}, 1}), "step 1 (await): node (1,1) has no baseline in this round");
  EXPECT_EQ(error_with(StepBaseline{}), "step 1 (baseline): names no node");
  EXPECT_EQ(error_with(StepWrite{0x41, 0}),
            "step 1 (write): register offset 0x41 is not a multiple of 8 below 0x10000");
  EXPECT_EQ(error_with(StepCommands{}), "step 1 (commands): the list is empty");
  EXPECT_EQ(error_with(StepCommands{{{1, 8, 0, 0}}}),
            "step 1 (commands): command 0: the list must end with DONE and hold no other");
  EXPECT_EQ(error_with(StepCommands{{{4, 8, 0, 0}, {3, 0, 0, 0}}}),
            "step 1 (commands): command 0: opcode 4; 1 WRITE, 2 POLL, 3 DONE exist");
  EXPECT_EQ(error_with(StepQuiet{0}), "step 1 (quiet): 0 cycles; allowed are 1..16777216");
  EXPECT_EQ(error_with(StepReset{kMaxWaitCycles + 1}),
            "step 1 (reset): 16777217 cycles; allowed are 1..16777216");
  EXPECT_EQ(
      error_with(StepWindow{true, 0x10, 0, {{}, 32}}),
      "step 1 (window): 32 bytes at 0x10: the window moves whole 32-byte words from 32-byte boundaries");
  EXPECT_EQ(error_with(StepWindow{true, 0x8400000000, 0, {{}, 130}}),
            "step 1 (window): 130 bytes at 0x8400000000: the window moves whole 32-byte words from 32-byte "
            "boundaries");
  EXPECT_EQ(error_with(StepPeStream{{1, 1}, 0, {}}), "step 1 (pe_stream): the stream is empty");
}

TEST(Validate, Relayouts) {
  const auto run = [](GatherRun g) { return error_with(StepRelayout{0, 256, {g}, "", ""}); };
  EXPECT_EQ(run({0, 4, 1, 8, 16}), "");
  EXPECT_EQ(run({-1, 4, 1, 1, 0}), "");
  EXPECT_EQ(run({0, 0, 1, 1, 0}), "step 1 (relayout): run 0: count 0 times 1; both are at least 1");
  EXPECT_EQ(run({-2, 1, 1, 1, 0}), "step 1 (relayout): run 0: source -2 or advance 0 out of range");
  EXPECT_EQ(run({3, 5, -1, 1, 0}), "step 1 (relayout): run 0: reads halfwords -1..3, outside 0..134217727");
  EXPECT_EQ(run({0, 0xFFFFFFFF, 1, 0xFFFFFFFF, 0}),
            "step 1 (relayout): run 0: more than 134217728 halfwords in all");
  EXPECT_EQ(run({0, 2, 1, 2, std::numeric_limits<std::int64_t>::max()}),
            "step 1 (relayout): run 0: source 0 or advance 9223372036854775807 out of range");
}

TEST(Validate, Images) {
  EXPECT_EQ(image_error({0, ImageBytes{}}), "image 0: holds no bytes");
  EXPECT_EQ(image_error({0, ImageBytes{{}, kMaxImageBytes + 1}}),
            "image 0: an image of 1073741825 bytes; at most 1073741824 are allowed");
  EXPECT_EQ(image_error({0, ImageBytes{{1, 2, 3}, 2}}), "image 0: size 2 is less than the 3 bytes given");
  EXPECT_EQ(image_error({0xFFFFFFFFFF, ImageBytes{{1, 2}, 0}}),
            "image 0: 2 bytes from address 0xffffffffff run past the 40-bit address space");
  EXPECT_EQ(image_error({~0ull, ImageBytes{{1}, 0}}),
            "image 0: 1 bytes from address 0xffffffffffffffff run past the 40-bit address space");
  EXPECT_NE(image_error({0, ImageLcg{~0ull, 1, 10, 0, false}}), "");
  EXPECT_EQ(image_error({0, ImageLcg{1, 1, 32, 0, false}}), "image 0: generator shift 32; allowed are 0..31");
  EXPECT_EQ(image_error({0, ImageLcg{1, 1, 10, std::numeric_limits<double>::infinity(), false}}),
            "image 0: generator offset is not a finite number");
  EXPECT_EQ(image_error({0, ImageTensor{{4, 1, 10, 0, false}, {2, 3}, "flat"}}),
            "image 0: the generator makes 4 values, the shape has 6");
  Program p;
  p.images = {{0, {0, ImageBytes{{}, kMaxImageBytes}}}, {0, {0, ImageBytes{{}, 1}}}};
  EXPECT_EQ(error_of([&] { validate(p); }), "image 1: images and loads together exceed 1073741824 bytes");
}

TEST(Validate, MeshesTensorsNeeds) {
  Program p;
  p.steps = {{1, StepQuiet{1}}};
  EXPECT_EQ(error_of([&] { validate(p); }), "step 0 (quiet): mesh 1; the program says it uses 1 (0..0)");
  p = {};
  p.needs.meshes = 5;
  EXPECT_EQ(error_of([&] { validate(p); }), "needs: meshes 5; allowed are 1..4");
  p = {};
  p.needs.memory = {{0, 4, 4}};
  EXPECT_EQ(error_of([&] { validate(p); }), "needs: memory 0x4..0x4 is no address range");
  p = {};
  p.inputs = {{"a", 0, 0, DType::kFp16, {4}, "flat"}, {"a", 0, 0, DType::kFp16, {4}, "flat"}};
  EXPECT_EQ(error_of([&] { validate(p); }), "input 1 (\"a\"): the name is used twice");
  p.inputs = {{"a", 0, 0, DType::kFp16, {4, 4}, "tiles:1x1"}};
  EXPECT_EQ(
      error_of([&] { validate(p); }),
      "input 0 (\"a\"): unknown layout \"tiles:1x1\": use flat, rows:C, entry:GxB, tile:IxJ:MxN, bias:N, "
      "conv:1:G, or batchC: before one");
  p.inputs = {{"a", 0, 0, static_cast<DType>(99), {4}, "flat"}};
  EXPECT_EQ(error_of([&] { validate(p); }), "input 0 (\"a\"): data type 99 is not known");
  p.inputs = {{"a", 0, 0, DType::kFp16, {0xFFFFFFFF, 0xFFFFFFFF}, "flat"}};
  EXPECT_NE(error_of([&] { validate(p); }), "");
}

}  // namespace
}  // namespace ktpu::arch
