// SPDX-License-Identifier: Apache-2.0
// Runs the tests of a block's twin with a SystemVerilog block that carries faults (mutants.cmake), each time
// in a process of its own: first with no fault, which must pass, then with one fault after another. A fault
// is killed when a test fails: a difference in lock-step, an assertion of the RTL, or a run that does not
// end.
//
// A fault that survives must stand in the table of docs/mutants.md with the reason; anything else fails.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/mutants/selected.h"

namespace {

struct Mutant {
  const char* name;
  unsigned number;
  const char* kind;
  const char* file;
  unsigned line;  // 0: its text is no longer in the file
  const char* sound;
  const char* faulty;
};

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all{
#include "mutants_table.inc"  // generated
  };
  return all;
}

std::string text_of(const Mutant& m) {
  return *m.faulty == '\0' ? std::string(m.sound) : fmt::format("{} -> {}", m.sound, m.faulty);
}

struct Outcome {
  bool killed = false;
  std::string by;  // "mismatch", "assertion", "hang", "test", "crash"
  std::string text;
  double seconds = 0;
};

// What the failing test says, in one line.
std::string first_words(const std::string& output) {
  std::smatch found;
  static const std::regex cycle("cycle [0-9]+: ([^\n\"]*)");
  if (std::regex_search(output, found, cycle)) return found[0];
  const std::size_t at = output.find("Failure\n");
  if (at == std::string::npos) return output.substr(0, output.find('\n'));
  std::istringstream lines(output.substr(at + 8));
  std::string line, all;
  for (int n = 0; n < 2 && std::getline(lines, line); ++n) all += (n ? ", " : "") + line;
  return all;
}

std::string kind_of(const std::string& output) {
  if (output.find("lock-step mismatch") != std::string::npos) return "mismatch";
  if (output.find("violated: ") != std::string::npos) return "assertion";
  return "test";
}

// The tests in a child with fault `number`; ended after `limit`.
Outcome run(unsigned number, std::chrono::duration<double> limit) {
  const auto start = std::chrono::steady_clock::now();
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw std::runtime_error("no temporary file: is /tmp full?");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    ktpu_mutant = number;
    testing::GTEST_FLAG(fail_fast) = number != 0;
    const int status = RUN_ALL_TESTS();
    std::fflush(nullptr);
    _exit(status);
  }
  Outcome outcome;
  int status = 0;
  const auto seconds = [&] { return std::chrono::steady_clock::now() - start; };
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (seconds() > limit) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      outcome = {true, "hang", fmt::format("ended after {:.0f} s", limit.count()), 0};
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::string output(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
  std::rewind(file);
  output.resize(std::fread(output.data(), 1, output.size(), file));
  std::fclose(file);
  if (outcome.by.empty() && WIFSIGNALED(status)) {
    outcome = {true, "crash", fmt::format("signal {}", WTERMSIG(status)), 0};
  } else if (outcome.by.empty() && WEXITSTATUS(status) != 0) {
    outcome = {true, kind_of(output), first_words(output), 0};
  }
  outcome.seconds = std::chrono::duration<double>(seconds()).count();
  return outcome;
}

// The names in the first column of docs/mutants.md whose second column is this block.
std::map<std::string, bool> explained() {
  const std::string path = KTPU_SOURCE_DIR "/docs/mutants.md";
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  static const std::regex row("^\\| `([0-9a-z_]+)` \\| " KTPU_BLOCK " \\|.*");
  std::map<std::string, bool> names;
  std::string line;
  for (std::smatch found; std::getline(in, line);)
    if (std::regex_match(line, found, row)) names.emplace(found[1], false);
  return names;
}

struct Counts {
  std::size_t killed = 0, survived = 0, stale = 0, skipped = 0;
  std::vector<std::string> failures;  // what makes the test fail, said again at the end
};

// Runs one fault and says what came of it.
void judge(const Mutant& m, std::map<std::string, bool>& reasons, bool run_explained,
           std::chrono::duration<double> limit, Counts& counts, std::ofstream& report) {
  const auto reason = reasons.find(m.name);
  if (reason != reasons.end()) reason->second = true;
  std::string verdict;
  if (m.line == 0) {
    ++counts.stale;
    verdict = "stale: its text is no longer in the file";
  } else if (reason != reasons.end() && !run_explained) {
    ++counts.skipped;
    verdict = "survives, as docs/mutants.md explains";
  } else {
    const Outcome outcome = run(m.number, limit);
    ++(outcome.killed ? counts.killed : counts.survived);
    verdict = outcome.killed ? fmt::format("{}: {}", outcome.by, outcome.text.substr(0, 160)) : "SURVIVED";
    if (!outcome.killed && reason == reasons.end()) {
      verdict += ", and docs/mutants.md does not say why";
      counts.failures.push_back(fmt::format("{} survives unexplained", m.name));
    } else if (outcome.killed && reason != reasons.end()) {
      verdict += "; yet docs/mutants.md says that it survives";
      counts.failures.push_back(fmt::format("{} is killed, docs/mutants.md says it survives", m.name));
    }
    verdict += fmt::format(" ({:.1f} s)", outcome.seconds);
  }
  fmt::print("{:<20} {:<10} {}:{}  {}\n    {}\n", m.name, m.kind, m.file, m.line, text_of(m), verdict);
  std::fflush(stdout);
  if (report)
    report << fmt::format("{}\t{}\t{}\t{}:{}\t{}\t{}\n", KTPU_BLOCK, m.name, m.kind, m.file, m.line,
                          text_of(m), verdict);
}

int run_all(bool run_explained, const std::string& report_path) {
  const Outcome sound = run(0, std::chrono::seconds(600));
  if (sound.killed) {
    fmt::print("no fault: the tests fail ({}: {}), so nothing is said about the faults\n", sound.by,
               sound.text);
    return 1;
  }
  fmt::print("no fault: the tests pass ({:.1f} s)\n", sound.seconds);
  std::ofstream report;
  if (!report_path.empty()) report.open(report_path);
  std::map<std::string, bool> reasons = explained();
  Counts counts;
  const std::chrono::duration<double> limit(std::max(20.0, 20 * sound.seconds));
  for (const Mutant& m : mutants()) judge(m, reasons, run_explained, limit, counts, report);
  for (const auto& [name, known] : reasons) {
    if (known) continue;
    counts.failures.push_back(
        fmt::format("docs/mutants.md explains {}, which is no fault of {}", name, KTPU_BLOCK));
  }
  const std::size_t all = mutants().size(), survived = counts.survived + counts.skipped;
  fmt::print("{}: {} faults, {} killed, {} survived", KTPU_BLOCK, all, counts.killed, survived);
  if (counts.skipped != 0) fmt::print(" ({} of them not run again: --explained does)", counts.skipped);
  if (counts.stale != 0) fmt::print(", {} stale: run scripts/mutants.py {}", counts.stale, KTPU_BLOCK);
  fmt::print("; {:.1f} % killed\n", 100.0 * double(counts.killed) / double(all - counts.stale));
  // A few stale ones are what an edit of the RTL leaves; without many the test would mean nothing.
  if (counts.stale * 4 > all) counts.failures.push_back("more than a quarter is stale");
  for (const std::string& failure : counts.failures) fmt::print("{}: {}\n", KTPU_BLOCK, failure);
  return counts.failures.empty() ? 0 : 1;
}

int usage(const char* program) {
  fmt::print(
      "{} [--explained] [--report FILE]   all faults; --explained: those of docs/mutants.md, too\n"
      "{} --only NAME [GoogleTest flags]  the tests with this fault, in the foreground; 0: with none\n"
      "{} --list                          the faults\n",
      program, program, program);
  return 2;
}

}  // namespace

unsigned ktpu_mutant = 0;

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  bool run_explained = false;
  std::string report;
  for (int a = 1; a < argc; ++a) {
    const std::string_view word = argv[a];
    if (word == "--explained") {
      run_explained = true;
    } else if (word == "--report" && a + 1 < argc) {
      report = argv[++a];
    } else if (word == "--list") {
      for (const Mutant& m : mutants())
        fmt::print("{:<20} {:<10} {}:{}  {}\n", m.name, m.kind, m.file, m.line, text_of(m));
      return 0;
    } else if (word == "--only" && a + 1 < argc) {
      const std::string_view name = argv[++a];
      const auto found =
          std::find_if(mutants().begin(), mutants().end(), [&](const Mutant& m) { return m.name == name; });
      if (found == mutants().end() && name != "0") {
        fmt::print(stderr, "{}: no fault {}; --list names them\n", argv[0], name);
        return 2;
      }
      if (found != mutants().end()) ktpu_mutant = found->number;
      return RUN_ALL_TESTS();
    } else {
      return usage(argv[0]);
    }
  }
  try {
    return run_all(run_explained, report);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}
