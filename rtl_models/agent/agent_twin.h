// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog control agent with the calls of orchestrator::ControlAgent: same buses, same mesh side,
// same cycles. It is a part beside the memory agent, not a unit; apps/common puts it there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "arch/flit.h"
#include "tlm/sim/cycle.h"

class Vktpu_agent;

namespace ktpu::rtl {

template <class V>
class Twin;

// What the twin needs of orchestrator::ControlAgentParams; the meanings are there.
struct AgentPlace {
  // Of an orchestrator::ControlAgentParams, taken by shape, so that this folder does not depend on the
  // models.
  template <class Params>
  static AgentPlace of(const Params& params) {
    return {params.position, params.grid_lo, params.grid_hi, params.staging_flits, params.quirks};
  }
  arch::Coord position;
  unsigned grid_lo = 1, grid_hi = 1;
  unsigned staging_flits = 128;
  bool quirks = true;
};

// What a register bus carries towards the agent in one cycle.
struct AgentBeat {
  bool write = false, read = false;
  std::uint8_t strobe = 0xFF;
  std::uint32_t write_offset = 0, read_offset = 0;  // bytes; the agent looks at 16 bits
  std::uint64_t data = 0;
};

// The AUX window (orchestrator.md section 4).
class AuxSocket {
 public:
  virtual ~AuxSocket() = default;
  virtual void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) = 0;
  virtual std::uint64_t aux_stat() const = 0;
  virtual std::uint64_t aux_status(unsigned word) const = 0;  // 0..15
};

// What happens inside in one cycle; the meanings are those of orchestrator::AgentProbe.
struct AgentEvents {
  bool kick = false, push = false;
  arch::Flit flit;  // with push
};
using AgentObserver = std::function<void(sim::Cycle now, const AgentEvents&)>;

// A Verilated control agent, whichever.
class AgentRtl {
 public:
  static constexpr unsigned kBuses = 2;
  using Beats = std::array<AgentBeat, kBuses>;

  virtual ~AgentRtl() = default;
  virtual void reset(sim::Cycle start) = 0;
  // Outputs of the present cycle.
  virtual const arch::Flit* out() const = 0;
  virtual std::uint64_t read_data(unsigned bus) const = 0;
  // Clock phase, before clock(): at most one flit a cycle; false: it is full, and the flit is lost.
  virtual bool offer(sim::Cycle now, const arch::Flit& flit) = 0;
  // The edge that ends cycle `now`. Returns the next cycle in which it has something to do; kNever: nothing
  // changes unless something comes, and the cycles between need no call.
  virtual sim::Cycle clock(sim::Cycle now, bool out_taken, const Beats& beats) = 0;
  // Called in every cycle in which something happened; empty: nobody.
  virtual void observe(AgentObserver observer) = 0;
  // Waves of the inside of the RTL (rtl_models/twin.h).
  virtual void open_waves(const std::string& path) = 0;
};

template <class V>
class AgentTwinOf final : public AgentRtl {
 public:
  // `aux` must outlive the twin and may be null. Throws UserError for a size the RTL is not built for.
  AgentTwinOf(std::string name, const AgentPlace& place, AuxSocket* aux);
  ~AgentTwinOf() override;

  const std::string& name() const { return name_; }
  void reset(sim::Cycle start) override;
  const arch::Flit* out() const override { return shows_ ? &out_ : nullptr; }
  std::uint64_t read_data(unsigned bus) const override;
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken, const Beats& beats) override;
  void observe(AgentObserver observer) override { observer_ = std::move(observer); }
  void open_waves(const std::string& path) override;

 private:
  void show();
  void tell(sim::Cycle now) const;

  std::string name_;
  AgentPlace place_;
  AuxSocket* aux_;
  AgentObserver observer_;
  bool shows_ = false;
  arch::Flit out_;
  std::unique_ptr<Twin<V>> twin_;
};

using AgentTwin = AgentTwinOf<Vktpu_agent>;
extern template class AgentTwinOf<Vktpu_agent>;

}  // namespace ktpu::rtl
