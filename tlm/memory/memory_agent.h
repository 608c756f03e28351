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
#include "tlm/memory/memory_probe.h"
#include "tlm/memory/misuse.h"
#include "tlm/memory/staging.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

class DramPath;
class Interlink;
class MemoryPort;
class WriteSplit;

struct MemoryAgentConfig {
  std::vector<arch::Coord> ports;  // coordinates of the memory ports, 1..4, port 0 first
  unsigned mesh_id = 0;            // 0..3
  bool interlink = false;          // one more requester at the DRAM port (memory.md section 7)
  unsigned reads_in_flight = 1;    // RD_OUT per requester, 1..64; 1 = reference
  StagingPlacement staging = StagingPlacement::kNone;
  bool interlink_idle = true;  // with `interlink`: it is there, but nothing is marked remote
  bool quirks = true;          // those of the interlink as in the reference
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
  void set_probe(MemoryProbe* probe) { probe_ = probe; }

  const MemoryAgentConfig& config() const { return config_; }
  const MisuseLog& misuse() const { return misuse_; }
  // The staging memory that serves port `port` behind aperture 0; null if there is none.
  SparseMemory* staging(unsigned port = 0);
  // Last cycle with a handshake on any DRAM channel; kNever before the first.
  sim::Cycle last_dram_handshake() const { return last_handshake_; }
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

 private:
  // What the output wires of a port show.
  enum class Shown : std::uint8_t { kNothing, kEngine, kClient, kInterlink };
  struct Attachment {
    sim::FlitPort links;
    std::array<std::uint64_t, 16> flits_in{};  // by type
    std::array<std::uint64_t, 16> flits_out{};
    std::uint64_t client_responses = 0;  // MEM_RD_RESP flits of the control agent and of other meshes
    std::uint64_t lost = 0;              // accepted, but the control agent was full or absent
    Shown shown = Shown::kNothing;
  };
  unsigned port_on_row(const arch::Flit& flit) const;
  void give_to_client(sim::Cycle now, unsigned port);
  bool is_remote(const arch::Flit& flit) const;
  int select_remote(std::uint32_t ports) const;
  bool clock_interlink(sim::Cycle now, bool all, bool out_taken);

  MemoryAgentConfig config_;
  DramDevice& dram_;
  AgentClient* client_ = nullptr;
  MemoryProbe* probe_ = nullptr;
  MisuseLog misuse_;
  std::vector<Attachment> attachments_;
  std::vector<std::unique_ptr<MemoryPort>> ports_;
  std::unique_ptr<DramPath> path_;
  std::unique_ptr<WriteSplit> split_;     // with an interlink, idle or not
  std::unique_ptr<Interlink> interlink_;  // in use
  std::uint32_t offered_ = 0;             // bit p: port p's in-link is valid (kept by the links)
  int selected_ = -1;                     // port whose flit goes to the client in this cycle; set by settle()
  unsigned round_robin_ = 0;              // rr of memory.md section 2
  int remote_selected_ = -1;              // the same for the interlink
  unsigned remote_round_robin_ = 0;
  bool client_fresh_ = false;  // the client's output may hold another flit than the wires
  sim::Cycle path_due_ = 0;    // next cycle in which the DRAM path must run
  sim::Cycle last_handshake_ = sim::kNever;
};

}  // namespace ktpu::memory
