// SPDX-License-Identifier: Apache-2.0
// --checkpoint, --restore and --digest through the process: whole files only, the rest of a run as it would
// have been, and files that do not belong to the run refused with file, cause and fix.
#include <fmt/format.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/system/cli.h"

namespace ktpu::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// Where the file keeps what (tlm/platform/checkpoint_file.cpp).
constexpr std::size_t kVersionAt = 8, kSizeAt = 16, kHashAt = 24, kContentAt = 32;

std::uint64_t size_field(const std::string& file) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 8; ++i)
    size |= std::uint64_t{static_cast<std::uint8_t>(file[kSizeAt + i])} << (8 * i);
  return size;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class CliCheckpoint : public Cli {
 protected:
  // Cycles of the worked example: a digest of each is one line.
  std::size_t cycles() {
    EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--digest", "1", "whole.txt"}).status, 0);
    return lines_of(slurp(folder / "whole.txt")).size();
  }
  // The worked example saved at `cycle`.
  void save(const std::string& file, std::size_t cycle) {
    const Finished f =
        sim({"-t", "mesh1", worked, "-q", "--checkpoint", file, "--checkpoint-at", std::to_string(cycle)});
    ASSERT_EQ(f.status, 0) << f.err;
    ASSERT_TRUE(fs::exists(folder / file)) << f.err;
  }
  void expect_no_restore(const std::string& file, const std::vector<std::string>& words) {
    std::vector<std::string> all{file, "fix: "};
    all.insert(all.end(), words.begin(), words.end());
    expect_refused({"-t", "mesh1", worked, "--restore", file, "--stats", "s.json", "--out", "c=c.npy"}, all);
  }
};

TEST_F(CliCheckpoint, UserReport25EveryFlagWorks) {
  save("c.ckpt", 500);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--restore", "c.ckpt"},
        {"--restore", "c.ckpt", "--no-idle-skip"},
        {"--restore", "c.ckpt", "--history", "*.credit", "--stats", "s.json"},
        {"--restore", "c.ckpt", "--watch-mem", "0x4000:32"},
        {"--restore", "c.ckpt", "--digest", "1", "d.txt"},
        {"--restore", "c.ckpt", "--vcd", "w.vcd"},
        {"--restore", "c.ckpt", "--checkpoint", "d.ckpt", "--checkpoint-at", "600"},
        {"--checkpoint", "c{cycle}", "--checkpoint-every", "700"},
        {"--checkpoint", "d.ckpt", "--checkpoint-at", "0"}}) {
    std::vector<std::string> line{"-t", "mesh1", worked};
    line.insert(line.end(), more.begin(), more.end());
    const Finished f = sim(line);
    EXPECT_EQ(f.status, 0) << more[0] << " " << more.back() << "\n" << f.err;
  }
  const Finished help = sim({"--help"});
  for (const char* flag : {"--checkpoint ", "--checkpoint-at", "--checkpoint-every", "--restore", "--digest"})
    EXPECT_THAT(help.out, HasSubstr(flag));
}

TEST_F(CliCheckpoint, CyclesAndIntervalsGiveTheFilesNamed) {
  const std::size_t end = cycles();
  ASSERT_GT(end, 1000u);
  const Finished at = sim({"-t", "mesh1", worked, "-q", "--checkpoint", "at{cycle}.ckpt", "--checkpoint-at",
                           "700", "--checkpoint-at", "0", "--checkpoint-at", "701"});
  EXPECT_EQ(at.status, 0) << at.err;
  EXPECT_EQ(at.err, "");
  for (const char* name : {"at0.ckpt", "at700.ckpt", "at701.ckpt"}) EXPECT_TRUE(fs::exists(folder / name));
  const Finished every =
      sim({"-t", "mesh1", worked, "-q", "--checkpoint", "n{cycle}", "--checkpoint-every", "400"});
  EXPECT_EQ(every.status, 0) << every.err;
  for (std::size_t k = 400; k < end; k += 400) EXPECT_TRUE(fs::exists(folder / fmt::format("n{}", k))) << k;
  EXPECT_FALSE(fs::exists(folder / "n0"));
  for (const std::string& name : files()) EXPECT_THAT(name, Not(HasSubstr("part")));

  // One name: the last one stays.
  const Finished one = sim(
      {"-t", "mesh1", worked, "--checkpoint", "one.ckpt", "--checkpoint-at", "0", "--checkpoint-at", "700"});
  EXPECT_THAT(one.err, AllOf(HasSubstr("one.ckpt: saved at cycle 0"), HasSubstr("saved at cycle 700")));
  EXPECT_EQ(slurp(folder / "one.ckpt"), slurp(folder / "at700.ckpt")) << "equal states, equal files";

  const Finished late =
      sim({"-t", "mesh1", worked, "-q", "--checkpoint", "late", "--checkpoint-at", "9999999"});
  EXPECT_EQ(late.status, 0);
  EXPECT_THAT(late.err, AllOf(HasSubstr("no checkpoint at cycle 9999999"), HasSubstr("was over at cycle")));
  EXPECT_FALSE(fs::exists(folder / "late"));
}

// Whoever looks while a run saves again and again finds one whole file or the other.
TEST_F(CliCheckpoint, AFileIsWholeAtAnyMoment) {
  save("c.ckpt", 3);
  std::atomic<bool> over{false};
  Finished f;
  std::thread run([&] {
    f = sim({"-t", "mesh1", worked, "-q", "--checkpoint", "c.ckpt", "--checkpoint-every", "20"});
    over = true;
  });
  unsigned looks = 0, other = 0;
  std::string before = slurp(folder / "c.ckpt");
  while (!over) {
    const std::string now = slurp(folder / "c.ckpt");
    if (now.size() < kContentAt || size_field(now) != now.size()) {
      ADD_FAILURE() << "half a file: " << now.size() << " bytes";
      break;
    }
    ++looks;
    other += now != before;
    before = now;
  }
  run.join();
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_GT(looks, 2u);
  EXPECT_GT(other, 1u);
  EXPECT_EQ(files(), std::vector<std::string>{"c.ckpt"}) << "nothing is left beside it";
}

// Statistics, outputs, memory, summary, digests and waves from k on.
TEST_F(CliCheckpoint, ARestoredRunGivesWhatTheWholeRunGives) {
  const std::size_t end = cycles();
  const std::vector<std::string> digests = lines_of(slurp(folder / "whole.txt"));
  const auto seed = static_cast<unsigned>(std::random_device{}());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  const auto run = [&](const std::string& tag, std::size_t k, std::vector<std::string> more) {
    std::vector<std::string> line{"-t",
                                  "mesh1",
                                  worked,
                                  "--stats",
                                  tag + ".json",
                                  "--out",
                                  "c=" + tag + ".npy",
                                  "--dump",
                                  "0x4000:2048:" + tag + ".bin",
                                  "--vcd",
                                  tag + ".vcd",
                                  "--vcd-from",
                                  std::to_string(k),
                                  "--vcd-scope",
                                  "*"};
    line.insert(line.end(), more.begin(), more.end());
    const Finished f = sim(line);
    EXPECT_EQ(f.status, 0) << f.err;
    return f;
  };
  for (unsigned round = 0; round < 3; ++round) {
    const std::size_t k = random() % (end - 1);
    SCOPED_TRACE(fmt::format("k {}", k));
    save("c.ckpt", k);
    const Finished whole = run("whole", k, {});
    const Finished rest = run("rest", k, {"--restore", "c.ckpt", "--digest", "1", "rest.txt"});
    EXPECT_EQ(rest.out, whole.out);
    for (const char* kind : {".json", ".npy", ".bin", ".vcd"})
      EXPECT_TRUE(slurp(folder / fmt::format("rest{}", kind)) == slurp(folder / fmt::format("whole{}", kind)))
          << kind;
    EXPECT_GT(slurp(folder / "rest.vcd").size(), 1000u);
    const std::vector<std::string> tail = lines_of(slurp(folder / "rest.txt"));
    EXPECT_EQ(tail,
              std::vector<std::string>(digests.begin() + static_cast<std::ptrdiff_t>(k), digests.end()));
  }
}

// Inputs of the command line are in the checkpoint.
TEST_F(CliCheckpoint, InputsAreKeptAndExpectationsHold) {
  const plain::Halves a = ramp(5), b = ramp(6), c = plain::matmul(a, b, 32, 32, 128);
  spill(folder / "a.npy", npy(a, "(32, 128)"));
  spill(folder / "b.npy", npy(b, "(32, 128)"));
  spill(folder / "right.npy", npy(c, "(32, 32)"));
  spill(folder / "wrong.npy", npy(a, "(32, 128)"));
  ASSERT_EQ(sim({"-t", "mesh1", worked, "-q", "--in", "a=a.npy", "--in", "b=b.npy", "--checkpoint", "c.ckpt",
                 "--checkpoint-at", "200"})
                .status,
            0);
  EXPECT_EQ(sim({"-t", "mesh1", worked, "--restore", "c.ckpt", "--expect", "c=right.npy"}).status, 0);
  plain::Halves wrong = c;
  wrong[7] = static_cast<std::uint16_t>(wrong[7] ^ 1);
  spill(folder / "wrong.npy", npy(wrong, "(32, 32)"));
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--restore", "c.ckpt", "--expect", "c=wrong.npy"}).status, 1);
  expect_refused({"-t", "mesh1", worked, "--restore", "c.ckpt", "--in", "a=a.npy"}, {"--in", "--restore"});
}

// A limit is a cycle of the run, wherever it was taken up.
TEST_F(CliCheckpoint, ARestoredRunEndsAsTheWholeOne) {
  save("c.ckpt", 300);
  const auto both = [&](const std::vector<std::string>& more, int status) {
    std::vector<std::string> line{"-t", "mesh1", worked, "-q"};
    line.insert(line.end(), more.begin(), more.end());
    const Finished whole = sim(line);
    line.insert(line.end(), {"--restore", "c.ckpt"});
    const Finished rest = sim(line);
    EXPECT_EQ(whole.status, status) << whole.err;
    EXPECT_EQ(rest.status, status) << rest.err;
    EXPECT_EQ(rest.err, whole.err);
  };
  both({"--max-cycles", "900"}, 5);
  both({"--max-cycles", "301"}, 5);

  const std::string hang =
      assemble("baseline (1,1)\nstage 0 {\nfill a n=1 from=0x0\n}\nkick (1,1) slots=0..0\nawait (1,1) 1\n");
  const std::vector<std::string> line{"-t", "mesh1", hang, "-q", "--no-lint", "--watchdog", "4000"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return sim(more);
  };
  const Finished whole = with({"--checkpoint", "h.ckpt", "--checkpoint-at", "3000"});
  const Finished rest = with({"--restore", "h.ckpt"});
  EXPECT_EQ(whole.status, 4);
  EXPECT_EQ(rest.status, 4);
  EXPECT_EQ(rest.err, whole.err);
}

TEST_F(CliCheckpoint, DigestsDoNotDependOnHowARunIsMade) {
  cycles();
  const std::string whole = slurp(folder / "whole.txt");
  EXPECT_EQ(lines_of(whole)[0].rfind("0 ", 0), 0u) << lines_of(whole)[0];
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--no-idle-skip"},
                                               {"--checkpoint", "c.ckpt", "--checkpoint-every", "100"},
                                               {"--no-simd"}}) {
    std::vector<std::string> line{"-t", "mesh1", worked, "-q", "--digest", "1", "d.txt"};
    line.insert(line.end(), more.begin(), more.end());
    EXPECT_EQ(sim(line).status, 0);
    EXPECT_TRUE(slurp(folder / "d.txt") == whole) << more[0];
  }
  // Every 100th, and another machine parts from it.
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--digest", "100", "d.txt"}).status, 0);
  const std::vector<std::string> all = lines_of(whole), some = lines_of(slurp(folder / "d.txt"));
  ASSERT_EQ(some.size(), (all.size() + 99) / 100);
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[i * 100]);
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--digest", "100", "e.txt", "--set",
                 "meshes.0.dram.first_read_beat=9"})
                .status,
            0);
  const std::vector<std::string> slower = lines_of(slurp(folder / "e.txt"));
  EXPECT_EQ(slower[0], some[0]);
  EXPECT_NE(slower[5], some[5]);
}

// --- What is refused: status 2, nothing run, nothing written.

TEST_F(CliCheckpoint, RefusesFilesThatAreNoCheckpoint) {
  expect_no_restore("nothing.ckpt", {"cannot be opened"});
  expect_no_restore(folder.string(), {"is a folder"});
  spill(folder / "empty.ckpt", "");
  expect_no_restore("empty.ckpt", {"is not a checkpoint"});
  spill(folder / "text.ckpt", std::string(4000, 'x'));
  expect_no_restore("text.ckpt", {"is not a checkpoint"});
  expect_no_restore(worked, {"is not a checkpoint"});
}

TEST_F(CliCheckpoint, RefusesTruncatedAlteredAndNewerFiles) {
  save("c.ckpt", 500);
  const std::string whole = slurp(folder / "c.ckpt");
  ASSERT_EQ(size_field(whole), whole.size());
  for (const std::size_t size :
       {std::size_t{8}, kContentAt - 1, kContentAt, whole.size() / 2, whole.size() - 1}) {
    spill(folder / "cut.ckpt", whole.substr(0, size));
    expect_no_restore("cut.ckpt", {"truncated"});
  }
  spill(folder / "long.ckpt", whole + "x");
  expect_no_restore("long.ckpt", {"too long"});
  const auto flipped = [&](std::size_t at) {
    std::string file = whole;
    file[at] = static_cast<char>(file[at] ^ 0x10);
    spill(folder / "bad.ckpt", file);
  };
  flipped(3);
  expect_no_restore("bad.ckpt", {"is not a checkpoint"});
  flipped(kSizeAt);
  expect_no_restore("bad.ckpt", {" bytes"});
  std::mt19937 random(3);
  std::vector<std::size_t> places{kVersionAt + 4, kHashAt, kHashAt + 7, kContentAt, whole.size() - 1};
  for (unsigned n = 0; n < 12; ++n) places.push_back(kContentAt + random() % (whole.size() - kContentAt));
  for (const std::size_t at : places) {
    SCOPED_TRACE(at);
    flipped(at);
    expect_no_restore("bad.ckpt", {"altered"});
  }
  std::string newer = whole;
  newer[kVersionAt] = static_cast<char>(newer[kVersionAt] + 1);
  spill(folder / "newer.ckpt", newer);
  expect_no_restore("newer.ckpt", {"format version 2", "reads 1"});
  EXPECT_EQ(sim({"-t", "mesh1", worked, "-q", "--restore", "c.ckpt"}).status, 0) << "the file itself is good";
}

TEST_F(CliCheckpoint, RefusesAnotherMachineAndAnotherProgram) {
  save("c.ckpt", 500);
  const std::string round = example("matmul_32x32x128_round");
  expect_refused({"-t", "mesh1", round, "--restore", "c.ckpt"}, {"c.ckpt", "another run", "fix: "});
  expect_refused({"-t", "mesh1", "--max-cycles", "1000", "--restore", "c.ckpt"},
                 {"c.ckpt", "another run", "no program", "fix: "});
  expect_refused({"-t", "mesh8", example("matmul_256x256x256"), "--restore", "c.ckpt"},
                 {"c.ckpt", "another machine", "\"mesh1\"", "\"mesh8\"", "fix: "});
  expect_refused({"-t", "mesh1", worked, "--restore", "c.ckpt", "--set", "meshes.0.dram.first_read_beat=7"},
                 {"c.ckpt", "another machine", "first_read_beat: 7", "fix: ", "--set"});
}

TEST_F(CliCheckpoint, RefusesOptionsThatCannotBe) {
  expect_refused({"-t", "mesh1", worked, "--checkpoint", "c.ckpt"},
                 {"--checkpoint-at", "--checkpoint-every"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint-at", "5"}, {"--checkpoint"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint-every", "5"}, {"--checkpoint"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint", "c", "--checkpoint-every", "0"},
                 {"--checkpoint-every"});
  expect_refused(
      {"-t", "mesh1", worked, "--checkpoint", "c", "--checkpoint-every", "5", "--checkpoint-at", "5"},
      {"--checkpoint-at", "--checkpoint-every"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint", "c", "--checkpoint-at", "soon"},
                 {"--checkpoint-at"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint", "no/where/c", "--checkpoint-at", "5"}, {"no/where"});
  expect_refused({"-t", "mesh1", worked, "--checkpoint", folder.string(), "--checkpoint-at", "5"},
                 {folder.string(), "folder"});
  expect_refused({"-t", "mesh1", worked, "--digest", "5"}, {"--digest"});
  for (const char* n : {"0", "many", "-1", "5x"})
    expect_refused({"-t", "mesh1", worked, "--digest", n, "d.txt"}, {"--digest"});
  expect_refused({"-t", "mesh1", worked, "--digest", "5", "no/where/d.txt"}, {"no/where"});
  save("c.ckpt", 500);
  expect_refused(
      {"-t", "mesh1", worked, "--restore", "c.ckpt", "--checkpoint", "d", "--checkpoint-at", "499"},
      {"--checkpoint-at 499", "500"});
}

// A twin's state cannot be saved: said before the run, with its name (or that it was not built in).
TEST_F(CliCheckpoint, RefusesMachinesThatHoldOtherState) {
  expect_refused(
      {"-t", "mesh1", worked, "--impl", "router@1,1=rtl", "--checkpoint", "c", "--checkpoint-at", "5"},
      {"router"});
}

}  // namespace
}  // namespace ktpu::test
