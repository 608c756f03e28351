// SPDX-License-Identifier: Apache-2.0
// Watches flit links for a sender that breaks its promise (fabric.md section 5, L1 and failure signature
// (a)): a flit offered while busy must stand there unchanged in the next cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/sim/engine.h"
#include "tlm/sim/link.h"

namespace ktpu::traffic {

class LinkChecker final : public sim::Observer {
 public:
  struct Violation {
    sim::Cycle cycle = 0;  // in which the flit was gone or another
    std::string text;      // names the link and what became of the flit
  };

  void watch(const sim::FlitLink& link) { links_.push_back({&link, {}, false}); }
  void on_cycle(sim::Cycle now) override;

  std::uint64_t violations() const { return violations_; }
  const std::vector<Violation>& first() const { return first_; }  // at most kKept of them

 private:
  static constexpr std::size_t kKept = 16;
  struct Watched {
    const sim::FlitLink* link;
    arch::Flit held;
    bool holds;  // offered and not taken in the cycle before
  };
  std::vector<Watched> links_;
  std::uint64_t violations_ = 0;
  std::vector<Violation> first_;
};

}  // namespace ktpu::traffic
