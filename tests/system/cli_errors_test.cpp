// SPDX-License-Identifier: Apache-2.0
// ktpu-sim as a process: every exit status but 0, with a message that names the thing, and nothing
// half-written.
#include <algorithm>
#include <array>

#include "tests/system/cli.h"

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// --- Status 2 in its many forms

TEST_F(Cli, RefusesCommandLines) {
  expect_refused({}, {"--topology", "mesh8"});
  expect_refused({worked}, {"--topology"});
  expect_refused({"-t", "mesh1", worked, "--frobnicate"}, {"--frobnicate"});
  expect_refused({"-t", "mesh1", worked, "second.bin"}, {"second.bin"});
  expect_refused({"-t"}, {"--topology"});
  for (const char* flag : {"--atol", "--rtol"}) expect_refused({"-t", "mesh1", worked, flag, "-1"}, {flag});
  for (const char* flag : {"--max-cycles", "--watchdog", "--vcd-limit", "--wave-on-error"}) {
    expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", flag, "0"}, {flag});
    expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", flag, "many"}, {flag});
    expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", flag, "-5"}, {flag});
    expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", flag, "99999999999999999999999"}, {flag});
  }
  expect_refused({"-t", "mesh1", worked, "--vcd-scope", "*"}, {"--vcd"});
  expect_refused({"-t", "mesh1", worked, "--wave-on-error", "5"}, {"--vcd"});
  expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", "--vcd-scope", "clustr*"}, {"clustr"});
}

TEST_F(Cli, WaveOptionsNeedAWaveFileAndAWindowThatIsOne) {
  expect_refused({"-t", "mesh1", worked, "--vcd-from", "5"}, {"--vcd"});
  expect_refused({"-t", "mesh1", worked, "--vcd-to", "5"}, {"--vcd"});
  expect_refused({"-t", "mesh1", worked, "--vcd", "w.vcd", "--vcd-from", "9", "--vcd-to", "8"}, {"9", "8"});
}

TEST_F(Cli, AFolderIsNoFile) {
  expect_refused({"-t", "mesh1", folder.string()}, {folder.string()});
  expect_refused({"-t", "mesh1", worked, "--in", "a=" + folder.string()}, {folder.string()});
  expect_refused({"-t", "mesh1", worked, "--expect", "c=" + folder.string()}, {folder.string()});
}

TEST_F(Cli, OptionsTakeOneValueSoTheProgramMayComeLast) {
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--set", "clock_mhz=200"},
                                                 {"--impl", "router=model"},
                                                 {"--out", "c=c.npy"},
                                                 {"--dump", "0:4"}})
    EXPECT_EQ(sim({"-t", "mesh1", "-q", option[0], option[1], worked}).status, 0) << option[0];
  EXPECT_EQ(sim({"-t", "mesh1", "-q", "--vcd", "w.vcd", "--vcd-scope", "*", worked}).status, 0);
}

TEST_F(Cli, RefusesTopologies) {
  expect_refused({"-t", "mesh9", worked}, {"mesh9", "mesh8"});
  expect_refused({"-t", "./nothing.yaml", worked}, {"nothing.yaml"});
  expect_refused({"-t", "/", worked}, {"/"});
  expect_refused({"-t", folder.string(), worked}, {folder.string()});
  spill(folder / "bad.yaml", "version: 1\nname: x\nmeshs: []\n");
  expect_refused({"-t", "bad.yaml", worked}, {"bad.yaml:", "meshs"});
  spill(folder / "empty.yaml", "");
  expect_refused({"-t", "empty.yaml"}, {"empty.yaml"});
  for (const char* set :
       {"nonsense", "=", "meshes.0.dram.first_read_bet=80", "meshes.0.dram.first_read_beat=fast",
        "meshes.7.dram.first_read_beat=1", "meshes.0.dram.first_read_beat="})
    expect_refused({"-t", "mesh1", worked, "--set", set}, {set});
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.dram.first_read_bet=80"}, {"first_read_beat"});
  expect_refused({"-t", "mesh1", worked, "--impl", "router"}, {"router"});
  expect_refused({"-t", "mesh1", worked, "--impl", "router=silicon"}, {"silicon", "model"});
  expect_refused({"-t", "mesh1", worked, "--impl", "router@7,7=model"}, {"router@7,7", "router@1,1"});
  expect_refused({"-t", "mesh1", worked, "--impl", "cluster=pins"}, {"cluster@1,1", "pins"});
}

TEST_F(Cli, RefusesPrograms) {
  expect_refused({"-t", "mesh1", "nothing.bin"}, {"nothing.bin"});
  spill(folder / "empty.bin", "");
  expect_refused({"-t", "mesh1", "empty.bin"}, {"empty.bin"});
  spill(folder / "text.bin", "this is no program, but long enough to have a trailer at its end ..........\n");
  expect_refused({"-t", "mesh1", "text.bin"}, {"text.bin"});
  const std::string good = slurp(worked);
  spill(folder / "cut.bin", good.substr(0, good.size() / 2));
  expect_refused({"-t", "mesh1", "cut.bin"}, {"cut.bin"});
  std::string altered = good;
  altered[good.size() / 3] = static_cast<char>(altered[good.size() / 3] ^ 1);
  spill(folder / "altered.bin", altered);
  expect_refused({"-t", "mesh1", "altered.bin"}, {"altered.bin", "hash"});
  expect_refused({"-t", "mesh1", std::string(KTPU_SOURCE_DIR) + "/examples/matmul_32x32x128.kasm"}, {"kasm"});
}

TEST_F(Cli, RefusesProgramsForOtherMachines) {
  expect_refused({"-t", "mesh8", worked}, {"0x80000000", "mesh8"});
  expect_refused({"-t", "noc3x3", worked}, {"noc3x3"});
  expect_refused({"-t", "mesh1", example("matmul_256x256x256")}, {"mesh1", "(1,0)"});
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.units.mat.tiles=32"}, {"tiles", "64", "32"});
  expect_refused({"-t", "mesh1", worked, "--elaborate-only", "--set", "meshes.0.units.mat.tiles=32"},
                 {"tiles"});
  expect_refused({"-t", "mesh1", worked, "--set", "meshes.0.agent.staging_flits=2"}, {"staging", "4", "2"});
  expect_refused({"-t", "mesh1", assemble("reset 20\n")}, {"reset", "not supported"});
}

TEST_F(Cli, RefusesTensors) {
  spill(folder / "short.npy", npy({1, 2, 3}, "(3,)"));
  spill(folder / "bytes.npy", npy(ramp(1), "(32, 256)", "|u1"));
  spill(folder / "fortran.npy", npy(ramp(1), "(32, 128)", "<f2", true));
  spill(folder / "big.npy", npy(ramp(1), "(32, 128)", ">f2"));
  spill(folder / "cut.npy", npy(ramp(1), "(32, 128)").substr(0, 1000));
  spill(folder / "not.npy", "hello");
  const auto in = [&](const std::string& binding) {
    return std::vector<std::string>{"-t", "mesh1", worked, "--in", binding};
  };
  expect_refused(in("a"), {"--in a", "NAME=FILE"});
  expect_refused(in("=a.npy"), {"NAME=FILE"});
  expect_refused(in("z=short.npy"), {"\"z\"", "a, b"});
  expect_refused(in("a=missing.npy"), {"missing.npy"});
  expect_refused(in("a=short.npy"), {"short.npy", "3", "32x128"});
  expect_refused(in("a=bytes.npy"), {"bytes.npy", "|u1", "<f2"});
  expect_refused(in("a=fortran.npy"), {"fortran.npy", "ascontiguousarray"});
  expect_refused(in("a=big.npy"), {"big.npy", ">f2"});
  expect_refused(in("a=cut.npy"), {"cut.npy"});
  expect_refused(in("a=not.npy"), {"not.npy"});
  expect_refused({"-t", "mesh1", worked, "--out", "z=z.npy"}, {"\"z\"", "c"});
  expect_refused({"-t", "mesh1", worked, "--expect", "z=short.npy"}, {"\"z\""});
  expect_refused({"-t", "mesh1", worked, "--expect", "c=short.npy"}, {"short.npy", "32x32"});
  expect_refused({"-t", "mesh1", worked, "--expect", "c=missing.npy"}, {"missing.npy"});
  expect_refused({"-t", "noc3x3", "--in", "a=short.npy"}, {"program"});
  for (const char* dump : {"", "4", "4:", ":4", "0:0", "-4:4", "4:-4", "x:4", "4:4:", "4:4x"})
    expect_refused({"-t", "mesh1", worked, std::string("--dump=") + dump}, {"--dump"});
  expect_refused({"-t", "mesh1", worked, "--dump", "0x100000000:4"}, {"0x100000000"});
  expect_refused({"-t", "mesh1", worked, "--dump", "0xffffffff:2"}, {"0xffffffff"});
  expect_refused({"-t", "mesh1", worked, "--dump", "0:99999999999999"}, {"0x0"});
}

TEST_F(Cli, AnInputGivenTwiceIsRefused) {
  expect_refused({"-t", "mesh1", worked, "--in", "a=x.npy", "--in", "a=y.npy"}, {"--in a=y.npy", "twice"});
}

TEST_F(Cli, ToleranceIsANumber) {
  for (const char* value : {"-1", "nan", "inf", "1e999", "x"})
    for (const char* option : {"--atol", "--rtol"})
      expect_refused({"-t", "mesh1", worked, "--expect", "c=c.npy", option, value},
                     {option, value, "number, 0 or more"});
}

TEST_F(Cli, RefusesFilesItCannotWrite) {
  fs::create_directories(folder / "adir");
  for (const std::string path : {"adir", "missing/x"}) {
    expect_refused({"-t", "mesh1", worked, "-q", "--vcd", path}, {path});
    expect_refused({"-t", "mesh1", worked, "-q", "--out", "c=" + path}, {path});
    expect_refused({"-t", "mesh1", worked, "-q", "--dump", "0:4:" + path}, {path});
  }
  for (const std::string path : {"missing/x.json", "missing/x.csv", "x.txt", "noending"})
    expect_refused({"-t", "mesh1", worked, "-q", "--stats", path}, {path});
  fs::create_directories(folder / "d.json");
  expect_refused({"-t", "mesh1", worked, "-q", "--stats", "d.json"}, {"d.json"});
}

// What cannot be right is said before the run, not after hours of it.
TEST_F(Cli, EveryOutputIsCheckedBeforeTheRun) {
  const std::string endless = assemble("poll SIG_DONE == 1\n");
  for (const auto& [option, value, word] :
       {std::array<const char*, 3>{"--stats", "missing/x.json", "missing"},
        {"--stats", "x.txt", "x.txt"},
        {"--vcd", "missing/x.vcd", "missing"},
        {"--dump", "0x100000000:4", "0x100000000"},
        {"--dump", "0:4:missing/x", "missing"}}) {
    const Finished f = sim({"-t", "mesh1", endless, "-q", option, value});
    EXPECT_EQ(f.status, 2) << option;
    EXPECT_THAT(f.err, AllOf(HasSubstr(word), Not(HasSubstr("no progress")))) << option;
  }
  for (const auto& [option, value, word] : {std::array<const char*, 3>{"--out", "z=z.npy", "\"z\""},
                                            {"--out", "c=missing/c.npy", "missing"},
                                            {"--expect", "c=missing.npy", "missing.npy"}})
    expect_refused({"-t", "mesh1", worked, "-q", "--max-cycles", "5", option, value}, {word});
}

// --- The other statuses

TEST_F(Cli, Status3UnitFault) {
  const Finished f = sim({"-t", "mesh1", "-q", "--no-lint",
                          assemble("stage 0 {\n fill a n=1 from=0x3ffffff000 txn=1 last\n }\ncredit 32\n"
                                   "kick (1,1) slots=0..0\npoll SIG_DONE & 0xffff == 1\n")});
  EXPECT_EQ(f.status, 3);
  EXPECT_THAT(f.err, AllOf(HasSubstr("cluster@1,1"), HasSubstr("outside the memory"),
                           HasSubstr("0x3ffffff000"), HasSubstr("cycle")));
}

TEST_F(Cli, Status4NamesTheBlockedUnitsAndKeepsTheLastWaves) {
  const std::string program = assemble(
      "stage 0 {\n fill a n=1 from=0 txn=1 last\n}\ncredit 32\nkick (1,1) slots=0..0\n"
      "poll SIG_DONE & 0xffff == 2\n");
  const Finished f = sim({"-t", "mesh1", "-q", program, "--watchdog", "2000", "--vcd", "w.vcd",
                          "--wave-on-error", "100", "--stats", "s.json"});
  EXPECT_EQ(f.status, 4);
  EXPECT_THAT(f.err, AllOf(HasSubstr("no progress since cycle"), HasSubstr("host"), HasSubstr("SIG_DONE"),
                           HasSubstr("fewer signals")));
  EXPECT_THAT(files(), testing::IsSupersetOf({std::string("w.vcd"), std::string("s.json")}));
}

TEST_F(Cli, Status5CycleLimit) {
  const Finished f =
      sim({"-t", "mesh1", "-q", worked, "--max-cycles", "700", "--out", "c=c.npy", "--stats", "s.csv"});
  EXPECT_EQ(f.status, 5);
  EXPECT_THAT(f.err, AllOf(HasSubstr("700"), HasSubstr("--max-cycles")));
  EXPECT_FALSE(fs::exists(folder / "c.npy")) << "an unfinished result is no result";
  EXPECT_TRUE(fs::exists(folder / "s.csv"));
  EXPECT_EQ(sim({"-t", "noc8x8", "-q", "--max-cycles", "500"}).status, 5) << "endless traffic";
}

TEST_F(Cli, Status7StrictTurnsMisuseIntoFailure) {  // accumulates on a tile that was never loaded
  const std::string program = assemble(R"(
    stage 0 {
      fill a n=1 from=0 txn=1
      fill b n=1 from=0 txn=1
      gemm acc gm=1 gn=1 nk=1 txn=1
      drain n=1 to=0x4000 txn=1 last
    }
    credit 32
    kick (1,1) slots=0..3
    poll SIG_DONE & 0xffff == 4
  )");
  const Finished lenient = sim({"-t", "mesh1", "-q", "--no-lint", program});
  EXPECT_EQ(lenient.status, 0);
  EXPECT_THAT(lenient.err, AllOf(HasSubstr("note"), HasSubstr("cluster@1,1")));
  const Finished strict = sim({"-t", "mesh1", "-q", "--no-lint", program, "--strict"});
  EXPECT_EQ(strict.status, 7);
  EXPECT_THAT(strict.err, HasSubstr("cluster@1,1"));
}

// The last sweep of a program has nothing behind it that would make anybody look at its tiles.
TEST_F(Cli, Status7AlsoForTheLastSweep) {
  const std::string program = assemble(
      "stage 0 {\n  fill a n=1 from=0x0 txn=1\n  fill b n=1 from=0x2000 txn=1\n"
      "  gemm acc gm=1 gn=1 nk=1 txn=1 last\n}\n"
      "baseline (1,1)\ncredit 8\nkick (1,1) slots=0..2\nawait (1,1) 3\n");
  const Finished strict = sim({"-t", "mesh1", "-q", "--no-lint", program, "--strict"});
  EXPECT_EQ(strict.status, 7);
  EXPECT_THAT(strict.err, HasSubstr("sub-tile 0"));
}

// The static check refuses what is wrong on every machine, with step, slot, instruction and fix.
TEST_F(Cli, Status2StaticCheck) {
  const std::string program = assemble(
      "stage 0 {\n  fill a n=256 from=0x0 last\n}\nbaseline (1,1)\ncredit 8\nkick (1,1) slots=0..0\n"
      "await (1,1) 1\n");
  expect_refused({"-t", "mesh1", program}, {"1 error", "step 3", "slot 0", "fill a", "n=256", "[fill-count]",
                                            "fix: split", "--no-lint"});
  const Finished f = sim({"-t", "mesh1", "-q", program, "--no-lint", "--watchdog", "2000"});
  EXPECT_EQ(f.status, 4);
  EXPECT_THAT(f.err, HasSubstr("[fill-count]"));
}

TEST_F(Cli, TrafficThatEndsIsStatus0) {
  EXPECT_EQ(sim({"-t", "noc8x8", "-q", "--set", "meshes.0.units.t.flits=20"}).status, 0);
  EXPECT_EQ(sim({"-t", "noc3x3", "-q"}).status, 0) << "nothing to send";
}

// With the twins built in this is lock-step; else the message names the build option (user report 8).
TEST_F(Cli, RouterTwinsOrTheirBuildOption) {
  const Finished f = sim({"-t", "mesh1", "-q", worked, "--impl", "router=lockstep"});
  EXPECT_THAT(f.status, AnyOf(0, 2)) << f.err;
  if (f.status == 2) {
    EXPECT_THAT(f.err, HasSubstr("KTPU_RTL"));
  }
}

}  // namespace
}  // namespace ktpu::test
