// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arch/error.h"

namespace ktpu::platform {

namespace {

constexpr unsigned kRegisterBytes = 8;

std::string module_name(std::string_view unit) {  // SystemC wants no dots or @ in a name
  std::string name(unit);
  for (char& c : name)
    if (c == '.' || c == '@' || c == ',') c = '_';
  return name;
}

}  // namespace

class Simulation::Shell final : public sc_core::sc_module {
 public:
  Shell(const sc_core::sc_module_name& name, sim::Unit& unit) : sc_module(name), unit_(unit) {}
  const char* kind() const override { return "ktpu_unit"; }
  sim::Unit& unit() { return unit_; }

 private:
  sim::Unit& unit_;
};

Simulation::Simulation(const sc_core::sc_module_name& name, System& system, Runner& runner)
    : sc_module(name), host_socket("host_socket"), system_(system), runner_(runner) {
  // Picoseconds, so that 300 MHz is the same 3333 ps everywhere.
  period_ =
      sc_core::sc_time(std::max(1.0, std::floor(1e6 / system.machine().clocks.front().mhz)), sc_core::SC_PS);
  for (sim::Unit* unit : system.engine().units())
    shells_.push_back(std::make_unique<Shell>(module_name(unit->name()).c_str(), *unit));
  host_socket.register_b_transport(this, &Simulation::host_transport);
  host_socket.register_transport_dbg(this, &Simulation::host_debug);
  SC_HAS_PROCESS(Simulation);
  SC_METHOD(tick);
  if (system.host() != nullptr && system.machine().host.kind == topo::HostKind::kExternal)
    system.host()->set_script(&external_);
}

Simulation::~Simulation() = default;

void Simulation::add(TlmDram& dram) {
  drams_.push_back(&dram);
  dram.connect([this](sim::Cycle cycle) { return period_ * static_cast<double>(cycle); },
               [this] { activity_.notify(sc_core::SC_ZERO_TIME); });
}

// Runs cycles until something else in SystemC could happen, then asks to be called again for the next cycle
// in which a unit wants to run.
void Simulation::tick() {
  sim::Engine& engine = system_.engine();
  try {
    const auto here = static_cast<sim::Cycle>(sc_core::sc_time_stamp() / period_);
    for (TlmDram* dram : drams_)
      if (dram->take_answered()) engine.wake_at(*system_.mesh().memory_agent, engine.now());
    sim::Cycle until = std::max(here, engine.now()) + quantum_;
    if (sc_core::sc_pending_activity_at_future_time()) {
      const double ahead = sc_core::sc_time_to_pending_activity() / period_;
      until = std::min(until, here + std::max<sim::Cycle>(1, static_cast<sim::Cycle>(ahead)));
    }
    bool over = false;
    if (drams_.empty()) {
      over = runner_.run_until(until);
    } else {
      bool started = false;
      while (!over && !started && engine.now() < until) {
        over = runner_.run_until(engine.now() + 1);
        for (TlmDram* dram : drams_) started = dram->take_started() || started;
      }
    }
    if (heartbeat_) heartbeat_(engine.now());
    if (over) {
      sc_core::sc_stop();
      return;
    }
    sim::Cycle next = engine.next_event();
    if (next == sim::kNever) next = engine.now() + quantum_;
    const sc_core::sc_time at = period_ * static_cast<double>(next);
    next_trigger(std::max(sc_core::SC_ZERO_TIME, at - sc_core::sc_time_stamp()), activity_);
  } catch (...) {
    failure_ = std::current_exception();
    sc_core::sc_stop();
  }
}

void Simulation::host_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (payload.get_data_length() != kRegisterBytes || payload.get_address() % kRegisterBytes != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (system_.host() == nullptr || system_.machine().host.kind != topo::HostKind::kExternal) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  ExternalScript::Access access;
  access.write = payload.is_write();
  access.offset = static_cast<std::uint32_t>(payload.get_address());
  if (access.write) std::memcpy(&access.data, payload.get_data_ptr(), kRegisterBytes);
  sc_core::sc_event finished;
  access.done = [&](sim::Cycle now, std::uint64_t value) {
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &value, kRegisterBytes);
    finished.notify(
        std::max(sc_core::SC_ZERO_TIME, period_ * static_cast<double>(now) - sc_core::sc_time_stamp()));
  };
  external_.push(*system_.host(), std::move(access));
  activity_.notify(sc_core::SC_ZERO_TIME);
  sc_core::wait(finished);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned Simulation::host_debug(tlm::tlm_generic_payload& payload) {
  const MeshSystem& mesh = system_.mesh();
  if (mesh.control_agent == nullptr || payload.is_write() || payload.get_data_length() < kRegisterBytes)
    return 0;
  const std::uint64_t value =
      mesh.control_agent->peek(static_cast<std::uint32_t>(payload.get_address()), system_.engine().now());
  std::memcpy(payload.get_data_ptr(), &value, kRegisterBytes);
  return kRegisterBytes;
}

}  // namespace ktpu::platform
