// SPDX-License-Identifier: Apache-2.0
// What moved between the watchdog's looks at a machine: all of it, the part that works for the program, and
// each unit's way out. Costs a pass over the units' outputs a look.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/platform/system.h"

namespace ktpu::platform {

class Activity {
 public:
  explicit Activity(System& system);

  // The state of now. Before the first call nothing is known.
  void look(sim::Cycle now);

  // The look at which anything had moved since the one before.
  sim::Cycle moved_at() const { return moved_at_; }
  // The same for what a program can wait for: units that are no traffic nodes, memory, host writes.
  sim::Cycle worked_at() const { return worked_at_; }
  void keep_alive(sim::Cycle now) { moved_at_ = worked_at_ = now; }

  // The output whose flit has stood longest without being taken; link null: none stands.
  struct Held {
    const sim::FlitLink* link = nullptr;
    sim::Cycle since = 0;  // the look at which it stood first
  };
  Held longest_held() const;

  void visit(sim::Archive& archive);

 private:
  struct Output {
    const sim::FlitLink* link;
    bool traffic;  // of a traffic node
    std::uint64_t transferred = 0;
    sim::Cycle held_since = sim::kNever;
  };
  System& system_;
  std::vector<Output> outputs_;            // of units that are no routers
  std::vector<const sim::Unit*> workers_;  // units that are neither routers nor traffic nodes
  std::uint64_t total_ = 0, work_ = 0;
  sim::Cycle moved_at_ = 0, worked_at_ = 0;
};

}  // namespace ktpu::platform
