// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog memory agent in the socket of memory::MemoryAgent: same ports, same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "rtl_models/memory/memory_sockets.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

class Vktpu_memory;

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

template <class V>
class MemoryTwinOf final : public sim::Unit {
 public:
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

  // `dram` must outlive the twin. Throws UserError, naming it, for what the RTL is not built for.
  MemoryTwinOf(std::string name, MemoryPlace place, DramSocket& dram);
  ~MemoryTwinOf() override;

  // Elaboration, as of memory::MemoryAgent.
  void bind_port(unsigned port, sim::FlitPort links);
  void set_client(ClientSocket* client) { client_ = client; }
  void set_window(WindowSocket* window) { window_ = window; }
  void set_interlink(InterlinkSocket* interlink) { interlink_ = interlink; }

  // As memory::AuxWindow: a register write of cycle `now`, from within clock() of the control agent; at most
  // two a cycle.
  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data);
  std::uint64_t aux_stat() const;
  std::uint64_t aux_status(unsigned word) const;
  // The back door into the staging memory, between cycles; of all ports, if each has its own, or that of port
  // 0.
  void store(std::uint64_t address, std::span<const std::uint8_t> bytes);
  void load(std::uint64_t address, std::span<std::uint8_t> bytes) const;
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

  void show_inputs();
  std::uint8_t* staged_byte(std::uint64_t address, unsigned port) const;
  WindowSocket::Outputs window_outputs() const;
  void clock_window(sim::Cycle now);
  void drive_links();
  void clock_links();

  MemoryPlace place_;
  DramSocket& dram_;
  ClientSocket* client_ = nullptr;
  WindowSocket* window_ = nullptr;
  InterlinkSocket* interlink_ = nullptr;
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

}  // namespace ktpu::rtl
