// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <type_traits>

#include "arch/error.h"

namespace ktpu::bench {

namespace {

// What the child sends: a flag, then a Repetition or the text of what went wrong.
constexpr char kGood = 'g', kBad = 'b';
static_assert(std::is_trivially_copyable_v<Repetition>);

std::string child_answer(const Case& c, const Variant& variant, double seconds) {
  try {
    const Repetition r = repeat(c, variant, seconds);
    std::string text(1 + sizeof r, kGood);
    std::memcpy(&text[1], &r, sizeof r);
    return text;
  } catch (const std::exception& e) {
    return kBad + std::string(e.what());
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

Repetition in_child(const Case& c, const Variant& variant, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw arch::UserError("no pipe for a measuring process");
  const pid_t child = fork();
  if (child < 0) throw arch::UserError("no process for a measurement");
  if (child == 0) {
    close(ends[0]);
    const std::string answer = child_answer(c, variant, seconds);
    const ssize_t written = write(ends[1], answer.data(), answer.size());
    _exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  close(ends[1]);
  const std::string answer = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0 || answer.empty())
    throw arch::UserError::make("{}: the measuring process died (status {})", c.name, status);
  if (answer[0] == kBad) throw arch::UserError(answer.substr(1));
  Repetition r;
  std::memcpy(&r, &answer[1], sizeof r);
  r.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return r;
}

}  // namespace

Repetition repeat(const Case& c, const Variant& variant, double seconds) {
  Repetition r;
  std::uint64_t cycles = 0;
  do {
    const Outcome o = run_workload(c, variant, false);
    if (r.workloads != 0 && o.digest != r.outcome.digest)
      throw arch::UserError::make("{}: two runs differ (digests {:016x} and {:016x})", c.name, o.digest,
                                  r.outcome.digest);
    r.outcome = o;
    r.seconds += o.seconds;
    cycles += o.cycles;
    ++r.workloads;
  } while (r.seconds < seconds);
  r.cycles_per_second = static_cast<double>(cycles) / r.seconds;
  return r;
}

std::uint64_t Measurement::peak_bytes() const {
  std::uint64_t peak = 0;
  for (const Repetition& r : repetitions) peak = std::max(peak, r.peak_bytes);
  return peak;
}

double Measurement::commands_per_cycle() const {
  const Outcome& o = median().outcome;
  return static_cast<double>(o.commands) / static_cast<double>(o.cycles);
}

Measurement measure(const Case& c, const Variant& variant, double seconds, unsigned repeats) {
  Measurement m{&c, variant, {}};
  for (unsigned i = 0; i < repeats; ++i) {
    m.repetitions.push_back(in_child(c, variant, seconds));
    if (m.repetitions.back().outcome.digest != m.repetitions.front().outcome.digest)
      throw arch::UserError::make("{}: two repetitions differ", c.name);
  }
  std::sort(m.repetitions.begin(), m.repetitions.end(),
            [](const auto& a, const auto& b) { return a.cycles_per_second < b.cycles_per_second; });
  return m;
}

}  // namespace ktpu::bench
