// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/host.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::orchestrator {

Host::Host(std::string name, const HostParams& params, std::vector<RegisterBus*> buses,
           const QuietSource* quiet)
    : Unit(std::move(name)), params_(params), buses_(std::move(buses)), quiet_(quiet) {
  KTPU_CHECK(params.write_cycles >= kBusPeriod && params.read_cycles >= kBusPeriod,
             "a bus transaction takes {} cycles", kBusPeriod);
  for (RegisterBus* bus : buses_) bus->beat.bind_sender(*this);
}

void Host::reset(sim::Cycle start) {
  in_flight_ = beat_on_ = done_ = waiting_ = idle_ = false;
  ready_at_ = start + params_.start_cycles;
}

void Host::drive(sim::Cycle now) {
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
  a.counter("writes", writes_, "writes", "Register writes of the host");
  a.counter("reads", reads_, "reads", "Register reads of the host");
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
