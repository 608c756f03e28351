// SPDX-License-Identifier: Apache-2.0
// A machine that can run: the units and links of a description, wired and elaborated. Needs no SystemC; the
// SystemC shell (simulation.h) drives the same engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tlm/memory/dram_device.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/memory/sparse_memory.h"
#include "tlm/memory/window_bus.h"
#include "tlm/noc/clock_crossing.h"
#include "tlm/noc/staging_adapter.h"
#include "tlm/orchestrator/command_engine.h"
#include "tlm/orchestrator/control_agent.h"
#include "tlm/orchestrator/host.h"
#include "tlm/platform/registry.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/timeline.h"
#include "topologies/description.h"

namespace ktpu::platform {

// One mesh of a system. Pointers are null where the machine has no such block.
struct MeshSystem {
  const topo::Mesh* description = nullptr;
  std::unique_ptr<memory::SparseMemory> memory;
  std::unique_ptr<memory::DramDevice> dram;
  sim::Unit* memory_unit = nullptr;                              // the memory agent, whichever it is
  memory::MemoryAgent* memory_agent = nullptr;                   // null if its RTL stands alone
  std::unique_ptr<MemoryStand> memory_stand;                     // null: the model stands alone
  std::unique_ptr<orchestrator::ControlAgent> control_agent;     // null if its RTL stands alone
  std::unique_ptr<memory::AgentClient> agent_twin;               // impl rtl or lockstep of it
  orchestrator::CommandEngine* command_engine = nullptr;         // null if its RTL stands alone
  sim::Unit* engine_unit = nullptr;                              // the command engine, whichever it is
  std::unique_ptr<orchestrator::RegisterBus> host_bus;           // host to control agent
  std::unique_ptr<orchestrator::RegisterBus> engine_slave_bus;   // host to command engine
  std::unique_ptr<orchestrator::RegisterBus> engine_master_bus;  // command engine to control agent
  std::unique_ptr<memory::WindowBus> window_bus;                 // host to memory window
  std::vector<sim::Unit*> endpoints;           // parallel to description->nodes; memory ports: null
  std::vector<sim::Unit*> routers;             // parallel to description->routers
  std::vector<noc::StagingAdapter*> adapters;  // parallel to description->nodes; those without: null

  sim::Unit* endpoint_at(arch::Coord at) const;
  orchestrator::ProbedAgent* agent() const;  // null: there is none, or one that tells nothing
  bool has_memory() const { return memory_agent != nullptr || memory_stand != nullptr; }
  // Of a mesh with memory.
  void set_memory_probe(memory::MemoryProbe* probe);
  const memory::MisuseLog& memory_misuse() const;
  sim::Cycle last_dram_handshake() const;  // kNever: none yet, or no memory
};

class System : public orchestrator::QuietSource {
 public:
  // Where the DRAM of a mesh comes from when the machine's own model is not wanted.
  using DramFactory =
      std::function<std::unique_ptr<memory::DramDevice>(const topo::Mesh&, memory::SparseMemory&)>;

  // Builds and elaborates. Throws UserError for what this version cannot run.
  System(topo::Machine machine, const Registry& registry, const DramFactory& dram = {});
  ~System() override;

  const topo::Machine& machine() const { return machine_; }
  // Of the fabric clock. With units on other clocks, time is moved by timeline() only.
  sim::Engine& engine() { return engine_; }
  // All clocks, the fabric's first, as in the machine's description.
  sim::Timeline& timeline() { return timeline_; }
  const sim::Timeline& timeline() const { return timeline_; }
  const sim::Engine& engine() const { return engine_; }
  std::vector<MeshSystem>& meshes() { return meshes_; }
  const std::vector<MeshSystem>& meshes() const { return meshes_; }
  MeshSystem& mesh(std::size_t index = 0) { return meshes_.at(index); }
  orchestrator::Host* host() { return host_; }
  const orchestrator::Host* host() const { return host_; }
  // The unit or link called `name`; null if there is none.
  sim::Unit* unit(std::string_view name) const;
  sim::LinkBase* link(std::string_view name) const;
  // "model", "rtl" or "lockstep": the implementation behind a unit.
  std::string_view source_of(const sim::Unit& unit) const;
  // What is there as RTL alone, by kind: "4 router, 8 cluster, memory, agent"; empty: nothing. Of it reports
  // hold what its wires tell; what a program does wrong there only a model knows.
  std::string rtl_alone() const;

  // QuietSource: over all meshes.
  sim::Cycle last_dram_handshake() const override;
  bool any_dram_handshake() const override;

  // A number that grows whenever anything but a poll happens.
  std::uint64_t progress() const;
  // No unit has anything left to do but the host.
  bool drained() const;

 private:
  friend class SystemBuilder;
  topo::Machine machine_;
  sim::Engine engine_;
  std::vector<std::unique_ptr<sim::Engine>> other_engines_;  // of clocks 1, 2, ...
  sim::Timeline timeline_;
  std::vector<std::unique_ptr<noc::FlitFifo>> fifos_;  // of clock crossings
  std::vector<std::unique_ptr<sim::LinkBase>> links_;
  std::vector<sim::FlitLink*> flit_links_;
  std::vector<std::unique_ptr<sim::Unit>> units_;
  std::vector<std::vector<std::string_view>> sources_;  // by clock and unit index
  std::vector<MeshSystem> meshes_;
  orchestrator::Host* host_ = nullptr;
};

}  // namespace ktpu::platform
