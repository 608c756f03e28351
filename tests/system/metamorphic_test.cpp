// SPDX-License-Identifier: Apache-2.0
// What must hold between two runs of one program: user report 10.
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

sim::Cycle cycles_of(const Example& e, const topo::Overrides& sets, plain::Halves* result = nullptr) {
  ExampleRun run(e, sets);
  const platform::RunResult& r = run.finish();
  if (result != nullptr) *result = run.result();
  return r.machine_cycles().value();
}

TEST(Metamorphic, ASlowerMemoryIsNeverFaster) {
  for (const char* name : {"matmul_32x32x128", "matmul_ksplit", "matmul_256x256x256"}) {
    const Example& e = example(name);
    sim::Cycle before = 0;
    plain::Halves first, result;
    for (const unsigned latency : {1u, 2u, 7u, 20u, 80u}) {
      const sim::Cycle now = cycles_of(e, {"meshes.0.dram.first_read_beat=" + std::to_string(latency)},
                                       before == 0 ? &first : &result);
      EXPECT_GE(now, before) << name << " at " << latency;
      if (before != 0) {
        EXPECT_EQ(result, first);
      }
      before = now;
    }
  }
}

TEST(Metamorphic, SlowerWritesAreNeverFaster) {
  const Example& e = example("matmul_fused_drain");
  for (const std::string key : {"first_write_beat", "write_response"}) {
    sim::Cycle before = 0;
    for (const char* number : {"1", "20", "100", "300"}) {
      const sim::Cycle now = cycles_of(e, {"meshes.0.dram." + key + "=" + number});
      EXPECT_GE(now, before) << key << " at " << number;
      before = now;
    }
  }
}

TEST(Metamorphic, MoreReadsInFlightAreNeverSlowerAndChangeNoBit) {
  for (const char* name : {"matmul_32x32x128", "matmul_ksplit", "matmul_fused_drain", "matmul_256x256x256"}) {
    const Example& e = example(name);
    for (const char* latency : {"1", "60"}) {
      const std::string memory = std::string("meshes.0.dram.first_read_beat=") + latency;
      plain::Halves one, many;
      const sim::Cycle reference = cycles_of(e, {memory}, &one);
      const sim::Cycle faster = cycles_of(e, {memory, "meshes.0.agent.reads_in_flight=16"}, &many);
      EXPECT_LE(faster, reference) << name << " at " << latency;
      EXPECT_EQ(one, many) << name << " at " << latency;
    }
  }
}

TEST(Metamorphic, AnotherMemoryModelChangesNoBit) {
  const Example& e = example("matmul_256x256x256");
  plain::Halves result;
  cycles_of(e, {"meshes.0.dram={model: banked, bus_bits: 512, base: 0x80000000, size_mib: 1024}"}, &result);
  EXPECT_EQ(result, expected(e));
}

TEST(Metamorphic, SymmetricClustersCountTheSame) {
  ExampleRun run(example("matmul_256x256x256"));
  run.finish();
  const auto of = [&](const char* cluster, const std::string& name) {
    return run.counter(std::string("cluster@") + cluster + "." + name);
  };
  for (const std::string name :
       {"fills", "gemms", "drains", "sweep_commands", "commands", "entries_written", "lost_commands",
        "unknown_ops", "endpoint.retired", "endpoint.signals_sent", "links.flits_in", "links.flits_out"}) {
    const std::uint64_t first = of("1,0", name);
    for (const char* other : {"2,0", "1,1", "2,1", "1,2", "2,2", "1,3", "2,3"})
      EXPECT_EQ(of(other, name), first) << name;
  }
  EXPECT_EQ(of("1,0", "sweep_commands"), 16u * 32 * 8);
  EXPECT_EQ(of("1,0", "gemms"), 1u);
}

// A resource nobody competes for never stalls anyone.
TEST(Metamorphic, NoCompetitionNoStall) {
  ExampleRun run(example("matmul_32x32x128"));
  run.finish();
  EXPECT_EQ(run.counter("router@1,1.conflicts"), 0u);
  EXPECT_EQ(run.counter("cluster@1,1.stall_cycles"), 0u);
  EXPECT_EQ(run.counter("memory.agent.credit_starved"), 0u);
}

TEST(Metamorphic, CreditIsTheOnlyThingALargerSeedGives) {
  const Example& e = example("matmul_32x32x128");
  for (const bool starved : {true, false}) {
    arch::Program program = example_program(e.name);
    for (arch::Step& step : program.steps)
      if (auto* commands = std::get_if<arch::StepCommands>(&step.action))
        for (arch::Command& c : commands->commands)
          if ((c.address & 0xFFFF) == 0x60) c.data = starved ? 1 : 512;
    platform::Registry models;
    platform::register_models(models);
    platform::System system(topo::read_file(e.machine), models);
    observe::Registry registry;
    registry.add(system.engine());
    platform::Runner runner(system, &program, {1'000'000, 100'000});
    EXPECT_EQ(runner.run().status, arch::ExitStatus::kOk) << runner.result().message;
    EXPECT_EQ(registry.at("memory.agent.credit_starved").read() != 0, starved);
  }
}

// The router FIFOs of a machine can be so deep that no router ever refuses a flit.
TEST(Metamorphic, DeepFifosRefuseNothing) {
  ExampleRun run(example("matmul_256x256x256"), {"meshes.0.router.fifo_depth=8192"});
  run.finish();
  for (const sim::LinkBase* link : run.system().engine().links()) {
    if (link->receiver() == nullptr || !link->receiver()->name().starts_with("router")) continue;
    EXPECT_EQ(const_cast<sim::LinkBase*>(link)->stalled_cycles(), 0u) << link->name();
  }
}

}  // namespace
}  // namespace ktpu::test
