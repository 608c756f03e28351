// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-sim/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ktpu::apps {

namespace {

constexpr auto kFirst = std::chrono::seconds(2);  // short runs stay quiet
constexpr auto kEvery = std::chrono::milliseconds(500);

}  // namespace

Progress::Progress(const platform::Runner& runner)
    : runner_(runner), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), next_(start_ + kFirst) {}

void Progress::beat(sim::Cycle now) {
  if (!terminal_) return;
  const Clock::time_point time = Clock::now();
  if (time < next_) return;
  next_ = time + kEvery;
  const double seconds = std::chrono::duration<double>(time - start_).count();
  const double done = runner_.steps_done();
  std::string line = fmt::format("\r{:.3g} Mcycles, {:.3g} Mcycles/s", static_cast<double>(now) / 1e6,
                                 static_cast<double>(now) / 1e6 / seconds);
  if (done > 0)
    line +=
        fmt::format(", {:.0f} % of the steps, about {:.0f} s left", 100 * done, seconds * (1 - done) / done);
  fmt::print(stderr, "{}\x1b[K", line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace ktpu::apps
