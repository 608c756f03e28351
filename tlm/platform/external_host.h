// SPDX-License-Identifier: Apache-2.0
// A host outside the machine (host kind `external`): register accesses come one at a time through the host
// bus socket or a C++ call, and take the bus's cycles.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "tlm/orchestrator/host.h"

namespace ktpu::platform {

class ExternalScript final : public orchestrator::HostScript {
 public:
  struct Access {
    bool write = false;
    std::uint8_t bus = 0;  // of the host: one a mesh with a control agent
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
    // Called when the access ends, with the value read (or written). `next`: the first cycle after it.
    std::function<void(sim::Cycle next, std::uint64_t value)> done;
    // A burst through the memory window instead: `words` has room for `beats` of them until the end.
    std::uint32_t beats = 0;
    std::uint64_t address = 0;
    memory::WindowWord* words = nullptr;
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
  // Whether an access ended since the last call.
  bool take_finished() { return std::exchange(finished_, false); }

  orchestrator::HostAction next(sim::Cycle now) override;
  void read_data(sim::Cycle now, std::uint64_t value) override { end(now, value); }
  void written(sim::Cycle now) override { end(now, current_.data); }
  memory::WindowWord window_word(std::uint32_t beat) override { return current_.words[beat]; }
  void window_data(sim::Cycle, std::uint32_t beat, const memory::WindowWord& word) override {
    current_.words[beat] = word;
  }
  std::string waiting_for() const override { return empty() ? "" : "an access of the external host"; }
  void visit(sim::Archive& archive) override { archive.unreachable("state of the host outside"); }

 private:
  void end(sim::Cycle now, std::uint64_t value);

  std::deque<Access> queue_;
  Access current_;
  bool in_flight_ = false;
  bool closed_ = false;
  bool finished_ = false;
};

}  // namespace ktpu::platform
