// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog command engine with the cycles of orchestrator::CommandEngine. Its two register buses are
// plain values here; apps/common makes a unit of it that stands on the machine's buses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tlm/sim/cycle.h"

class Vktpu_command_engine;

namespace ktpu::rtl {

template <class V>
class Twin;

// What a register bus carries in one cycle, master to slave.
struct EngineBeat {
  bool write = false, read = false;
  std::uint32_t write_offset = 0, read_offset = 0;  // bytes
  std::uint64_t data = 0;
};

template <class V>
class CommandEngineTwinOf {
 public:
  // `commands`: entries of the command RAM, 1..128. Throws UserError for a size the RTL is not built
  // for.
  CommandEngineTwinOf(std::string name, unsigned commands);
  ~CommandEngineTwinOf();

  void reset(sim::Cycle start);
  // Outputs of the present cycle: read data for the host, the beat for the agent.
  std::uint64_t host_data() const;
  EngineBeat bus_beat() const;
  // The edge that ends cycle `now`: the host's beat, and the agent's read data. Returns as
  // sim::Unit::clock().
  sim::Cycle clock(sim::Cycle now, const EngineBeat& host, std::uint64_t bus_data);
  bool quiet() const;

  // Waves of the inside of the RTL (rtl_models/twin.h).
  void open_waves(const std::string& path);

 private:
  unsigned commands_;
  std::unique_ptr<Twin<V>> twin_;
};

using CommandEngineTwin = CommandEngineTwinOf<Vktpu_command_engine>;
extern template class CommandEngineTwinOf<Vktpu_command_engine>;

}  // namespace ktpu::rtl
