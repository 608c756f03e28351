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

// Runs `program` on a machine to its good end and gives the cycles in which `link` refused a flit.
std::uint64_t refused(const std::string& machine, const topo::Overrides& sets, const arch::Program& program,
                      const std::string& link) {
  Net net(machine, sets);
  platform::Runner runner(*net.system, &program, {1'000'000, 100'000});
  EXPECT_EQ(runner.run().status, arch::ExitStatus::kOk) << runner.result().message;
  net.system->timeline().sync();
  sim::LinkBase* found = net.system->link(link);
  EXPECT_NE(found, nullptr) << link;
  return found == nullptr ? 0 : found->stalled_cycles();
}

TEST(UnlimitedResource, AnInstructionFifoForAllOfThemRefusesNone) {
  std::string text = "baseline (1,1)\nstage 0 {\n";
  for (unsigned n = 0; n < 24; ++n) text += "gemm gm=8 gn=8 nk=4\n";
  const arch::Program program =
      arch::assemble(text + "}\ncredit 64\nkick (1,1) slots=0..23\nawait (1,1) 24\n", "gemms.kasm");
  const auto with = [&](unsigned depth) {
    return refused("mesh1", {fmt::format("meshes.0.units.mat.inst_depth={}", depth)}, program,
                   "cluster@1,1.in");
  };
  EXPECT_GT(with(4), with(16));
  EXPECT_GT(with(16), 0u);
  EXPECT_EQ(with(64), 0u);
}

TEST(UnlimitedResource, AReceiveFifoForAWholeDrainRefusesNoFlit) {
  const arch::Program program = example_program("matmul_peer_sum_quad");
  const auto with = [&](unsigned depth) {
    return refused("quad", {fmt::format("meshes.0.units.mat.recv_depth={}", depth)}, program,
                   "m0.cluster@1,1.in");
  };
  EXPECT_GT(with(4), 0u);
  EXPECT_EQ(with(512), 0u);
}

// The cluster is ten times slower than the fabric: its crossing fills up unless it holds everything.
TEST(UnlimitedResource, ACrossingForAllFlitsRefusesNone) {
  const arch::Program program = example_program("matmul_256x256x256");
  const auto with = [&](unsigned depth) {
    return refused("cdc",
                   {"clocks={fabric: 300, cluster: 30, vector: 350, dram: 300}",
                    fmt::format("meshes.0.units.mat.crossing={{depth: {}}}", depth)},
                   program, "crossing@1,1.in");
  };
  EXPECT_GT(with(16), with(64));
  EXPECT_GT(with(64), 0u);
  EXPECT_EQ(with(1024), 0u);
}

// With one cluster nothing runs free that could turn a delay into a gain.
struct Delays {
  unsigned first_read_beat, write_response, first_write_beat, read_gaps[2], write_gaps[2];
  unsigned& operator[](std::size_t k) {
    unsigned* all[] = {&first_read_beat, &write_response, &first_write_beat, &read_gaps[0],
                       &read_gaps[1],    &write_gaps[0],  &write_gaps[1]};
    return *all[k];
  }
  std::string text() const {
    return fmt::format(
        "first_read_beat={} write_response={} first_write_beat={} read_gaps=[{}, {}] "
        "write_gaps=[{}, {}]",
        first_read_beat, write_response, first_write_beat, read_gaps[0], read_gaps[1], write_gaps[0],
        write_gaps[1]);
  }
};
sim::Cycle cycles_with(const Example& e, const Delays& d) {
  ExampleRun run(e, {fmt::format("meshes.0.dram.first_read_beat={}", d.first_read_beat),
                     fmt::format("meshes.0.dram.write_response={}", d.write_response),
                     fmt::format("meshes.0.dram.first_write_beat={}", d.first_write_beat),
                     fmt::format("meshes.0.dram.read_gaps=[{}, {}]", d.read_gaps[0], d.read_gaps[1]),
                     fmt::format("meshes.0.dram.write_gaps=[{}, {}]", d.write_gaps[0], d.write_gaps[1])});
  return run.finish().machine_cycles().value();
}
// Random delays, each step with one of them longer: no step may finish earlier.
void expect_no_gain(const char* name, unsigned seed, unsigned rounds, unsigned steps) {
  SCOPED_TRACE(fmt::format("{} seed {}", name, seed));
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (unsigned round = 0; round < rounds; ++round) {
    Delays delays{1 + below(20), 1 + below(20), 1 + below(20), {0, below(3)}, {0, below(3)}};
    sim::Cycle before = cycles_with(example(name), delays);
    for (unsigned step = 0; step < steps; ++step) {
      Delays more = delays;
      const std::size_t which = random() % 7;
      more[which] += 1 + below(which < 3 ? 60 : 4);
      const sim::Cycle now = cycles_with(example(name), more);
      EXPECT_GE(now, before) << delays.text() << " -> " << more.text();
      delays = more;
      before = now;
    }
  }
}

TEST(MoreLatency, NeverFinishesEarlierOnReferenceSmall) {
  expect_no_gain("matmul_32x32x128_small", 20261, 6, 8);
}
TEST(MoreLatency, NeverFinishesEarlierWithOneCluster) {
  expect_no_gain("matmul_ksplit", 20262, 3, 8);
  expect_no_gain("matmul_fused_drain", 20263, 3, 8);
  expect_no_gain("matmul_32x32x128_staged", 20264, 3, 8);
}

// Where several units compete, arbiters whose turn is a function of the cycle may turn a delay into a gain:
// the exceptions of docs/reading-results.md.
TEST(MoreLatency, FinishesEarlierInTheCasesOfTheDocs) {
  const Delays slow{5, 2, 1, {0, 1}, {0, 2}}, slower{5, 2, 1, {0, 1}, {1, 2}};
  EXPECT_EQ(cycles_with(example("matmul_256x256x256"), slow), 56081u);
  EXPECT_EQ(cycles_with(example("matmul_256x256x256"), slower), 55948u);
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
