// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/system_builder.h"

#include <map>

#include "arch/encoding/interlink.h"
#include "arch/error.h"
#include "tlm/memory/banked_dram.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::platform {

namespace {

using Attachments =
    std::map<std::pair<arch::Coord, unsigned>, sim::FlitPort>;  // router and side -> its links

constexpr arch::Coord neighbour(arch::Coord at, unsigned side) {
  constexpr int dx[] = {0, 1, 0, -1, 0}, dy[] = {-1, 0, 1, 0, 0};
  return {static_cast<std::uint8_t>(at.x + dx[side]), static_cast<std::uint8_t>(at.y + dy[side])};
}
constexpr unsigned opposite(unsigned side) {
  constexpr unsigned other[] = {noc::kSouth, noc::kWest, noc::kNorth, noc::kEast, noc::kLocal};
  return other[side];
}

// The agents sit at memory port 0 and take its setting.
bool agent_quirks(const topo::Mesh& mesh) {
  const topo::Node* node = mesh.node_at(mesh.ports.front());
  return node == nullptr || node->quirks == topo::Quirks::kReference;
}

// All memory ports of a mesh are one unit, so they have one implementation. The first of them, null: none.
const topo::Node* memory_node(const topo::Machine& machine, const topo::Mesh& mesh) {
  const topo::Node* first = nullptr;
  for (const topo::Node& node : mesh.nodes) {
    if (node.kind() != topo::Kind::kMemoryPort) continue;
    if (first == nullptr) first = &node;
    if (node.impl != first->impl)
      throw arch::UserError::make(
          "{} has impl {}, and {} has impl {}: all memory ports of a mesh are one unit and take the same",
          topo::node_id(machine, mesh, *first), topo::impl_name(first->impl),
          topo::node_id(machine, mesh, node), topo::impl_name(node.impl));
    if (node.module != first->module)
      throw arch::UserError::make(
          "{} and {} have different modules of your own, or only one has one: all memory ports of a mesh are "
          "one "
          "unit and take the same",
          topo::node_id(machine, mesh, *first), topo::node_id(machine, mesh, node));
  }
  return first;
}

topo::Impl memory_impl(const topo::Machine& machine, const topo::Mesh& mesh) {
  const topo::Node* node = memory_node(machine, mesh);
  return node == nullptr ? topo::Impl::kModel : node->impl;
}

}  // namespace

std::string SystemBuilder::prefix(const topo::Mesh& mesh) const {
  return system_.machine_.meshes.size() > 1 ? fmt::format("m{}.", mesh.id) : std::string{};
}

sim::FlitLink* SystemBuilder::flit_link(const std::string& name, unsigned clock) {
  auto link = std::make_unique<sim::FlitLink>(name, arch::kFlitBits);
  sim::FlitLink* raw = link.get();
  system_.timeline_.clocks()[clock].engine->add(*raw);
  system_.flit_links_.push_back(raw);
  system_.links_.push_back(std::move(link));
  return raw;
}

template <typename T>
T* SystemBuilder::add(std::unique_ptr<T> unit, std::string_view source, unsigned clock) {
  T* raw = unit.get();
  system_.timeline_.clocks()[clock].engine->add(*raw);
  system_.sources_[clock].push_back(source);
  system_.units_.push_back(std::move(unit));
  return raw;
}

sim::FlitPort SystemBuilder::cross(const std::string& name, const topo::Node& node, sim::FlitPort unit) {
  const sim::FlitPort fabric{flit_link(name + ".in"), flit_link(name + ".out")};
  noc::ClockCrossing crossing = noc::make_crossing(name, unit, fabric, node.crossing->depth,
                                                   system_.timeline_.clocks()[node.clock].from_base);
  add(std::move(crossing.fabric_side));
  add(std::move(crossing.unit_side), "model", node.clock);
  system_.fifos_.push_back(std::move(crossing.in));
  system_.fifos_.push_back(std::move(crossing.out));
  return fabric;
}

void SystemBuilder::build() {
  const topo::Machine& machine = system_.machine_;
  system_.meshes_.resize(machine.meshes.size());
  for (std::size_t m = 0; m < machine.meshes.size(); ++m) build_mesh(machine.meshes[m], system_.meshes_[m]);
  join_meshes();
  for (MeshSystem& mesh : system_.meshes_)
    if (mesh.memory_stand != nullptr)
      mesh.memory_unit =
          add(mesh.memory_stand->unit(), topo::impl_name(memory_impl(machine, *mesh.description)));
  build_host();
}

void SystemBuilder::build_mesh(const topo::Mesh& mesh, MeshSystem& out) {
  const topo::Machine& machine = system_.machine_;
  const std::string pre = prefix(mesh);
  out.description = &mesh;
  out.endpoints.assign(mesh.nodes.size(), nullptr);
  out.adapters.assign(mesh.nodes.size(), nullptr);
  build_memory(mesh, out);

  // Links of the endpoints, and which router port they end at.
  Attachments at_router;
  std::vector<sim::FlitPort> unit_ports(mesh.nodes.size());
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const topo::Node& node = mesh.nodes[n];
    const std::string id = topo::node_id(machine, mesh, node);
    sim::FlitPort& port = unit_ports[n];
    port.in = flit_link(id + ".in", node.clock);
    port.out = flit_link(id + ".out", node.clock);
    sim::FlitPort fabric = port;
    if (node.crossing) fabric = cross(fmt::format("{}crossing@{},{}", pre, node.at.x, node.at.y), node, port);
    if (node.adapter) {
      const std::string name = fmt::format("{}adapter@{},{}", pre, node.at.x, node.at.y);
      const sim::FlitPort router{flit_link(name + ".in"), flit_link(name + ".out")};
      out.adapters[n] = add(std::make_unique<noc::StagingAdapter>(
          name, noc::AdapterParams{node.at, node.adapter->lines}, fabric, router));
      if (out.memory_agent != nullptr) out.adapters[n]->set_write_observer(&out.memory_agent->landing());
      fabric = router;
    }
    at_router[{node.router, static_cast<unsigned>(node.side)}] = {fabric.out, fabric.in};
  }

  // Links between routers: each named for the router that drives it.
  for (const topo::Router& router : mesh.routers) {
    for (unsigned side = 0; side < noc::kLocal; ++side) {
      const arch::Coord other = neighbour(router.at, side);
      if (mesh.router_at(other) == nullptr) continue;
      sim::FlitLink* link =
          flit_link(fmt::format("{}.{}", topo::node_id(machine, mesh, router), noc::kPortNames[side]));
      at_router[{router.at, side}].out = link;
      at_router[{other, opposite(side)}].in = link;
    }
  }

  const noc::Grid grid{mesh.lo.x, mesh.hi.x, mesh.lo.y, mesh.hi.y};
  // The model routers of a mesh run as one unit.
  auto bank = std::make_unique<noc::RouterBank>(pre + "fabric");
  bool banked = false;
  for (const topo::Router& router : mesh.routers) {
    const std::string id = topo::node_id(machine, mesh, router);
    noc::Router::Ports ports{};
    for (unsigned side = 0; side < noc::kPorts; ++side) ports[side] = at_router[{router.at, side}];
    const noc::RouterParams params{
        router.at, grid, {mesh.router.fifo_depth, mesh.router.fifo_latency, mesh.router.fifo_extra}};
    if (router.impl == topo::Impl::kModel && registry_.bank_model_routers()) {
      banked = true;
      out.routers.push_back(add(bank->add(id, params, ports)));
    } else {
      out.routers.push_back(add(registry_.router(router.impl, id, router.module)(id, params, ports),
                                topo::impl_name(router.impl)));
    }
  }
  if (banked) {
    bank->connect();
    add(std::move(bank));
  }

  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const topo::Node& node = mesh.nodes[n];
    if (node.kind() == topo::Kind::kMemoryPort) {
      unsigned index = 0;
      while (mesh.ports.at(index) != node.at) ++index;
      if (out.memory_stand != nullptr)
        out.memory_stand->bind_port(index, unit_ports[n]);
      else
        out.memory_agent->bind_port(index, unit_ports[n]);
      continue;
    }
    const std::string id = topo::node_id(machine, mesh, node);
    const arch::Coord memory_port = node.port ? mesh.ports.at(*node.port) : arch::Coord{};
    if (out.control_agent != nullptr) {
      if (const auto* cluster = node.get<topo::MatmulCluster>())
        out.control_agent->set_inst_depth(node.at, cluster->inst_depth);
      if (const auto* core = node.get<topo::VectorCore>())
        out.control_agent->set_inst_depth(node.at, core->inst_depth);
    }
    out.endpoints[n] = add(registry_.endpoint(node.kind(), node.impl, id,
                                              node.module)({id, mesh, node, unit_ports[n], memory_port}),
                           topo::impl_name(node.impl), node.clock);
    if (auto* unit = sim::model_as<noc::EndpointReports>(out.endpoints[n]);
        unit != nullptr && out.memory_agent != nullptr)
      unit->set_write_observer(&out.memory_agent->landing());
  }
}

void SystemBuilder::build_memory(const topo::Mesh& mesh, MeshSystem& out) {
  if (mesh.ports.empty()) return;
  const topo::Dram dram = mesh.dram.value_or(topo::Dram{});
  out.memory = std::make_unique<memory::SparseMemory>(
      memory::SparseMemoryConfig{dram.base, dram.size_bytes, dram.wrap});
  if (dram_) {
    if (dram.clock != 0)
      throw arch::UserError::make(
          "{}: a DRAM model from outside runs at the clock 'fabric', and `dram` of mesh {} has the clock "
          "'{}'. "
          "Leave `clock` out there, or take a model of this project",
          system_.machine_.name, mesh.id, system_.machine_.clocks[dram.clock].name);
    out.dram = dram_(mesh, *out.memory);
  } else if (dram.model == topo::DramModel::kSimple) {
    const topo::DramSimple& s = dram.simple;
    out.dram = std::make_unique<memory::SimpleDram>(
        *out.memory,
        memory::SimpleDramParams{s.first_read_beat, s.read_gaps, s.first_write_beat, s.write_gaps,
                                 s.write_response},
        dram.bus_bits);
  } else {
    const topo::DramBanked& b = dram.banked;
    out.dram = std::make_unique<memory::BankedDram>(
        *out.memory,
        memory::BankedDramParams{b.banks, b.row_bytes, b.row_hit, b.row_closed, b.row_conflict,
                                 b.write_response, b.reads_outstanding, b.writes_outstanding,
                                 b.bytes_per_cycle},
        dram.bus_bits);
  }
  memory::MemoryAgentConfig config;
  config.ports = mesh.ports;
  config.mesh_id = mesh.id;
  config.interlink = mesh.interlink != topo::Presence::kAbsent;
  config.interlink_idle = mesh.interlink != topo::Presence::kBuilt;
  if (mesh.staging == topo::Presence::kBuilt)
    config.staging = mesh.staging_placement == topo::StagingPlacement::kPort
                         ? memory::StagingPlacement::kPort
                         : memory::StagingPlacement::kConverged;
  config.quirks = agent_quirks(mesh);
  config.reads_in_flight = mesh.agent ? mesh.agent->reads_in_flight : 1;
  config.dram_clock = dram.clock != 0;
  const topo::Impl impl = memory_impl(system_.machine_, mesh);
  if (impl != topo::Impl::kModel) {
    const std::string node = topo::node_id(system_.machine_, mesh, *mesh.node_at(mesh.ports.front()));
    const MemoryFactory factory = registry_.memory(impl, node, memory_node(system_.machine_, mesh)->module);
    out.memory_stand = factory(prefix(mesh) + "memory", config, *out.dram);
    out.memory_agent = out.memory_stand->model();
  } else {
    out.memory_agent =
        add(std::make_unique<memory::MemoryAgent>(prefix(mesh) + "memory", std::move(config), *out.dram));
    out.memory_unit = out.memory_agent;
  }
  if (dram.clock != 0) {
    const sim::ClockRatio& to_dram = system_.timeline_.clocks()[dram.clock].from_base;
    for (auto& unit : out.memory_stand != nullptr ? out.memory_stand->put_dram_on(to_dram)
                                                  : out.memory_agent->put_dram_on(to_dram))
      add(std::move(unit), "model", dram.clock);
  }
  build_agent(mesh, out);
}

// The interlinks: two one-way links between neighbours of the chain, each named for the mesh that drives it.
void SystemBuilder::join_meshes() {
  namespace il = arch::interlink;
  const auto beat_link = [&](const topo::Mesh& mesh, unsigned link) {
    auto wires = std::make_unique<memory::BeatLink>(fmt::format("{}link{}", prefix(mesh), link),
                                                    memory::kBeatWireBits);
    memory::BeatLink* raw = wires.get();
    system_.engine_.add(*raw);
    system_.links_.push_back(std::move(wires));
    return raw;
  };
  for (MeshSystem& low : system_.meshes_)
    for (MeshSystem& high : system_.meshes_) {
      const topo::Mesh &a = *low.description, &b = *high.description;
      if (a.interlink != topo::Presence::kBuilt || b.interlink != topo::Presence::kBuilt) continue;
      if (il::neighbour(a.id, 1) != b.id) continue;
      memory::BeatLink* up = beat_link(a, 1);
      memory::BeatLink* down = beat_link(b, 0);
      const auto bind = [](MeshSystem& mesh, unsigned link, memory::BeatLink* out, memory::BeatLink* in) {
        if (mesh.memory_stand != nullptr)
          mesh.memory_stand->bind_interlink(link, out, in);
        else
          mesh.memory_agent->bind_interlink(link, out, in);
      };
      bind(low, 1, up, down);
      bind(high, 0, down, up);
    }
}

void SystemBuilder::build_agent(const topo::Mesh& mesh, MeshSystem& out) {
  if (!mesh.agent) return;
  const std::string pre = prefix(mesh);
  std::vector<orchestrator::RegisterBus*> buses;
  const auto make_bus = [&](const std::string& name) {
    auto bus = std::make_unique<orchestrator::RegisterBus>(pre + name);
    system_.engine_.add(bus->beat);
    return bus;
  };
  out.host_bus = make_bus("agent.host_bus");
  sim::Unit& agent_unit = out.memory_stand != nullptr ? out.memory_stand->receiver() : *out.memory_agent;
  out.host_bus->beat.bind_receiver(agent_unit);
  buses.push_back(out.host_bus.get());
  if (system_.machine_.host.kind == topo::HostKind::kCommandEngine) {
    out.engine_slave_bus = make_bus("engine.host_bus");
    out.engine_master_bus = make_bus("agent.engine_bus");
    out.engine_master_bus->beat.bind_receiver(agent_unit);
    buses.push_back(out.engine_master_bus.get());
    build_engine(mesh, out);
  }
  orchestrator::ControlAgentParams params;
  params.position = mesh.ports.front();
  params.grid_lo = topo::kGridLo;
  params.grid_hi = std::max(mesh.hi.x, mesh.hi.y);
  params.staging_flits = mesh.agent->staging_flits;
  params.quirks = agent_quirks(mesh);
  memory::AuxWindow* aux = out.memory_stand != nullptr ? &out.memory_stand->window() : out.memory_agent;
  const topo::Impl impl = mesh.agent->impl;
  if (impl != topo::Impl::kRtl)
    out.control_agent = std::make_unique<orchestrator::ControlAgent>(params, buses, aux);
  memory::AgentClient* client = out.control_agent.get();
  if (impl != topo::Impl::kModel) {
    out.agent_twin = registry_.agent(impl, pre + "agent", mesh.agent->module)(
        {pre + "agent", params, buses, aux, out.control_agent.get()});
    client = out.agent_twin.get();
  }
  if (out.memory_stand != nullptr)
    out.memory_stand->set_client(*client);
  else
    out.memory_agent->set_client(client);
}

void SystemBuilder::build_engine(const topo::Mesh& mesh, MeshSystem& out) {
  const std::string name = prefix(mesh) + "engine";
  const topo::Impl impl = mesh.agent->engine_impl;
  if (impl == topo::Impl::kModel) {
    out.command_engine = add(std::make_unique<orchestrator::CommandEngine>(
        name, mesh.agent->commands, *out.engine_slave_bus, *out.engine_master_bus));
    out.engine_unit = out.command_engine;
    return;
  }
  CommandEngineUnit made = registry_.command_engine(impl, name, mesh.agent->engine_module)(
      {name, mesh.agent->commands, *out.engine_slave_bus, *out.engine_master_bus});
  out.command_engine = made.model;
  out.engine_unit = add(std::move(made.unit), topo::impl_name(impl));
}

void SystemBuilder::build_host() {
  const topo::Host& host = system_.machine_.host;
  if (host.kind == topo::HostKind::kNone) return;
  if (host.kind == topo::HostKind::kFirmware)
    throw arch::UserError::make("{}: host kind \"{}\" is not supported by this version",
                                system_.machine_.name, topo::host_kind_name(host.kind));
  std::vector<orchestrator::RegisterBus*> buses;
  for (MeshSystem& mesh : system_.meshes_) {
    if (mesh.host_bus == nullptr) continue;
    buses.push_back(mesh.host_bus.get());
    if (mesh.engine_slave_bus != nullptr) buses.push_back(mesh.engine_slave_bus.get());
  }
  if (buses.empty()) return;
  std::vector<memory::WindowBus*> windows;
  for (MeshSystem& mesh : system_.meshes_) {
    if (!mesh.has_memory()) continue;
    auto bus = std::make_unique<memory::WindowBus>(prefix(*mesh.description) + "memory.window");
    for (sim::LinkBase* link : {static_cast<sim::LinkBase*>(&bus->aw), static_cast<sim::LinkBase*>(&bus->ar),
                                static_cast<sim::LinkBase*>(&bus->w), static_cast<sim::LinkBase*>(&bus->r),
                                static_cast<sim::LinkBase*>(&bus->b)})
      system_.engine_.add(*link);
    if (mesh.memory_stand != nullptr)
      mesh.memory_stand->bind_window(*bus);
    else
      mesh.memory_agent->bind_window(*bus);
    windows.push_back(bus.get());
    mesh.window_bus = std::move(bus);
  }
  orchestrator::HostParams params;
  if (host.kind == topo::HostKind::kScript)
    params = {host.script.write_cycles, host.script.read_cycles, host.script.start_cycles};
  system_.host_ = add(std::make_unique<orchestrator::Host>("host", params, buses, &system_, windows));
}

}  // namespace ktpu::platform
