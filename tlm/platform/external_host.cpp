// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/external_host.h"

namespace ktpu::platform {

using Action = orchestrator::HostAction;

orchestrator::HostAction ExternalScript::next(sim::Cycle) {
  if (queue_.empty()) return {closed_ ? Action::Kind::kDone : Action::Kind::kIdle, 0, 0, 0, 0, 0};
  current_ = std::move(queue_.front());
  queue_.pop_front();
  in_flight_ = true;
  if (current_.words != nullptr) {
    Action action;
    action.kind = current_.write ? Action::Kind::kWindowWrite : Action::Kind::kWindowRead;
    action.bus = current_.bus;
    action.address = current_.address;
    action.beats = current_.beats;
    return action;
  }
  const auto kind = current_.write ? Action::Kind::kWrite : Action::Kind::kRead;
  return {kind, current_.bus, current_.offset, current_.data, 0, 0};
}

void ExternalScript::end(sim::Cycle now, std::uint64_t value) {
  in_flight_ = false;
  finished_ = true;
  if (current_.done) current_.done(now + 1, value);
}

}  // namespace ktpu::platform
