// SPDX-License-Identifier: Apache-2.0
// orchestrator.md section 10, literally, on mesh1: C[32,32] = A[32,128] x B[32,128]^T.
#include <array>

#include "arch/program/text.h"
#include "tests/support/plain_matmul.h"
#include "tests/unit/platform/bench.h"
#include "tlm/cluster/cluster_probe.h"
#include "tlm/cluster/matmul_cluster.h"

namespace ktpu::platform::test {
namespace {

namespace plain = ktpu::test::plain;

struct Write {
  std::uint64_t address, data;
};

// Section 10.2.
constexpr std::array<Write, 20> kStaging{{
    {0x10002000, 0x0000000000000000}, {0x10002008, 0x0000000000000000}, {0x10002010, 0x0001280000000000},
    {0x10002018, 0x1000000000008000}, {0x10002020, 0x0000000000005400}, {0x10002028, 0x0000000000000000},
    {0x10002030, 0x0000000000000000}, {0x10002038, 0x0001280000000000}, {0x10002040, 0x1000008000008200},
    {0x10002048, 0x0000000000005400}, {0x10002050, 0x0000000000000000}, {0x10002058, 0x0000000000000000},
    {0x10002060, 0x0804280000000000}, {0x10002068, 0x2000000000000008}, {0x10002070, 0x0000000000005400},
    {0x10002078, 0x0000000000000000}, {0x10002080, 0x0000000000000000}, {0x10002088, 0x0001280000000000},
    {0x10002090, 0x3000010000010000}, {0x10002098, 0x0000000000005408},
}};
// Section 10.3: four writes a row.
struct Command {
  std::uint64_t base, op, address, data, mask;
};
constexpr std::array<Command, 9> kCommands{{
    {0x00001000, 1, 0x10000070, 0x0, 0x0},
    {0x00001020, 1, 0x10000060, 0x20, 0x0},
    {0x00001040, 2, 0x10000058, 0x0, 0x1},
    {0x00001060, 1, 0x10000040, 0x11, 0x0},
    {0x00001080, 1, 0x10000068, 0x0, 0x0},
    {0x000010A0, 1, 0x10000048, 0x4, 0x0},
    {0x000010C0, 1, 0x10000050, 0x1, 0x0},
    {0x000010E0, 2, 0x10000070, 0x4, 0xFFFF},
    {0x00001100, 3, 0x00000000, 0x0, 0x0},
}};

struct Kick final : orchestrator::AgentProbe {
  std::optional<Cycle> pulse;
  std::vector<std::pair<Cycle, Flit>> left;
  void kick(Cycle cycle) override { pulse = cycle; }
  void sent(Cycle cycle, const Flit& flit) override { left.emplace_back(cycle, flit); }
};
struct Counts final : cluster::ClusterProbe {
  std::map<cluster::AccOp, unsigned> commands;
  std::vector<Cycle> issue;
  void on_issue(Cycle now, const arch::ClusterInst&) override { issue.push_back(now); }
  void on_command(Cycle, cluster::AccOp op, unsigned, bool lost) override {
    EXPECT_FALSE(lost);
    ++commands[op];
  }
};

struct Mesh1 {
  explicit Mesh1(const topo::Overrides& sets = {})
      : system(make_system("mesh1", sets)), log(*system, {"cluster@1,1.in", "cluster@1,1.out"}) {
    a = plain::lcg(32 * 128, 139, 10);
    b = plain::lcg(32 * 128, 151, 10);
    write_memory(system->mesh(), 0x0000, plain::to_entries(a, 32, 128, 8, 4));
    write_memory(system->mesh(), 0x2000, plain::to_entries(b, 32, 128, 8, 4));
    system->mesh().control_agent->set_probe(&kick);
    unit = dynamic_cast<cluster::MatmulCluster*>(system->mesh().endpoint_at({1, 1}));
    unit->set_probe(&counts);
    system->host()->set_script(&host);
  }
  void with_engine(std::uint64_t seed = 0x20) {
    for (const Write& w : kStaging) host.write(w.address, w.data);
    for (const Command& c : kCommands) {
      host.write(c.base, c.op);
      host.write(c.base + 8, c.address);
      host.write(c.base + 16, c.base == 0x1020 ? seed : c.data);
      host.write(c.base + 24, c.mask);
    }
    host.write(0, 1);
    host.poll(0, 2, 2);
    host.read(0x10);
  }
  plain::Halves result() {
    return plain::from_tiles(read_memory(system->mesh(), 0x4000, 64 * 32), 1, 1, 8, 8);
  }

  LiteralHost host;
  Kick kick;
  Counts counts;
  std::unique_ptr<System> system;
  LinkLog log;
  cluster::MatmulCluster* unit;
  plain::Halves a, b;
};

TEST(Orchestrator_S10_Example, HostWritesAndResult) {
  Mesh1 m;
  m.with_engine();
  ASSERT_TRUE(run_dry(*m.system));
  EXPECT_EQ(m.host.writes, 57u);  // 20 + 36 + 1
  ASSERT_EQ(m.host.reads.size(), 1u);
  EXPECT_EQ(m.host.reads[0].value, 0u) << "CODE";
  EXPECT_EQ(m.result(), plain::matmul(m.a, m.b, 32, 32, 128));
}

TEST(Orchestrator_S10_1_Example, DispatchedFlits) {
  Mesh1 m;
  m.with_engine();
  ASSERT_TRUE(run_dry(*m.system));
  ASSERT_EQ(m.kick.left.size(), 4u);
  const char* as_dispatched[] = {"110154001000000000008000000128000000000000000000000000000000000000000000",
                                 "110154001000008000008200000128000000000000000000000000000000000000000000",
                                 "110154002000000000000008080428000000000000000000000000000000000000000000",
                                 "110154083000010000010000000128000000000000000000000000000000000000000000"};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(arch::to_hex(m.kick.left[i].second), as_dispatched[i]) << i;
}

TEST(Orchestrator_S10_5_Example, FlitsByCount) {
  Mesh1 m;
  m.with_engine();
  ASSERT_TRUE(run_dry(*m.system));
  const std::string in = "cluster@1,1.in", out = "cluster@1,1.out";
  EXPECT_EQ(m.log.of(in, FlitType::kCuInst).size(), 4u);
  EXPECT_EQ(m.log.of(in, FlitType::kMemRdResp).size(), 256u);
  EXPECT_EQ(m.log.of(in, FlitType::kMemWrAck).size(), 8u);
  const auto requests = m.log.of(out, FlitType::kMemRdReq);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(arch::to_hex(requests[0].flit),
            "011100080000000000035020000000000000000000000000000000000000000000000000");
  EXPECT_EQ(arch::to_hex(requests[1].flit),
            "011100080000002000037020000000000000000000000000000000000000000000000000");
  const auto descriptors = m.log.of(out, FlitType::kMemWrReq);
  ASSERT_EQ(descriptors.size(), 8u);
  EXPECT_EQ(m.log.of(out, FlitType::kMemWrData).size(), 64u);
  EXPECT_EQ(arch::to_hex(descriptors[0].flit),
            "011110200000004000070000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(arch::to_hex(descriptors[7].flit),
            "011110200000004700070000000000000000000000000000000000000000000000000000");
  const auto signals = m.log.of(out, FlitType::kCuSignal);
  const char* expected[] = {"011164080000000001000000000000000000000000000000000000000000000000000000",
                            "011164080000000002000000000000000000000000000000000000000000000000000000",
                            "011164080000000003000000000000000000000000000000000000000000000000000000",
                            "011164080100000040000000000000000000000000000000000000000000000000000000"};
  ASSERT_EQ(signals.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(arch::to_hex(signals[i].flit), expected[i]) << i;
  EXPECT_EQ(m.log.seen[in].size(), 4u + 256 + 8);
  EXPECT_EQ(m.log.seen[out].size(), 2u + 72 + 4);
  EXPECT_EQ(m.counts.commands[cluster::AccOp::kLoad], 64u);
  EXPECT_EQ(m.counts.commands[cluster::AccOp::kAdd], 192u);
  EXPECT_EQ(m.counts.commands[cluster::AccOp::kEmit], 64u);
}

TEST(Orchestrator_S10_5_Example, FinalState) {
  Mesh1 m;
  m.with_engine();
  ASSERT_TRUE(run_dry(*m.system));
  EXPECT_EQ(peek(*m.system, reg::kSigDone), 4u);
  EXPECT_EQ(peek(*m.system, reg::kProgCred), 31u);
  EXPECT_EQ(peek(*m.system, 0x1088), 0x0100000040000401u);
  EXPECT_EQ(peek(*m.system, reg::kProgStat), 0x3E0002u);
  EXPECT_EQ(peek(*m.system, reg::kStatus), 4u);
  EXPECT_EQ(peek(*m.system, reg::kRxStatus), 0x10000u) << "acknowledges are dropped by the cluster";
  EXPECT_EQ(peek(*m.system, reg::kAuxStat) >> 8 & 0xFFFF, 8u);
  EXPECT_EQ(m.system->mesh().command_engine->peek(0), 2u);
}

TEST(Orchestrator_S10_5_Example, DispatchTiming) {
  Mesh1 m;
  m.with_engine();
  ASSERT_TRUE(run_dry(*m.system));
  ASSERT_TRUE(m.kick.pulse.has_value());
  const Cycle w = *m.kick.pulse - 1;
  ASSERT_EQ(m.kick.left.size(), 4u);
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(m.kick.left[k].first, w + 11 + 5 * k);
  const auto instructions = m.log.of("cluster@1,1.in", FlitType::kCuInst);
  ASSERT_EQ(instructions.size(), 4u);
  EXPECT_EQ(instructions[0].cycle, w + 16);
  // Valid from w+19, taken in the cycle after: 14 + 5 from the pulse (vectors/programs/README.md, Facts).
  ASSERT_EQ(m.counts.issue.size(), 4u);
  EXPECT_EQ(m.counts.issue[0], w + 20);
  EXPECT_EQ(m.counts.issue[0], *m.kick.pulse + 14 + 5);
}

TEST(Orchestrator_S10_4_Example, AnySeedFromTheProgramToTheDepthWorks) {
  for (const std::uint64_t seed : {4u, 32u, 512u}) {
    Mesh1 m;
    m.with_engine(seed);
    ASSERT_TRUE(run_dry(*m.system));
    EXPECT_EQ(m.result(), plain::matmul(m.a, m.b, 32, 32, 128)) << seed;
    EXPECT_EQ(peek(*m.system, reg::kProgCred), seed - 1);
  }
}

TEST(Orchestrator_S10_4_Example, WithoutTheEngineItTakes26Writes) {
  Mesh1 m({"host.kind=script"});
  for (const Write& w : kStaging) m.host.write(w.address, w.data);
  for (const Command& c : kCommands) {
    if (c.op == 1) m.host.write(c.address, c.data);
    if (c.op == 2) m.host.poll(c.address, c.mask, c.data);
  }
  ASSERT_TRUE(run_dry(*m.system));
  EXPECT_EQ(m.host.writes, 26u);
  EXPECT_EQ(m.result(), plain::matmul(m.a, m.b, 32, 32, 128));
  EXPECT_EQ(peek(*m.system, reg::kProgStat), 0x3E0002u);
}

// Section 8: 203 commands for an engine of 128 run in two parts, nothing twice and nothing left out.
TEST(Orchestrator_S8_Lists, ALongListRunsInParts) {
  std::string text =
      "stage 0 {\n fill a n=1 from=0 txn=1 last\n}\ncommands {\n write SIG_DONE = 0\n write PROG_CRED = 40\n";
  for (int i = 0; i < 40; ++i)
    text +=
        " poll PROG_STAT & 1 == 0\n write PROG_DST = 0x11\n write PROG_BASE = 0\n write PROG_LEN = 1\n"
        " write PROG_KICK = 1\n";
  text += " poll SIG_DONE & 0xffff == 40\n done 5\n}\n";
  const arch::Program program = arch::assemble(text, "test.kasm");
  const auto system = make_system("mesh1");
  Runner runner(*system, &program, {500'000, 50'000});
  EXPECT_EQ(runner.run().status, arch::ExitStatus::kOk) << runner.result().message;
  EXPECT_EQ(peek(*system, reg::node_status(0x11)) >> 8 & 0xFFFF, 40u);
  EXPECT_EQ(peek(*system, reg::kProgCred), 0u) << "every one was the last of its program";
  EXPECT_EQ(system->mesh().command_engine->peek(0x10), 5u) << "CODE of the second part";
}

// Section 9: a completion does not mean that the data is in memory.
TEST(Orchestrator_S9_Margin, TheLastWritesLandAfterTheLastCompletion) {
  Mesh1 m({"host.kind=script"});
  for (const Write& w : kStaging) m.host.write(w.address, w.data);
  for (const Command& c : kCommands) {
    if (c.op == 1) m.host.write(c.address, c.data);
    if (c.op == 2) m.host.poll(c.address, c.mask, c.data);
  }
  while (!m.system->host()->done()) m.system->engine().run_until(m.system->engine().now() + 1);
  EXPECT_NE(m.result(), plain::matmul(m.a, m.b, 32, 32, 128)) << "at the end of the poll";
  // The counter of issued bursts first, then n + 24 + Dw more cycles.
  while ((peek(*m.system, reg::kAuxStat) >> 8 & 0xFFFF) < 8)
    m.system->engine().run_until(m.system->engine().now() + 1);
  m.system->engine().run_until(m.system->engine().now() + 8 + 24 + 1);
  EXPECT_EQ(m.result(), plain::matmul(m.a, m.b, 32, 32, 128));
}

TEST(Orchestrator_S10_6_Discovery, MailboxLiteral) {
  Mesh1 m;
  for (const std::uint64_t address : {0x10000100, 0x10000108, 0x10000110, 0x10000118})
    m.host.write(address, 0);
  m.host.write(0x10000120, 0x11017018);
  m.host.write(0x10000140, 1);
  m.host.poll(0x100001C8, 0x10000, 0);
  for (unsigned i = 0; i < 5; ++i) m.host.read(0x10000180 + 8 * i);
  m.host.write(0x100001C0, 1);
  ASSERT_TRUE(run_dry(*m.system));
  std::vector<std::uint64_t> words;
  for (const auto& r : m.host.reads) words.push_back(r.value);
  EXPECT_EQ(words, (std::vector<std::uint64_t>{0, 0, 0, 0x2004D4704202000, 0x1117018}));
  EXPECT_EQ(peek(*m.system, reg::kRxStatus), 0x10000u);
}

}  // namespace
}  // namespace ktpu::platform::test
