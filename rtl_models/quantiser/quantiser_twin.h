// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog quantiser, cycle by cycle. No unit of its own: memory ports contain one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "tlm/sim/cycle.h"

class Vktpu_quantiser;

namespace ktpu::rtl {

template <class V>
class Twin;

template <class V>
class QuantiserTwinOf {
 public:
  using Beat = std::array<std::uint64_t, 4>;  // 16 FP16 values, the first in the lowest bits
  struct Inputs {
    bool start = false;
    bool b_layout = false;       // with start
    const Beat* beat = nullptr;  // null: none in this cycle
  };

  QuantiserTwinOf();
  ~QuantiserTwinOf();

  void reset(sim::Cycle start);
  // Outputs of the present cycle.
  bool done() const;
  Beat word(unsigned w) const;  // 0..3
  // Ends cycle `now`.
  void clock(sim::Cycle now, const Inputs& inputs);

 private:
  std::unique_ptr<Twin<V>> twin_;
};

using QuantiserTwin = QuantiserTwinOf<Vktpu_quantiser>;
extern template class QuantiserTwinOf<Vktpu_quantiser>;

}  // namespace ktpu::rtl
