// SPDX-License-Identifier: Apache-2.0
// A few mutants through the tool itself: exit status, what it says, what it leaves behind.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "arch/program/program_file.h"
#include "tests/fuzz/program_mutator.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/yaml_mutator.h"

namespace ktpu::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 5;
constexpr unsigned kMutants = 30;  // of each kind
constexpr rlim_t kCpuSeconds = 30;

class Process : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("ktpu_fuzz_{}", getpid());
    fs::create_directories(folder_);
    std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const char* name, const void* data, std::size_t size) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  std::string read(const char* name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The exit status; negative: ended by that signal.
  int run(const std::vector<std::string>& arguments) const {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit{kCpuSeconds, kCpuSeconds};
      setrlimit(RLIMIT_CPU, &limit);
      if (chdir(folder_.c_str()) != 0) _exit(97);
      const int out = open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0600);
      const int err = open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      std::vector<std::string> words{KTPU_BIN_DIR "/ktpu-sim"};
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Runs t.yaml (or `topology`) and p.bin and looks at all that is left.
  void judge(const std::string& topology, const std::string& output) const {
    for (const char* name : {"c.npy", "s.json"}) fs::remove(folder_ / name);
    const int status = run({"-t", topology, "p.bin", "-q", "--no-lint", "--max-cycles", "20000", "--watchdog",
                            "4000", "--stats", "s.json", "--out", output + "=c.npy"});
    const std::string said = read("stderr");
    EXPECT_TRUE(status >= 0 && status <= 5) << status << ": " << said;
    if (status != 0) {
      EXPECT_TRUE(said.starts_with("ktpu-sim: ")) << said;
    }
    EXPECT_EQ(said.find("runtime error"), std::string::npos) << said;
    for (const char c : said)
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 32 || c == '\n') << "control character in: " << said;
    if (fs::exists(folder_ / "c.npy")) {
      EXPECT_EQ(status, 0) << said;
      const std::string array = read("c.npy");
      EXPECT_TRUE(array.starts_with("\x93NUMPY"));
    } else {
      EXPECT_NE(status, 0);
    }
    if (fs::exists(folder_ / "s.json")) {
      EXPECT_TRUE(nlohmann::json::accept(read("s.json")));
    }
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name == "t.yaml" || name == "p.bin" || name == "c.npy" || name == "s.json" ||
                  name == "stdout" || name == "stderr")
          << "left behind: " << name;
    }
  }

  fs::path folder_;
};

const arch::Program& program_named(const std::string& name) {
  for (const SeedProgram& seed : programs())
    if (seed.name == name) return seed.program;
  throw std::runtime_error("no program " + name);
}

TEST_F(Process, TheUnchangedOnesRun) {
  const auto bytes = arch::serialize_program(tour());
  write("p.bin", bytes.data(), bytes.size());
  judge("mesh1", "c");
  EXPECT_TRUE(fs::exists(folder_ / "c.npy"));
  EXPECT_TRUE(fs::exists(folder_ / "s.json"));
}

TEST_F(Process, AnExternalHostIsNotWaitedFor) {
  EXPECT_EQ(run({"-t", KTPU_SOURCE_DIR "/tests/fuzz/corpus/external_host.yaml", "-q"}), 2);
  EXPECT_NE(read("stderr").find("external"), std::string::npos) << read("stderr");
}

TEST_F(Process, NamesOfAProgramDoNotReachTheTerminalRaw) {
  arch::Program program = tour();
  program.inputs.at(0).name = program.inputs.at(1).name = "\x1b[2J\x07";
  const auto bytes = write_unchecked(program);
  write("p.bin", bytes.data(), bytes.size());
  judge("mesh1", "c");
  EXPECT_NE(read("stderr").find("\\x1b[2J\\x07"), std::string::npos) << read("stderr");
}

TEST_F(Process, Topologies) {
  const auto bytes = arch::serialize_program(program_named("matmul_32x32x128_round"));
  write("p.bin", bytes.data(), bytes.size());
  for (unsigned i = 0; i < kMutants && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("mutant {}", i));
    Random random(kSeed, i);
    const auto& texts = topology_texts();
    const SeedText* seed = &texts[random.below(texts.size())];
    if (!random.one_in(3))  // mostly the machine of the program
      for (const SeedText& text : texts)
        if (text.name == "mesh1") seed = &text;
    const std::string text = mutate_yaml(seed->text, random);
    write("t.yaml", text.data(), text.size());
    judge("./t.yaml", "c");
  }
}

TEST_F(Process, Programs) {
  for (unsigned i = 0; i < kMutants && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("mutant {}", i));
    Random random(kSeed, 1000 + i);
    const arch::Program seed = random.one_in(2) ? tour() : program_named("matmul_ksplit");
    std::vector<std::uint8_t> bytes;
    if (i % 2 == 0)
      bytes = write_unchecked(mutate_program(seed, tour(), random));
    else
      bytes = mutate_bytes(write_unchecked(seed), write_unchecked(tour()), random);
    write("p.bin", bytes.data(), bytes.size());
    judge("mesh1", "c");
  }
}

}  // namespace
}  // namespace ktpu::fuzz
