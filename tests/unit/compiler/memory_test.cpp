// SPDX-License-Identifier: Apache-2.0
// compiler.md section 24.
#include <gtest/gtest.h>

#include "compiler/schedule/arena.h"
#include "compiler/schedule/lifetime.h"
#include "compiler/schedule/read_guard.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::schedule {
namespace {

TEST(CompilerSec24, TheSmallestSpanThatFitsThenTheLowest) {
  Arena arena(0x1000, 0x1000, 16);
  const Address wide = arena.allocate(64);
  arena.allocate(1);
  const Address low = arena.allocate(32);
  arena.allocate(1);
  const Address high = arena.allocate(32);
  EXPECT_EQ(arena.allocate(0).value(), 0x1000u + 64 + 16 + 32 + 16 + 32);  // nothing takes one unit too
  arena.release(wide);
  arena.release(high);
  arena.release(low);
  EXPECT_EQ(arena.verify(), "");
  EXPECT_EQ(arena.allocate(17), low);  // both of 32 fit as well as each other
  EXPECT_EQ(arena.allocate(32), high);
  EXPECT_EQ(arena.allocate(16), wide);  // the rest of it stays free
  EXPECT_EQ(arena.stats().free_spans, 1u);
  EXPECT_EQ(arena.stats().live, 6u);
  EXPECT_EQ(arena.verify(), "");
}

TEST(CompilerSec24, FreedNeighboursJoin) {
  Arena arena(0, 1024, 16);
  const Address a = arena.allocate(16), b = arena.allocate(16), c = arena.allocate(16);
  const Address end = arena.allocate(16);
  arena.release(a);
  arena.release(c);
  arena.release(b);
  EXPECT_EQ(arena.stats().free_spans, 1u);
  EXPECT_EQ(arena.verify(), "");
  EXPECT_EQ(arena.allocate(48), a);
  EXPECT_EQ(arena.trim(), 0u);
  arena.release(end);
  EXPECT_EQ(arena.trim(), 16u);
  EXPECT_EQ(arena.stats().peak, 64u);
  EXPECT_EQ(arena.print(), "0x0 48 live\n0x30 976 untouched\n");
}

TEST(CompilerSec24, VoidAddressesAreRefused) {
  Arena arena(0, 1024, 16);
  const Address a = arena.allocate(16);
  arena.release(a);
  EXPECT_NE(refusal([&] { arena.release(a); }), "");
  const Address old = arena.allocate(16);
  arena.reset();
  EXPECT_EQ(arena.allocate(16).value(), old.value());
  EXPECT_NE(refusal([&] { arena.release(old); }), "");  // of another epoch
  EXPECT_NE(refusal([] { Arena(8, 1024, 16); }), "");
}

TEST(CompilerSec24, ACallThatDoesNotFitIsRefusedBeforeItTakesAnything) {
  Arena arena(0, 1024, 16);
  arena.allocate(512);
  EXPECT_EQ(arena.footprint(std::vector<std::uint64_t>{200, 200}), 928u);
  EXPECT_THROW(arena.footprint(std::vector<std::uint64_t>{200, 400}), OutOfMemory);
  EXPECT_THROW(arena.allocate(~std::uint64_t{0}), OutOfMemory);
  EXPECT_EQ(arena.stats().used, 512u);
  EXPECT_EQ(arena.stats().peak, 512u);
}

using Stages = std::vector<StageAccess>;

TEST(CompilerSec24, LifetimesRunFromTheFirstWriteToTheLastAccess) {
  const Stages stages{{{"in"}, {"a"}}, {{"a"}, {"b"}}, {{"b", "own"}, {"own", "dead"}}, {{"a"}, {}}};
  const std::vector<ScratchBuffer> buffers{{"a", 1},   {"b", 1},    {"in", 1},
                                           {"own", 1}, {"dead", 1}, {"none", 1}};
  const auto life = lifetimes(stages, buffers);
  EXPECT_EQ(life.at("a"), (Lifetime{0, 3}));
  EXPECT_EQ(life.at("b"), (Lifetime{1, 2}));
  for (const char* whole : {"in", "own", "dead", "none"})
    EXPECT_EQ(life.at(whole), (Lifetime{0, 3})) << whole;
  EXPECT_NE(refusal([&] { lifetimes(stages, std::vector<ScratchBuffer>{{"a", 1}, {"a", 2}}); }), "");
}

TEST(CompilerSec24, ABlockReusesWhatHasEnded) {
  const Stages stages{{{}, {"a"}}, {{"a"}, {"b"}}, {{"b"}, {"c", "d"}}, {{"c", "d"}, {}}};
  const std::vector<ScratchBuffer> buffers{{"a", 33}, {"b", 16}, {"c", 16}, {"d", 20}};
  const ScratchBlock block = pack(stages, buffers, 16);
  EXPECT_EQ(block.find("a")->offset, 0u);
  EXPECT_EQ(block.find("b")->offset, 48u);
  EXPECT_EQ(block.find("c")->offset, 0u);
  EXPECT_EQ(block.find("d")->offset, 16u);
  EXPECT_EQ(block.bytes, 64u);
  EXPECT_EQ(block.verify(), "");
  EXPECT_NE(block.print().find("d at 16, 32 bytes, stages 2 to 3"), std::string::npos);
}

// A free span at the end of the block that is too short does not grow: vectors misc/memory/pack.
TEST(CompilerSec24, AShortSpanAtTheEndDoesNotGrow) {
  const Stages stages{{{}, {"a"}}, {{"a"}, {"b"}}, {{"b"}, {}}};
  const ScratchBlock block = pack(stages, std::vector<ScratchBuffer>{{"a", 16}, {"b", 32}}, 16);
  EXPECT_EQ(block.find("b")->offset, 16u);
  const Stages later{{{}, {"a"}}, {{"a"}, {}}, {{}, {"b"}}, {{"b"}, {}}};
  EXPECT_EQ(pack(later, std::vector<ScratchBuffer>{{"a", 16}, {"b", 32}}, 16).bytes, 48u);
}

TEST(CompilerSec24, VerifyFindsSharedBytes) {
  ScratchBlock block{16, 64, {{"a", 0, 32, {0, 2}}, {"b", 32, 16, {0, 1}}, {"c", 16, 16, {2, 3}}}};
  EXPECT_EQ(block.verify(), "stage 2: a and c share byte 16");
  block.placements[2].life.first = 3;
  EXPECT_EQ(block.verify(), "");
  block.placements[1].offset = 56;
  EXPECT_NE(block.verify(), "");
}

TEST(CompilerSec24, BytesThatAnotherWriteTookAreNotRead) {
  const Stages stages{{{}, {"a"}}, {{"a"}, {"b"}}, {{"b"}, {"c"}}, {{"c"}, {}}};
  ReadGuard guard(pack(stages, std::vector<ScratchBuffer>{{"a", 16}, {"b", 16}, {"c", 16}}, 16));
  guard.wrote("a");
  guard.wrote("b");
  EXPECT_EQ(refusal([&] { guard.read("a"); }), "");
  guard.wrote("c");
  EXPECT_NE(refusal([&] { guard.read("a"); }).find("a cannot be read: c has been written"),
            std::string::npos);
  EXPECT_EQ(guard.print(), "a taken by c\n");
  EXPECT_EQ(refusal([&] { guard.read("b"); }), "");
  guard.wrote("a");
  EXPECT_EQ(refusal([&] { guard.read("a"); }), "");
}

}  // namespace
}  // namespace ktpu::schedule
