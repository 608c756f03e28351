// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-sim/saving.h"

#include <algorithm>
#include <charconv>

#include "apps/ktpu-sim/session.h"
#include "arch/error.h"

namespace ktpu::apps {

using arch::UserError;
using sim::Cycle;

namespace {

constexpr std::string_view kCycleMark = "{cycle}";

Cycle digest_interval(const std::string& text) {
  Cycle n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n == 0)
    throw UserError::make("--digest {}: expected a number of cycles, 1 or more, and then a file", text);
  return n;
}

// The first multiple of `step` that is not below `from`.
Cycle multiple(Cycle from, Cycle step) { return (from + step - 1) / step * step; }

}  // namespace

Saving::Saving(const Options& options, platform::System& system, platform::Runner& runner,
               platform::ProgramId program)
    : options_(options),
      system_(system),
      runner_(runner),
      program_(std::move(program)),
      missing_(options.checkpoint_at) {
  if (!options.checkpoint.empty()) {
    if (options.checkpoint_at.empty() && !options.checkpoint_every)
      throw UserError("--checkpoint: say when: --checkpoint-at CYCLE or --checkpoint-every N");
    require_writable(file_of(0));
    platform::require_checkpoints(system);
  }
  if (!options.digest.empty()) {
    digest_every_ = digest_interval(options.digest[0]);
    require_writable(options.digest[1]);
  }
  std::sort(missing_.begin(), missing_.end());
}

std::string Saving::file_of(Cycle cycle) const {
  std::string name = options_.checkpoint;
  if (const std::size_t at = name.find(kCycleMark); at != std::string::npos)
    name.replace(at, kCycleMark.size(), fmt::format("{}", cycle));
  return name;
}

void Saving::save(Cycle now) {
  const std::string file = file_of(now);
  platform::save_checkpoint(file, system_, runner_, program_);
  if (!options_.quiet) fmt::print(stderr, "ktpu-sim: {}: saved at cycle {}\n", file, now);
}

void Saving::begin() {
  if (!options_.restore.empty()) platform::restore_checkpoint(options_.restore, system_, runner_, program_);
  const Cycle now = system_.engine().now();
  if (const auto every = options_.checkpoint_every) {
    runner_.at(multiple(now + 1, *every), [this, every](Cycle at) {
      save(at);
      return at + *every;
    });
  } else if (!missing_.empty()) {
    if (missing_.front() < now)
      throw UserError::make("--checkpoint-at {}: this run starts at cycle {}", missing_.front(), now);
    runner_.at(missing_.front(), [this](Cycle at) {
      save(at);
      std::erase_if(missing_, [at](Cycle cycle) { return cycle <= at; });
      return missing_.empty() ? sim::kNever : missing_.front();
    });
  }
  if (digest_every_ == 0) return;
  digest_.open(options_.digest[1], std::ios::binary | std::ios::trunc);
  runner_.at(multiple(now, digest_every_), [this](Cycle at) {
    digest_ << fmt::format("{} {:016x}\n", at, platform::state_digest(system_));
    return at + digest_every_;
  });
}

void Saving::finish() {
  for (const Cycle cycle : missing_)
    fmt::print(stderr, "ktpu-sim: no checkpoint at cycle {}: the run was over at cycle {}\n", cycle,
               system_.engine().now());
  if (digest_every_ == 0) return;
  digest_.close();
  if (!digest_) throw UserError::make("{}: cannot be written", options_.digest[1]);
}

}  // namespace ktpu::apps
