// SPDX-License-Identifier: Apache-2.0
// fabric.md sections 6.1, 10.4 and 11 on whole machines.
#include <set>

#include "tests/unit/platform/bench.h"
#include "tlm/noc/router.h"
#include "tlm/traffic/node.h"

namespace ktpu::platform::test {
namespace {

constexpr std::uint64_t kAgent = 0x10000000;

struct Answer {
  bool any = false;
  Flit flit;
};

// One request to (x,y) as section 10.4 says: drain the mailbox, ask, wait, read the reply.
Answer probe(System& system, unsigned x, unsigned y, unsigned txn, Coord reply_to = {0, 1}) {
  LiteralHost host;
  for (unsigned i = 0; i < 4; ++i) host.write(kAgent + reg::kTxFlit + 8 * i, 0);
  host.write(kAgent + reg::kTxFlit + 32,
             arch::make_header({static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)}, reply_to,
                               FlitType::kCuCtrl, txn, true));
  host.write(kAgent + reg::kTxKick, 1);
  perform(system, host);
  Answer answer;
  while ((peek(system, reg::kRxStatus) & 0x10000) == 0) {
    EXPECT_FALSE(answer.any) << "two answers";
    answer.any = true;
    for (unsigned i = 0; i < 5; ++i) answer.flit.w[i] = peek(system, reg::kRxFlit + 8 * i);
    LiteralHost pop;
    pop.write(kAgent + reg::kRxPop, 1);
    perform(system, pop);
  }
  return answer;
}

bool accepted(const Answer& a, unsigned x, unsigned y, unsigned txn) {
  return a.any && a.flit.type() == FlitType::kCuCtrl && a.flit.bits(248, 8) == 2 &&
         a.flit.bits(240, 8) == 0 && a.flit.txn() == txn && a.flit.src_x() == x && a.flit.src_y() == y;
}

class Discovery : public testing::Test {
 protected:
  // A host that stays idle between probes: external, without SystemC.
  static std::unique_ptr<System> machine(const std::string& name) {
    return make_system(name, {"host.kind=external"});
  }
};

TEST_F(Discovery, Fabric_S10_4_SweepFindsExactlyTheUnitsOfMesh8) {
  const auto system = machine("mesh8");
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> found;
  std::set<std::pair<unsigned, unsigned>> own_requests, rejected;
  unsigned txn = 1;
  for (unsigned y = 0; y <= 3; ++y) {
    for (unsigned x = 0; x <= 3; ++x, ++txn) {
      const Answer a = probe(*system, x, y, txn);
      if (accepted(a, x, y, txn)) {
        found[{x, y}] = a.flit.bits(176, 64);
      } else if (a.any && a.flit.bits(248, 8) == 0) {
        own_requests.insert({x, y});
      } else if (a.any) {
        rejected.insert({x, y});
        EXPECT_TRUE(a.flit.src_x() != x || a.flit.src_y() != y);
      }
    }
  }
  const std::uint64_t cluster = 0x4D47042020000000, vector = 0x5643042020000000;  // inst_depth 512
  const std::map<std::pair<unsigned, unsigned>, std::uint64_t> expected{
      {{1, 0}, cluster}, {{2, 0}, cluster}, {{1, 1}, cluster}, {{2, 1}, cluster}, {{1, 2}, cluster},
      {{2, 2}, cluster}, {{1, 3}, cluster}, {{2, 3}, cluster}, {{3, 1}, vector},  {{3, 2}, vector}};
  EXPECT_EQ(found, expected);
  // The corners clamp to the memory ports (west) or to the vector cores (east).
  const std::set<std::pair<unsigned, unsigned>> memory{{0, 0}, {0, 1}, {0, 2}, {0, 3}},
      corners{{3, 0}, {3, 3}};
  EXPECT_EQ(own_requests, memory);
  EXPECT_EQ(rejected, corners);
}

TEST_F(Discovery, Fabric_S10_4_OutOfRingCoordinatesAreRejectedByTheirSource) {
  const auto system = machine("mesh8");
  const std::pair<Coord, Coord> reaches[] = {{{9, 1}, {3, 1}}, {{1, 9}, {1, 3}},  {{15, 15}, {3, 2}},
                                             {{9, 0}, {3, 1}}, {{2, 15}, {2, 3}}, {{4, 2}, {3, 2}}};
  unsigned txn = 100;
  for (const auto& [raw, real] : reaches) {
    const Answer a = probe(*system, raw.x, raw.y, ++txn);
    ASSERT_TRUE(a.any);
    EXPECT_FALSE(accepted(a, raw.x, raw.y, txn));
    EXPECT_EQ(a.flit.src(), real) << int{raw.x} << "," << int{raw.y};
  }
  const Answer own = probe(*system, 0, 9, 1);  // (0,2), a memory port
  ASSERT_TRUE(own.any);
  EXPECT_EQ(own.flit.bits(248, 8), 0u);
  EXPECT_EQ(own.flit.dst(), (Coord{0, 9})) << "the raw destination stays";
}

TEST_F(Discovery, Fabric_S10_4_TheReferenceDriversSourceAlsoReachesTheAgent) {
  const auto system = machine("mesh8");
  const Answer a = probe(*system, 1, 1, 7, {0, 0});
  EXPECT_TRUE(accepted(a, 1, 1, 7));
  EXPECT_EQ(a.flit.dst(), (Coord{0, 0}));
}

TEST_F(Discovery, Fabric_S10_2_InstDepthOfTheMachineIsPublished) {
  const auto system = make_system("mesh8", {"host.kind=external", "meshes.0.units.mat.inst_depth=32"});
  EXPECT_EQ(probe(*system, 1, 1, 1).flit.bits(176, 64), 0x4D47042002000000u);
}

// Section 6.1, last row: the small system clamps to 1..2 but has routers (1,1) and (2,1) only.
TEST_F(Discovery, Fabric_S6_1_SmallSystemLosesWhatLeavesRowOneSouthwards) {
  const auto system = make_system("reference_small", {"host={kind: external}"});
  EXPECT_EQ(peek(*system, reg::kCaps), 0x0000000201040120u);
  EXPECT_TRUE(accepted(probe(*system, 2, 1, 1), 2, 1, 1));
  EXPECT_TRUE(accepted(probe(*system, 1, 0, 2), 1, 0, 2));
  const auto lost = [&](const char* name) {
    return dynamic_cast<noc::RouterBank::View&>(*system->unit(name)).lost();
  };
  EXPECT_EQ(lost("router@1,1"), 0u);
  EXPECT_FALSE(probe(*system, 1, 2, 3).any);
  EXPECT_FALSE(probe(*system, 1, 9, 4).any);
  EXPECT_EQ(lost("router@1,1"), 2u);
  EXPECT_FALSE(probe(*system, 2, 2, 5).any);
  EXPECT_FALSE(probe(*system, 9, 9, 6).any);
  EXPECT_EQ(lost("router@2,1"), 2u);
  EXPECT_TRUE(accepted(probe(*system, 2, 1, 7), 2, 1, 7)) << "nothing is blocked";
}

// Kick to acceptance: 15 cycles to the first router's endpoint, 5 more for each further router; flits for row
// 2 leave by the port of that row, all with the coordinate of port 0 as their source (orchestrator.md
// sections 5 and 10.5, vectors/programs/README.md, Facts).
TEST_F(Discovery, Orchestrator_S5_DispatchReachesEveryUnitOfMesh8) {
  struct Target {
    const char* link;
    Coord at;
    Cycle after_pulse;
    const char* port;
  };
  const Target targets[] = {
      {"cluster@1,0.in", {1, 0}, 15, "memory@0,1.out"}, {"cluster@1,1.in", {1, 1}, 15, "memory@0,1.out"},
      {"cluster@1,2.in", {1, 2}, 15, "memory@0,2.out"}, {"cluster@1,3.in", {1, 3}, 20, "memory@0,1.out"},
      {"cluster@2,0.in", {2, 0}, 20, "memory@0,1.out"}, {"cluster@2,1.in", {2, 1}, 20, "memory@0,1.out"},
      {"cluster@2,2.in", {2, 2}, 20, "memory@0,2.out"}, {"cluster@2,3.in", {2, 3}, 25, "memory@0,1.out"},
      {"vector@3,1.in", {3, 1}, 20, "memory@0,1.out"},  {"vector@3,2.in", {3, 2}, 20, "memory@0,2.out"}};
  struct Pulse final : orchestrator::AgentProbe {
    Cycle cycle = 0;
    void kick(Cycle pulse) override { cycle = pulse; }
  };
  for (const Target& t : targets) {
    const auto system = machine("mesh8");
    Pulse pulse;
    system->mesh().control_agent->set_probe(&pulse);
    LinkLog log(*system, {t.link, t.port});
    LiteralHost host;
    host.write(kAgent + reg::stage_word(0, 4), 0x5408);
    host.write(kAgent + reg::kProgDst, t.at.node_byte());
    host.write(kAgent + reg::kProgLen, 1);
    host.write(kAgent + reg::kProgCred, 1);
    host.write(kAgent + reg::kProgKick, 1);
    perform(*system, host);
    const auto arrived = log.of(t.link, FlitType::kCuInst);
    ASSERT_EQ(arrived.size(), 1u) << t.link;
    EXPECT_EQ(arrived[0].cycle, pulse.cycle + t.after_pulse) << t.link;
    EXPECT_EQ(arrived[0].flit.src(), (Coord{0, 1})) << t.link;
    EXPECT_EQ(log.of(t.port, FlitType::kCuInst).size(), 1u) << t.link;
  }
}

// Memory agent: a flit that finds the mailbox full is taken from the mesh and dropped (orchestrator.md 3.4).
TEST_F(Discovery, Orchestrator_S3_4_AcceptedAndDropped) {
  const auto system = machine("mesh1");
  LinkLog log(*system, {"cluster@1,1.out"});
  LiteralHost host;
  host.write(kAgent + reg::kTxFlit + 32, 0x11017018);
  for (unsigned i = 0; i < 20; ++i) {
    host.write(kAgent + reg::kTxKick, 1);
    host.quiet(50);
  }
  perform(*system, host);
  EXPECT_EQ(log.of("cluster@1,1.out", FlitType::kCuCtrl).size(), 20u);
  EXPECT_EQ(peek(*system, reg::kRxStatus), 0x20000u);
  unsigned kept = 0;
  while ((peek(*system, reg::kRxStatus) & 0x10000) == 0) {
    ++kept;
    LiteralHost pop;
    pop.write(kAgent + reg::kRxPop, 1);
    perform(*system, pop);
  }
  EXPECT_EQ(kept, 18u);
}

}  // namespace
}  // namespace ktpu::platform::test
