// SPDX-License-Identifier: Apache-2.0
// A host outside the machine (host kind `external`): register accesses come one at a time through the host
// bus socket or a C++ call, and take the bus's cycles.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "tlm/orchestrator/host.h"

namespace ktpu::platform {

class ExternalScript final : public orchestrator::HostScript {
 public:
  struct Access {
    bool write = false;
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
    // Called in the clock of the cycle that ends the access, with the value read (or written).
    std::function<void(sim::Cycle now, std::uint64_t value)> done;
  };

  void push(orchestrator::Host& host, Access access) {
    queue_.push_back(std::move(access));
    host.poke();
  }
  // No more accesses: the machine drains and the run ends.
  void close(orchestrator::Host& host) {
    closed_ = true;
    host.poke();
  }
  bool empty() const { return queue_.empty() && !in_flight_; }

  orchestrator::HostAction next(sim::Cycle now) override;
  void read_data(sim::Cycle now, std::uint64_t value) override;
  std::string waiting_for() const override { return empty() ? "" : "an access of the external host"; }

 private:
  std::deque<Access> queue_;
  Access current_;
  bool in_flight_ = false;
  bool closed_ = false;
};

}  // namespace ktpu::platform
