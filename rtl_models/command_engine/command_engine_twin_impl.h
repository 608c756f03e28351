// SPDX-License-Identifier: Apache-2.0
// The members of CommandEngineTwinOf. A source file includes the header of a Verilated command engine, then
// this, and instantiates the template; command_engine_twin.cpp does so for ktpu_command_engine.
#pragma once

#include "arch/error.h"
#include "rtl_models/command_engine/command_engine_twin.h"
#include "rtl_models/twin.h"

namespace ktpu::rtl {

namespace detail {
inline constexpr unsigned kEngineMaxCommands = 128;  // MaxCommands of the build
}  // namespace detail

template <class V>
CommandEngineTwinOf<V>::CommandEngineTwinOf(std::string name, unsigned commands)
    : commands_(commands), twin_(std::make_unique<Twin<V>>(name)) {
  if (commands == 0 || commands > detail::kEngineMaxCommands)
    throw arch::UserError::make(
        "{}: the RTL command engine is built for 1..{} commands, not for {}: choose impl "
        "model "
        "for it",
        name, detail::kEngineMaxCommands, commands);
}

template <class V>
CommandEngineTwinOf<V>::~CommandEngineTwinOf() = default;

template <class V>
void CommandEngineTwinOf<V>::reset(sim::Cycle start) {
  V& pins = twin_->pins();
  pins.pc_last_i = static_cast<std::uint8_t>(commands_ - 1);
  pins.host_write_i = 0;
  pins.host_read_i = 0;
  twin_->reset(start);
}

template <class V>
std::uint64_t CommandEngineTwinOf<V>::host_data() const {
  return twin_->pins().host_data_o;
}

template <class V>
EngineBeat CommandEngineTwinOf<V>::bus_beat() const {
  const V& pins = twin_->pins();
  return {pins.bus_write_o != 0, pins.bus_read_o != 0, pins.bus_offset_o, pins.bus_offset_o, pins.bus_data_o};
}

template <class V>
sim::Cycle CommandEngineTwinOf<V>::clock(sim::Cycle now, const EngineBeat& host, std::uint64_t bus_data) {
  V& pins = twin_->pins();
  pins.host_write_i = host.write;
  pins.host_read_i = host.read;
  pins.host_write_offset_i = host.write_offset;
  pins.host_read_offset_i = host.read_offset;
  pins.host_data_i = host.data;
  pins.bus_data_i = bus_data;
  twin_->clock(now);
  return host.read || !quiet() ? now + 1 : sim::kNever;
}

template <class V>
bool CommandEngineTwinOf<V>::quiet() const {
  return twin_->pins().quiet_o;
}

template <class V>
void CommandEngineTwinOf<V>::open_waves(const std::string& path) {
  twin_->open_waves(path);
}

}  // namespace ktpu::rtl
