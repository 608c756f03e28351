// SPDX-License-Identifier: Apache-2.0
// What must hold between runs, by cause: a resource without limit stalls nobody, a slower one never helps,
// and every flit is somewhere (user reports 10 and 11).
#include <random>

#include "tests/system/run.h"
#include "tlm/observe/engines.h"

namespace ktpu::test {
namespace {

struct Net {
  Net(const std::string& topology, const topo::Overrides& sets) {
    platform::Registry models;
    platform::register_models(models);
    system = std::make_unique<platform::System>(topo::read_file(topology, sets), models);
    registry.add(system->engine());
  }
  void run(sim::Cycle cycles) {
    system->engine().run_until(cycles);
    system->engine().sync();
  }
  std::uint64_t sum(const std::string& pattern) const {
    std::uint64_t total = 0;
    for (const observe::Entry* entry : registry.match(pattern)) total += entry->read();
    return total;
  }
  std::unique_ptr<platform::System> system;
  observe::Registry registry;
};

std::string traffic(double rate, unsigned seed, const std::string& more = "") {
  return fmt::format("meshes.0.units.t={{kind: traffic, pattern: uniform, rate: {}, seed: {}{}}}", rate, seed,
                     more);
}

std::uint64_t sum(const ExampleRun& run, const std::string& pattern) {
  std::uint64_t total = 0;
  for (const observe::Entry* entry : run.registry().match(pattern)) total += entry->read();
  return total;
}

TEST(UnlimitedResource, DeepFifosAndEagerSinksBlockNoRouter) {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 4; ++round) {
    const auto seed = static_cast<unsigned>(random() % 1000);
    const double rate = 0.2 * (static_cast<double>(1 + random() % 5));
    SCOPED_TRACE(fmt::format("seed {} rate {}", seed, rate));
    Net deep("noc3x3", {traffic(rate, seed), "meshes.0.router.fifo_depth=8192"});
    deep.run(2000);
    EXPECT_EQ(deep.sum("router@*.cycles.blocked"), 0u);
    EXPECT_GT(deep.sum("router@*.cycles.moving"), 100u);
    EXPECT_GT(deep.sum("router@*.cycles.arbitration"), 0u);
  }
  Net shallow("noc3x3", {traffic(1, 3), "meshes.0.router.fifo_depth=2"});
  shallow.run(2000);
  EXPECT_GT(shallow.sum("router@*.cycles.blocked"), 0u);
}

TEST(UnlimitedResource, ASinkThatIsNeverBusyBlocksNobody) {
  for (const bool busy : {false, true}) {
    Net net("noc3x3", {traffic(0.01, 7, busy ? ", busy: {period: 16, duty: 12}" : "")});
    net.run(4000);
    EXPECT_EQ(net.sum("router@*.cycles.blocked") != 0, busy);
  }
}

TEST(UnlimitedResource, OneSenderLosesNoArbitration) {
  ExampleRun run(example("matmul_32x32x128"));
  run.finish();
  EXPECT_EQ(sum(run, "router@*.cycles.arbitration"), 0u);
  Net crowd("noc3x3", {traffic(0.5, 2)});
  crowd.run(500);
  EXPECT_GT(crowd.sum("router@*.cycles.arbitration"), 0u);
}

TEST(UnlimitedResource, CreditForAllInstructionsNeverHoldsTheDispatcher) {
  const Example& e = example("matmul_32x32x128");
  for (const bool starved : {true, false}) {
    arch::Program program = example_program(e.name);
    for (arch::Step& step : program.steps)
      if (auto* commands = std::get_if<arch::StepCommands>(&step.action))
        for (arch::Command& c : commands->commands)
          if ((c.address & 0xFFFF) == 0x60) c.data = starved ? 1 : 512;
    Net net(e.machine, {});
    platform::Runner runner(*net.system, &program, {1'000'000, 100'000});
    EXPECT_EQ(runner.run().status, arch::ExitStatus::kOk) << runner.result().message;
    EXPECT_EQ(net.sum("memory.agent.dispatch.cycles.credit") != 0, starved);
  }
}

TEST(UnlimitedResource, ResultsThatNobodyWaitsForStallNoSweep) {
  ExampleRun apart(example("matmul_256x256x256"));  // explicit drains
  apart.finish();
  EXPECT_EQ(sum(apart, "cluster@*.sweep.cycles.stalled"), 0u);
  EXPECT_EQ(sum(apart, "cluster@*.sequencer.cycles.batch"), 0u);
  ExampleRun fused(example("matmul_256x256x256_fused"));
  fused.finish();
  EXPECT_GT(sum(fused, "cluster@*.sweep.cycles.stalled"), 0u);
}

TEST(UnlimitedResource, AnUnlimitedMemoryIsNeverWaitedForTwice) {
  // The response at once: what is left of "answer" is the way through the FIFOs, the same for every write.
  ExampleRun slow(example("matmul_fused_drain"), {"meshes.0.dram.write_response=200"});
  ExampleRun fast(example("matmul_fused_drain"), {"meshes.0.dram.write_response=1"});
  slow.finish();
  fast.finish();
  EXPECT_EQ(sum(slow, "memory.port*.write.cycles.answer") - sum(fast, "memory.port*.write.cycles.answer"),
            199 * sum(fast, "memory.port0.writes"));
  // A memory without gaps never makes the bus wait inside a burst.
  ExampleRun gaps(example("matmul_32x32x128"), {"meshes.0.dram.read_gaps=[3]"});
  ExampleRun none(example("matmul_32x32x128"));
  gaps.finish();
  none.finish();
  EXPECT_GT(sum(gaps, "memory.dram_path.read_bus.cycles.waiting"),
            sum(none, "memory.dram_path.read_bus.cycles.waiting"));
  EXPECT_EQ(sum(none, "memory.dram_path.read_bus.cycles.blocked"), 0u);
}

TEST(UnlimitedResource, ReadsInFlightWithoutLimitAreNeverHeldBack) {
  ExampleRun run(example("matmul_256x256x256"), {"meshes.0.agent.reads_in_flight=64"});
  run.finish();
  EXPECT_EQ(sum(run, "memory.dram_path.read_arbiter.cycles.limit"), 0u);
}

// On the small machine nothing runs free that could turn a delay into a gain.
TEST(MoreLatency, NeverFinishesEarlierOnReferenceSmall) {
  const Example& e = example("matmul_32x32x128_small");
  const unsigned seed = 20261;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const auto cycles = [&](const std::vector<unsigned>& d) {
    ExampleRun run(e, {fmt::format("meshes.0.dram.first_read_beat={}", d[0]),
                       fmt::format("meshes.0.dram.write_response={}", d[1]),
                       fmt::format("meshes.0.dram.first_write_beat={}", d[2]),
                       fmt::format("meshes.0.dram.read_gaps=[{}, {}]", d[3], d[4]),
                       fmt::format("meshes.0.dram.write_gaps=[{}, {}]", d[5], d[6])});
    return run.finish().machine_cycles().value();
  };
  for (unsigned round = 0; round < 6; ++round) {
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    std::vector<unsigned> delay{1 + below(20), 1 + below(20), 1 + below(20), 0, below(3), 0, below(3)};
    sim::Cycle before = cycles(delay);
    for (unsigned step = 0; step < 8; ++step) {
      std::vector<unsigned> more = delay;
      const std::size_t which = random() % more.size();
      more[which] += 1 + below(which < 3 ? 60 : 4);
      const sim::Cycle now = cycles(more);
      EXPECT_GE(now, before) << fmt::format("{} -> {}", fmt::join(delay, " "), fmt::join(more, " "));
      delay = more;
      before = now;
    }
  }
}

// Report 11: at any cycle, also where the cycle limit falls, what was sent is delivered, inside or lost.
TEST(EveryFlit, IsDeliveredInFlightOrLostAtAnyCycleOfRandomTraffic) {
  std::mt19937 random(77);
  for (unsigned round = 0; round < 6; ++round) {
    const auto seed = static_cast<unsigned>(random() % 1000);
    const double rate = 0.1 * (static_cast<double>(1 + random() % 10));
    SCOPED_TRACE(fmt::format("seed {} rate {}", seed, rate));
    Net net("noc3x3", {traffic(rate, seed, random() % 2 ? ", busy: {period: 8, duty: 3}" : "")});
    sim::Cycle at = 0;
    for (unsigned stop = 0; stop < 6; ++stop) {
      net.run(at += 1 + random() % 300);
      const std::uint64_t sent = net.sum("traffic@*.injected");
      EXPECT_EQ(sent, net.sum("traffic@*.delivered") + net.sum("router@*.inside") + net.sum("router@*.lost"))
          << "at cycle " << at;
    }
    EXPECT_GT(net.sum("traffic@*.injected"), 100u);
  }
}

TEST(EveryFlit, IsDeliveredInFlightOrLostAtAnyCycleOfAProgram) {
  for (const char* name : {"matmul_32x32x128", "matmul_256x256x256_fused"}) {
    const Example& e = example(name);
    std::mt19937 random(5);
    arch::Program program = example_program(e.name);
    Net net(e.machine, {});
    platform::Runner runner(*net.system, &program, {1'000'000, 100'000});
    for (sim::Cycle at = 0; !runner.run_until(at); at += 1 + random() % 1500) {
      net.system->engine().sync();
      std::uint64_t out = 0, in = 0;
      for (const char* node : {"cluster@*", "vector@*", "memory"}) {
        out += net.sum(std::string(node) + ".links.flits_out");
        in += net.sum(std::string(node) + ".links.flits_in");
      }
      EXPECT_EQ(out, in + net.sum("router@*.inside") + net.sum("router@*.lost"))
          << name << " at cycle " << at;
    }
  }
}

}  // namespace
}  // namespace ktpu::test
