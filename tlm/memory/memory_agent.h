// SPDX-License-Identifier: Apache-2.0
// The memory agent of one mesh: memory ports at their coordinates, the way to one DRAM, and the multiplexers
// that let the control agent share port coordinates (memory.md sections 2, 4 and 7).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tlm/memory/agent_client.h"
#include "tlm/memory/dram_device.h"
#include "tlm/memory/interlink/beat.h"
#include "tlm/memory/landing.h"
#include "tlm/memory/memory_probe.h"
#include "tlm/memory/misuse.h"
#include "tlm/memory/staging.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/noc/misaddressed.h"
#include "tlm/sim/clock_ratio.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

struct BorderCycle;
class DramBusUnit;
class DramPath;
class HostWindow;
class Interlink;
class MemoryPort;
class WindowBus;
class Mover;
class WriteSplit;

struct MemoryAgentConfig {
  std::vector<arch::Coord> ports;  // coordinates of the memory ports, 1..4, port 0 first
  unsigned mesh_id = 0;            // 0..3
  bool interlink = false;          // one more requester at the DRAM port (memory.md section 7)
  unsigned reads_in_flight = 1;    // RD_OUT per requester, 1..64; 1 = reference
  StagingPlacement staging = StagingPlacement::kNone;
  bool interlink_idle = true;  // with `interlink`: it is there, but nothing is marked remote
  bool quirks = true;          // M1, I1 and I2 as in the reference (quirks.md)
  bool dram_clock = false;     // the DRAM has a clock of its own: put_dram_on() follows
};

class MemoryAgent final : public sim::Unit, public AuxWindow {
 public:
  // `dram` must outlive the agent; its bus has 256, 512 or 1024 bits. Throws UserError on numbers out of
  // range.
  MemoryAgent(std::string name, MemoryAgentConfig config, DramDevice& dram);
  ~MemoryAgent() override;

  // Elaboration: the links of memory port `port`; binds both ends.
  void bind_port(unsigned port, sim::FlitPort links);
  // Elaboration, with an interlink in use: the wires to and from the neighbour on link 0 or 1.
  void bind_interlink(unsigned link, BeatLink* out, BeatLink* in);
  // The control agent; null (the default): flits for it are taken, lost and recorded.
  void set_client(AgentClient* client) { client_ = client; }
  void set_probe(MemoryProbe* probe);
  // Elaboration: the DRAM and its bus run on a clock of their own, as the units that are returned; all of
  // them go to the engine of that clock. `to_dram`: from cycles of the agent to its cycles.
  // They are called after `called`, else after the agent.
  std::vector<std::unique_ptr<sim::Unit>> put_dram_on(const sim::ClockRatio& to_dram,
                                                      const std::string& called = {});
  // Its FIFOs then, as the path sees them (DramPath).
  void watch_border(BorderCycle& cycle);
  BorderCycle border(sim::Cycle now) const;
  // Elaboration: a host reaches the memory window over `bus` (section 8). At most once.
  void bind_window(WindowBus& bus);

  const MemoryAgentConfig& config() const { return config_; }
  unsigned bus_bits() const { return dram_.bus_bits(); }
  const MisuseLog& misuse() const { return misuse_; }
  // The staging memory that serves port `port` behind aperture 0; null if there is none.
  SparseMemory* staging(unsigned port = 0);
  // Writes on their way, for units that send them and for switching the check off.
  LandingTracker& landing() { return landing_; }
  // What a host does behind the machine's back, in no time: a finding if a write is on its way there. `what`
  // is the subject of the sentence.
  void host_reads(sim::Cycle now, std::uint64_t address, std::uint64_t bytes, const std::string& what);
  void host_writes(sim::Cycle now, std::uint64_t address, std::uint64_t bytes, const std::string& what);
  // The same for an output of the program when all has come to rest.
  void check_output(sim::Cycle now, std::uint64_t address, std::uint64_t bytes, const std::string& name);
  // Last cycle with a handshake on any DRAM channel; kNever before the first.
  sim::Cycle last_dram_handshake() const {
    return dram_bus_ == nullptr ? last_handshake_ : last_far_handshake();
  }
  const Mover& mover() const { return *mover_; }
  // Nothing queued, in flight or unfinished in the ports and on the way to DRAM.
  bool idle() const;

  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override;
  std::uint64_t aux_stat() const override;
  std::uint64_t aux_status(unsigned word) const override;
  std::vector<noc::QuirkHits> quirk_hits() const;  // only those met

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle now) override;
  std::vector<const sim::LinkBase*> settle_reads() const override;
  std::vector<const sim::LinkBase*> settle_writes() const override;
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  std::uint64_t progress() const override;
  // How waits() names a part of a port.
  static std::string port_part(unsigned port, std::string_view part);
  // Flits taken at `port` that were sent to another place.
  const noc::Misaddressed& misaddressed(unsigned port) const { return attachments_[port].misaddressed; }

 private:
  // What the output wires of a port show.
  enum class Shown : std::uint8_t { kNothing, kEngine, kClient, kInterlink };
  struct Attachment {
    sim::FlitPort links;
    std::array<std::uint64_t, 16> flits_in{};  // by type
    std::array<std::uint64_t, 16> flits_out{};
    std::uint64_t client_responses = 0;  // MEM_RD_RESP flits of the control agent and of other meshes
    noc::Misaddressed misaddressed;
    std::uint64_t lost = 0;  // accepted, but the control agent was full or absent
    Shown shown = Shown::kNothing;
  };
  unsigned port_on_row(const arch::Flit& flit) const;
  void give_to_client(sim::Cycle now, unsigned port);
  bool is_remote(const arch::Flit& flit) const;
  int select_remote(std::uint32_t ports) const;
  bool clock_mover(sim::Cycle now, bool all);
  sim::Cycle last_far_handshake() const;
  bool clock_interlink(sim::Cycle now, bool all, bool out_taken);

  MemoryAgentConfig config_;
  DramDevice& dram_;
  AgentClient* client_ = nullptr;
  MemoryProbe* probe_ = nullptr;
  MisuseLog misuse_;
  LandingTracker landing_{misuse_};
  std::vector<Attachment> attachments_;
  std::vector<std::unique_ptr<MemoryPort>> ports_;
  std::unique_ptr<HostWindow> window_;  // null: no host reaches it
  std::unique_ptr<Mover> mover_;
  std::unique_ptr<DramPath> path_;
  DramBusUnit* dram_bus_ = nullptr;       // null: the DRAM runs on this unit's clock
  std::unique_ptr<WriteSplit> split_;     // with an interlink, idle or not
  std::unique_ptr<Interlink> interlink_;  // in use
  std::uint32_t offered_ = 0;             // bit p: port p's in-link is valid (kept by the links)
  bool ports_free_ = false;               // nothing was offered in the last cycle, and all in-links show it
  int selected_ = -1;                     // port whose flit goes to the client in this cycle; set by settle()
  unsigned round_robin_ = 0;              // rr of memory.md section 2
  int remote_selected_ = -1;              // the same for the interlink
  unsigned remote_round_robin_ = 0;
  bool client_fresh_ = false;  // the client's output may hold another flit than the wires
  // While its clock() runs, the cycle: the engine's clock already shows the next one.
  sim::Cycle client_reads_at_ = sim::kNever;
  sim::Cycle path_due_ = 0;  // next cycle in which the DRAM path must run
  sim::Cycle last_handshake_ = sim::kNever;
};

}  // namespace ktpu::memory
