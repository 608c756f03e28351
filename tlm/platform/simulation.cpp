// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "tlm/orchestrator/window_bursts.h"
#include "tlm/pins/pin_level.h"

namespace ktpu::platform {

namespace {

constexpr unsigned kRegisterBytes = 8;
constexpr unsigned kYields = 64;  // delta cycles of one time left to others, who may never come to rest

// Whether a part of `unit` has pins; each is told the period.
bool tell_pins(sim::Unit& unit, const sc_core::sc_time& period) {
  auto* const pins = dynamic_cast<pins::PinLevel*>(&unit);
  if (pins != nullptr) pins->set_period(period);
  bool any = pins != nullptr;
  for (sim::Unit* part : unit.parts()) any = tell_pins(*part, period) || any;
  return any;
}

// Where the description has the node `id`, with a colon behind; empty: unknown.
std::string place_of(const topo::Machine& machine, const std::string& id) {
  for (const topo::Mesh& mesh : machine.meshes)
    for (const topo::Node& node : mesh.nodes)
      if (topo::node_id(machine, mesh, node) == id) return node.place.text() + ": ";
  return {};
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
    : sc_module(name),
      host_socket("host_socket"),
      memory_socket("memory_socket"),
      system_(system),
      runner_(runner) {
  // Picoseconds, so that 300 MHz is the same 3333 ps everywhere.
  period_ =
      sc_core::sc_time(std::max(1.0, std::floor(1e6 / system.machine().clocks.front().mhz)), sc_core::SC_PS);
  for (const sim::Timeline::Clock& clock : system.timeline().clocks())
    for (sim::Unit* unit : clock.engine->units()) {
      shells_.push_back(std::make_unique<Shell>(pins::module_name(unit->name()).c_str(), *unit));
      if (!tell_pins(*unit, period_)) continue;
      if (clock.engine != &system.engine())
        throw arch::UserError::make(
            "{}{}: a SystemC module runs at the clock 'fabric', and this node has the clock '{}'. Leave "
            "`clock` "
            "out there, or choose another impl",
            place_of(system.machine(), unit->name()), unit->name(), clock.name);
      // The modules' reset; their clocks have something to do in every cycle, so that horizon() ends there.
      origin_ = period_ * static_cast<double>(pins::kResetCycles);
    }
  host_socket.register_b_transport(this, &Simulation::host_transport);
  host_socket.register_transport_dbg(this, &Simulation::host_debug);
  memory_socket.register_b_transport(this, &Simulation::memory_transport);
  memory_socket.register_transport_dbg(this, &Simulation::memory_debug);
  SC_HAS_PROCESS(Simulation);
  SC_METHOD(tick);
  if (system.host() != nullptr && system.machine().host.kind == topo::HostKind::kExternal)
    system.host()->set_script(&external_);
}

Simulation::~Simulation() = default;

void Simulation::add(TlmDram& dram) {
  drams_.push_back(&dram);
  dram.connect([this](sim::Cycle cycle) { return time_of(cycle); },
               [this] { activity_.notify(sc_core::SC_ZERO_TIME); });
}

bool Simulation::host_is_outside() const {
  return system_.host() != nullptr && system_.machine().host.kind == topo::HostKind::kExternal &&
         !system_.host()->done();
}

sc_core::sc_time Simulation::time_of(sim::Cycle cycle) const {
  return origin_ + period_ * static_cast<double>(cycle);
}

sim::Cycle Simulation::cycle_of_now() const {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  return now < origin_ ? 0 : static_cast<sim::Cycle>((now - origin_) / period_);
}

// Address bits [42:40] name a mesh: its id + 1, or 0 for the first one.
std::optional<std::size_t> Simulation::mesh_of(std::uint64_t address) const {
  const std::uint64_t which = address >> arch::address::kBits;
  if (which == 0) return 0;
  for (std::size_t m = 0; m < system_.meshes().size(); ++m)
    if (system_.mesh(m).description->id + 1 == which) return m;
  return std::nullopt;
}

// What else may run at the present time, a host outside above all, acts before the cycle of now is run, else
// it would come a cycle late.
bool Simulation::lets_others_run_first() {
  if (!sc_core::sc_pending_activity_at_current_time()) return false;
  if (yielded_at_ != sc_core::sc_time_stamp()) yields_ = 0;
  yielded_at_ = sc_core::sc_time_stamp();
  return ++yields_ <= kYields;
}

// The cycle before which nothing else in SystemC can act on the machine.
sim::Cycle Simulation::horizon(sim::Cycle here) const {
  const sim::Cycle start = host_is_outside() ? here : std::max(here, system_.timeline().now());
  if (sc_core::sc_pending_activity_at_current_time()) return start + 1;
  const sim::Cycle far = start + quantum_;
  if (!sc_core::sc_pending_activity_at_future_time()) return far;
  const double ahead = sc_core::sc_time_to_pending_activity() / period_;
  return std::min(far, here + std::max<sim::Cycle>(1, static_cast<sim::Cycle>(ahead)));
}

// An access from outside happens now, not where the machine fell asleep.
void Simulation::catch_up() {
  try {
    if (system_.timeline().now() < cycle_of_now()) runner_.run_until(cycle_of_now());
  } catch (...) {
    failure_ = std::current_exception();
    sc_core::sc_stop();
  }
}

// Runs cycles until something else in SystemC could happen, then asks to be called again for the next cycle
// in which a unit wants to run.
void Simulation::tick() {
  sim::Timeline& timeline = system_.timeline();
  // A restored run starts where it was saved; a module with pins is reset before cycle 0.
  if (!std::exchange(started_, true) && time_of(timeline.now()) > sc_core::sc_time_stamp()) {
    next_trigger(time_of(timeline.now()) - sc_core::sc_time_stamp());
    return;
  }
  try {
    if (lets_others_run_first()) {
      next_trigger(sc_core::SC_ZERO_TIME);
      return;
    }
    for (TlmDram* dram : drams_)
      if (dram->take_answered())
        for (const MeshSystem& mesh : system_.meshes())
          if (mesh.memory_unit != nullptr) system_.engine().wake_at(*mesh.memory_unit, timeline.now());
    const sim::Cycle until = horizon(cycle_of_now());
    bool over = false;
    if (drams_.empty() && external_.empty()) {
      over = runner_.run_until(until);
    } else {  // what a cycle brings may let others act in the next
      bool crossed = false;
      while (!over && !crossed && timeline.now() < until) {
        over = runner_.run_until(timeline.now() + 1);
        for (TlmDram* dram : drams_) crossed = dram->take_started() || crossed;
        crossed = external_.take_finished() || crossed;
      }
    }
    if (heartbeat_) heartbeat_(timeline.now());
    if (over) {
      sc_core::sc_stop();
      return;
    }
    sim::Cycle next = timeline.next_event();
    if (next == sim::kNever) next = timeline.now() + quantum_;
    const sc_core::sc_time at = time_of(next);
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
  const std::optional<std::size_t> mesh = mesh_of(payload.get_address());
  if (!mesh || system_.mesh(*mesh).host_bus == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (system_.host() == nullptr || system_.machine().host.kind != topo::HostKind::kExternal) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  ExternalScript::Access access;
  access.write = payload.is_write();
  access.offset = static_cast<std::uint32_t>(payload.get_address());
  for (std::size_t m = 0; m < *mesh; ++m) access.bus += system_.mesh(m).host_bus != nullptr;
  if (access.write) std::memcpy(&access.data, payload.get_data_ptr(), kRegisterBytes);
  access.done = [&payload](sim::Cycle, std::uint64_t value) {
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &value, kRegisterBytes);
  };
  host_access(std::move(access), delay);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// One access of the host outside, from now (after `delay`) until its end.
void Simulation::host_access(ExternalScript::Access access, sc_core::sc_time& delay) {
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  sc_core::sc_event finished;
  access.done = [this, &finished, done = std::move(access.done)](sim::Cycle next, std::uint64_t value) {
    if (done) done(next, value);
    finished.notify(std::max(sc_core::SC_ZERO_TIME, time_of(next) - sc_core::sc_time_stamp()));
  };
  catch_up();
  external_.push(*system_.host(), std::move(access));
  activity_.notify(sc_core::SC_ZERO_TIME);
  sc_core::wait(finished);
}

void Simulation::memory_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t bytes = payload.get_data_length();
  const std::optional<std::size_t> mesh = mesh_of(payload.get_address());
  const std::uint64_t inside = payload.get_address() & arch::address::kMask;
  if (!mesh || system_.mesh(*mesh).window_bus == nullptr || inside + bytes - 1 > arch::address::kMask) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  if (bytes == 0 || bytes % arch::kWordBytes != 0 || inside % arch::kWordBytes != 0 ||
      payload.get_streaming_width() < bytes || !(payload.is_read() || payload.is_write())) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (system_.machine().host.kind != topo::HostKind::kExternal) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  std::uint8_t window = 0;
  for (std::size_t m = 0; m < *mesh; ++m) window += system_.mesh(m).window_bus != nullptr;
  std::vector<memory::WindowWord> words(bytes / arch::kWordBytes);
  if (payload.is_write()) std::memcpy(words.data(), payload.get_data_ptr(), bytes);
  orchestrator::for_each_window_burst(inside, bytes, payload.is_write(),
                                      [&](std::uint64_t address, std::uint64_t first, std::uint64_t n) {
                                        ExternalScript::Access burst;
                                        burst.write = payload.is_write();
                                        burst.bus = window;
                                        burst.address = address;
                                        burst.beats = static_cast<std::uint32_t>(n / arch::kWordBytes);
                                        burst.words = &words[first / arch::kWordBytes];
                                        host_access(std::move(burst), delay);
                                      });
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), words.data(), bytes);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned Simulation::memory_debug(tlm::tlm_generic_payload& payload) {
  const std::optional<std::size_t> index = mesh_of(payload.get_address());
  if (!index) return 0;
  MeshSystem& mesh = system_.mesh(*index);
  const std::uint64_t inside = payload.get_address() & arch::address::kMask;
  const unsigned bytes = payload.get_data_length();
  try {
    if (payload.is_write()) {
      write_memory(mesh, inside, {payload.get_data_ptr(), bytes});
    } else {
      const std::vector<std::uint8_t> data = read_memory(mesh, inside, bytes);
      std::copy(data.begin(), data.end(), payload.get_data_ptr());
    }
  } catch (const arch::UserError&) {  // nothing is there
    return 0;
  }
  return bytes;
}

unsigned Simulation::host_debug(tlm::tlm_generic_payload& payload) {
  const std::optional<std::size_t> index = mesh_of(payload.get_address());
  if (!index) return 0;
  const MeshSystem& mesh = system_.mesh(*index);
  if (mesh.control_agent == nullptr || payload.is_write() || payload.get_data_length() < kRegisterBytes)
    return 0;
  const std::uint64_t value =
      mesh.control_agent->peek(static_cast<std::uint32_t>(payload.get_address()), system_.engine().now());
  std::memcpy(payload.get_data_ptr(), &value, kRegisterBytes);
  return kRegisterBytes;
}

}  // namespace ktpu::platform
