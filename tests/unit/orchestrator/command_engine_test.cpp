// SPDX-License-Identifier: Apache-2.0
// orchestrator.md section 8: the command engine wired straight to a control agent.
#include "tlm/orchestrator/command_engine.h"

#include <gtest/gtest.h>

#include "arch/encoding/address_map.h"
#include "tests/unit/orchestrator/agent_bench.h"

namespace ktpu::orchestrator::test {
namespace {

namespace eng = arch::engine;
constexpr std::uint32_t kAgent = arch::address::kAgentBase;

class EngineBench {
 public:
  explicit EngineBench(unsigned commands = 128)
      : agent({{0, 1}, 1, 2, 128, true}, {&master}, nullptr), engine("engine", commands, slave, master) {
    agent.reset(0);
    engine.reset(0);
  }
  RegisterBus slave{"slave"}, master{"master"};
  ControlAgent agent;
  CommandEngine engine;
  Cycle now = 0;
  struct Access {
    Cycle beat;
    bool write;
    std::uint32_t offset;
    std::uint64_t data;
  };
  std::vector<Access> accesses;  // on the agent's bus
  std::map<Cycle, Flit> arrivals;

  void write(Cycle at, std::uint32_t offset, std::uint64_t data) {
    beats_[at].write = true;
    beats_[at].write_offset = offset;
    beats_[at].data = data;
  }
  void command(unsigned n, std::uint64_t op, std::uint64_t address = 0, std::uint64_t data = 0,
               std::uint64_t mask = 0) {
    const std::uint64_t fields[] = {op, address, data, mask};
    for (unsigned f = 0; f < 4; ++f) write(4 * n + f, eng::command_field(n, f), fields[f]);
  }
  void step() {
    if (const auto it = beats_.find(now); it != beats_.end()) {
      slave.beat.offer(it->second);
    } else {
      slave.beat.withdraw();
    }
    engine.drive(now);
    agent.drive(now);
    if (master.beat.valid()) {
      const BusBeat& beat = master.beat.data();
      accesses.push_back({now, beat.write, beat.write ? beat.write_offset : beat.read_offset, beat.data});
    }
    if (const auto it = arrivals.find(now); it != arrivals.end()) agent.offer(now, it->second);
    agent.clock(now, true);
    engine.clock(now);
    ++now;
  }
  std::uint64_t at(Cycle cycle, std::uint32_t offset) {
    while (now < cycle) step();
    return engine.peek(offset);
  }
  // First cycle in which the engine is not busy again after GO in g.
  Cycle idle_after(Cycle g, Cycle limit = 20000) {
    while (now < g + 2) step();
    while (engine.busy() && now < limit) step();
    return now;
  }

 private:
  std::map<Cycle, BusBeat> beats_;
};

constexpr Cycle g = 600;  // cycle of GO's write beat

TEST(Orchestrator_S8_Engine, BusyTwoCyclesAfterGoAndTheFirstWriteFourAfter) {
  EngineBench b;
  b.command(0, 1, kAgent + reg::kCtrl, 0xAB);
  b.command(1, 3, 0, 0x77);
  b.write(g, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g + 1, eng::kCtrl), 0u);
  EXPECT_EQ(b.at(g + 2, eng::kCtrl), 1u);
  b.at(g + 20, 0);
  ASSERT_EQ(b.accesses.size(), 1u);
  EXPECT_EQ(b.accesses[0].beat, g + 5);  // address valid in g+4
  EXPECT_EQ(b.agent.peek(reg::kCtrl, b.now), 0xABu);
}

TEST(Orchestrator_S8_Engine, FiveCyclesAWrite) {
  EngineBench b;
  for (unsigned n = 0; n < 10; ++n) b.command(n, 1, kAgent + reg::kCtrl, n);
  b.command(10, 3);
  b.write(g, eng::kCtrl, 1);
  b.at(g + 100, 0);
  ASSERT_EQ(b.accesses.size(), 10u);
  for (unsigned n = 0; n < 10; ++n) EXPECT_EQ(b.accesses[n].beat, g + 5 + 5 * n);
}

TEST(Orchestrator_S8_Engine, DoneFallsTwoCyclesAfterThePreviousResponse) {
  EngineBench b;
  b.command(0, 1, kAgent + reg::kCtrl, 1);
  b.command(1, 3, 0, 0xC0DE);
  b.write(g, eng::kCtrl, 1);
  const Cycle response = g + 6;  // consumed
  EXPECT_EQ(b.at(response + 1, eng::kCtrl), 1u);
  EXPECT_EQ(b.at(response + 2, eng::kCtrl), 2u);
  EXPECT_EQ(b.engine.peek(eng::kCode), 0xC0DEu);
  EXPECT_EQ(b.engine.peek(eng::kPc), 1u);
}

TEST(Orchestrator_S8_Engine, PollThatIsMetTakesFiveCycles) {
  EngineBench b;
  b.command(0, 2, kAgent + reg::kCaps, 0x120, 0xFFFF);
  b.command(1, 1, kAgent + reg::kCtrl, 1);
  b.command(2, 3);
  b.write(g, eng::kCtrl, 1);
  b.at(g + 30, 0);
  ASSERT_EQ(b.accesses.size(), 2u);
  EXPECT_FALSE(b.accesses[0].write);
  EXPECT_EQ(b.accesses[0].beat, g + 5);
  EXPECT_EQ(b.accesses[1].beat, g + 10);
  EXPECT_EQ(b.engine.peek(eng::kPolls), 1u);
}

TEST(Orchestrator_S8_Engine, PollRetriesEvery36Cycles) {
  EngineBench b;
  b.command(0, 2, kAgent + reg::kSigDone, 1, 0xFFFF);
  b.command(1, 3);
  b.write(g, eng::kCtrl, 1);
  b.arrivals[g + 5 + 36 + 36] = AgentBench::signal({1, 1}, 1, 0);  // seen by the next read
  const Cycle idle = b.idle_after(g);
  ASSERT_EQ(b.accesses.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.accesses[i].beat, g + 5 + 36 * i) << i;
  EXPECT_EQ(idle, b.accesses[3].beat + 1 + 2);
  EXPECT_EQ(b.engine.peek(eng::kPolls), 4u);
}

TEST(Orchestrator_S8_Engine, PollComparesTheMaskedValueWithTheWholeData) {
  EngineBench b;
  b.command(0, 2, kAgent + reg::kCaps, 0x1120, 0xFFF);  // bits of data outside the mask: never equal
  b.command(1, 3);
  b.write(g, eng::kCtrl, 1);
  b.at(g + 200, 0);
  EXPECT_TRUE(b.engine.busy());
}

TEST(Orchestrator_S8_Engine, UnwrittenAndUnknownOpcodesStopWithErr) {
  for (const std::uint64_t op : {0u, 4u, 15u}) {
    EngineBench b;
    if (op != 0) b.command(0, op);
    b.write(g, eng::kCtrl, 1);
    EXPECT_EQ(b.at(g + 3, eng::kCtrl), 6u) << op;
    EXPECT_TRUE(b.accesses.empty());
  }
  EngineBench b;
  b.command(0, 0x13, 0, 5);  // four bits count
  b.write(g, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g + 3, eng::kCtrl), 2u);
  EXPECT_EQ(b.engine.peek(eng::kCode), 5u);
}

TEST(Orchestrator_S8_Engine, ResetClearsOpcodesOnly) {
  EngineBench b;
  b.command(0, 1, kAgent + reg::kCtrl, 9);
  b.at(20, 0);
  b.engine.reset(b.now);
  b.write(g, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g + 3, eng::kCtrl), 6u);
  b.write(g + 10, eng::command_field(0, 0), 1);
  b.write(g + 11, eng::command_field(1, 0), 3);
  b.write(g + 20, eng::kCtrl, 1);
  b.idle_after(g + 20);
  EXPECT_EQ(b.agent.peek(reg::kCtrl, b.now), 9u);
}

TEST(Orchestrator_S8_Engine, GoClearsDoneErrAndPollsAndStartsAtCommandZero) {
  EngineBench b;
  b.command(0, 2, kAgent + reg::kCaps, 0x120, 0xFFFF);
  b.write(g, eng::kCtrl, 1);  // stops with err at command 1
  b.at(g + 50, 0);
  EXPECT_EQ(b.engine.peek(eng::kCtrl), 6u);
  EXPECT_EQ(b.engine.peek(eng::kPc), 1u);
  b.write(g + 60, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g + 62, eng::kCtrl), 1u);
  EXPECT_EQ(b.engine.peek(eng::kPc), 0u);
  EXPECT_EQ(b.engine.peek(eng::kPolls), 0u);
}

TEST(Orchestrator_S8_Engine, GoWhileBusyIsIgnoredAndSoIsGoZero) {
  EngineBench b;
  b.command(0, 1, kAgent + reg::kCtrl, 1);
  b.command(1, 2, kAgent + reg::kSigDone, 1, 0xFFFF);
  b.command(2, 3);
  b.write(g - 5, eng::kCtrl, 2);  // GO is bit 0
  b.write(g, eng::kCtrl, 1);
  b.write(g + 9, eng::kCtrl, 1);
  b.write(g + 40, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g - 1, eng::kCtrl), 0u);
  b.at(g + 200, 0);
  EXPECT_TRUE(b.engine.busy());
  unsigned writes = 0;
  for (const auto& access : b.accesses) writes += access.write;
  EXPECT_EQ(writes, 1u);
}

TEST(Orchestrator_S8_Engine, PcWrapsAfter128Commands) {
  EngineBench b;
  for (unsigned n = 0; n < 128; ++n) b.command(n, 1, kAgent + reg::kCtrl, n);
  b.write(g, eng::kCtrl, 1);
  b.at(g + 5 * 130, 0);
  ASSERT_GE(b.accesses.size(), 129u);
  EXPECT_EQ(b.accesses[127].data, 127u);
  EXPECT_EQ(b.accesses[128].data, 0u);
}

TEST(Orchestrator_S8_Engine, CommandWindowBoundsAndWriteOnly) {
  EngineBench b;
  b.command(127, 3, 0, 1);
  b.write(520, eng::kCmd + 128 * 32, 1);  // beyond: ignored
  b.at(530, 0);
  EXPECT_EQ(b.engine.peek(eng::kCmd + 127 * 32), 0u);
  b.write(g, eng::kCtrl, 1);
  EXPECT_EQ(b.at(g + 3, eng::kCtrl), 6u) << "command 0 is still unwritten";
}

TEST(Orchestrator_S8_Engine, ReadsOfTheSlaveComeOneCycleLater) {
  EngineBench b;
  b.command(0, 3, 0, 42);
  b.write(g, eng::kCtrl, 1);
  b.at(g + 10, 0);
  BusBeat read;
  read.read = true;
  read.read_offset = eng::kCode;
  b.slave.beat.offer(read);
  b.engine.drive(b.now);
  b.engine.clock(b.now);
  b.engine.drive(b.now + 1);
  EXPECT_EQ(b.slave.read_data, 42u);
}

}  // namespace
}  // namespace ktpu::orchestrator::test
