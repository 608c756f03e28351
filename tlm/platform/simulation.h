// SPDX-License-Identifier: Apache-2.0
// The SystemC shell: an sc_module per unit for the hierarchy, one self-timed SC_METHOD for the clock domain,
// and TLM-2.0 sockets at the edges. SystemC owns time and stop; the engine does the work. One simulation a
// process, as SystemC demands.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/platform/external_host.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/tlm_dram.h"

namespace ktpu::platform {

class Simulation final : public sc_core::sc_module {
 public:
  // Host bus: 64-bit register reads and writes at the agent's offsets, of the first mesh or, with (id+1) in
  // address bits [42:40], of the mesh with that id (memory.md section 3). transport_dbg() reads registers at
  // once; b_transport() is for machines whose host is a foreign model and takes the bus's three cycles.
  tlm_utils::simple_target_socket_optional<Simulation, 64> host_socket;
  // Memory windows (memory.md section 8): an inside address of 40 bits means mesh 0, (mesh+1) << 40 | inside
  // any mesh. Whole 32-byte words without byte enables; the upload apertures quantise. transport_dbg() goes
  // to DRAM and staging memory at once.
  tlm_utils::simple_target_socket_optional<Simulation, 256> memory_socket;

  // Both must outlive the simulation. The clock is the machine's fabric clock.
  Simulation(const sc_core::sc_module_name& name, System& system, Runner& runner);
  ~Simulation() override;

  // A DRAM of the system that is a foreign TLM-2.0 memory (made by the system's DramFactory).
  void add(TlmDram& dram);
  // For hosts outside: ends the accesses, so that the machine can drain and the run end.
  void close_host() {
    catch_up();
    external_.close(*system_.host());
    activity_.notify(sc_core::SC_ZERO_TIME);
  }

  // Cycles an activation may run ahead of SystemC's time while nothing else is scheduled before; 1: never.
  void set_quantum(sim::Cycle cycles) { quantum_ = cycles; }
  // Called between activations, for progress reports.
  void set_heartbeat(std::function<void(sim::Cycle)> heartbeat) { heartbeat_ = std::move(heartbeat); }

  const sc_core::sc_time& period() const { return period_; }

 private:
  class Shell;  // names a unit in the SystemC hierarchy

  void tick();
  bool host_is_outside() const;
  sim::Cycle cycle_of_now() const;
  sc_core::sc_time time_of(sim::Cycle cycle) const;  // its beginning
  // Whether something else may still run at the present time, so that the cycle of now has to wait for it.
  bool lets_others_run_first();
  sim::Cycle horizon(sim::Cycle here) const;
  void catch_up();
  void host_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned host_debug(tlm::tlm_generic_payload& payload);
  void host_access(ExternalScript::Access access, sc_core::sc_time& delay);
  void memory_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned memory_debug(tlm::tlm_generic_payload& payload);
  std::optional<std::size_t> mesh_of(std::uint64_t address) const;

  System& system_;
  Runner& runner_;
  sc_core::sc_time period_;
  sc_core::sc_time origin_ = sc_core::SC_ZERO_TIME;  // when cycle 0 begins
  sim::Cycle quantum_ = 4096;
  bool started_ = false;
  std::function<void(sim::Cycle)> heartbeat_;
  std::vector<std::unique_ptr<Shell>> shells_;
  std::exception_ptr failure_;
  sc_core::sc_event activity_;  // something came from outside
  sc_core::sc_time yielded_at_ = sc_core::sc_max_time();
  unsigned yields_ = 0;  // at that time
  std::vector<TlmDram*> drams_;
  ExternalScript external_;

 public:
  // An exception that left the model during sc_start(), to be thrown again by the caller; SystemC would lose
  // its type on the way.
  std::exception_ptr failure() const { return failure_; }
};

}  // namespace ktpu::platform
