// SPDX-License-Identifier: Apache-2.0
// One lane's ALU alone, for tests that need more operations than kernels can give.
#pragma once

#include <cstdint>
#include <memory>

#include "tlm/sim/cycle.h"

class Vktpu_vector_alu;

namespace ktpu::rtl {

template <class V>
class Twin;

class AluTwin {
 public:
  // `wrap`: quirk V7.
  explicit AluTwin(bool wrap);
  ~AluTwin();

  // A cycle with an operation. Returns the result at the ALU's output in the next one: that of the operation
  // LaneAlu - 1 calls ago.
  std::uint32_t clock(unsigned op, std::uint32_t a, std::uint32_t b, std::uint32_t c);

 private:
  std::unique_ptr<Twin<Vktpu_vector_alu>> twin_;
  sim::Cycle cycle_ = 0;
};

}  // namespace ktpu::rtl
