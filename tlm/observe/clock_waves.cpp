// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/clock_waves.h"

#include <algorithm>
#include <deque>

#include "arch/error.h"

namespace ktpu::observe {

namespace {

constexpr std::size_t kKeptWords = 1u << 18;  // beyond, what can be put in order is written

// The engine whose cycles an entry belongs to; the base clock's for values of nobody.
const sim::Engine* engine_of(const Entry& entry, const sim::Timeline& timeline) {
  const sim::Unit* unit = entry.owner;
  if (const sim::LinkBase* link = entry.location.link; link != nullptr)
    unit = link->sender() != nullptr ? link->sender() : link->receiver();
  return unit != nullptr && unit->engine() != nullptr ? unit->engine() : timeline.clocks().front().engine;
}

bool whole_nanoseconds(const sim::Timeline& timeline) {
  return std::all_of(timeline.clocks().begin(), timeline.clocks().end(),
                     [](const sim::Timeline::Clock& clock) { return 1'000'000'000 % clock.hertz == 0; });
}

std::vector<std::vector<const Entry*>> by_clock(const Registry& registry, const sim::Timeline& timeline,
                                                const std::vector<std::string>& scope) {
  std::vector<std::vector<const Entry*>> lists(timeline.clocks().size());
  for (const Entry* entry : wave_entries(registry, scope))
    for (std::size_t c = 0; c < lists.size(); ++c)
      if (timeline.clocks()[c].engine == engine_of(*entry, timeline)) lists[c].push_back(entry);
  return lists;
}

std::vector<TimeBase> time_bases(const sim::Timeline& timeline) {
  const bool picoseconds = !whole_nanoseconds(timeline);
  std::vector<TimeBase> times;
  for (const sim::Timeline::Clock& clock : timeline.clocks())
    times.emplace_back(static_cast<double>(clock.hertz) / 1e6, picoseconds);
  return times;
}

std::string clocks_comment(const sim::Timeline& timeline) {
  std::string comment = "cycle c of a clock begins at time floor(c * period);";
  for (const sim::Timeline::Clock& clock : timeline.clocks())
    comment += fmt::format(" {} {} Hz", clock.name, clock.hertz);
  return comment;
}

}  // namespace

// Samples one clock. Changes wait in `words`: cycle, how many, then signal and words of each.
class ClockWaves::Tap final : public sim::Observer, public WaveSink {
 public:
  Tap(ClockWaves& file, sim::Engine& of, const std::vector<const Entry*>& entries, std::size_t first_signal,
      sim::Cycle from, sim::Cycle end)
      : engine(of), sampler(entries), file_(file), first_signal_(first_signal), from_(from), end_(end) {
    engine.add(*this);
  }
  ~Tap() override { engine.remove(*this); }

  void on_cycle(sim::Cycle now) override {
    if (now >= from_ && now < end_) look(now);
  }
  void on_skip(sim::Cycle first, sim::Cycle end) override {
    const sim::Cycle at = std::max(first, from_);
    if (at < end && at < end_) look(at);
  }
  bool wants_skipped_cycles() const override { return sampler.needs_skipped_cycles() && !stopped; }

  void begin(sim::Cycle cycle) override {
    words.push_back(cycle);
    count_at_ = words.size();
    words.push_back(0);
  }
  void change(std::size_t signal, std::span<const std::uint64_t> value) override {
    ++words[count_at_];
    words.push_back(first_signal_ + signal);
    words.insert(words.end(), value.begin(), value.end());
  }

  sim::Engine& engine;
  WaveSampler sampler;
  std::deque<std::uint64_t> words;
  bool stopped = false;

 private:
  void look(sim::Cycle cycle) {
    if (stopped) return;
    const std::size_t before = words.size();
    sampler.sample(cycle, *this);
    file_.note(words.size() - before);
  }

  ClockWaves& file_;
  std::size_t first_signal_;
  sim::Cycle from_, end_;
  std::size_t count_at_ = 0;
};

ClockWaves::ClockWaves(const Registry& registry, sim::Timeline& timeline, const std::string& path,
                       const WaveOptions& options)
    : timeline_(timeline),
      path_(path),
      options_(checked_window(options)),
      times_(time_bases(timeline)),
      writer_(path, options.max_bytes) {
  options_.to = std::min(options_.to, WaveOptions{}.to);
  const auto lists = by_clock(registry, timeline, options.scope);
  for (std::size_t c = 0; c < lists.size(); ++c) {
    const sim::Timeline::Clock& clock = timeline.clocks()[c];
    taps_.push_back(std::make_unique<Tap>(*this, *clock.engine, lists[c], signals_.size(),
                                          clock.from_base.begun_before(options_.from),
                                          clock.from_base.begun_before(options_.to + 1)));
    const std::vector<Signal>& own = taps_.back()->sampler.signals();
    signals_.insert(signals_.end(), own.begin(), own.end());
  }
  writer_.header(signals_, times_.front(), clocks_comment(timeline));
}

ClockWaves::~ClockWaves() = default;

std::string ClockWaves::estimate() const { return wave_estimate(signals_, options_); }

void ClockWaves::note(std::size_t words) {
  kept_ += words;
  if (kept_ > kKeptWords) write_until(false);
}

// Writes what was seen, in order of time and then of clocks; unless `all`, only before what some clock may
// still report.
void ClockWaves::write_until(bool all) {
  std::uint64_t limit = ~std::uint64_t{0};
  if (!all)
    for (std::size_t c = 0; c < taps_.size(); ++c)
      limit = std::min(limit, times_[c].time(taps_[c]->engine.now()));
  for (;;) {
    std::size_t next = taps_.size();
    std::uint64_t at = limit;
    for (std::size_t c = 0; c < taps_.size(); ++c) {
      if (taps_[c]->words.empty()) continue;
      const std::uint64_t time = times_[c].time(taps_[c]->words.front());
      if (time < at) next = c, at = time;
    }
    if (next == taps_.size()) break;
    std::deque<std::uint64_t>& words = taps_[next]->words;
    if (writer_.time(at) && !started_) {
      started_ = true;
      writer_.begin_dump();
      // Unknown until their own first edge: those of clocks that have none at this time.
      for (std::size_t c = 0, signal = 0; c < taps_.size(); ++c) {
        const Tap& tap = *taps_[c];
        const bool now = !tap.words.empty() && times_[c].time(tap.words.front()) == at;
        for (std::size_t i = 0; i < tap.sampler.signals().size(); ++i, ++signal)
          if (!now) writer_.unknown(signal);
      }
      writer_.end_dump();
    }
    words.pop_front();
    std::uint64_t count = words.front();
    words.pop_front();
    std::uint64_t value[4];
    for (; count > 0; --count) {
      const std::size_t signal = words.front();
      words.pop_front();
      const std::size_t size = (signals_[signal].width + 63) / 64;
      for (std::size_t w = 0; w < size; ++w) {
        value[w] = words.front();
        words.pop_front();
      }
      writer_.change(signal, std::span(value, size));
    }
  }
  kept_ = 0;
  for (const auto& tap : taps_) {
    tap->stopped = writer_.truncated();
    kept_ += tap->words.size();
  }
}

void ClockWaves::finish() {
  if (finished_) return;
  finished_ = true;
  write_until(true);
  const sim::Cycle end = timeline_.now();
  writer_.close(times_.front().time(std::max(std::min(end, options_.to + 1), options_.from)));
  if (writer_.truncated())
    notice_ = fmt::format(
        "{}: the size limit was reached and the waves stop there. Choose a smaller scope or window, or a "
        "higher "
        "limit.",
        path_);
  else if (!started_)
    notice_ = fmt::format("{}: holds no waves: the run ended after cycle {}, the window begins at cycle {}.",
                          path_, end == 0 ? 0 : end - 1, options_.from);
}

// --- ClockRing

class ClockRing::Tap final : public sim::Observer {
 public:
  Tap(sim::Engine& of, const std::vector<const Entry*>& entries, sim::Cycle keep)
      : engine(of), sampler(entries), store(sampler.signals(), keep) {
    engine.add(*this);
  }
  ~Tap() override { engine.remove(*this); }

  void on_cycle(sim::Cycle now) override { sampler.sample(now, store); }
  void on_skip(sim::Cycle first, sim::Cycle) override { sampler.sample(first, store); }
  bool wants_skipped_cycles() const override { return sampler.needs_skipped_cycles(); }

  sim::Engine& engine;
  WaveSampler sampler;
  WaveStore store;
};

ClockRing::ClockRing(const Registry& registry, sim::Timeline& timeline, const std::vector<std::string>& scope,
                     sim::Cycle cycles)
    : timeline_(timeline), keep_(checked_ring(cycles)) {
  const auto lists = by_clock(registry, timeline, scope);
  for (std::size_t c = 0; c < lists.size(); ++c) {
    const sim::Timeline::Clock& clock = timeline.clocks()[c];
    // Wherever the window begins, it holds at most one more cycle than it would from cycle 0 on; one before
    // it.
    const sim::Cycle keep = clock.from_base.begun_before(cycles) + 2;
    taps_.push_back(std::make_unique<Tap>(*clock.engine, lists[c], keep));
  }
}

ClockRing::~ClockRing() = default;

void ClockRing::dump(const std::string& path) const {
  const sim::Cycle end = timeline_.now();
  const sim::Cycle start = end > keep_ ? end - keep_ : 0;
  const std::vector<TimeBase> times = time_bases(timeline_);

  // What is left of each clock: all values at its first cycle in the window, then its changes.
  struct Part {
    WaveStore::Replay replay;
    sim::Cycle first;
    std::size_t first_signal, signals;
    bool begun, over;
  };
  std::vector<Part> parts;
  std::vector<Signal> signals;
  for (std::size_t c = 0; c < taps_.size(); ++c) {
    const Tap& tap = *taps_[c];
    const std::vector<Signal>& own = tap.sampler.signals();
    const sim::Cycle first =
        std::max(timeline_.clocks()[c].from_base.begun_before(start), tap.store.first_cycle());
    parts.push_back({WaveStore::Replay(tap.store, first), first, signals.size(), own.size(), false,
                     own.empty() || first >= tap.engine.now()});
    signals.insert(signals.end(), own.begin(), own.end());
  }
  VcdWriter writer(path);
  writer.header(signals, times.front(), clocks_comment(timeline_));
  for (bool started = false;; started = true) {
    std::size_t next = parts.size();
    std::uint64_t at = ~std::uint64_t{0};
    const auto time_of = [&](std::size_t c) {
      return times[c].time(parts[c].begun ? parts[c].replay.cycle() : parts[c].first);
    };
    for (std::size_t c = 0; c < parts.size(); ++c)
      if (!parts[c].over && time_of(c) < at) next = c, at = time_of(c);
    if (next == parts.size()) break;
    writer.time(at);
    if (!started) {
      writer.begin_dump();
      for (std::size_t c = 0; c < parts.size(); ++c)
        for (std::size_t i = 0; i < parts[c].signals; ++i)
          if (parts[c].over || time_of(c) != at || !parts[c].replay.known(i))
            writer.unknown(parts[c].first_signal + i);
      writer.end_dump();
    }
    Part& part = parts[next];
    if (part.begun) {
      part.replay.step([&](std::size_t signal, std::span<const std::uint64_t> words) {
        writer.change(part.first_signal + signal, words);
      });
    } else {
      part.begun = true;
      for (std::size_t i = 0; i < part.signals; ++i)
        if (part.replay.known(i)) writer.change(part.first_signal + i, part.replay.value(i));
    }
    part.over = part.replay.done();
  }
  writer.close(times.front().time(end));
}

}  // namespace ktpu::observe
