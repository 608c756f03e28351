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

sim::Cycle checked_ring(sim::Cycle cycles) {
  if (cycles == 0) throw arch::UserError("a wave ring of 0 cycles keeps nothing; give it at least 1");
  return cycles;
}

WaveRing::WaveRing(const Registry& registry, const std::vector<std::string>& scope, sim::Cycle cycles)
    : keep_(checked_ring(cycles)),
      sampler_(wave_entries(registry, scope)),
      store_(std::make_unique<WaveStore>(sampler_.signals(), cycles)) {}

WaveRing::~WaveRing() = default;

void WaveRing::on_cycle(sim::Cycle now) { sampler_.sample(now, *store_); }
void WaveRing::on_skip(sim::Cycle first, sim::Cycle) { sampler_.sample(first, *store_); }
bool WaveRing::wants_skipped_cycles() const { return sampler_.needs_skipped_cycles(); }

void WaveRing::dump(const std::string& path, sim::Cycle end, double clock_mhz) const {
  const TimeBase time_base(clock_mhz);
  VcdWriter writer(path);
  writer.header(sampler_.signals(), time_base, clock_comment(time_base));
  const sim::Cycle start = std::max(end > keep_ ? end - keep_ : 0, store_->first_cycle());
  WaveStore::Replay replay(*store_, start);
  writer.time(time_base.time(start));
  writer.begin_dump();
  for (std::size_t i = 0; i < sampler_.signals().size(); ++i) {
    if (replay.known(i))
      writer.change(i, replay.value(i));
    else
      writer.unknown(i);
  }
  writer.end_dump();
  while (!replay.done()) {
    writer.time(time_base.time(replay.cycle()));
    replay.step(
        [&](std::size_t signal, std::span<const std::uint64_t> words) { writer.change(signal, words); });
  }
  writer.close(time_base.time(std::max(end, start)));
}

}  // namespace ktpu::observe
