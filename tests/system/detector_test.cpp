// SPDX-License-Identifier: Apache-2.0
// Every finding of arch/misuse.h: a program that meets it, and one beside it that does not. What shows before
// a run is found by the static check as well, which says nothing of the program beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "apps/common/machine_facts.h"
#include "arch/misuse.h"
#include "arch/program/lint.h"
#include "arch/program/text.h"
#include "tlm/platform/runner.h"
#include "topologies/reader.h"

namespace ktpu::test {
namespace {

using Ids = std::set<std::string>;

struct Case {
  std::string id;
  std::string bad, good;
  Ids also = {};  // what else comes of the bad program
  const char* machine = "mesh1";
  std::vector<std::string> sets = {};
};

// `count` instructions on a cluster, awaited.
std::string job(const std::string& instructions, unsigned count, unsigned credit = 32,
                const char* node = "(1,1)") {
  return fmt::format(
      "round \"r\"\nbaseline {0}\nstage 0 {{\n{1}}}\ncredit {2}\nkick {0} slots=0..{3}\nawait {0} {4}\n",
      node, instructions, credit, count - 1, count);
}
std::string lines(unsigned count, const std::string& line) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += line + "\n";
  return text;
}

const std::string kGemm22 = "gemm gm=2 gn=2 nk=1\n";
const std::string kEmit22 = "gemm emit gm=2 gn=2 nk=2 to=0x4000\n";
const std::string kFuse4 = "drain fuse n=4 to=0x4000\n";
const std::string kWord = "flit 00004000" + std::string(64, '0');  // MEM_WR_DATA
// Raw writes of the dispatch registers.
const std::string kFourStaged = "stage 0 {\n" + lines(4, "cluster op=0") + "}\n";
const std::string kRawKick =
    kFourStaged +
    "credit 32\nwrite PROG_DST = 0x11\nwrite PROG_BASE = 0\nwrite PROG_LEN = 4\nwrite PROG_KICK = 1\n";
const std::string kIdle = "poll PROG_STAT & 1 == 0\n";
// Receiver (2,1) of mesh8 with loaded tiles, then instructions at sender (1,1).
std::string peer(const std::string& instructions, unsigned count) {
  return job(kGemm22, 1, 32, "(2,1)") + job(instructions, count);
}
std::string mailbox_ctrl(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text +=
        "write TX_FLIT[0] = 0\nwrite TX_FLIT[1] = 0\nwrite TX_FLIT[2] = 0\nwrite TX_FLIT[3] = 0\n"
        "write TX_FLIT[4] = 0x11017018\nwrite TX_KICK = 1\nquiet 64\npoll RX_STATUS & 0x10000 == 0\n";
  return text;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{
      {"fill-count", job("fill a n=256 from=0\n", 1), job("fill a n=255 from=0\n", 1)},
      {"fill-bank",
       job("fill a n=17 eoff=240 from=0\n", 1),
       job("fill a n=16 eoff=240 from=0\n", 1),
       {"tag-overflow"}},
      {"tag-overflow",
       job("fill a n=17 eoff=240 from=0\n", 1),
       job("fill a n=16 eoff=240 from=0\n", 1),
       {"fill-bank"}},
      {"fill-race", job("gemm gm=16 gn=16 nk=8\nfill a n=1 eoff=127 from=0\n", 2),
       job("gemm gm=16 gn=16 nk=8\nfill a n=1 fbank=1 from=0\n", 2)},
      {"l1-capacity",
       job("fill a n=1 fbank=1 from=0\n", 1),
       job("fill b n=1 fbank=1 from=0\n", 1),
       {},
       "mesh1",
       {"meshes.0.units.mat.l1_a=256"}},
      {"gemm-bank", job("gemm gm=1 gn=1 nk=8 aoff=249\n", 1), job("gemm gm=1 gn=1 nk=8 aoff=248\n", 1)},
      {"gemm-anchor", job("gemm gm=1 gn=1 nk=1 anchor=41\n", 1), job("gemm gm=1 gn=1 nk=1 anchor=40\n", 1)},
      {"tile-capacity",
       job("gemm gm=17 gn=16 nk=1\n", 1),
       job("gemm gm=16 gn=16 nk=1\n", 1),
       {},
       "mesh1",
       {"meshes.0.units.mat.tiles=256"}},
      {"tile-unloaded", job("gemm acc gm=2 gn=2 nk=1\n", 1), job(kGemm22 + "gemm acc gm=2 gn=2 nk=1\n", 2)},
      {"acc-shape", job("gemm gm=2 gn=3 nk=1\ngemm acc gm=3 gn=2 nk=1\n", 2),
       job("gemm gm=2 gn=3 nk=1\ngemm acc gm=2 gn=3 nk=1\n", 2)},
      {"emit-load", job("gemm emit gm=2 gn=2 nk=1 to=0x4000\n" + kFuse4, 2), job(kEmit22 + kFuse4, 2)},
      {"emit-buffer",
       job("gemm emit gm=2 gn=2 nk=2 dnode dbuf=2 dst=(2,1)\ndrain fuse n=4 dnode dbuf=2 dst=(2,1)\n", 2),
       job("gemm emit gm=2 gn=2 nk=2 dnode dbuf=0 dst=(2,1)\ndrain fuse n=4 dnode dbuf=0 dst=(2,1)\n", 2),
       {"tile-unloaded"},
       "mesh8"},
      {"emit-order", job(kEmit22 + kEmit22 + kFuse4, 3), job(kEmit22 + kFuse4 + kEmit22 + kFuse4, 4)},
      {"fuse-alone", job(kGemm22 + kFuse4, 2), job(kGemm22 + "drain n=4 to=0x4000\n", 2)},
      {"fuse-count", job(kEmit22 + "drain fuse n=5 to=0x4000\n", 2), job(kEmit22 + kFuse4, 2)},
      {"fuse-destination", job(kEmit22 + "drain fuse n=4 to=0x8000\n", 2), job(kEmit22 + kFuse4, 2)},
      {"peer-self",
       job(kGemm22 + "drain n=4 dnode dbuf=2 dst=(1,1)\n", 2),
       peer(kGemm22 + "drain n=4 dnode dbuf=2 dst=(2,1)\n", 2),
       {},
       "mesh8"},
      {"stream-rejected",
       peer(kGemm22 + "drain n=4 dnode dbuf=2 dst=(2,1) to=0x20\n", 2),
       peer(kGemm22 + "drain n=3 dnode dbuf=2 dst=(2,1) to=0x40\n", 2),
       {},
       "mesh8"},
      {"stream-overlap",
       "stage 0 {\ngemm gm=8 gn=8 nk=1\ndrain n=64 dnode dbuf=0 dst=(2,2)\n}\ncredit 32\nkick (1,2) "
       "slots=0..1\n"
       "kick (2,1) slots=0..1\nquiet 3000\n",
       job("gemm gm=8 gn=8 nk=1\ndrain n=64 dnode dbuf=0 dst=(2,2)\n", 2, 32, "(1,2)") + "quiet 3000\n" +
           job("gemm gm=8 gn=8 nk=1\ndrain n=64 dnode dbuf=0 dst=(2,2)\n", 2, 32, "(2,1)"),
       {},
       "mesh8"},
      // --- memory
      {"out-of-range", job("fill a n=1 from=0xfffffff00\n", 1), job("fill a n=1 from=0xffffff00\n", 1)},
      {"aperture",
       job("fill a n=1 from=0xc000000000\n", 1),
       job("fill a n=1 from=0x0\n", 1),
       {},
       "mesh1",
       {"meshes.0.dram.wrap=true"}},
      {"foreign-mesh",
       job("fill a n=1 from=0x1000000000\n", 1),
       job("fill a n=1 from=0x0\n", 1),
       {},
       "mesh1",
       {"meshes.0.dram.wrap=true"}},
      {"write-burst",
       "stage 0 {\nwr_req addr=0x4000 len=8\n" + lines(9, kWord) + "}\ncredit 32\nkick (0,1) slots=0..9\n",
       "stage 0 {\nwr_req addr=0x4000 len=7\n" + lines(8, kWord) + "}\ncredit 32\nkick (0,1) slots=0..8\n"},
      {"data-without-slot", "stage 0 {\n" + kWord + "\n}\ncredit 32\nkick (0,1) slots=0..0\n",
       "stage 0 {\nwr_req addr=0x4000 len=0\n" + kWord + "\n}\ncredit 32\nkick (0,1) slots=0..1\n"},
      {"read-landing", job(kGemm22 + "drain n=4 to=0x4000\nfill a n=1 from=0x4000\n", 3),
       job(kGemm22 + "drain n=4 to=0x4000\nfill a n=1 from=0x4100\n", 3)},
      {"read-landing",
       job(kGemm22 + "drain n=4 to=0x4000\n", 2) + job("fill a n=1 from=0x4000\n", 1),
       job(kGemm22 + "drain n=4 to=0x4000\n", 2) + "quiet 500\n" + job("fill a n=1 from=0x4000\n", 1),
       {},
       "mesh1",
       {"meshes.0.dram.write_response=400"}},
      {"load-landing",
       job(kGemm22 + "drain n=4 to=0x4000\n", 2) + "load 0x4000 zeros size=32\n",
       job(kGemm22 + "drain n=4 to=0x4000\n", 2) + "quiet 500\nload 0x4000 zeros size=32\n",
       {},
       "mesh1",
       {"meshes.0.dram.write_response=400"}},
      {"output-landing",
       "output c fp16 [4,4] at=0x4000 layout=tile:1x1:1x1\nstage 0 {\nwr_req addr=0x4000 len=1\n" + kWord +
           "\n}\n"
           "credit 32\nkick (0,1) slots=0..1\n",
       "output c fp16 [4,4] at=0x4000 layout=tile:1x1:1x1\nstage 0 {\nwr_req addr=0x4000 "
       "len=1\n" +
           lines(2, kWord) +
           "}\n"
           "credit 32\nkick (0,1) slots=0..2\n"},
      // --- dispatch
      {"kick-empty", kFourStaged + "credit 4\nwrite PROG_DST = 0x11\nwrite PROG_KICK = 1\n",
       kRawKick + kIdle},
      {"kick-unstaged", "stage 0 {\ncluster op=0\n}\ncredit 32\nkick (1,1) slots=0..1\n",
       "stage 0 {\ncluster op=0\n}\ncredit 32\nkick (1,1) slots=0..0\n"},
      {"kick-lost", kRawKick + "write PROG_KICK = 1\n", kRawKick + kIdle + "write PROG_KICK = 1\n"},
      {"dst-live", kRawKick + "write PROG_DST = 0x10\n",
       kRawKick + kIdle + "quiet 64\nwrite PROG_DST = 0x10\n"},
      {"stage-overwrite",
       "stage 0 {\n" + lines(20, "cluster op=0") +
           "}\ncredit 32\nkick (1,1) slots=0..19\nstage 19 {\ncluster op=0\n}\n",
       "stage 0 {\n" + lines(20, "cluster op=0") +
           "}\ncredit 32\nkick (1,1) slots=0..19\nstage 20 {\ncluster op=0\n}\n"},
      {"credit-missing", kFourStaged + "kick (1,1) slots=0..3\n",
       kFourStaged + "credit 1\nkick (1,1) slots=0..3\n"},
      {"credit-low", job(lines(2, "gemm gm=1 gn=1 nk=1 last"), 2, 1),
       job(lines(2, "gemm gm=1 gn=1 nk=1 last"), 2, 2)},
      {"credit-depth",
       job(lines(40, "gemm gm=16 gn=16 nk=1"), 40, 64),
       job(lines(40, "gemm gm=16 gn=16 nk=1"), 40, 16),
       {},
       "mesh1",
       {"meshes.0.units.mat.inst_depth=16"}},
      {"done-live", kRawKick + "write SIG_DONE = 0\n", kRawKick + "poll SIG_DONE == 4\nwrite SIG_DONE = 0\n"},
      {"send-lost", kRawKick + "write TX_KICK = 1\n", kRawKick + kIdle + "quiet 64\n" + mailbox_ctrl(1)},
      {"mailbox-lost", mailbox_ctrl(20), mailbox_ctrl(16)},
  };
  return kCases;
}

struct Outcome {
  platform::RunResult result;
  Ids lint;
  std::string text;
};

Outcome run(const Case& c, const std::string& text) {
  const arch::Program program = arch::assemble(text, c.id);
  const topo::Machine machine = topo::read_file(c.machine, c.sets);
  platform::Registry models;
  platform::register_models(models);
  platform::System system(machine, models);
  platform::Runner runner(system, &program, {200'000, 5000});
  Outcome outcome;
  outcome.result = runner.run();
  const arch::MachineNeeds facts = apps::machine_facts(machine);
  for (const arch::LintFinding& finding : arch::lint(program, &facts)) {
    outcome.lint.emplace(finding.rule->id);
    outcome.text += arch::to_text(finding) + "\n";
  }
  for (const platform::Finding& finding : outcome.result.findings) outcome.text += finding.line() + "\n";
  outcome.text += outcome.result.message;
  return outcome;
}

class Detector : public testing::TestWithParam<std::size_t> {};

TEST_P(Detector, SeesTheProgramAndNotTheOneBeside) {
  const Case& c = cases()[GetParam()];
  const arch::MisuseRule* rule = arch::find_misuse(c.id);
  ASSERT_NE(rule, nullptr) << c.id;

  const Outcome bad = run(c, c.bad);
  unsigned times = 0;
  for (const platform::Finding& finding : bad.result.findings) {
    if (finding.id != c.id) {
      EXPECT_TRUE(c.also.contains(finding.id)) << bad.text;
      continue;
    }
    ++times;
    EXPECT_GE(finding.count, 1u);
    ASSERT_FALSE(finding.first.empty());
    EXPECT_LE(finding.first.front().cycle, bad.result.cycles);
    EXPECT_FALSE(finding.where.empty());
    EXPECT_EQ(finding.effect, rule->effect);
    EXPECT_EQ(finding.fix, rule->fix);
  }
  EXPECT_EQ(times, 1u) << "one entry for an id and node\n" << bad.text;
  if (rule->during == arch::RunCheck::kFault) {
    EXPECT_EQ(bad.result.status, arch::ExitStatus::kUnitFault) << bad.text;
  }
  if (rule->before != arch::StaticCheck::kNone) {
    EXPECT_TRUE(bad.lint.contains(c.id)) << bad.text;
  }

  const Outcome good = run(c, c.good);
  EXPECT_TRUE(good.result.findings.empty()) << good.text;
  EXPECT_TRUE(good.result.status == arch::ExitStatus::kOk) << good.text;
  EXPECT_TRUE(good.lint.empty() || good.lint == Ids{"cluster-opcode"}) << good.text;
}

std::string case_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = cases()[info.param].id;
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return fmt::format("{}_{}", info.param, name);
}
INSTANTIATE_TEST_SUITE_P(Every, Detector, testing::Range<std::size_t>(0, cases().size()), case_name);

// What no program here can do, and where it is done instead.
TEST(DetectorTable, EveryFindingOfARunHasACase) {
  const std::set<std::string_view> elsewhere{
      "reuse-distance",    // tests/unit/cluster/misuse_test.cpp
      "control-overlap",   // the same
      "dropped-aperture",  // tests/unit/memory/staging_test.cpp
      "staging-alias",     // the same
      "mover-busy",        // tests/unit/memory/mover_timing_test.cpp
      "mover-fault",       // the same
      "remote-ack",        // tests/unit/memory/interlink_test.cpp
      "remote-route",      // the same
      "interlink-off",     // the same
      "unclaimed-flit",    // tests/unit/memory/agent_test.cpp
      "window-forwarded",  // tests/unit/noc/staging_adapter_window_test.cpp
      "window-write",      // the same
      "vector-fault",      // tests/unit/vector/vector_test.cpp
      "vector-burst",      // the same
  };
  std::set<std::string_view> seen = elsewhere;
  for (const Case& c : cases()) seen.insert(c.id);
  for (const arch::MisuseRule& rule : arch::misuse_rules())
    if (rule.during != arch::RunCheck::kNone) {
      EXPECT_TRUE(seen.contains(rule.id)) << rule.id;
    }
}

}  // namespace
}  // namespace ktpu::test
