// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/campaign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace ktpu::fuzz {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr double kSecondsPerMutant = 8;  // the sanitizers cost a factor of three to five
#else
constexpr double kSecondsPerMutant = 2;
#endif
constexpr int kHangSeconds = 60;                // of processor time, then the process is ended
constexpr long kLargestKiB = 2l * 1024 * 1024;  // resident, machine and reports and sanitizer included

// Processor time, so that a loaded computer fails nothing.
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

char g_hang_text[256];

void on_hang(int) {
  // Only what a signal handler may do.
  if (write(STDERR_FILENO, g_hang_text, sizeof g_hang_text) < 0) _exit(98);
  _exit(99);
}

void arm(const std::string& text) {
  std::fill(std::begin(g_hang_text), std::end(g_hang_text), ' ');
  text.copy(g_hang_text, sizeof g_hang_text - 1);
  g_hang_text[sizeof g_hang_text - 1] = '\n';
  signal(SIGPROF, on_hang);
  const itimerval limit{{0, 0}, {kHangSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}
void disarm() {
  const itimerval none{{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &none, nullptr);
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void write_file(const std::string& path, const void* data, std::size_t size) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

const char* stage_name(Stage stage) {
  constexpr const char* kNames[] = {"refused topology", "refused program", "refused machine", "run"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace

Campaign::Campaign(std::string name, std::uint64_t mutants, unsigned shard, unsigned shards)
    : name_(std::move(name)),
      folder_(KTPU_FUZZ_FOLDER),
      seed_(from_environment("KTPU_SEED", kDefaultSeed)),
      mutants_(from_environment("KTPU_MUTANTS", mutants)),
      index_(shard),
      step_(shards) {
  if (std::getenv("KTPU_ONLY") != nullptr) {
    only_ = true;
    index_ = from_environment("KTPU_ONLY", 0);
  }
  name_ += fmt::format("-{}", shard);
  std::filesystem::create_directories(folder_);
}

Campaign::~Campaign() {
  disarm();
  std::string statuses;
  for (const auto& [status, n] : by_status_) statuses += fmt::format(" {}:{}", status, n);
  std::string stages;
  for (std::size_t s = 0; s < ends_.size(); ++s)
    stages += fmt::format(", {} {}", stage_name(static_cast<Stage>(s)), ends_[s]);
  fmt::print("{}: seed {}{}; exit statuses{}; slowest {} took {:.2f} s\n", name_, seed_, stages, statuses,
             slowest_index_, slowest_);
  if (!testing::Test::HasFailure())
    for (const char* extension : {".yaml", ".bin"}) std::filesystem::remove(file(extension));
}

bool Campaign::next() {
  if (started_) check_resources();
  if (started_ && only_) return false;
  if (started_) index_ += step_;
  started_ = true;
  if (!only_ && index_ >= mutants_) return false;
  began_ = cpu_seconds();
  arm(fmt::format("{}: seed {}, mutant {} hangs; its inputs are in {}", name_, seed_, index_, folder_));
  return true;
}

void Campaign::check_resources() {
  const double took = cpu_seconds() - began_;
  if (took > slowest_) {
    slowest_ = took;
    slowest_index_ = index_;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (took <= kSecondsPerMutant && usage.ru_maxrss <= kLargestKiB) return;
  keep_failed();
  ADD_FAILURE() << name_ << ", seed " << seed_ << ", mutant " << index_ << ": took " << took << " s, peak "
                << usage.ru_maxrss / 1024 << " MiB";
}

std::string Campaign::file(const char* extension) const {
  return fmt::format("{}/{}{}", folder_, name_, extension);
}

void Campaign::keep_topology(const std::string& text) { write_file(file(".yaml"), text.data(), text.size()); }
void Campaign::keep_program(std::span<const std::uint8_t> bytes) {
  write_file(file(".bin"), bytes.data(), bytes.size());
}

void Campaign::keep_failed() const {
  for (const char* extension : {".yaml", ".bin"})
    if (std::filesystem::exists(file(extension)))
      std::filesystem::copy_file(file(extension),
                                 fmt::format("{}/{}-{}-{}{}", folder_, name_, seed_, index_, extension),
                                 std::filesystem::copy_options::overwrite_existing);
}

void Campaign::judge(const Outcome& outcome) {
  ++ends_[static_cast<std::size_t>(outcome.stage)];
  ++by_status_[static_cast<int>(outcome.status)];
  if (only_ || std::getenv("KTPU_SHOW") != nullptr)
    fmt::print("{}, exit status {}: {}\n", stage_name(outcome.stage), static_cast<int>(outcome.status),
               outcome.message);
  if (outcome.wrong.empty()) return;
  keep_failed();
  ADD_FAILURE() << name_ << ", seed " << seed_ << ", mutant " << index_ << " (KTPU_ONLY=" << index_
                << "): " << outcome.wrong << "\n  " << stage_name(outcome.stage) << ", exit status "
                << static_cast<int>(outcome.status) << ": " << outcome.message.substr(0, 2000);
}

}  // namespace ktpu::fuzz
