// SPDX-License-Identifier: Apache-2.0
// When the commands of a sweep issue (cluster.md sections 8 and 9.1): every `period` cycles from the start
// on, later by each cycle in which the emit stall holds. Kept as a few straight runs, so that a sweep costs
// nothing while its unit sleeps.
#pragma once

#include <array>
#include <cstdint>

#include "arch/error.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::cluster {

class SweepSchedule {
 public:
  // Runs that may be remembered at once; forget() before they run out.
  static constexpr std::uint32_t kRuns = 64;

  void reset() { *this = SweepSchedule{}; }

  // The first issue is in cycle `first` unless stalled; call in cycle first-1.
  void start(sim::Cycle first, std::uint32_t total, std::uint32_t period) {
    running_ = true;
    fresh_run_ = true;
    total_ = total;
    period_ = period;
    issued_ = 0;
    run_base_ = run_tail_ = 0;
    next_ = first;
    advanced_ = first - 1;
  }

  // Issues of all cycles up to and including `now`. The stall was the same in all cycles since the last call.
  void advance(sim::Cycle now, bool stalled) {
    if (running_) {
      if (stalled) {
        next_ += now - advanced_;  // freezes the issue and the pace counter alike
        fresh_run_ = true;
      } else if (next_ <= now) {
        issue_until(now);
      }
    }
    advanced_ = now;
  }

  bool running() const { return running_; }  // commands are left to issue
  std::uint32_t total() const { return total_; }
  std::uint32_t issued() const { return issued_; }
  sim::Cycle last_issue() const { return last_issue_; }
  bool ever_issued() const { return ever_issued_; }
  // Cycle of issue number k >= issued() if nothing stalls from now on.
  sim::Cycle expected(std::uint32_t k) const {
    return next_ + static_cast<sim::Cycle>(k - issued_) * period_;
  }

  // Number of issues in cycles up to and including `cycle`; exact for those not forgotten.
  std::uint32_t issued_through(sim::Cycle cycle) const {
    for (std::uint32_t r = run_tail_; r != run_base_; --r) {
      const Run& run = runs_[(r - 1) % kRuns];
      if (run.cycle > cycle) continue;
      const std::uint32_t end = r == run_tail_ ? issued_ : runs_[r % kRuns].first;
      const sim::Cycle count = (cycle - run.cycle) / period_ + 1;
      return count > end - run.first ? end : run.first + static_cast<std::uint32_t>(count);
    }
    return run_base_ == run_tail_ ? issued_ : runs_[run_base_ % kRuns].first;
  }
  // Cycle of issue k < issued(), not forgotten.
  sim::Cycle cycle_of(std::uint32_t k) const {
    for (std::uint32_t r = run_tail_; r != run_base_; --r) {
      const Run& run = runs_[(r - 1) % kRuns];
      if (run.first <= k) return run.cycle + static_cast<sim::Cycle>(k - run.first) * period_;
    }
    return 0;
  }
  // Issues below k need not be found any more.
  void forget(std::uint32_t k) {
    while (run_tail_ - run_base_ > 1 && runs_[(run_base_ + 1) % kRuns].first <= k) ++run_base_;
  }
  std::uint32_t runs() const { return run_tail_ - run_base_; }

  void visit(sim::Archive& a) {
    a.state("running", running_, 1);
    a.state("total", total_, 24);
    a.state("issued", issued_, 24);
    a.state("period", period_, 3);
    a.state("next_issue_cycle", next_);
    a.state("last_issue_cycle", last_issue_);
    a.kept("fresh_run", fresh_run_);
    a.kept("ever_issued", ever_issued_);
    a.kept("advanced", advanced_);
    a.kept("run_base", run_base_);
    a.kept("run_tail", run_tail_);
    for (std::uint32_t r = run_base_; r != run_tail_; ++r) {
      a.kept("run_first", runs_[r % kRuns].first);
      a.kept("run_cycle", runs_[r % kRuns].cycle);
    }
  }

 private:
  struct Run {
    std::uint32_t first;  // number of the first issue
    sim::Cycle cycle;     // its cycle
  };

  void issue_until(sim::Cycle now) {
    if (fresh_run_) {
      KTPU_CHECK(run_tail_ - run_base_ < kRuns, "too many interrupted runs of a sweep");
      runs_[run_tail_++ % kRuns] = {issued_, next_};
      fresh_run_ = false;
    }
    const sim::Cycle fit = (now - next_) / period_ + 1;
    const std::uint32_t left = total_ - issued_;
    const std::uint32_t count = fit > left ? left : static_cast<std::uint32_t>(fit);
    issued_ += count;
    last_issue_ = next_ + static_cast<sim::Cycle>(count - 1) * period_;
    next_ = last_issue_ + period_;
    running_ = issued_ != total_;
    ever_issued_ = true;
  }

  bool running_ = false;
  bool fresh_run_ = false;  // the next issue starts a run
  bool ever_issued_ = false;
  std::uint32_t total_ = 0, issued_ = 0, period_ = 1;
  sim::Cycle next_ = 0;  // cycle of issue number issued_
  sim::Cycle last_issue_ = 0;
  sim::Cycle advanced_ = 0;
  std::uint32_t run_base_ = 0, run_tail_ = 0;
  std::array<Run, kRuns> runs_{};
};

}  // namespace ktpu::cluster
