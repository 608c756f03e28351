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

// A Verilated command engine, whichever.
class CommandEngineRtl {
 public:
  virtual ~CommandEngineRtl() = default;
  virtual void reset(sim::Cycle start) = 0;
  // Outputs of the present cycle: read data for the host, the beat for the agent.
  virtual std::uint64_t host_data() const = 0;
  virtual EngineBeat bus_beat() const = 0;
  // The edge that ends cycle `now`: the host's beat, and the agent's read data. Returns as
  // sim::Unit::clock().
  virtual sim::Cycle clock(sim::Cycle now, const EngineBeat& host, std::uint64_t bus_data) = 0;
  virtual bool quiet() const = 0;
  // Waves of the inside of the RTL (rtl_models/twin.h).
  virtual void open_waves(const std::string& path) = 0;
};

template <class V>
class CommandEngineTwinOf final : public CommandEngineRtl {
 public:
  // `commands`: entries of the command RAM, 1..128. Throws UserError for a size the RTL is not built
  // for.
  CommandEngineTwinOf(std::string name, unsigned commands);
  ~CommandEngineTwinOf() override;

  void reset(sim::Cycle start) override;
  std::uint64_t host_data() const override;
  EngineBeat bus_beat() const override;
  sim::Cycle clock(sim::Cycle now, const EngineBeat& host, std::uint64_t bus_data) override;
  bool quiet() const override;
  void open_waves(const std::string& path) override;

 private:
  unsigned commands_;
  std::unique_ptr<Twin<V>> twin_;
};

using CommandEngineTwin = CommandEngineTwinOf<Vktpu_command_engine>;
extern template class CommandEngineTwinOf<Vktpu_command_engine>;

}  // namespace ktpu::rtl
