// SPDX-License-Identifier: Apache-2.0
// Each rule of the static check fires on a program that breaks it and not on the one beside it.
#include "arch/program/lint.h"

#include <set>

#include "arch/program/text.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

// Rules that fire on instructions staged from slot 0 and kicked to cluster (1,1) in one round.
std::set<std::string> rules(const std::string& text) {
  std::set<std::string> names;
  for (const LintFinding& f : lint(assemble(text, "test"))) names.emplace(f.rule->id);
  return names;
}
std::set<std::string> cluster(const std::string& instructions, unsigned count) {
  return rules(fmt::format(
      "machine \"m\" staging=128\nunit matmul_cluster (1,1) tiles=256 l1_a=512 l1_b=256 inst_depth=32\n"
      "round \"r\"\nbaseline (1,1)\nstage 0 {{\n{}}}\ncredit 32\nkick (1,1) slots=0..{}\nawait (1,1) {}\n",
      instructions, count - 1, count));
}
using Rules = std::set<std::string>;

TEST(Lint, ClusterSection15Fill) {
  EXPECT_EQ(cluster("fill a n=255 from=0\nfill b n=16 eoff=240 from=0\n", 2), Rules{});
  EXPECT_EQ(cluster("fill a n=256 from=0\n", 1), Rules{"fill-count"});
  EXPECT_EQ(cluster("fill a n=17 eoff=240 from=0\n", 1), Rules{"fill-bank"});
  EXPECT_EQ(cluster("fill b n=1 fbank=1 from=0\n", 1), Rules{"l1-capacity"});
  EXPECT_EQ(cluster("fill a n=1 npeer=1 peer0=(2,1) from=0\n", 1), Rules{"fill-peers"});
}

TEST(Lint, MemorySection8Window) {
  const std::string machine = "machine \"m\" staging=128\n";
  EXPECT_EQ(rules(machine + "window write 0x8400000000 size=512 { 00 }\n"), Rules{});
  EXPECT_EQ(rules(machine + "window write 0x8400000000 size=320 { 00 }\n"), Rules{"upload-beats"});
  EXPECT_EQ(rules(machine + "window write 0x400000000 size=320 { 00 }\n"), Rules{});
  EXPECT_EQ(rules(machine + "window read 0x80001fffe0 size=32\n"), Rules{});
  EXPECT_EQ(rules(machine + "window read 0x80001fffe0 size=64\n"), Rules{"staging-alias"});
}

TEST(Lint, ClusterSection15Gemm) {
  EXPECT_EQ(cluster("gemm gm=16 gn=16 nk=8 aoff=128\n", 1), Rules{});
  EXPECT_EQ(cluster("gemm gm=16 gn=4 nk=8 aoff=129\n", 1), Rules{"gemm-bank"});
  EXPECT_EQ(cluster("gemm gm=1 gn=1 nk=1 bbank=1\n", 1), Rules{"l1-capacity"});
  EXPECT_EQ(cluster("gemm gm=17 gn=16 nk=1\n", 1), Rules{"tile-capacity"});
  EXPECT_EQ(cluster("gemm gm=1 gn=1 nk=1 anchor=41\n", 1), Rules{"gemm-anchor"});
  EXPECT_EQ(cluster("gemm acc gm=1 gn=1 nk=1\n", 1), Rules{"tile-unloaded"});
  EXPECT_EQ(cluster("gemm gm=2 gn=3 nk=1\ngemm acc gm=3 gn=2 nk=1\n", 2), Rules{"acc-shape"});
}

TEST(Lint, ClusterSection15Emit) {
  const std::string drain = "drain fuse n=4 to=0x40\n";
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=2 to=0x40\n" + drain, 2), Rules{});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=1 to=0x40\n" + drain, 2), Rules{"emit-load"});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=2 to=0x40\n", 1), Rules{"emit-order"});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=2 to=0x40\ngemm emit gm=2 gn=2 nk=2 to=0x40\n" + drain, 3),
            Rules{"emit-order"});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=2 to=0x40\ndrain n=4 to=0x40\n", 2), Rules{"emit-order"});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=2 nk=2 to=0x60\n" + drain, 2), Rules{"fuse-destination"});
  EXPECT_EQ(cluster("gemm emit gm=2 gn=1 nk=2 to=0x40\n" + drain, 2), Rules{"fuse-count"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=2\n" + drain, 2), Rules{"fuse-alone"});
  EXPECT_EQ(
      cluster("gemm emit gm=2 gn=2 nk=2 dnode dbuf=2 dst=(2,1)\ndrain fuse n=4 to=0 dnode dbuf=2 dst=(2,1)\n",
              2),
      Rules{"emit-buffer"});
}

TEST(Lint, ClusterSection15DrainAndRaces) {
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=1\ndrain n=4 to=0x40\n", 2), Rules{});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=1\ndrain n=5 to=0x40\n", 2), Rules{"tile-unloaded"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=1\ndrain n=4 to=0x48\n", 2), Rules{"drain-align"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=1\ndrain n=4 dnode dbuf=2 dst=(1,1)\n", 2), Rules{"peer-self"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=1\ndrain n=4 dnode dbuf=2 dst=(2,1) to=0x20\n", 2), Rules{"peer-odd"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=2\nfill a n=1 eoff=3 from=0\n", 2), Rules{"fill-race"});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=2\nfill a n=1 eoff=4 from=0\n", 2), Rules{});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=2\nfill a n=1 fbank=1 from=0\n", 2), Rules{});
  EXPECT_EQ(cluster("gemm gm=2 gn=2 nk=2\ndrain n=4 to=0x4000\nfill a n=1 eoff=3 from=0\n", 3), Rules{});
  EXPECT_EQ(cluster("cluster op=7\n", 1), Rules{"cluster-opcode"});
  EXPECT_EQ(cluster("wr_req addr=0 len=8\ncluster op=0\n", 2),
            (Rules{"write-burst", "write-beats", "cluster-opcode", "await-count"}));
}

TEST(Lint, OrchestratorSection11Host) {
  const std::string head = "machine \"m\" staging=128\nunit matmul_cluster (1,1) inst_depth=4\n";
  const std::string stage = "stage 0 {\nfill a n=1 from=0 last\nfill a n=1 from=0 last\n}\n";
  const std::string kick = "kick (1,1) slots=0..1\n";
  EXPECT_EQ(rules(head + stage + "credit 2\n" + kick), Rules{});
  EXPECT_EQ(rules(head + stage + kick), Rules{"credit-missing"});
  EXPECT_EQ(rules(head + stage + "credit 1\n" + kick), Rules{"credit-low"});
  EXPECT_EQ(rules(head + "credit 2\n" + kick), Rules{"kick-unstaged"});
  EXPECT_EQ(rules(head + stage + "credit 8\n" + kick + kick + kick), Rules{"credit-depth"});
  EXPECT_EQ(rules(head + stage + "credit 2\n" + kick + stage), Rules{"stage-overwrite"});
  EXPECT_EQ(rules(head + stage + "credit 2\n" + kick + "poll PROG_STAT & 1 == 0\n" + stage), Rules{});
  EXPECT_EQ(rules(head + "baseline (1,1)\n" + stage + "credit 2\n" + kick + "await (1,1) 3\n"),
            Rules{"await-count"});
  EXPECT_EQ(rules(head + stage + "credit 2\nwrite PROG_DST = 0x11\nwrite PROG_KICK = 1\n"),
            Rules{"kick-empty"});
  const std::string raw = "write PROG_DST = 0x11\nwrite PROG_LEN = 1\nwrite PROG_KICK = 1\n";
  EXPECT_EQ(rules(head + stage + "credit 2\n" + raw), Rules{});
  EXPECT_EQ(rules(head + stage + "credit 2\n" + raw + "write PROG_KICK = 1\n"), Rules{"kick-lost"});
  EXPECT_EQ(rules(head + stage + "credit 2\n" + raw + "write PROG_DST = 0x12\n"), Rules{"dst-live"});
}

// With the sizes of a machine: as `ktpu-objdump --lint -t`.
std::set<std::string> on_machine(const std::string& text) {
  MachineNeeds machine;
  machine.staging_flits = 8;
  machine.units = {{0, {1, 1}, "matmul_cluster", 256, 512, 512, 32},
                   {0, {2, 1}, "matmul_cluster", 256, 512, 512, 32}};
  std::set<std::string> names;
  for (const LintFinding& f : lint(assemble(text, "test"), &machine)) names.emplace(f.rule->id);
  return names;
}

TEST(Lint, FabricSection4Destination) {
  const auto kick = [](const char* to) {
    return fmt::format("stage 0 {{\nfill a n=1 from=0 last\n}}\ncredit 4\nkick {} slots=0..0\n", to);
  };
  EXPECT_EQ(on_machine(kick("(2,1)")), Rules{});
  EXPECT_EQ(on_machine(kick("(3,1)")), Rules{"destination"});
  EXPECT_EQ(on_machine(kick("(0,0)")), Rules{"destination"});
  const auto drain = [](const char* to) {
    return fmt::format(
        "stage 0 {{\ngemm gm=1 gn=1 nk=1\ndrain n=1 dnode dbuf=2 dst={} last\n}}\ncredit 4\n"
        "kick (1,1) slots=0..1\n",
        to);
  };
  EXPECT_EQ(on_machine(drain("(2,1)")), Rules{});
  EXPECT_EQ(on_machine(drain("(2,2)")), Rules{"destination"});
}

// The assembler refuses such a poll and such slots; programs made in code can have them.
std::set<std::string> rules_of(const Program& program) {
  std::set<std::string> names;
  for (const LintFinding& f : lint(program)) names.emplace(f.rule->id);
  return names;
}

TEST(Lint, OrchestratorSection8Poll) {
  EXPECT_EQ(rules("poll SIG_DONE & 0xff == 0xff\n"), Rules{});
  EXPECT_EQ(rules("poll PROG_STAT & 3 == 1\n"), Rules{});
  Program program = assemble("poll SIG_DONE & 0xff == 0xff\n", "test");
  auto& poll = std::get<StepPoll>(program.steps.at(0).action);
  poll.want = 0x100;
  EXPECT_EQ(rules_of(program), Rules{"poll-never"});
  poll.mask = 0x1ff;
  EXPECT_EQ(rules_of(program), Rules{});
  poll.want = 0x200;
  EXPECT_EQ(rules_of(program), Rules{"poll-never"});
}

TEST(Lint, MemorySection5_2WriteBeats) {
  const auto writes = [](const std::string& flits, unsigned count) {
    return rules(
        fmt::format("machine \"m\" staging=128\nstage 0 {{\n{}}}\ncredit 32\n"
                    "kick (0,1) slots=0..{}\n",
                    flits, count - 1));
  };
  const std::string request = "wr_req addr=0x40 len=1\n",
                    data =
                        fmt::format("flit {}\n", to_hex(make_flit({}, {}, FlitType::kMemWrData, 0, false))),
                    last = fmt::format("flit {}\n", to_hex(make_flit({}, {}, FlitType::kMemWrData, 0, true)));
  EXPECT_EQ(writes(request + data + last, 3), Rules{});
  EXPECT_EQ(writes(request + last, 2), Rules{"write-beats"});
  EXPECT_EQ(writes(request + data + data + last, 4), Rules{"write-beats"});
  EXPECT_EQ(writes(request + request + data + last, 4), Rules{"write-beats"});
  EXPECT_EQ(writes(last, 1), Rules{"write-beats"});
  EXPECT_EQ(writes(request + data + last + request + data + last, 6), Rules{});
}

TEST(Lint, MemorySection8UploadBeats) {
  const auto upload = [](unsigned size) {
    return rules(
        fmt::format("machine \"m\" staging=128\nwindow write 0x8400000000 size={} {{ 00 }}\n", size));
  };
  for (const unsigned entries : {1u, 2u, 17u}) EXPECT_EQ(upload(256 * entries), Rules{}) << entries;
  for (const unsigned size : {32u, 224u, 288u, 4064u}) EXPECT_EQ(upload(size), Rules{"upload-beats"}) << size;
}

TEST(Lint, OrchestratorSection3_3StageCapacity) {
  const std::string head = "machine \"m\" staging=8\n";
  const std::string two = "fill a n=1 from=0\nfill a n=1 from=0\n";
  EXPECT_EQ(rules(head + "stage 6 {\n" + two + "}\n"), Rules{});
  EXPECT_EQ(on_machine("stage 6 {\n" + two + "}\n"), Rules{});
  EXPECT_EQ(on_machine("stage 7 {\n" + two + "}\n"), Rules{"stage-capacity"});
}

TEST(Lint, FindingsNameStepAndInstruction) {
  const auto findings =
      lint(assemble("stage 0 {\nfill a n=256 from=0 last\n}\ncredit 1\nkick (1,1) slots=0..0\n", "t"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(to_text(findings[0]),
            "step 2: error: slot 0 for node (1,1), `fill a from=0x0 n=256 last`: n=256: the unit counts "
            "entries in 8 bits, "
            "more than 255 never complete [fill-count]; fix: split it into FILLs of at most 255");
  EXPECT_EQ(findings[0].slot, 0u);
}

TEST(Misuse, EveryRuleHasAnIdOfItsOwnAndASentenceForAll) {
  std::set<std::string_view> names;
  for (const MisuseRule& r : misuse_rules()) {
    EXPECT_TRUE(names.insert(r.id).second) << r.id;
    EXPECT_EQ(find_misuse(r.id), &r);
    for (const std::string_view text : {r.where, r.what, r.effect, r.fix}) EXPECT_FALSE(text.empty()) << r.id;
    EXPECT_TRUE(r.before != StaticCheck::kNone || r.during != RunCheck::kNone) << r.id;
  }
  EXPECT_EQ(find_misuse("fill"), nullptr);
}

}  // namespace
}  // namespace ktpu::arch
