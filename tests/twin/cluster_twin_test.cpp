// SPDX-License-Identifier: Apache-2.0
// Cluster model and SystemVerilog cluster, every output wire of every cycle.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/twin/lockstep_cluster.h"

namespace ktpu::test {
namespace {

void print(const char* what, const Compared& c) {
  std::printf("%s: %llu cycles, %llu values compared, %llu flits, 0 mismatches\n", what,
              static_cast<unsigned long long>(c.cycles), static_cast<unsigned long long>(c.values),
              static_cast<unsigned long long>(c.flits));
}

// The shortest whole program: two fills, one sweep of one sub-tile, its drain.
TEST(ClusterTwin, FillFillGemmDrain) {
  Program p;
  p.seed = 1;
  p.params = default_params();
  p.script = {{0, inst_flit(fill(1, 0, 0x1000))},
              {0, inst_flit(fill(1, 1, 0x2000))},
              {0, inst_flit(gemm(1, 1, 1))},
              {0, inst_flit(drain(1, false, 0x3000), 0x41, true)}};
  const Compared c = run_lockstep(p, 400);
  EXPECT_EQ(c.flits, 2u + 2u + 4u);  // requests, the burst, completions
  print("thin path", c);
}

// No link moves during a long sweep: the watchdog sees by progress() that it goes on, with any
// implementation.
TEST(ClusterTwin, ProgressOfASweep) {
  LockstepBench<> b;
  std::mt19937_64 rng(1);
  serve_fills(b, rng, false);
  b.send(0, inst_flit(fill(32, 0, 0x1000)));
  b.send(0, inst_flit(fill(32, 1, 0x8000)));
  b.send(0, inst_flit(gemm(8, 8, 4)));
  b.run(450);
  for (Cycle end = 455; end <= 480; end += 5) {
    const std::uint64_t model = b.pair().progress(), twin = b.pair().twin().progress();
    b.run(end);
    EXPECT_GT(b.pair().progress(), model) << "cycle " << end;
    EXPECT_GT(b.pair().twin().progress(), twin) << "cycle " << end;
  }
  b.run(1000);
  const std::uint64_t model = b.pair().progress(), twin = b.pair().twin().progress();
  b.run(1100);
  EXPECT_EQ(b.pair().progress(), model);
  EXPECT_EQ(b.pair().twin().progress(), twin);
}

// Once nothing goes on, both sides say so: a program that waits for ever is found by that.
TEST(ClusterTwin, RestsWhenThereIsNothingToDo) {
  LockstepBench<> b;
  b.far().sleeps = true;
  std::mt19937_64 rng(1);
  serve_fills(b, rng, false);
  for (const Flit& flit :
       {inst_flit(fill(2, 0)), inst_flit(fill(2, 1)), inst_flit(gemm(2, 2, 1)), inst_flit(drain(4), 7, true)})
    b.send(0, flit);
  b.run(2000);
  EXPECT_FALSE(b.far().seen.empty());
  EXPECT_EQ(b.engine().next_wanted(), sim::kNever);
}

// `make(seed)` for many seeds; the first difference ends it.
template <class Make>
Compared campaign(const char* what, std::uint64_t first, std::uint64_t last, Cycle cycles, bool wild,
                  const Make& make) {
  Compared all;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    try {
      all += run_lockstep(make(seed), cycles, wild);
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ", seed " << seed << ": " << error.what();
      break;
    }
  }
  print(what, all);
  return all;
}

TEST(ClusterTwin, RandomPrograms) {
  const Compared c = campaign("random programs", 1, 300, 3000, false, [](std::uint64_t seed) {
    Program p = random_program(seed);
    p.params.quirks = seed % 3 != 0;
    return p;
  });
  EXPECT_GT(c.flits, 10000u);
}

TEST(ClusterTwin, WildPrograms) {
  const Compared c = campaign("wild programs", 1, 400, 6000, true, wild_program);
  EXPECT_GT(c.flits, 40000u);
}

TEST(ClusterTwin, EdgesOfTheAdder) {
  const Compared c = campaign("edges of the adder", 1, 100, 2400, false, accumulator_program);
  EXPECT_GT(c.flits, 40000u);  // all four rounds came back
}

TEST(ClusterTwin, SharedFills) { campaign("shared fills", 1, 300, 600, true, shared_fill_program); }

// A reset in the middle of whatever goes on. Tiles are not reset and what was under way is lost, so every
// program loads its tiles anew.
TEST(ClusterTwin, Resets) {
  Compared all;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Program p = wild_program(seed);
    p.params.inst_depth = 4 + seed % 9;  // room for the program after the reset
    LockstepBench<> b(p.params);
    std::mt19937_64 rng(seed);
    serve_fills(b, rng, true);
    for (const auto& [at, flit] : p.script) b.send(at, flit);
    b.run(40 + rng() % 400);
    b.far().forget();
    b.engine().reset();
    const Cycle again = b.engine().now();
    ClusterInst d = drain(4);
    b.far().send(again + 20, inst_flit(fill(2, 0)));
    b.far().send(again + 20, inst_flit(fill(2, 1)));
    b.far().send(again + 20, inst_flit(gemm(2, 2, 1)));
    b.far().send(again + 20, inst_flit(d, 7, true));
    b.engine().run_until(again + 800);
    all += {b.pair().compared_cycles(), b.pair().compared_values(), b.far().seen.size()};
    ASSERT_FALSE(b.far().seen.empty());
    EXPECT_EQ(b.far().seen.back().flit.type(), FlitType::kCuSignal) << "seed " << seed;
  }
  print("resets", all);
}

TEST(ClusterTwin, SizesItIsNotBuiltForAreRefused) {
  sim::FlitLink in("in", arch::kFlitBits), out("out", arch::kFlitBits);
  const auto refused = [&](auto change) {
    cluster::ClusterParams p = default_params();
    change(p);
    EXPECT_THROW(rtl::ClusterTwin("cluster", p, {&in, &out}), arch::UserError);
  };
  refused([](auto& p) { p.tiles = 8192; });
  refused([](auto& p) { p.tiles = 48; });
  refused([](auto& p) { p.l1_a = 1024; });
  refused([](auto& p) { p.l1_b = 0; });
  refused([](auto& p) { p.acc_mw = 16; });
  refused([](auto& p) { p.inst_depth = 513; });
  refused([](auto& p) { p.recv_depth = 0; });
}

// A sweep and a peer stream that do not see each other (cluster.md section 9.4), and the same with C1 closed.
TEST(ClusterTwin, TheHole) {
  campaign("the hole", 1, 100, 1500, false, hole_program);
  campaign("the hole, closed", 1, 50, 1500, false, [](std::uint64_t seed) {
    Program p = hole_program(seed);
    p.params.quirks = false;
    return p;
  });
}

}  // namespace
}  // namespace ktpu::test
