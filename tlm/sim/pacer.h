// SPDX-License-Identifier: Apache-2.0
// A random stall to splice into any flit link of a test: `in` -> Pacer -> `out`, zero cycles while it lets
// flits pass. Both links keep the rules of fabric.md section 5: a flit once shown on `out` stays until it is
// taken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::sim {

struct PacerParams {
  double stall = 0.25;     // probability of a stalled cycle, 0..1 (1: nothing ever passes)
  std::uint64_t seed = 1;  // cycle t of a seed is stalled or not whatever happened before it
};

// Mealy in both directions (valid forwards, busy backwards). Sleeps while nothing is offered: the decision of
// a cycle is a function of its number, counted from the last reset.
class Pacer final : public Unit {
 public:
  Pacer(std::string name, const PacerParams& params, FlitLink& in, FlitLink& out);

  void reset(Cycle start) override;
  void drive(Cycle now) override;
  Cycle clock(Cycle now) override;
  bool is_mealy() const override { return true; }
  bool settle(Cycle now) override;
  std::vector<const LinkBase*> settle_reads() const override { return {&in_, &out_}; }
  std::vector<const LinkBase*> settle_writes() const override { return {&in_, &out_}; }
  void visit(Archive& archive) override;

  std::uint64_t stalled_cycles() const { return stalled_cycles_; }  // cycles in which it held a flit back

 private:
  bool stalls(Cycle now) const;

  FlitLink& in_;
  FlitLink& out_;
  std::uint64_t seed_;
  std::uint64_t threshold_;
  Cycle start_ = 0;
  bool holding_ = false;  // a flit shown on `out` was not taken in the last cycle
  bool fresh_ = true;     // what `in` shows is not on `out` yet, even if it looks the same
  std::uint64_t stalled_cycles_ = 0;
};

}  // namespace ktpu::sim
