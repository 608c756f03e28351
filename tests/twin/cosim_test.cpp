// SPDX-License-Identifier: Apache-2.0
// ktpu-cosim: sound blocks pass, a faulty one is found and its stimulus comes out short.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apps/common/register_units.h"
#include "apps/ktpu-cosim/campaign.h"
#include "apps/ktpu-cosim/minimise.h"
#include "arch/program/program_file.h"
#include "arch/program/text.h"
#include "tlm/cluster/matmul_cluster.h"
#include "tlm/platform/model_params.h"
#include "tlm/sim/lockstep.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::cosim {
namespace {

using arch::ExitStatus;

// `make(context, port, faulty)` for both sides of a pair.
template <class Make>
platform::EndpointFactory pair_of(Make make) {
  return [make](const platform::EndpointContext& context) -> std::unique_ptr<sim::Unit> {
    sim::Shadows shadows;
    const sim::FlitPort shadowed = shadows.mirror("mesh", context.port);
    auto model = make(context, context.port, false);
    auto twin = make(context, shadowed, true);
    return std::make_unique<sim::Lockstep>(context.name, std::move(shadows), std::move(model),
                                           std::move(twin));
  };
}

// Two models of the cluster; `fault` changes the parameters of the second.
platform::Registry cluster_pair(std::function<void(cluster::ClusterParams&)> fault) {
  platform::Registry registry;
  registry.add_endpoint(topo::Kind::kMatmulCluster, topo::Impl::kLockstep,
                        pair_of([fault](const platform::EndpointContext& context, const sim::FlitPort& port,
                                        bool faulty) -> std::unique_ptr<sim::Unit> {
                          cluster::ClusterParams params = platform::cluster_params(context);
                          if (faulty) fault(params);
                          return std::make_unique<cluster::MatmulCluster>(context.name, params, port);
                        }));
  return registry;
}

// Every block, in the short form of the nightly campaigns (cosim_long_test.cpp).
class CosimBlocks : public testing::TestWithParam<std::string> {};

TEST_P(CosimBlocks, AreEqual) {
  platform::Registry registry;
  apps::register_units(registry);
  Campaign campaign;
  campaign.block = GetParam();
  campaign.cycles = 40'000;
  campaign.quiet = true;
  campaign.least = 50;
  const Totals totals = run_campaign(campaign, registry);
  EXPECT_EQ(totals.status, ExitStatus::kOk);
  EXPECT_EQ(totals.cycles, campaign.cycles);
  EXPECT_GT(totals.values, campaign.cycles / 2);
}

INSTANTIATE_TEST_SUITE_P(All, CosimBlocks, testing::ValuesIn(block_words()),
                         [](const auto& param) { return param.param; });

// A campaign that asks for more transfers than there were says so and fails.
TEST(Cosim, TooFewTransfersAreAnError) {
  platform::Registry registry;
  apps::register_units(registry);
  Campaign campaign;
  campaign.block = "engine";
  campaign.cycles = 2'000;
  campaign.quiet = true;
  campaign.least = 1'000'000;
  const Totals totals = run_campaign(campaign, registry);
  EXPECT_EQ(totals.status, ExitStatus::kLockstepMismatch);
  EXPECT_LT(totals.least(), campaign.least);
  EXPECT_GT(totals.least(), 0u);
}

// Same seed, same outcome; and the block has something to do in both styles.
TEST(Cosim, OutcomesRepeat) {
  const platform::Registry registry = cluster_pair([](cluster::ClusterParams&) {});
  for (const Style style : {Style::kLegal, Style::kWild})
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
      const Block block = make_block("cluster", seed);
      const Stimulus stimulus = make_stimulus(block, style, seed, 4000);
      const Outcome once = run(block, registry, stimulus, {seed, 30, 4000});
      const Outcome twice = run(block, registry, stimulus, {seed, 30, 4000});
      EXPECT_FALSE(once.failed()) << once.failure;
      EXPECT_EQ(once.values, twice.values);
      EXPECT_GT(once.ports[0].in, 50u);
      EXPECT_GT(once.ports[0].out, style == Style::kLegal ? 50u : 0u);
    }
}

TEST(Cosim, VectorCoresGetKernels) {
  platform::Registry registry;
  registry.add_endpoint(topo::Kind::kVectorCore, topo::Impl::kLockstep,
                        pair_of([](const platform::EndpointContext& context, const sim::FlitPort& port,
                                   bool) -> std::unique_ptr<sim::Unit> {
                          vector::VectorParams params;
                          params.at = context.node.at;
                          params.memory_port = context.memory_port;
                          params.quirks = context.node.quirks == topo::Quirks::kReference;
                          return std::make_unique<vector::VectorCore>(context.name, params, port);
                        }));
  for (const Style style : {Style::kLegal, Style::kWild}) {
    const Block block = make_block("vector", 5);
    const Outcome outcome = run(block, registry, make_stimulus(block, style, 5, 4000), {5, 20, 8000});
    EXPECT_FALSE(outcome.failed()) << outcome.failure;
    EXPECT_GT(outcome.ports[0].out, style == Style::kLegal ? 100u : 20u);
  }
}

// A twin with half the tiles: found, status 6, and what is left is a handful of messages that all matter.
TEST(Cosim, AFaultIsFoundAndItsStimulusShortened) {
  const platform::Registry registry =
      cluster_pair([](cluster::ClusterParams& params) { params.tiles = std::max(1u, params.tiles / 2); });
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 20 && !found; ++seed) {
    const Block block = make_block("cluster", seed);
    const Conditions conditions{seed, 30, 4000};
    const Stimulus stimulus = make_stimulus(block, Style::kLegal, seed, 4000);
    std::ostringstream waves;
    const Outcome outcome = run(block, registry, stimulus, conditions, {true, &waves});
    if (!outcome.failed()) continue;
    found = true;
    EXPECT_EQ(outcome.status, ExitStatus::kLockstepMismatch);
    EXPECT_NE(outcome.failure.find("mismatch at cluster, mesh.out"), std::string::npos) << outcome.failure;
    EXPECT_FALSE(outcome.history.empty());
    EXPECT_FALSE(outcome.last.empty());
    EXPECT_NE(waves.str().find("$scope module twin"), std::string::npos);
    const auto fails = [&](const Stimulus& s) { return run(block, registry, s, conditions).failed(); };
    const Stimulus shortest = minimise(stimulus, fails, 1000);
    EXPECT_LT(shortest.size(), 8u) << "of " << stimulus.size();
    EXPECT_TRUE(fails(shortest));
    for (std::size_t m = 0; m < shortest.size(); ++m) {
      Stimulus without = shortest;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(m));
      EXPECT_FALSE(fails(without)) << text_of(block, shortest[m]);
    }
    for (const Message& message : shortest) std::printf("%s\n", text_of(block, message).c_str());
  }
  EXPECT_TRUE(found);
  Campaign campaign;
  campaign.block = "cluster";
  campaign.cycles = 80'000;
  campaign.tries = 20;
  EXPECT_EQ(run_campaign(campaign, registry).status, ExitStatus::kLockstepMismatch);
}

TEST(Cosim, MinimiserKeepsWhatMatters) {
  Stimulus stimulus;
  for (unsigned n = 0; n < 100; ++n) {
    arch::Flit flit;
    flit.w[0] = n;
    stimulus.push_back({0, n, {flit}});
  }
  const auto holds = [](const Stimulus& s, std::uint64_t n) {
    return std::any_of(s.begin(), s.end(), [n](const Message& m) { return m.flits[0].w[0] == n; });
  };
  unsigned calls = 0;
  const auto fails = [&](const Stimulus& s) {
    ++calls;
    return holds(s, 3) && holds(s, 57) && holds(s, 58);
  };
  const Stimulus shortest = minimise(stimulus, fails, 1000);
  ASSERT_EQ(shortest.size(), 3u);
  EXPECT_EQ(shortest[0].flits[0].w[0], 3u);
  EXPECT_EQ(shortest[2].flits[0].w[0], 58u);
  for (const Message& message : shortest) EXPECT_EQ(message.gap, 0u);
  EXPECT_LT(calls, 200u);
  calls = 0;
  EXPECT_TRUE(fails(minimise(stimulus, fails, 5)));
  EXPECT_LE(calls, 6u);
}

TEST(Cosim, UnknownBlocksAndMissingTwinsAreRefused) {
  EXPECT_THROW(make_block("toaster", 1), arch::UserError);
  const Block block = make_block("cluster", 1);
  EXPECT_THROW(run(block, platform::Registry(), {}, {}), arch::UserError);
  WholeMachine machine;
  machine.topology = "noc3x3";
  machine.impls = {"router=model"};
  platform::Registry models;
  platform::register_models(models);
  EXPECT_THROW(run_machine(machine, models), arch::UserError);
}

TEST(Cosim, WholeMachines) {
  platform::Registry registry;
  apps::register_units(registry);
  WholeMachine machine;
  machine.topology = "noc3x3";
  machine.cycles = 1000;
  machine.stalls = 30;
  EXPECT_EQ(run_machine(machine, registry), ExitStatus::kOk);
  // Nothing would happen in it.
  machine.topology = "mesh8";
  EXPECT_THROW(run_machine(machine, registry), arch::UserError);
}

// A program on a machine that is all in lock-step, memory, agent and engine included.
TEST(Cosim, WholeMachinesRunPrograms) {
  platform::Registry registry;
  apps::register_units(registry);
  const std::string path = testing::TempDir() + "cosim_program.kasm";
  std::ifstream source(std::string(KTPU_SOURCE_DIR) + "/examples/matmul_32x32x128.kasm");
  const std::string text((std::istreambuf_iterator<char>(source)), {});
  arch::save_program(arch::assemble(text, "matmul_32x32x128.kasm"), path);
  WholeMachine machine;
  machine.topology = "mesh1";
  machine.program = path;
  machine.cycles = sim::kNever;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_machine(machine, registry), ExitStatus::kOk);
  const std::string printed = testing::internal::GetCapturedStdout();
  for (const char* unit : {"engine:", "router@1,1:", "cluster@1,1:", "memory:", "agent:"})
    EXPECT_NE(printed.find(unit), std::string::npos) << printed;
  EXPECT_EQ(printed.find("is not over"), std::string::npos);
  machine.cycles = 1000;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_machine(machine, registry), ExitStatus::kOk);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("is not over"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::cosim
