// SPDX-License-Identifier: Apache-2.0
// Router model and SystemVerilog router, every output wire of every cycle, on random traffic with random
// stalls.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "rtl_models/rtl_failure.h"
#include "tests/twin/campaign.h"
#include "tests/twin/lockstep_mesh.h"
#include "tests/twin/single_router.h"
#include "tests/unit/traffic/noc_vectors.h"

namespace ktpu::test {
namespace {

TEST(RouterTwin, LockstepShort) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) run_single(seed, 20000, 32);
}

TEST(RouterTwin, LockstepOfOddDepths) {
  for (const std::uint32_t depth : {1u, 2u, 3u, 5u, 16u, 511u, 512u}) run_single(depth, 4000, depth);
}

// Corner, edge and interior routers of several grids, in lock-step at the same time: every turn mask and
// every kind of route. Rates rise and fall with the slot, so that queues fill in some places only.
void run_mesh(const noc::Grid& grid, std::uint32_t depth, sim::Cycle cycles) {
  const std::uint64_t seed = grid.x_hi * 100 + grid.y_hi * 10 + depth;
  SCOPED_TRACE(fmt::format("grid {}..{} x {}..{} depth {} seed {}", grid.x_lo, grid.x_hi, grid.y_lo,
                           grid.y_hi, depth, seed));
  sim::Random random(seed);
  TrafficMesh mesh(
      grid, depth,
      [&](std::size_t s, arch::Coord) {
        traffic::NodeParams params;
        params.random.emplace();
        params.random->rate = s % 3 == 0 ? 0.5 : 0.1;
        params.random->seed = seed;
        params.random->destinations = all_slots(grid);
        params.busy = random_busy(random, s % 2 == 0 ? 0.3 : 0.05);
        return params;
      },
      lockstep_router<>);
  mesh.engine.run_until(cycles);
  for (auto& router : mesh.routers()) {
    auto& pair = dynamic_cast<sim::Lockstep&>(*router);
    pair.require_compared();
    EXPECT_EQ(pair.compared_cycles(), cycles) << pair.name();
  }
  EXPECT_EQ(mesh.checker.violations(), 0u);
  for (const auto& node : mesh.nodes()) {
    EXPECT_EQ(node->out_of_order(), 0u) << node->name();
    EXPECT_EQ(node->misdelivered(), 0u) << node->name();
    EXPECT_GT(node->delivered(), cycles / 100) << node->name();
  }
}

TEST(RouterTwin, LockstepOfEveryPosition) {
  run_mesh({1, 3, 1, 3}, 4, 4000);
  run_mesh({1, 2, 1, 2}, 32, 4000);
  run_mesh({1, 1, 1, 3}, 2, 4000);
  run_mesh({1, 3, 1, 1}, 8, 4000);
  run_mesh({3, 5, 2, 4}, 8, 2000);  // a rectangle that does not start at 1
  run_mesh({1, 14, 1, 1}, 4, 1000);
  run_mesh({1, 1, 1, 14}, 4, 1000);
}

// Flits that ask for a turn that dimension order never makes wedge their input in model and RTL alike.
TEST(RouterTwin, LockstepOfSuppressedTurns) {
  const noc::Grid grid{1, 3, 1, 3};
  std::size_t wedged = 0, wedged_legal = 0;
  for (std::uint8_t x = 1; x <= 3; ++x)
    for (std::uint8_t y = 1; y <= 3; ++y) {
      const noc::RouterParams params{{x, y}, grid, sim::FifoShape::sync(4)};
      wedged += run_bare_router(params, x * 16u + y, false, 400, lockstep_router<>).wedged;
      wedged_legal += run_bare_router(params, x * 16u + y, true, 400, lockstep_router<>).wedged;
    }
  EXPECT_GT(wedged, 10u);
  EXPECT_EQ(wedged_legal, 0u);
}

// A sender that changes a refused flit trips an assertion of the RTL; it must come as an exception that names
// unit, cycle and assertion, and the process must live on.
TEST(RouterTwin, FailingAssertionIsAnException) {
  class Fickle final : public sim::Unit {
   public:
    explicit Fickle(sim::FlitLink& out) : Unit("fickle"), out_(out) { out.bind_sender(*this); }
    void reset(sim::Cycle) override {}
    void drive(sim::Cycle now) override {
      arch::Flit flit = arch::make_flit({1, 1}, {0, 1}, arch::FlitType::kCuData, 0, false);
      flit.w[0] = now == 3 ? 1 : 0;  // the inputs are busy in cycles 0 to 4
      out_.offer(flit);
    }
    sim::Cycle clock(sim::Cycle now) override { return now + 1; }

   private:
    sim::FlitLink& out_;
  };
  for (int round = 0; round < 2; ++round) {
    sim::FlitLink in("in", 288), out("out", 288);
    noc::Router::Ports ports;
    ports[noc::kWest] = {&in, &out};
    rtl::RouterTwin router("router@1,1", noc::RouterParams{{1, 1}, {1, 1, 1, 1}, sim::FifoShape::sync(4)},
                           ports);
    Fickle fickle(in);
    sim::Engine engine;
    engine.add(fickle);
    engine.add(router);
    engine.add(in);
    engine.add(out);
    engine.elaborate();
    try {
      engine.run_until(20);
      FAIL() << "the assertion did not fail";
    } catch (const rtl::RtlFailure& failure) {
      const std::string text = failure.what();
      for (const char* part : {"cycle 3", "router@1,1", "RefusedFlitStays"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
      if (round == 0) std::printf("%s\n", text.c_str());
    }
  }
}

TEST(RouterTwin, ShapesItIsNotBuiltForAreRefused) {
  const noc::Grid grid{1, 1, 1, 1};
  for (const sim::FifoShape& shape : {sim::FifoShape{513, 3, 2}, {32, 4, 2}, {32, 3, 1}, {0, 3, 2}})
    EXPECT_THROW(rtl::RouterTwin("router", noc::RouterParams{{1, 1}, grid, shape}, {}), arch::UserError);
}

// With KTPU_WAVES the inside of the RTL can be written as VCD; without, the refusal says what to do.
TEST(RouterTwin, WavesOfTheInside) {
  rtl::RouterTwin router("router@1,1", noc::RouterParams{{1, 1}, {1, 1, 1, 1}, sim::FifoShape::sync(4)}, {});
  const std::string path = testing::TempDir() + "router_twin_waves.vcd";
  try {
    router.open_waves(path);
  } catch (const arch::UserError& error) {
    EXPECT_NE(std::string(error.what()).find("KTPU_WAVES"), std::string::npos) << error.what();
    return;
  }
  router.reset(0);
  for (sim::Cycle c = 0; c < 10; ++c) router.clock(c);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("pointer_q"), std::string::npos);
}

// Reset in the middle of traffic: both leave it in the same state.
TEST(RouterTwin, LockstepThroughResets) {
  const noc::Grid grid{1, 2, 1, 2};
  TrafficMesh mesh(
      grid, 4,
      [&](std::size_t, arch::Coord) {
        traffic::NodeParams params;
        params.random.emplace();
        params.random->rate = 0.6;
        params.random->destinations = all_slots(grid);
        return params;
      },
      lockstep_router<>);
  for (int round = 0; round < 7; ++round) {
    mesh.engine.run_until(mesh.engine.now() + 203);  // not a multiple of the pointer's period
    mesh.engine.reset();
  }
  for (auto& router : mesh.routers())
    EXPECT_EQ(dynamic_cast<sim::Lockstep&>(*router).compared_cycles(), 7u * 203u);
}

// The recorded traces with nothing but RTL in the mesh.
TEST(RouterTwin, NocTracesOnRtl) {
  std::size_t flits = 0;
  for (const auto& row : noc_rows()) {
    if (row.at("kind") != "trace") continue;
    const NocReplay replay = replay_noc_trace(row, rtl_router<>);
    for (std::size_t k = 0; k < replay.expected.size(); ++k) {
      ++flits;
      ASSERT_EQ(replay.got[k].accept, replay.expected[k].accept) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].deliver, replay.expected[k].deliver) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].sink, replay.expected[k].sink) << row["name"] << " flit " << k;
    }
  }
  std::printf("%zu flits\n", flits);
}

}  // namespace
}  // namespace ktpu::test
