// SPDX-License-Identifier: Apache-2.0
// The quantiser beside the formats library and the unit timing of number-formats.md section 4.7: entries with
// pauses between their beats, some of them abandoned, beats that must not count; `done` in every cycle, the
// words as long as they are to stay.
#include "apps/ktpu-cosim/bench.h"

#ifdef KTPU_HAVE_RTL
#include <deque>

#include "apps/ktpu-cosim/feed.h"
#include "arch/encoding/latencies.h"
#include "arch/formats/operand.h"
#include "arch/formats/quantise.h"
#include "rtl_models/quantiser/quantiser_twin.h"
#include "tlm/sim/lockstep.h"
#endif

namespace ktpu::cosim {

#ifdef KTPU_HAVE_RTL
namespace {

using Beat = rtl::QuantiserTwin::Beat;

class QuantiserBench final : public Bench {
 public:
  explicit QuantiserBench(const Setup& setup)
      : conditions_(setup.conditions),
        transfers_(setup.transfers),
        beats_(setup.block.port("beats")),
        words_(setup.block.port("words")) {
    for (const Message& message : setup.stimulus) waiting_.push_back(&message);
    twin_.reset(0);
  }

  void run(sim::Cycle cycles) override {
    for (const sim::Cycle end = now_ + cycles; now_ < end; ++now_) {
      compare();
      step();
    }
  }
  sim::Cycle now() const override { return now_; }
  std::uint64_t values() const override { return values_; }

 private:
  using Words = std::array<arch::Word256, 4>;

  void compare() {
    const bool done = done_at_ == now_;
    if (done) {
      shown_ = due_;
      transfers_.out(now_, words_, [&] { return fmt::format("{:016x}", fmt::join((*shown_)[0], " ")); });
    }
    ++values_;
    if (twin_.done() != done) differ("done", done ? "1" : "0", done ? "0" : "1");
    if (!shown_) return;
    for (unsigned w = 0; w < 4; ++w) {
      const Beat got = twin_.word(w);
      for (unsigned n = 0; n < 4; ++n)
        if (got[n] != (*shown_)[w][n])
          differ(fmt::format("word{}[{}:{}]", w, 64 * n + 63, 64 * n), fmt::format("{:#x}", (*shown_)[w][n]),
                 fmt::format("{:#x}", got[n]));
      ++values_;
    }
  }
  [[noreturn]] void differ(std::string field, std::string expected, std::string got) {
    throw sim::LockstepError(
        {"quantiser", now_, "words", {std::move(field), std::move(expected), std::move(got)}});
  }

  void step() {
    rtl::QuantiserTwin::Inputs inputs;
    Beat beat{};
    const std::uint64_t chance = sim::Random::nth(conditions_.seed + 5, now_);
    // What must not count: a beat with a start, and outside of entries.
    for (unsigned n = 0; n < 4; ++n) beat[n] = sim::Random::nth(chance, n);
    inputs.b_layout = chance % 2 != 0;
    const bool pause = stalled(conditions_, 0, now_);
    if (entry_ == nullptr) {
      if (!open_ && chance % 8 == 0) inputs.beat = &beat;
      if (!pause && !waiting_.empty() && free_from_ + waiting_.front()->gap <= now_) {
        entry_ = &*waiting_.front()->entry;
        waiting_.pop_front();
        sent_ = 0;
        open_ = true;
        inputs.beat = chance % 4 < 2 ? &beat : nullptr;
        done_at_ = sim::kNever;
        inputs.start = true;
        inputs.b_layout = entry_->b_layout;
        transfers_.in(now_, beats_,
                      [&] { return fmt::format("start, layout {}", entry_->b_layout ? "B" : "A"); });
        finish_when_sent();
      }
    } else if (!pause) {
      beat = {};
      for (unsigned i = 0; i < 16; ++i)
        beat[i / 4] |= static_cast<std::uint64_t>(entry_->halves[16 * sent_ + i]) << (16 * (i % 4));
      inputs.beat = &beat;
      transfers_.in(now_, beats_,
                    [&] { return fmt::format("beat {}: {:016x}", sent_, fmt::join(beat, " ")); });
      ++sent_;
      finish_when_sent();
    }
    twin_.clock(now_, inputs);
  }
  void finish_when_sent() {
    if (sent_ != entry_->beats) return;
    free_from_ = now_ + 1;
    if (sent_ == 8) {
      open_ = false;
      done_at_ = now_ + arch::latency::kQuantDone;
      const arch::OperandEntry entry = arch::quantise_entry(entry_->halves);
      for (unsigned w = 0; w < 4; ++w)
        due_[w] = arch::operand_word(entry_->b_layout ? arch::Side::kB : arch::Side::kA, w, entry);
      shown_.reset();  // they change while the next ones are packed
      free_from_ = entry_->waits ? done_at_ + 1 : now_ + 1 + sim::Random::nth(conditions_.seed, now_) % 10;
    }
    entry_ = nullptr;
  }

  Conditions conditions_;
  Transfers& transfers_;
  unsigned beats_, words_;
  std::deque<const Message*> waiting_;
  rtl::QuantiserTwin twin_;
  sim::Cycle now_ = 0;
  std::uint64_t values_ = 0;
  const QuantiserEntry* entry_ = nullptr;  // under way
  unsigned sent_ = 0;                      // of its beats
  bool open_ = false;                      // a start without eight beats so far
  sim::Cycle free_from_ = 0, done_at_ = sim::kNever;
  Words due_{};
  std::optional<Words> shown_;
};

}  // namespace

std::unique_ptr<Bench> quantiser_bench(const Setup& setup) { return std::make_unique<QuantiserBench>(setup); }
#else
std::unique_ptr<Bench> quantiser_bench(const Setup&) {
  throw arch::UserError(
      "quantiser: no \"lockstep\" implementation is built in: it needs the build option KTPU_RTL=ON");
}
#endif

}  // namespace ktpu::cosim
