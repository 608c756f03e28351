// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/host.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::orchestrator {

Host::Host(std::string name, const HostParams& params, std::vector<RegisterBus*> buses,
           const QuietSource* quiet, std::vector<memory::WindowBus*> windows)
    : Unit(std::move(name)),
      params_(params),
      buses_(std::move(buses)),
      windows_(std::move(windows)),
      quiet_(quiet) {
  KTPU_CHECK(params.write_cycles >= kBusPeriod && params.read_cycles >= kBusPeriod,
             "a bus transaction takes {} cycles", kBusPeriod);
  for (RegisterBus* bus : buses_) bus->beat.bind_sender(*this);
  for (memory::WindowBus* window : windows_) {
    window->aw.bind_sender(*this);
    window->ar.bind_sender(*this);
    window->w.bind_sender(*this);
    window->r.bind_receiver(*this);
    window->b.bind_receiver(*this);
  }
}

void Host::reset(sim::Cycle start) {
  in_flight_ = beat_on_ = done_ = waiting_ = idle_ = false;
  window_address_ = window_shown_ = false;
  ready_at_ = start + params_.start_cycles;
}

// The address is on the wires from the cycle after the action's start on, as the beat of a register access
// is, and so is the first word; then a word a cycle as the window takes them.
void Host::drive_window(sim::Cycle now) {
  if (now == address_at_) return;
  memory::WindowBus& bus = *windows_[action_.bus];
  const bool write = action_.kind == HostAction::Kind::kWindowWrite;
  auto& address = write ? bus.aw : bus.ar;
  if (window_address_)
    address.offer({action_.address, action_.beats});
  else if (address.valid())
    address.withdraw();
  if (!write) return;
  if (window_beat_ == action_.beats) {
    if (bus.w.valid()) bus.w.withdraw();
  } else if (!window_shown_) {
    bus.w.offer({script_->window_word(window_beat_), false});
    window_shown_ = true;
  }
}

void Host::clock_window(sim::Cycle now) {
  if (now == address_at_) return;
  memory::WindowBus& bus = *windows_[action_.bus];
  const bool write = action_.kind == HostAction::Kind::kWindowWrite;
  auto& address = write ? bus.aw : bus.ar;
  if (window_address_ && address.sample_sent()) window_address_ = false;
  bool over = false;
  if (write) {
    if (window_shown_ && bus.w.sample_sent()) {
      ++window_beat_;
      ++window_words_;
      window_shown_ = false;
    }
    over = bus.b.transfers();
  } else if (bus.r.transfers()) {
    script_->window_data(now, window_beat_, bus.r.data().data);
    ++window_words_;
    over = ++window_beat_ == action_.beats;
  }
  if (!over) return;
  in_flight_ = false;
  // As after a register access: the next one starts in the cycle after the response, or later by what the
  // host needs beyond the bus's own cycles.
  ready_at_ = now + 1 + (write ? params_.write_cycles : params_.read_cycles) - kBusPeriod;
  script_->written(now);
}

void Host::drive(sim::Cycle now) {
  if (in_flight_ && on_window()) {
    drive_window(now);
    return;
  }
  if (in_flight_ && now == address_at_ + 1) {
    BusBeat beat;
    beat.write = action_.kind == HostAction::Kind::kWrite;
    beat.read = !beat.write;
    beat.write_offset = beat.read_offset = action_.offset;
    beat.data = action_.data;
    buses_[action_.bus]->beat.offer(beat);
    beat_on_ = true;
  } else if (beat_on_) {
    buses_[action_.bus]->beat.withdraw();
    beat_on_ = false;
  }
}

sim::Cycle Host::clock(sim::Cycle now) {
  if (in_flight_ && on_window()) {
    clock_window(now);
    // Between its last word and the answer there is nothing to do.
    if (in_flight_) {
      const memory::WindowBus& bus = *windows_[action_.bus];
      const bool write = action_.kind == HostAction::Kind::kWindowWrite;
      const bool sending =
          write ? bus.aw.valid() || bus.w.valid() || window_beat_ < action_.beats : bus.ar.valid();
      return sending || window_address_ ? now + 1 : sim::kNever;
    }
  }
  if (in_flight_) {
    if (now == address_at_ + 1) return now + 1;
    if (now == address_at_ + 2) {
      in_flight_ = false;
      if (action_.kind == HostAction::Kind::kRead) {
        script_->read_data(now, buses_[action_.bus]->read_data);
      } else {
        script_->written(now);
      }
    }
  }
  if (done_ || idle_ || script_ == nullptr) return sim::kNever;
  if (now < ready_at_) return ready_at_;

  if (waiting_) {
    // Counted from the later of the end of the previous step (its first free cycle) and the cycle of the last
    // handshake: the recorded relayouts and quiet rounds start 257 cycles after the last write beat, whose
    // response is one cycle later.
    const sim::Cycle last = quiet_ != nullptr && quiet_->any_dram_handshake()
                                ? std::max(quiet_->last_dram_handshake(), quiet_since_)
                                : quiet_since_;
    if (now < last + action_.cycles) {
      ready_at_ = last + action_.cycles;
      return ready_at_;
    }
    waiting_ = false;
  }
  action_ = script_->next(now);
  switch (action_.kind) {
    case HostAction::Kind::kWrite:
    case HostAction::Kind::kRead:
      (action_.kind == HostAction::Kind::kWrite ? writes_ : reads_) += 1;
      in_flight_ = true;
      address_at_ = now;
      ready_at_ =
          now + (action_.kind == HostAction::Kind::kWrite ? params_.write_cycles : params_.read_cycles);
      return now + 1;
    case HostAction::Kind::kWindowWrite:
    case HostAction::Kind::kWindowRead:
      in_flight_ = window_address_ = true;
      window_shown_ = false;
      window_beat_ = 0;
      address_at_ = now;
      return now + 1;
    case HostAction::Kind::kWait:
      ready_at_ = std::max(action_.until, now + 1);
      return ready_at_;
    case HostAction::Kind::kQuiet:
      waiting_ = true;
      quiet_since_ = now;
      ready_at_ = now + 1;
      return ready_at_;
    case HostAction::Kind::kIdle:
      idle_ = true;
      break;
    case HostAction::Kind::kDone:
      done_ = true;
      end_cycle_ = now;
      break;
  }
  return sim::kNever;
}

void Host::visit(sim::Archive& a) {
  a.state("in_flight", in_flight_, 1);
  a.state("address_at", address_at_);
  a.state("ready_at", ready_at_);
  a.state("done", done_, 1);
  if (!windows_.empty()) {
    a.state("window_address", window_address_, 1);
    a.state("window_beat", window_beat_, 9);
    a.state("window_shown", window_shown_, 1);
    a.counter("window_words", window_words_, "words", "32-byte words through the memory window");
  }
  a.counter("writes", writes_, "writes", "Register writes of the host");
  a.counter("reads", reads_, "reads", "Register reads of the host");
  if (!a.is_checkpoint()) return;
  a.kept("action_kind", action_.kind);
  a.kept("action_bus", action_.bus);
  a.kept("action_offset", action_.offset);
  a.kept("action_data", action_.data);
  a.kept("action_until", action_.until);
  a.kept("action_cycles", action_.cycles);
  a.kept("action_address", action_.address);
  a.kept("action_beats", action_.beats);
  a.kept("beat_on", beat_on_);
  a.kept("waiting", waiting_);
  a.kept("idle", idle_);
  a.kept("quiet_since", quiet_since_);
  a.kept("end_cycle", end_cycle_);
  if (script_ != nullptr) script_->visit(a);
}

std::vector<sim::Wait> Host::waits(sim::Cycle) const {
  if (done_ || script_ == nullptr) return {};
  std::string what = script_->waiting_for();
  if (what.empty()) return {};
  sim::Wait wait{.what = std::move(what), .kind = "host"};
  if (const auto poll = script_->pending_poll()) {
    wait.kind = "poll";
    wait.since = poll->since;
  }
  return {std::move(wait)};
}

}  // namespace ktpu::orchestrator
