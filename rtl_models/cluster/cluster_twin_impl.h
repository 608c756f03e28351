// SPDX-License-Identifier: Apache-2.0
// The members of ClusterTwinOf. A source file includes the header of a Verilated cluster, then this, and
// instantiates the template; cluster_twin.cpp does so for ktpu_cluster.
#pragma once

#include <bit>
#include <cstring>

#include "rtl_models/cluster/cluster_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

namespace detail {
// Parameters of the build.
inline constexpr unsigned kClusterMaxTiles = 4096, kClusterMaxEntries = 512, kClusterMaxDepth = 512,
                          kClusterAccMw = 14;
// A flit on the pins: nine 32-bit words, the lowest first. Flit::w has the same bytes in the same order.
inline constexpr unsigned kClusterFlitBytes = arch::kFlitBits / 8;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from the pins as bytes");

// cluster_events_t of ktpu_cluster_pkg.sv, the last field lowest.
inline ClusterEvents cluster_events(std::uint32_t bits) {
  const auto bit = [bits](unsigned n) { return (bits >> n & 1) != 0; };
  return {.issue = bit(0),
          .retire = bit(1),
          .fault = bit(2),
          .gemm_start = bit(3),
          .drain_start = bit(4),
          .sweep_busy = bit(5),
          .gemm_busy = bit(6),
          .drain_busy = bit(7),
          .push = bit(8),
          .l1_write = bit(9),
          .command = bits >> 10 & 7,
          .lost = bits >> 13 & 7,
          .tile = bits >> 16};
}
}  // namespace detail

template <class V>
ClusterTwinOf<V>::ClusterTwinOf(std::string name, const ClusterShape& shape, sim::FlitPort links)
    : Unit(std::move(name)), shape_(shape), links_(links), twin_(std::make_unique<Twin<V>>(this->name())) {
  using namespace detail;
  const auto size = [](unsigned value, unsigned max) { return std::has_single_bit(value) && value <= max; };
  const auto depth = [](unsigned value) { return value >= 1 && value <= kClusterMaxDepth; };
  if (!size(shape.tiles, kClusterMaxTiles) || !size(shape.l1_a, kClusterMaxEntries) ||
      !size(shape.l1_b, kClusterMaxEntries) || shape.acc_mw != kClusterAccMw || !depth(shape.inst_depth) ||
      !depth(shape.recv_depth))
    throw arch::UserError::make(
        "{}: the RTL cluster is built for up to {} sub-tiles and {} L1 entries a side (powers of two), FIFOs "
        "of "
        "1..{} words and an accumulator mantissa of {} bits, not for {} sub-tiles, {} and {} entries, {} and "
        "{} "
        "words, {} bits: choose impl model for it",
        this->name(), kClusterMaxTiles, kClusterMaxEntries, kClusterMaxDepth, kClusterAccMw, shape.tiles,
        shape.l1_a, shape.l1_b, shape.inst_depth, shape.recv_depth, shape.acc_mw);
  KTPU_CHECK(links.in != nullptr && links.out != nullptr, "unit {} has no link", this->name());
  links_.in->bind_receiver(*this);
  links_.out->bind_sender(*this);
}

template <class V>
ClusterTwinOf<V>::~ClusterTwinOf() = default;

template <class V>
void ClusterTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.x_i = shape_.at.x & 15u;
  pins.y_i = shape_.at.y & 15u;
  pins.memory_x_i = shape_.memory_port.x & 15u;
  pins.memory_y_i = shape_.memory_port.y & 15u;
  pins.tile_mask_i = static_cast<std::uint16_t>(shape_.tiles - 1);
  pins.a_mask_i = static_cast<std::uint16_t>(shape_.l1_a - 1);
  pins.b_mask_i = static_cast<std::uint16_t>(shape_.l1_b - 1);
  pins.inst_depth_i = static_cast<std::uint16_t>(shape_.inst_depth);
  pins.recv_depth_i = static_cast<std::uint16_t>(shape_.recv_depth);
  pins.quirk_c1_i = shape_.quirks;
  pins.in_valid_i = 0;
  was_quiet_ = false;
  pins.out_busy_i = 0;
  twin_->reset(start);
}

template <class V>
void ClusterTwinOf<V>::drive(sim::Cycle) {
  const V& pins = twin_->pins();
  links_.in->set_busy(pins.in_full_o);
  if (pins.out_valid_o) {
    // A refused flit is offered again: if a wrong module changes it meanwhile, the link is to show that.
    arch::Flit flit;
    std::memcpy(flit.w.data(), &pins.out_data_o[0], detail::kClusterFlitBytes);
    links_.out->offer(flit);
  } else if (links_.out->valid()) {
    links_.out->withdraw();
  }
}

template <class V>
void ClusterTwinOf<V>::pins_in() {
  V& pins = twin_->pins();
  pins.in_valid_i = links_.in->valid();
  if (links_.in->valid())
    std::memcpy(&pins.in_data_i[0], links_.in->data().w.data(), detail::kClusterFlitBytes);
}

template <class V>
bool ClusterTwinOf<V>::settle(sim::Cycle now) {
  V& pins = twin_->pins();
  if (!pins.in_full_o || !links_.in->valid()) return links_.in->set_busy(pins.in_full_o);
  pins_in();
  twin_->settle(now);
  return links_.in->set_busy(pins.in_busy_o);
}

template <class V>
sim::Cycle ClusterTwinOf<V>::clock(sim::Cycle now) {
  V& pins = twin_->pins();
  const ClusterEvents events = detail::cluster_events(pins.events_o);
  if (observer_) observer_(now, events);
  count(events);
  was_quiet_ = pins.quiet_o;
  pins_in();
  if (pins.out_valid_o) links_.out->sample_sent();
  pins.out_busy_i = links_.out->busy();
  twin_->clock(now);
  return now + 1;
}

template <class V>
void ClusterTwinOf<V>::count(const ClusterEvents& events) {
  constexpr unsigned kLoad = 1, kAdd = 2, kAddEmit = 7;  // acc_op_e
  progress_ += events.retire || events.command != 0;
  retired_ += events.retire;
  compute_cycles_ += events.gemm_busy;
  drain_cycles_ += events.drain_busy;
  lost_commands_ += events.lost != 0;
  sweep_commands_ +=
      (events.lost != 0) + (events.command == kLoad || events.command == kAdd || events.command == kAddEmit);
  entries_ += events.l1_write;
}

template <class V>
bool ClusterTwinOf<V>::resting() const {
  return was_quiet_ && twin_->pins().quiet_o && !links_.in->valid();
}

template <class V>
std::vector<sim::Wait> ClusterTwinOf<V>::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  if (links_.out->valid() && links_.out->busy())
    waits.push_back({.what = fmt::format("a flit for ({},{}) to be taken", links_.out->data().dst_x(),
                                         links_.out->data().dst_y()),
                     .part = "output",
                     .kind = "output",
                     .over = links_.out});
  return waits;
}

template <class V>
void ClusterTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

template <class V>
void ClusterTwinOf<V>::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
  archive.scope("endpoint", [&] {
    archive.counter("retired", retired_, "instructions", "Instructions whose execution ended.");
  });
  archive.scope("drain", [&] {
    archive.counter("busy_cycles", drain_cycles_, "cycles",
                    "Cycles with results outstanding or a drain issuing.");
  });
  archive.counter("compute_cycles", compute_cycles_, "cycles",
                  "Cycles with a sweep or an accumulator command under way.");
  archive.counter(
      "sweep_commands", sweep_commands_, "commands",
      "Accumulator commands of started sweeps, each with one product of 4x32 by 32x4 (512 multiply-adds).");
  archive.counter("lost_commands", lost_commands_, "commands",
                  "Sweep commands lost to another owner of the port.");
  archive.counter("entries_written", entries_, "entries", "L1 entries written.");
}

}  // namespace ktpu::rtl
