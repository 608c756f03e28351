// SPDX-License-Identifier: Apache-2.0
// The examples and the executables that make and print them.
#include <sys/wait.h>

#include "arch/program/lint.h"
#include "arch/program/program_file.h"
#include "arch/program/text.h"
#include "tests/golden/golden_file.h"
#include "tests/unit/arch/program_support.h"

namespace ktpu::arch {
namespace {

namespace fs = std::filesystem;
using test::expect_golden;
using test::read_file;

const fs::path kExamples = KTPU_SOURCE_DIR "/examples";
const fs::path kGolden = KTPU_SOURCE_DIR "/tests/golden/disassembly";
const fs::path kBin = KTPU_BIN_DIR;

std::vector<fs::path> examples() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kExamples))
    if (entry.path().extension() == ".kasm") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 7u);
  return files;
}

// Exit status of a command line; standard output and error go to `output`.
int run(const std::string& command, std::string* output = nullptr) {
  const fs::path file = fs::temp_directory_path() / fmt::format("ktpu_golden_{}.txt", ::getpid());
  const int status = std::system(fmt::format("{} > '{}' 2>&1", command, file.string()).c_str());
  if (output) *output = read_file(file);
  fs::remove(file);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Golden, EveryStepKindAsText) { expect_golden(kGolden / "everything.kasm", disassemble(everything())); }

TEST(Golden, ExamplesAsText) {
  for (const fs::path& file : examples())
    expect_golden(kGolden / file.filename(), disassemble(assemble(read_file(file), file.string())));
}

TEST(Examples, PassTheStaticCheck) {
  for (const fs::path& file : examples())
    for (const LintFinding& f : lint(assemble(read_file(file), file.string())))
      ADD_FAILURE() << file << ": " << to_text(f);
}

// Examples whose second line says how they were made.
TEST(Examples, GeneratedOnesAreCurrent) {
  int generated = 0;
  for (const fs::path& file : examples()) {
    const std::string text = read_file(file);
    std::istringstream lines(text);
    std::string line, word, command = (kBin / "make_matmul").string();
    std::getline(lines, line);
    std::getline(lines, line);
    std::istringstream words(line);
    words >> word >> word;
    if (word != "make_matmul") continue;
    while (words >> word) command += " '" + word + "'";
    std::string output;
    ASSERT_EQ(run(command, &output), 0) << output;
    EXPECT_EQ(output, text) << file;
    ++generated;
  }
  EXPECT_GE(generated, 4);
}

TEST(Executables, AssembleAndPrintTheSameBytes) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("ktpu_golden_dir_{}", ::getpid());
  fs::create_directories(folder);
  const std::string one = (folder / "1.bin").string(), text = (folder / "1.kasm").string(),
                    two = (folder / "2.bin").string();
  save_program(everything(), one);
  std::string output;
  EXPECT_EQ(run(fmt::format("'{}' '{}' -o '{}'", (kBin / "ktpu-objdump").string(), one, text), &output), 0)
      << output;
  EXPECT_EQ(run(fmt::format("'{}' '{}' -o '{}'", (kBin / "ktpu-asm").string(), text, two), &output), 0)
      << output;
  EXPECT_EQ(read_file(one), read_file(two));
  fs::remove_all(folder);
}

TEST(Executables, ExitStatuses) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("ktpu_golden_dir_{}", ::getpid());
  fs::create_directories(folder);
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string assembler = (kBin / "ktpu-asm").string(), dump = (kBin / "ktpu-objdump").string();
  std::string output;
  const std::string bad = write("bad.kasm", "kik\n");
  EXPECT_EQ(run(fmt::format("'{}' '{}'", assembler, bad), &output), 2);
  EXPECT_EQ(output, fmt::format("ktpu-asm: {}:1:1: \"kik\" is no statement; did you mean \"kick\"?\n", bad));
  EXPECT_EQ(run(fmt::format("'{}' --frobnicate", assembler)), 2);
  EXPECT_EQ(run(fmt::format("'{}' --help", assembler)), 0);
  EXPECT_EQ(run(fmt::format("'{}' /nowhere.kasm", assembler)), 2);
  EXPECT_EQ(run(fmt::format("'{}' '{}'", dump, bad)), 2);
  EXPECT_EQ(run(fmt::format("'{}' /nowhere.bin", dump)), 2);
  const std::string risky =
      write("risky.kasm", "stage 0 {\nfill a n=256 from=0\n}\ncredit 1\nkick (1,1) slots=0..0\n");
  EXPECT_EQ(run(fmt::format("'{}' '{}'", assembler, risky)), 0);
  const std::string binary = (folder / "risky.bin").string();
  EXPECT_EQ(run(fmt::format("'{}' --lint '{}'", dump, binary), &output), 2);
  EXPECT_NE(output.find("[fill-count]"), std::string::npos) << output;
  EXPECT_NE(output.find("1 error, 0 warnings"), std::string::npos) << output;
  fs::resize_file(binary, fs::file_size(binary) - 3);
  EXPECT_EQ(run(fmt::format("'{}' '{}'", dump, binary), &output), 2);
  EXPECT_EQ(output,
            fmt::format(
                "ktpu-objdump: {}: trailer: missing, so the file is cut short or something was added to it\n",
                binary));
  EXPECT_EQ(run(fmt::format("'{}' --rehash '{}' '{}'", dump, binary, binary)), 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ktpu::arch
