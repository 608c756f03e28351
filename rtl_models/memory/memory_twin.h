// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog memory agent in the socket of memory::MemoryAgent: same ports, same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "arch/flit.h"
#include "rtl_models/memory/memory_sockets.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

class Vktpu_memory;
class Vktpu_memory_core;

namespace ktpu::rtl {

template <class V>
class Twin;

// What the twin needs of memory::MemoryAgentConfig and of the DRAM. One Verilated module serves them all.
struct MemoryPlace {
  std::vector<arch::Coord> ports;  // 1..4
  unsigned mesh_id = 0;
  unsigned bus_bits = 512;       // of the DRAM: 256, 512 or 1024
  bool interlink = false;        // in use
  bool interlink_idle = false;   // there, but never used
  unsigned reads_in_flight = 1;  // of a requester, 1..64
  enum class Staging : std::uint8_t { kNone, kConverged, kPort } staging = Staging::kNone;
  bool quirks = true;  // M1, I1 and I2
};

// Either of the two below.
class MemoryRtl : public sim::Unit {
 public:
  using Unit::Unit;
  // `config`: a memory::MemoryAgentConfig (taken by shape, so that this folder does not depend on the
  // models).
  template <class Config>
  static MemoryPlace place_of(const Config& config, unsigned bus_bits) {
    return {config.ports,
            config.mesh_id,
            bus_bits,
            config.interlink && !config.interlink_idle,
            config.interlink && config.interlink_idle,
            config.reads_in_flight,
            static_cast<MemoryPlace::Staging>(config.staging),
            config.quirks};
  }

  // Elaboration, as of memory::MemoryAgent.
  virtual void bind_port(unsigned port, sim::FlitPort links) = 0;
  void set_client(ClientSocket* client) { client_ = client; }
  void set_window(WindowSocket* window) { window_ = window; }
  void set_interlink(InterlinkSocket* interlink) { interlink_ = interlink; }

  // As memory::AuxWindow: a register write of cycle `now`, from within clock() of the control agent; at most
  // two a cycle.
  virtual void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) = 0;
  virtual std::uint64_t aux_stat() const = 0;
  virtual std::uint64_t aux_status(unsigned word) const = 0;
  // The back door into the staging memory, between cycles; of all ports, if each has its own, or that of port
  // 0.
  virtual void store(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;
  virtual void load(std::uint64_t address, std::span<std::uint8_t> bytes) const = 0;

 protected:
  ClientSocket* client_ = nullptr;
  WindowSocket* window_ = nullptr;
  InterlinkSocket* interlink_ = nullptr;
};

// What the DRAM of a Verilated memory agent is: on its clock, or behind FIFOs between two clocks.
template <class V>
struct DramOf {
  using Socket = DramSocket;
};
template <>
struct DramOf<Vktpu_memory_core> {
  using Socket = BorderSocket;
};

template <class V>
class MemoryTwinOf final : public MemoryRtl {
 public:
  using Verilated = V;
  // `dram` must outlive the twin. Throws UserError, naming it, for what the RTL is not built for.
  MemoryTwinOf(std::string name, MemoryPlace place, typename DramOf<V>::Socket& dram);
  ~MemoryTwinOf() override;

  void bind_port(unsigned port, sim::FlitPort links) override;
  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override;
  std::uint64_t aux_stat() const override;
  std::uint64_t aux_status(unsigned word) const override;
  void store(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
  void load(std::uint64_t address, std::span<std::uint8_t> bytes) const override;
  // Nothing queued, in flight or unfinished.
  bool resting() const override;

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle now) override;
  std::vector<const sim::LinkBase*> settle_reads() const override;
  std::vector<const sim::LinkBase*> settle_writes() const override { return settle_reads(); }
  sim::Cycle clock(sim::Cycle now) override;
  bool free_running() const override { return true; }
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  // Waves of the inside of the RTL (rtl_models/twin.h).
  void open_waves(const std::string& path);

 private:
  static constexpr unsigned kMaxPorts = 4;
  static constexpr unsigned kMaxReads = 64;
  static constexpr bool kOneClock = std::is_same_v<typename DramOf<V>::Socket, DramSocket>;

  // The DRAM's outputs to the pins, and what is handed over in the cycle.
  auto show_dram(sim::Cycle now);
  template <class Shown>
  void clock_dram(sim::Cycle now, const Shown& shown);
  // Of the FIFO of a requester's read data; all ports have slots, also those that do not exist.
  unsigned slot_of(unsigned fifo) const {
    const auto ports = static_cast<unsigned>(place_.ports.size());
    if (place_.reads_in_flight == 1 || fifo < ports) return fifo;
    return fifo + kMaxPorts - ports;
  }
  void show_inputs();
  std::uint8_t* staged_byte(std::uint64_t address, unsigned port) const;
  WindowSocket::Outputs window_outputs() const;
  void clock_window(sim::Cycle now);
  void drive_links();
  void clock_links();

  MemoryPlace place_;
  typename DramOf<V>::Socket& dram_;
  std::array<sim::FlitPort, kMaxPorts> ports_{};
  // What the ports' wires tell, by type.
  struct Traffic {
    std::array<std::uint64_t, 16> in{}, out{};
  };
  std::array<Traffic, kMaxPorts> traffic_{};
  std::uint32_t in_valid_ = 0;  // mirror of the input links' valid
  std::uint64_t lost_ = 0;      // flits for a control agent that was full or absent
  unsigned writes_ = 0;         // register writes of the cycle
  std::unique_ptr<Twin<V>> twin_;
};

using MemoryTwin = MemoryTwinOf<Vktpu_memory>;
extern template class MemoryTwinOf<Vktpu_memory>;
// With a DRAM on a clock of its own: ktpu_memory without the FIFOs of the bus.
using FarMemoryTwin = MemoryTwinOf<Vktpu_memory_core>;
extern template class MemoryTwinOf<Vktpu_memory_core>;

}  // namespace ktpu::rtl
