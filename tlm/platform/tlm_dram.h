// SPDX-License-Identifier: Apache-2.0
// The DRAM behind a TLM-2.0 initiator socket: a foreign memory model answers the bursts of the DRAM port. One
// read and one write burst are outstanding; a burst is one generic payload, its data moves over the bus one
// beat a cycle after the target's response (reads) or before its request (writes).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/memory/dram_device.h"

namespace ktpu::platform {

class TlmDram final : public sc_core::sc_module, public memory::DramDevice {
 public:
  tlm_utils::simple_initiator_socket<TlmDram, 64> socket;

  TlmDram(const sc_core::sc_module_name& name, unsigned bus_bits);

  // `time_of`: start of a cycle in SystemC time; `wake`: makes the memory agent run again when a response
  // came.
  void connect(std::function<sc_core::sc_time(sim::Cycle)> time_of, std::function<void()> wake);
  // Whether a transaction was started since the last call: SystemC must run before the next cycle.
  bool take_started();
  // Whether an answer came since the last call: the memory agent must run.
  bool take_answered();

  void reset(sim::Cycle start) override;
  sim::Cycle clock(sim::Cycle now, const memory::DramInputs& in) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

 private:
  struct Side {
    tlm::tlm_generic_payload payload;
    std::vector<unsigned char> data;
    std::vector<unsigned char> enables;
    memory::DramAddress address;
    std::uint32_t beat = 0;
    bool active = false;     // a burst is under way
    bool requested = false;  // the target has it
    bool responded = false;  // the target answered
    bool failed = false;
  };
  void start(Side& side, tlm::tlm_command command, sim::Cycle now);
  void complete(Side& side);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void offer_beat();

  Side read_, write_;
  std::function<sc_core::sc_time(sim::Cycle)> time_of_;
  std::function<void()> wake_;
  bool started_ = false;
  bool answered_ = false;
};

}  // namespace ktpu::platform
