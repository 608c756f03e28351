// SPDX-License-Identifier: Apache-2.0
// The members of VectorTwinOf. A source file includes the header of a Verilated vector core, then this, and
// instantiates the template; vector_twin.cpp does so for ktpu_vector.
#pragma once

#include <bit>
#include <cstring>

#include "rtl_models/twin.h"
#include "rtl_models/vector/vector_twin.h"

namespace ktpu::rtl {

namespace detail {
inline constexpr unsigned kVectorMaxDepth = 512;  // MaxInstDepth and MaxRecvDepth of the build
inline constexpr unsigned kVectorL1Words = 512;   // what 9-bit addresses reach
inline constexpr unsigned kVectorQuirks = 0x3FF;  // V1 to V12
inline constexpr unsigned kVectorFlitBytes = arch::kFlitBits / 8;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from the pins as bytes");

// vector_events_t of ktpu_vector_pkg.sv, the last field lowest, in 32-bit words.
template <class Words>
VectorEvents vector_events(const Words& w) {
  const auto bit = [&w](unsigned n) { return (w[0] >> n & 1) != 0; };
  return {.start = bit(0),
          .execute = bit(1),
          .done = bit(2),
          .run = bit(3),
          .fault = bit(4),
          .pc = w[0] >> 5 & 511,
          .word = w[0] >> 14 | w[1] << 18,
          .result = w[1] >> 14 | w[2] << 18};
}
}  // namespace detail

template <class V>
VectorTwinOf<V>::VectorTwinOf(std::string name, const VectorPlace& place, sim::FlitPort links)
    : Unit(std::move(name)), place_(place), links_(links), twin_(std::make_unique<Twin<V>>(this->name())) {
  const auto depth_fits = [](unsigned depth) { return depth >= 1 && depth <= detail::kVectorMaxDepth; };
  if (!depth_fits(place.inst_depth) || !depth_fits(place.recv_depth) ||
      !std::has_single_bit(place.l1_words) || place.l1_words > detail::kVectorL1Words)
    throw arch::UserError::make(
        "{}: the RTL vector core is built for FIFO depths 1..{} and L1 sizes that are powers of two up to "
        "{}, "
        "not for instruction FIFO {}, receive FIFO {}, L1 {} words: choose impl model for it",
        this->name(), detail::kVectorMaxDepth, detail::kVectorL1Words, place.inst_depth, place.recv_depth,
        place.l1_words);
  KTPU_CHECK(links.in != nullptr && links.out != nullptr, "unit {} has no link", this->name());
  links_.in->bind_receiver(*this);
  links_.out->bind_sender(*this);
}

template <class V>
VectorTwinOf<V>::~VectorTwinOf() = default;

template <class V>
void VectorTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.x_i = place_.at.x & 15u;
  pins.y_i = place_.at.y & 15u;
  pins.memory_x_i = place_.memory_port.x & 15u;
  pins.memory_y_i = place_.memory_port.y & 15u;
  pins.inst_depth_i = static_cast<std::uint16_t>(place_.inst_depth);
  pins.recv_depth_i = static_cast<std::uint16_t>(place_.recv_depth);
  pins.l1_last_i = static_cast<std::uint16_t>(place_.l1_words - 1);
  pins.quirks_i = static_cast<std::uint16_t>(place_.quirks ? detail::kVectorQuirks : 0);
  pins.in_valid_i = 0;
  pins.out_busy_i = 0;
  track_ = {};
  twin_->reset(start);
}

template <class V>
void VectorTwinOf<V>::drive(sim::Cycle) {
  const V& pins = twin_->pins();
  links_.in->set_busy(pins.in_busy_o);
  if (pins.out_valid_o) {
    // A refused flit is offered again: if a wrong module changes it meanwhile, the link is to show that.
    arch::Flit flit;
    std::memcpy(flit.w.data(), &pins.out_data_o[0], detail::kVectorFlitBytes);
    links_.out->offer(flit);
  } else if (links_.out->valid()) {
    links_.out->withdraw();
  }
}

template <class V>
sim::Cycle VectorTwinOf<V>::clock(sim::Cycle now) {
  V& pins = twin_->pins();
  const VectorEvents events = detail::vector_events(pins.events_o);
  executed_ += events.execute;
  if (events.start) track_.start(now + 1, events.pc);  // running from the next cycle on, as the model counts
  if (events.execute) track_.execute(events.pc);
  if (events.done) track_.end();
  if (observer_ && (events.start || events.execute || events.done)) observer_(now, events);
  pins.in_valid_i = links_.in->valid();
  if (links_.in->valid())
    std::memcpy(&pins.in_data_i[0], links_.in->data().w.data(), detail::kVectorFlitBytes);
  if (pins.out_valid_o) links_.out->sample_sent();
  pins.out_busy_i = links_.out->busy();
  twin_->clock(now);
  // Wires that have yet to show the new registers keep it awake, too.
  const bool shown = links_.in->busy() == static_cast<bool>(pins.in_busy_o) && !links_.out->valid();
  return pins.idle_o && shown && !links_.in->valid() ? sim::kNever : now + 1;
}

template <class V>
std::vector<sim::Wait> VectorTwinOf<V>::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  if (links_.out->valid() && links_.out->busy())
    waits.push_back({fmt::format("a flit for ({},{}) on {} to be taken", links_.out->data().dst_x(),
                                 links_.out->data().dst_y(), links_.out->name()),
                     links_.out->receiver()});
  if (const sim::Cycle since = endless_since(); since != sim::kNever)
    waits.push_back({.what = "its kernel has gone round the instruction memory and came to no VHALT",
                     .part = "sequencer",
                     .kind = "halt",
                     .since = since});
  return waits;
}

template <class V>
void VectorTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

template <class V>
void VectorTwinOf<V>::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
}

}  // namespace ktpu::rtl
