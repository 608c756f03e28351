// SPDX-License-Identifier: Apache-2.0
// The members of RouterTwinOf. A source file includes the header of a Verilated router, then this, and
// instantiates the template; router_twin.cpp does so for ktpu_router.
#pragma once

#include <bit>
#include <cstring>

#include "arch/encoding/latencies.h"
#include "rtl_models/router/router_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

namespace detail {
inline constexpr unsigned kRouterMaxDepth = 512;  // MaxFifoDepth of the build
// A flit on the pins: 288 bits, nine 32-bit words, the lowest first. Flit::w has the same bytes in the same
// order.
inline constexpr unsigned kFlitWords = arch::kFlitBits / 32;
inline constexpr unsigned kFlitBytes = arch::kFlitBits / 8;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from the pins as bytes");
}  // namespace detail

template <class V>
RouterTwinOf<V>::RouterTwinOf(std::string name, const RouterPlace& place, const Ports& ports)
    : Unit(std::move(name)), place_(place), ports_(ports), twin_(std::make_unique<Twin<V>>(this->name())) {
  namespace latency = arch::latency;
  if (place.fifo.latency != latency::kFifo || place.fifo.extra != latency::kFifoExtra ||
      place.fifo.depth == 0 || place.fifo.depth > detail::kRouterMaxDepth)
    throw arch::UserError::make(
        "{}: the RTL router is built for FIFOs of depth 1..{} with {} cycles and {} words beyond the depth, "
        "not for "
        "depth {}, {} cycles, {} words: choose impl model for it",
        this->name(), detail::kRouterMaxDepth, latency::kFifo.value, latency::kFifoExtra.value,
        place.fifo.depth, place.fifo.latency, place.fifo.extra);
  for (unsigned p = 0; p < kPorts; ++p) {
    if (ports_[p].in != nullptr) ports_[p].in->bind_receiver(*this, &in_valid_, 1u << p);
    if (ports_[p].out != nullptr) ports_[p].out->bind_sender(*this);
  }
}

template <class V>
RouterTwinOf<V>::~RouterTwinOf() = default;

template <class V>
void RouterTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.place_i = (place_.position.x & 15u) << 20 | (place_.position.y & 15u) << 16 |
                 (place_.x_lo & 15u) << 12 | (place_.x_hi & 15u) << 8 | (place_.y_lo & 15u) << 4 |
                 (place_.y_hi & 15u);
  pins.fifo_depth_i = static_cast<std::uint16_t>(place_.fifo.depth);
  pins.in_valid_i = 0;
  pins.out_busy_i = 0;
  inside_ = 0;
  twin_->reset(start);
}

template <class V>
void RouterTwinOf<V>::drive(sim::Cycle) {
  const V& pins = twin_->pins();
  for (unsigned p = 0; p < kPorts; ++p) {
    if (ports_[p].in != nullptr) ports_[p].in->set_busy((pins.in_busy_o >> p) & 1);
    sim::FlitLink* link = ports_[p].out;
    if (link == nullptr) continue;
    if ((pins.out_valid_o >> p) & 1) {
      // A refused flit is offered again: if a wrong module changes it meanwhile, the link is to show that.
      arch::Flit flit;
      std::memcpy(flit.w.data(), &pins.out_data_o[p * detail::kFlitWords], detail::kFlitBytes);
      link->offer(flit);
    } else if (link->valid()) {
      link->withdraw();
    }
  }
}

template <class V>
sim::Cycle RouterTwinOf<V>::clock(sim::Cycle now) {
  V& pins = twin_->pins();
  pins.in_valid_i = static_cast<std::uint8_t>(in_valid_);
  for (std::uint32_t bits = in_valid_; bits != 0; bits &= bits - 1) {
    const unsigned p = static_cast<unsigned>(std::countr_zero(bits));
    inside_ += !ports_[p].in->busy();
    std::memcpy(&pins.in_data_i[p * detail::kFlitWords], ports_[p].in->data().w.data(), detail::kFlitBytes);
  }
  std::uint32_t busy = 0;
  for (unsigned p = 0; p < kPorts; ++p) {
    sim::FlitLink* link = ports_[p].out;
    const bool valid = (pins.out_valid_o >> p) & 1;
    if (link == nullptr) {
      lost_ += valid;
      inside_ -= valid;
      continue;
    }
    if (valid && link->sample_sent()) --inside_;
    busy |= static_cast<std::uint32_t>(link->busy()) << p;
  }
  pins.out_busy_i = static_cast<std::uint8_t>(busy);
  twin_->clock(now);
  return now + 1;
}

template <class V>
std::vector<sim::Wait> RouterTwinOf<V>::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  for (const sim::FlitPort& port : ports_)
    if (port.out != nullptr && port.out->valid() && port.out->busy())
      waits.push_back({fmt::format("a flit for ({},{}) on {} to be taken", port.out->data().dst_x(),
                                   port.out->data().dst_y(), port.out->name()),
                       port.out->receiver()});
  return waits;
}

template <class V>
void RouterTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

template <class V>
void RouterTwinOf<V>::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
  archive.counter("lost", lost_, "flits", "Flits sent into an empty slot, where the machine loses them");
}

}  // namespace ktpu::rtl
