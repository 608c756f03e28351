// SPDX-License-Identifier: Apache-2.0
// The members of QuantiserTwinOf; see router_twin_impl.h for the use.
#pragma once

#include <cstring>

#include "rtl_models/quantiser/quantiser_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

template <class V>
QuantiserTwinOf<V>::QuantiserTwinOf() : twin_(std::make_unique<Twin<V>>("quantiser")) {}

template <class V>
QuantiserTwinOf<V>::~QuantiserTwinOf() = default;

template <class V>
void QuantiserTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.start_i = pins.beat_valid_i = 0;
  twin_->reset(start);
}

template <class V>
bool QuantiserTwinOf<V>::done() const {
  return twin_->pins().done_o;
}

template <class V>
typename QuantiserTwinOf<V>::Beat QuantiserTwinOf<V>::word(unsigned w) const {
  Beat word;
  std::memcpy(word.data(), &twin_->pins().words_o[8 * w], sizeof word);
  return word;
}

template <class V>
void QuantiserTwinOf<V>::clock(sim::Cycle now, const Inputs& inputs) {
  V& pins = twin_->pins();
  pins.start_i = inputs.start;
  pins.layout_i = inputs.b_layout;
  pins.beat_valid_i = inputs.beat != nullptr;
  if (inputs.beat != nullptr) std::memcpy(&pins.beat_i[0], inputs.beat->data(), sizeof(Beat));
  twin_->clock(now);
}

}  // namespace ktpu::rtl
