// SPDX-License-Identifier: Apache-2.0
// The register between the core and the endpoint's output: one request or acknowledgement, or a pair of flits
// (write request and data, descriptor and first data flit) that leaves in two cycles (vector.md
// section 12.5).
#pragma once

#include <array>
#include <cstdint>

#include "arch/flit.h"
#include "tlm/sim/archive.h"

namespace ktpu::vector {

class SendSlot {
 public:
  void reset() { count_ = sent_ = 0, gap_ = gap_after_ = false; }

  // Of this cycle's registers: what is loaded now can be sent in the next cycle.
  bool free() const { return sent_ == count_ && !gap_; }
  void load(const arch::Flit& flit) {
    flits_[0] = flit;
    count_ = 1;
    sent_ = 0;
  }
  // `gap`: the slot stays closed for one cycle behind the pair (a descriptor's, section 12.3).
  void load(const arch::Flit& first, const arch::Flit& second, bool gap) {
    flits_ = {first, second};
    count_ = 2;
    sent_ = 0;
    gap_after_ = gap;
  }
  const arch::Flit* flit() const { return sent_ < count_ ? &flits_[sent_] : nullptr; }

  // End of a cycle, before load(); `taken`: the endpoint took flit().
  void clock(bool taken) {
    gap_ = false;
    if (!taken) return;
    if (++sent_ == count_) {
      gap_ = gap_after_;
      gap_after_ = false;
    }
  }
  bool active() const { return !free(); }

  void visit(sim::Archive& a) {
    a.flit("flit0", flits_[0]);
    a.flit("flit1", flits_[1]);
    a.state("count", count_, 2);
    a.state("sent", sent_, 2);
    a.state("gap", gap_, 1);
    a.state("gap_after", gap_after_, 1);
  }

 private:
  std::array<arch::Flit, 2> flits_{};
  std::uint8_t count_ = 0, sent_ = 0;
  bool gap_ = false, gap_after_ = false;
};

}  // namespace ktpu::vector
