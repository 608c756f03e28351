// SPDX-License-Identifier: Apache-2.0
// The reference's verification RAM with five numbers (memory.md section 15): one read burst and one write
// burst in flight, the two sides independent.
#pragma once

#include <vector>

#include "tlm/memory/dram_device.h"
#include "tlm/memory/sparse_memory.h"

namespace ktpu::memory {

// In cycles; the defaults are the reference RAM.
struct SimpleDramParams {
  std::uint32_t first_read_beat = 1;           // address accepted to first beat offered, >= 1
  std::vector<std::uint32_t> read_gaps = {};   // idle cycles after beat k: entry k mod length; empty = none
  std::uint32_t first_write_beat = 1;          // address accepted to data ready, >= 1
  std::vector<std::uint32_t> write_gaps = {};  // cycles with data ready low after beat k
  std::uint32_t write_response = 1;            // last beat accepted to response offered, >= 1
};

class SimpleDram final : public DramDevice {
 public:
  // `memory` must outlive the device. Throws UserError when a latency is 0.
  SimpleDram(SparseMemory& memory, SimpleDramParams params, unsigned bus_bits);

  void reset(sim::Cycle start) override;
  sim::Cycle clock(sim::Cycle now, const DramInputs& in) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  struct Burst {
    DramAddress address;
    std::uint32_t beat = 0;  // next one
    sim::Cycle due = 0;      // cycle from which the next thing (beat, data ready, response) is offered
    bool active = false;
  };
  static std::uint32_t gap(const std::vector<std::uint32_t>& gaps, std::uint32_t beat) {
    return gaps.empty() ? 0 : gaps[beat % gaps.size()];
  }
  void check_range(sim::Cycle now, const DramAddress& burst, bool write);

  SparseMemory& memory_;
  SimpleDramParams params_;
  Burst read_;
  Burst write_;
  bool respond_ = false;  // all beats of write_ are in memory
};

}  // namespace ktpu::memory
