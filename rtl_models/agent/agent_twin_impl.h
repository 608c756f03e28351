// SPDX-License-Identifier: Apache-2.0
// The members of AgentTwinOf. A source file includes the header of a Verilated control agent, then this, and
// instantiates the template; agent_twin.cpp does so for ktpu_agent.
#pragma once

#include <bit>
#include <cstring>

#include "arch/encoding/registers.h"
#include "arch/error.h"
#include "rtl_models/agent/agent_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

namespace detail {
inline constexpr unsigned kAgentMaxFlits = 128;  // of the staging RAM that is built
// A flit on the pins: nine 32-bit words, the lowest first. Flit::w has the same bytes in the same order.
inline constexpr unsigned kAgentFlitBytes = arch::kFlitBits / 8;
static_assert(std::endian::native == std::endian::little, "flits are copied to and from the pins as bytes");
}  // namespace detail

template <class V>
AgentTwinOf<V>::AgentTwinOf(std::string name, const AgentPlace& place, AuxSocket* aux)
    : name_(std::move(name)), place_(place), aux_(aux), twin_(std::make_unique<Twin<V>>(name_)) {
  if (place.staging_flits == 0 || place.staging_flits > detail::kAgentMaxFlits)
    throw arch::UserError::make(
        "{}: the RTL control agent is built for a staging RAM of 1..{} flits, not of {}: choose impl model "
        "for "
        "it",
        name_, detail::kAgentMaxFlits, place.staging_flits);
}

template <class V>
AgentTwinOf<V>::~AgentTwinOf() = default;

template <class V>
void AgentTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.config_i =
      std::uint64_t{place_.position.x & 15u} << 31 | std::uint64_t{place_.position.y & 15u} << 27 |
      std::uint64_t{place_.grid_lo & 255u} << 19 | std::uint64_t{place_.grid_hi & 255u} << 11 |
      std::uint64_t{place_.staging_flits * arch::agent::kWordsPerFlit} << 1 | std::uint64_t{place_.quirks};
  pins.write_i = 0;
  pins.read_i = 0;
  pins.in_valid_i = 0;
  pins.out_taken_i = 0;
  twin_->reset(start);
  show();
}

template <class V>
void AgentTwinOf<V>::show() {
  const V& pins = twin_->pins();
  shows_ = pins.out_valid_o;
  // A refused flit is read again: if a wrong module changes it meanwhile, that is to show.
  if (shows_) std::memcpy(out_.w.data(), &pins.out_data_o[0], detail::kAgentFlitBytes);
}

// agent_events_t of ktpu_agent_pkg.sv: the flit lowest.
template <class V>
void AgentTwinOf<V>::tell(sim::Cycle now) const {
  const auto& bits = twin_->pins().events_o;
  AgentEvents events;
  events.push = (bits[arch::kFlitBits / 32] & 1) != 0;
  events.kick = (bits[arch::kFlitBits / 32] & 2) != 0;
  if (!events.push && !events.kick) return;
  std::memcpy(events.flit.w.data(), &bits[0], detail::kAgentFlitBytes);
  observer_(now, events);
}

template <class V>
std::uint64_t AgentTwinOf<V>::read_data(unsigned bus) const {
  std::uint64_t value = 0;
  std::memcpy(&value, &twin_->pins().read_data_o[2 * bus], sizeof value);
  return value;
}

template <class V>
bool AgentTwinOf<V>::offer(sim::Cycle now, const arch::Flit& flit) {
  V& pins = twin_->pins();
  pins.in_valid_i = 1;
  std::memcpy(&pins.in_data_i[0], flit.w.data(), detail::kAgentFlitBytes);
  twin_->settle(now);
  return pins.in_ready_o;
}

template <class V>
sim::Cycle AgentTwinOf<V>::clock(sim::Cycle now, bool out_taken, const Beats& beats) {
  V& pins = twin_->pins();
  if (observer_) tell(now);
  pins.out_taken_i = out_taken;
  pins.write_i = 0;
  pins.read_i = 0;
  for (unsigned b = 0; b < kBuses; ++b) {
    const AgentBeat& beat = beats[b];
    pins.write_i |= static_cast<std::uint8_t>(unsigned{beat.write} << b);
    pins.read_i |= static_cast<std::uint8_t>(unsigned{beat.read} << b);
    if (beat.write) {
      const auto strobe = static_cast<std::uint32_t>(beat.strobe) << 8 * b;
      pins.strobe_i = static_cast<std::uint16_t>((pins.strobe_i & ~(0xFFu << 8 * b)) | strobe);
      pins.write_offset_i = (pins.write_offset_i & ~(0xFFFFu << 16 * b)) | (beat.write_offset & 0xFFFFu)
                                                                               << 16 * b;
      std::memcpy(&pins.write_data_i[2 * b], &beat.data, sizeof beat.data);
    }
    if (beat.read)
      pins.read_offset_i = (pins.read_offset_i & ~(0xFFFFu << 16 * b)) | (beat.read_offset & 0xFFFFu)
                                                                             << 16 * b;
  }
  if (pins.read_i != 0 && aux_ != nullptr) {
    pins.aux_stat_i = aux_->aux_stat();
    twin_->settle(now);
    for (unsigned b = 0; b < kBuses; ++b) {
      const std::uint64_t word = aux_->aux_status(pins.aux_index_o >> 4 * b & 15u);
      std::memcpy(&pins.aux_status_i[2 * b], &word, sizeof word);
    }
  }
  for (unsigned b = 0; b < kBuses; ++b)
    if (pins.aux_valid_o >> b & 1 && aux_ != nullptr) {
      std::uint64_t data = 0;
      std::memcpy(&data, &pins.aux_data_o[2 * b], sizeof data);
      aux_->aux_write(now, pins.aux_offset_o >> 8 * b & 255u, data);
    }
  twin_->clock(now);
  pins.in_valid_i = 0;
  show();
  return pins.quiet_o && pins.read_i == 0 && pins.write_i == 0 ? sim::kNever : now + 1;
}

template <class V>
void AgentTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

}  // namespace ktpu::rtl
