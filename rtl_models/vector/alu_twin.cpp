// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/vector/alu_twin.h"

#include "Vktpu_vector_alu.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

AluTwin::AluTwin(bool wrap) : twin_(std::make_unique<Twin<Vktpu_vector_alu>>("alu")) {
  twin_->pins().wrap_i = wrap;
  twin_->pins().valid_i = 0;
  twin_->reset(0);
}

AluTwin::~AluTwin() = default;

std::uint32_t AluTwin::clock(unsigned op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  Vktpu_vector_alu& pins = twin_->pins();
  pins.valid_i = 1;
  pins.op_i = static_cast<std::uint8_t>(op & 31);
  pins.a_i = a;
  pins.b_i = b;
  pins.c_i = c;
  twin_->clock(cycle_++);
  return pins.result_o;
}

}  // namespace ktpu::rtl
