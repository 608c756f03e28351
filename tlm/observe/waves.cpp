// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/waves.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::observe {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string clock_comment(const TimeBase& time_base) {
  return fmt::format("cycle c of the {} Hz clock begins at time floor(c * period)", time_base.hertz());
}

class Discard final : public WaveSink {
 public:
  void begin(sim::Cycle) override {}
  void change(std::size_t, std::span<const std::uint64_t>) override {}
};

}  // namespace

// --- WaveFile

class WaveFile::Sink final : public WaveSink {
 public:
  Sink(VcdWriter& writer, const TimeBase& time_base) : writer_(writer), time_base_(time_base) {}
  void begin(sim::Cycle cycle) override { writer_.time(time_base_.time(cycle)); }
  void change(std::size_t signal, std::span<const std::uint64_t> words) override {
    writer_.change(signal, words);
  }

 private:
  VcdWriter& writer_;
  const TimeBase& time_base_;
};

const WaveOptions& checked_window(const WaveOptions& options) {
  if (options.from > options.to)
    throw arch::UserError::make("the wave window {}..{} ends before it begins", options.from, options.to);
  return options;
}

std::string wave_estimate(std::span<const Signal> signals, const WaveOptions& options) {
  const std::uint64_t worst = VcdWriter::worst_bytes_per_cycle(signals);
  std::string text =
      fmt::format("{} signals; at most {} a cycle if all of them change", signals.size(), bytes_text(worst));
  const std::uint64_t cycles = options.to - options.from + 1;
  if (cycles < (1ull << 32)) text += fmt::format(", {} for the window", bytes_text(worst * cycles));
  return text + fmt::format("; limit {}", bytes_text(options.max_bytes));
}

WaveFile::WaveFile(const Registry& registry, const std::string& path, const WaveOptions& options)
    : path_(path),
      options_(checked_window(options)),  // before the file is made
      time_base_(options.clock_mhz),
      sampler_(wave_entries(registry, options.scope)),
      writer_(path, options.max_bytes),
      sink_(std::make_unique<Sink>(writer_, time_base_)) {
  options_.to = std::min(options_.to, WaveOptions{}.to);  // so that `to` + 1 is a cycle number
  writer_.header(sampler_.signals(), time_base_, clock_comment(time_base_));
}

WaveFile::~WaveFile() = default;

void WaveFile::on_cycle(sim::Cycle now) {
  if (now >= options_.from && now <= options_.to) look(now);
}

void WaveFile::on_skip(sim::Cycle first, sim::Cycle end) {
  const sim::Cycle at = std::max(first, options_.from);
  if (at < end && at <= options_.to) look(at);
}

bool WaveFile::wants_skipped_cycles() const {
  return sampler_.needs_skipped_cycles() && !finished_ && limit_cycle_ == sim::kNever;
}

void WaveFile::look(sim::Cycle cycle) {
  if (finished_ || limit_cycle_ != sim::kNever) return;
  if (started_) {
    sampler_.sample(cycle, *sink_);
  } else {
    started_ = true;
    Discard discard;
    sampler_.sample(cycle, discard);
    writer_.time(time_base_.time(cycle));
    writer_.begin_dump();
    for (std::size_t i = 0; i < sampler_.signals().size(); ++i) {
      const std::span<const std::uint64_t> value = sampler_.value(i);
      if (value.empty())
        writer_.unknown(i);
      else
        writer_.change(i, value);
    }
    writer_.end_dump();
  }
  if (writer_.truncated()) limit_cycle_ = cycle;
}

void WaveFile::finish(sim::Cycle end) {
  if (finished_) return;
  finished_ = true;
  const sim::Cycle last = std::min(end, options_.to + 1);
  writer_.close(time_base_.time(std::max(last, options_.from)));
  if (writer_.truncated())
    notice_ = fmt::format(
        "{}: the size limit of {} was reached; waves stop before cycle {}. Choose a smaller scope or window, "
        "or a "
        "higher limit.",
        path_, bytes_text(options_.max_bytes), limit_cycle_ == sim::kNever ? last : limit_cycle_);
  else if (!started_)
    notice_ = fmt::format("{}: holds no waves: the run ended after cycle {}, the window begins at cycle {}.",
                          path_, end == 0 ? 0 : end - 1, options_.from);
}

std::size_t WaveFile::signals() const { return sampler_.signals().size(); }
std::uint64_t WaveFile::bytes() const { return writer_.bytes(); }

std::string WaveFile::estimate() const { return wave_estimate(sampler_.signals(), options_); }

// --- WaveRing

// Changes of the kept cycles, one after the other: cycle, number of changes, then signal and words of each.
class WaveRing::Store final : public WaveSink {
 public:
  Store(const WaveSampler& sampler, sim::Cycle keep) : sampler_(sampler), keep_(keep) {
    for (const Signal& signal : sampler.signals()) {
      offset_.push_back(base_.size());
      base_.resize(base_.size() + (signal.width + 63) / 64, 0);
    }
    offset_.push_back(base_.size());
    known_.assign(sampler.signals().size(), false);
  }

  void begin(sim::Cycle cycle) override {
    forget_before(cycle + 1 > keep_ ? cycle + 1 - keep_ : 0);
    if (words_.empty() && !any_) first_cycle_ = cycle;
    any_ = true;
    words_.push_back(cycle);
    count_at_ = words_.size();
    words_.push_back(0);
  }
  void change(std::size_t signal, std::span<const std::uint64_t> words) override {
    ++words_[count_at_];
    words_.push_back(signal);
    words_.insert(words_.end(), words.begin(), words.end());
  }

  void dump(const std::string& path, sim::Cycle end, double clock_mhz) const {
    const TimeBase time_base(clock_mhz);
    VcdWriter writer(path);
    writer.header(sampler_.signals(), time_base, clock_comment(time_base));
    const sim::Cycle start = std::max(end > keep_ ? end - keep_ : 0, first_cycle_);
    std::vector<std::uint64_t> values = base_;
    std::vector<bool> known = known_;
    std::size_t at = head_;
    while (at < words_.size() && words_[at] <= start) at = apply(at, values, known);
    writer.time(time_base.time(start));
    writer.begin_dump();
    for (std::size_t i = 0; i + 1 < offset_.size(); ++i) {
      if (known[i])
        writer.change(i, std::span(values).subspan(offset_[i], offset_[i + 1] - offset_[i]));
      else
        writer.unknown(i);
    }
    writer.end_dump();
    while (at < words_.size()) {
      writer.time(time_base.time(words_[at]));
      std::uint64_t count = words_[at + 1];
      at += 2;
      for (; count > 0; --count) {
        const std::size_t signal = words_[at];
        const std::size_t size = offset_[signal + 1] - offset_[signal];
        writer.change(signal, std::span(words_).subspan(at + 1, size));
        at += 1 + size;
      }
    }
    writer.close(time_base.time(std::max(end, start)));
  }

 private:
  // Puts the changes of the cycle at `at` into `values`; returns where the next cycle is.
  std::size_t apply(std::size_t at, std::vector<std::uint64_t>& values, std::vector<bool>& known) const {
    std::uint64_t count = words_[at + 1];
    at += 2;
    for (; count > 0; --count) {
      const std::size_t signal = words_[at];
      const std::size_t size = offset_[signal + 1] - offset_[signal];
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(at) + 1, size,
                  values.begin() + static_cast<std::ptrdiff_t>(offset_[signal]));
      known[signal] = true;
      at += 1 + size;
    }
    return at;
  }

  void forget_before(sim::Cycle cycle) {
    while (head_ < words_.size() && words_[head_] < cycle) head_ = apply(head_, base_, known_);
    if (head_ > words_.size() / 2 && head_ > 4096) {
      words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  const WaveSampler& sampler_;
  sim::Cycle keep_;
  std::vector<std::size_t> offset_;
  std::vector<std::uint64_t> base_;  // values before the oldest kept cycle
  std::vector<bool> known_;
  std::vector<std::uint64_t> words_;
  std::size_t head_ = 0;
  std::size_t count_at_ = 0;
  sim::Cycle first_cycle_ = 0;
  bool any_ = false;
};

WaveRing::WaveRing(const Registry& registry, const std::vector<std::string>& scope, sim::Cycle cycles)
    : sampler_(wave_entries(registry, scope)) {
  if (cycles == 0) throw arch::UserError("a wave ring of 0 cycles keeps nothing; give it at least 1");
  store_ = std::make_unique<Store>(sampler_, cycles);
}

WaveRing::~WaveRing() = default;

void WaveRing::on_cycle(sim::Cycle now) { sampler_.sample(now, *store_); }
void WaveRing::on_skip(sim::Cycle first, sim::Cycle) { sampler_.sample(first, *store_); }
bool WaveRing::wants_skipped_cycles() const { return sampler_.needs_skipped_cycles(); }

void WaveRing::dump(const std::string& path, sim::Cycle end, double clock_mhz) const {
  store_->dump(path, end, clock_mhz);
}

}  // namespace ktpu::observe
