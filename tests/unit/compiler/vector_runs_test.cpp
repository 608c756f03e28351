// SPDX-License-Identifier: Apache-2.0
// compiler.md sections 18.5 to 18.7: which statements share a program, how far each of its RUNs goes, and
// what policy best keeps within the result.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/compiler/schedule_maker.h"

namespace ktpu::schedule_to_program {
namespace {

TEST(Compiler18Runs, ResultsInOneBufferShareADrain) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1024), y = m.buffer(1024);
  Chain first = chain(y, LaneOp::kNeg, {memory(x)}, 256), second = chain(y, LaneOp::kAbs, {memory(x)}, 256);
  second.result.at = second.asked_at = 256;
  m.chains({first, second});
  const auto steps = vector_steps(m.lowered());
  EXPECT_EQ(runs(steps), 1u);
  // Descriptors: fill 0, load 1, store 2, drain 3 over both.
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const auto& s) {
    return s.is(arch::VectorOp::kDesc) && s.ad == 3 && s.fld == 1 && s.value == (32u << 16 | 32u);
  }));
  // Further apart they are two programs.
  second.result.at = second.asked_at = 512;
  m.schedule().stages.clear();
  m.chains({first, second});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
}

TEST(Compiler18Runs, DrainsOfSeveralRunsAreNotShared) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(4096), y = m.buffer(4096);
  Chain first = chain(y, LaneOp::kNeg, {memory(x)}, 2048), second = chain(y, LaneOp::kAbs, {memory(x)}, 2048);
  second.result.at = second.asked_at = 2048;
  m.chains({first, second});
  EXPECT_EQ(runs(vector_steps(m.lowered())),
            4u);  // else the second would land behind each batch of the first
}

TEST(Compiler18Runs, OtherLengthsOrRowsAreProgramsOfTheirOwn) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024);
  m.chains({chain(y, LaneOp::kNeg, {memory(x)}, 1024), chain(z, LaneOp::kAbs, {memory(x)}, 512)});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
  m.schedule().stages.clear();
  m.chains({chain(y, LaneOp::kRowSum, {memory(x)}, 1024, base::RowShape{8, 128}),
            chain(z, LaneOp::kRowMax, {memory(x)}, 1024, base::RowShape{16, 64})});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
}

TEST(Compiler18Runs, FoldsEndWithTheirRows) {
  Maker m;
  const auto x = m.buffer(8192), y = m.buffer(8192);
  m.chains({chain(y, LaneOp::kRowSum, {memory(x)}, 8192, base::RowShape{16, 128})});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 1u);  // padding is not folded
}

TEST(Compiler18Runs, AnInstanceBehindTheEnd) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024);
  m.chains({chain(y, LaneOp::kNeg, {memory(x)}, 0)});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 0u);
  EXPECT_FALSE(vector_steps(m.lowered()).empty());  // the reference loads it all the same
  m.schedule().policy = Policy::kBest;
  EXPECT_TRUE(vector_steps(m.lowered()).empty());
}

TEST(Compiler18Runs, AWalkHas256WordsAtMost) {
  Maker m;
  const auto y = m.buffer(5120);
  // 320 words of L1, all of them results.
  m.chains({chain(y, LaneOp::kRowSum, {constant(1.5)}, 5120, base::RowShape{40, 128})});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
}

// Where each RUN begins to read a spread: at its group, or within a buffer that is read over and over.
TEST(Compiler18Runs, SpreadsOverSeveralRuns) {
  const auto starts = [](std::uint64_t span, std::uint64_t period, std::uint64_t take, bool whole) {
    Maker m(Policy::kBest);
    const auto x = m.buffer(span), y = m.buffer(span);
    Leaf spread = memory(x);
    spread.period = period;
    spread.take = take;
    spread.whole = whole;
    m.chains({chain(y, LaneOp::kNeg, {spread}, span)});
    std::vector<std::uint64_t> at;
    const program::Program program = m.lowered();
    for (const auto& step : vector_steps(program))
      if (step.is(arch::VectorOp::kDesc) && step.ad == 0 && step.fld == 0)
        at.push_back((step.value - m[x].address->value()) / 2);
    return at;
  };
  using Starts = std::vector<std::uint64_t>;
  EXPECT_EQ(starts(16384, 8192, 128, false), (Starts{0, 0, 8192, 8192}));
  EXPECT_EQ(starts(16384, 4096, 128, false), (Starts{0, 4096, 8192, 12288}));
  EXPECT_EQ(starts(16384, 8192, 8192, true), (Starts{0, 4096, 0, 4096}));
  EXPECT_EQ(starts(8192, 256, 256, true), (Starts{0, 0}));
  EXPECT_EQ(starts(960, 960, 960, true), (Starts{0}));  // once: no matter that it is no whole steps
}

// A spread of a result is no register that is handed on: its fill would come before the store.
TEST(Compiler18Runs, OperandsAreFilledBeforeAnythingIsStored) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024);
  Leaf spread = memory(y);
  spread.period = 256;
  spread.take = 128;
  m.chains({chain(y, LaneOp::kNeg, {memory(x)}, 1024), chain(z, LaneOp::kAbs, {spread}, 1024)});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
  m.schedule().stages.clear();
  m.chains({chain(y, LaneOp::kNeg, {memory(x)}, 512), chain(z, LaneOp::kAbs, {memory(y, 256)}, 512)});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
}

// A buffer that is read over and over reaches further than the span.
TEST(Compiler18Runs, AWholeBufferReadAgainIsReadToItsEnd) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(2048), z = m.buffer(1024);
  Leaf again = memory(y);
  again.period = again.take = 2048;
  again.whole = true;
  Chain writer = chain(y, LaneOp::kNeg, {memory(x)}, 1024);
  writer.result.at = writer.asked_at = 1024;
  m.chains({writer, chain(z, LaneOp::kAbs, {again}, 1024)});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
}

TEST(Compiler18Runs, BestRemembersEveryEarlierProgram) {
  Maker m;
  const auto operands = [&] {
    return std::vector<Leaf>{memory(m.buffer(1024)), memory(m.buffer(1024)), memory(m.buffer(1024))};
  };
  const auto y = m.buffer(1024), z = m.buffer(1024), u = m.buffer(1024);
  std::vector<Leaf> last = operands();
  last[0] = memory(y);
  m.chains({chain(y, LaneOp::kAdd, operands(), 1024), chain(z, LaneOp::kAdd, operands(), 1024),
            chain(u, LaneOp::kAdd, last, 1024)});
  EXPECT_EQ(m.told().code, "");
  // One program in passes hands the result on.
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(m.told().code, "");
  EXPECT_EQ(runs(vector_steps(m.lowered())), 4u);  // eight operands and three results, twice a half
  // Not so another part of it.
  m.schedule().stages.clear();
  last[0] = memory(y, 16);
  m.chains({chain(y, LaneOp::kAdd, operands(), 1024), chain(z, LaneOp::kAdd, operands(), 1024),
            chain(u, LaneOp::kAdd, last, 1024)});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
}

TEST(Compiler18Runs, ACutBeforeAReaderOfItsResult) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024), u = m.buffer(1024),
             v = m.buffer(1024);
  const Chain first = chain(y, LaneOp::kAdd, {memory(x), memory(u), memory(v)}, 1024);
  m.chains({first, chain(z, LaneOp::kAdd, {memory(x), memory(u)}, 1024)});
  EXPECT_EQ(m.told().code, "");  // two programs that have nothing to do with each other
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
  m.schedule().stages.clear();
  m.chains({first, chain(z, LaneOp::kAdd, {memory(x), memory(y)}, 1024)});
  EXPECT_EQ(m.told().code, "RUN_CUT_READS_RESULT");
}

TEST(Compiler18Runs, OneStatementThatSeedsMakesAllSeed) {
  Maker m;
  const auto x = m.buffer(1024), y = m.buffer(1024), z = m.buffer(1024), array = m.buffer(1024);
  Leaf in_memory = constant(2.0);
  in_memory.array = array;
  const auto words_of = [&](const Leaf& other) {
    m.schedule().stages.clear();
    m.chains({chain(y, LaneOp::kMul, {memory(x), in_memory}, 1024),
              chain(z, LaneOp::kAdd, {memory(x), other}, 1024)});
    const program::Program program = m.lowered();
    std::vector<std::uint64_t> bases;
    for (const auto& step : vector_steps(program))
      if (step.is(arch::VectorOp::kDesc) && step.fld == 0) bases.push_back(step.value);
    return std::count(bases.begin(), bases.end(), m[array].address->value());
  };
  EXPECT_EQ(words_of(in_memory), 1);
  EXPECT_EQ(words_of(constant(3.0)), 0);
}

// --- Policy best: nothing is stored behind a result.
TEST(Compiler18Best, StoresEndWithTheResult) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(800), y = m.buffer(800);
  std::vector<std::vector<Statement>> instances;
  for (const std::uint64_t at : {0, 400}) {
    Chain c = chain(y, LaneOp::kNeg, {memory(x, at)}, 400);
    c.result.at = at;
    instances.push_back({c});
  }
  m.stage(UnitType::kVector, instances);
  const program::Program best = m.lowered();
  // 400 = 5 steps of 80: four steps of 128 would run into the second half, whose core may have finished.
  EXPECT_EQ(vector_steps(best)[1].word, 80u);
  m.schedule().policy = Policy::kCompat;
  EXPECT_EQ(vector_steps(m.lowered())[1].word, 128u);
  // The last part of a buffer ends in its padding.
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(vector_steps(best, 1)[1].word, 128u);
}

TEST(Compiler18Best, RunsOfEvenLength) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(1792), y = m.buffer(1792);
  m.chains({chain(y, LaneOp::kNeg, {memory(x)}, 1792)});
  // 14 steps are 7 and 7, not 8 and 6 with two of them behind the end. Descriptor 0 fills.
  const auto fills = [&] {
    std::vector<std::uint64_t> bounds;
    for (const auto& step : vector_steps(m.lowered()))
      if (step.is(arch::VectorOp::kDesc) && step.ad == 0 && step.fld == 1)
        bounds.push_back(step.value & 0xFFFF);
    return bounds;
  };
  EXPECT_EQ(fills(), std::vector<std::uint64_t>{7 * 8});
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
  m.schedule().policy = Policy::kCompat;
  EXPECT_EQ(fills(), std::vector<std::uint64_t>{8 * 8});
}

// Six arrays of eight steps are 384 words of L1, which can't be used; of five they are 240.
TEST(Compiler18Best, FewerStepsWhereL1IsFull) {
  Maker m;
  const auto x = m.buffer(1280);
  std::vector<Chain> statements;
  for (int i = 0; i < 5; ++i) statements.push_back(chain(m.buffer(1280), LaneOp::kNeg, {memory(x)}, 1280));
  m.chains(statements);
  EXPECT_EQ(runs(vector_steps(m.lowered())), 4u);  // two programs
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);
}

TEST(Compiler18Best, PartsThatEndInsideAMemoryWord) {
  Maker m(Policy::kBest);
  const auto x = m.buffer(200), y = m.buffer(200);
  std::vector<std::vector<Statement>> instances;
  for (const std::uint64_t at : {0, 100}) {
    Chain c = chain(y, LaneOp::kNeg, {memory(x, at)}, 100);
    c.result.at = at;
    instances.push_back({c});
  }
  m.stage(UnitType::kVector, {instances[0]});
  EXPECT_EQ(m.told().code, "RUN_PAST_END");
  m.schedule().stages.clear();
  m.stage(UnitType::kVector, {instances[1]});
  EXPECT_EQ(m.told().code, "PART_UNALIGNED");
}

TEST(Compiler18Best, FewerRowsWhereTheImageIsFull) {
  Maker m;
  const auto x = m.buffer(1600), y = m.buffer(1600);
  Chain c = chain(y, LaneOp::kRowSum, {memory(x)}, 1600, base::RowShape{100, 16});
  c.reduce = true;
  m.chains({c});
  EXPECT_EQ(m.told().code, "IMAGE_TOO_LONG");
  m.schedule().policy = Policy::kBest;
  EXPECT_EQ(runs(vector_steps(m.lowered())), 2u);  // 50 rows each
}

}  // namespace
}  // namespace ktpu::schedule_to_program
