// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/external_host.h"

namespace ktpu::platform {

using Action = orchestrator::HostAction;

orchestrator::HostAction ExternalScript::next(sim::Cycle now) {
  // The response of a write comes two cycles after its address; by the next action it is long there.
  if (in_flight_) {
    in_flight_ = false;
    if (current_.done) current_.done(now, current_.data);
  }
  if (queue_.empty()) return {closed_ ? Action::Kind::kDone : Action::Kind::kIdle, 0, 0, 0, 0, 0};
  current_ = std::move(queue_.front());
  queue_.pop_front();
  in_flight_ = true;
  return {
      current_.write ? Action::Kind::kWrite : Action::Kind::kRead, 0, current_.offset, current_.data, 0, 0};
}

void ExternalScript::read_data(sim::Cycle, std::uint64_t value) { current_.data = value; }

}  // namespace ktpu::platform
