// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/system.h"

#include <algorithm>

#include "tlm/platform/system_builder.h"

namespace ktpu::platform {

sim::Unit* MeshSystem::endpoint_at(arch::Coord at) const {
  for (std::size_t i = 0; i < description->nodes.size(); ++i)
    if (description->nodes[i].at == at) return endpoints[i];
  return nullptr;
}

orchestrator::ProbedAgent* MeshSystem::agent() const {
  if (control_agent != nullptr) return control_agent.get();
  return dynamic_cast<orchestrator::ProbedAgent*>(agent_twin.get());
}

void MeshSystem::set_memory_probe(memory::MemoryProbe* probe) {
  if (memory_stand != nullptr)
    memory_stand->set_probe(probe);
  else
    memory_agent->set_probe(probe);
}

const memory::MisuseLog& MeshSystem::memory_misuse() const {
  return memory_stand != nullptr ? memory_stand->misuse() : memory_agent->misuse();
}

sim::Cycle MeshSystem::last_dram_handshake() const {
  if (memory_stand != nullptr) return memory_stand->last_dram_handshake();
  return memory_agent != nullptr ? memory_agent->last_dram_handshake() : sim::kNever;
}

System::System(topo::Machine machine, const Registry& registry, const DramFactory& dram)
    : machine_(std::move(machine)) {
  timeline_.add(machine_.clocks.front().name, machine_.clocks.front().hertz(), engine_);
  for (std::size_t c = 1; c < machine_.clocks.size(); ++c) {
    other_engines_.push_back(std::make_unique<sim::Engine>());
    timeline_.add(machine_.clocks[c].name, machine_.clocks[c].hertz(), *other_engines_.back());
  }
  sources_.resize(machine_.clocks.size());
  SystemBuilder(*this, registry, dram).build();
  for (const sim::Timeline::Clock& clock : timeline_.clocks()) clock.engine->elaborate();
}

System::~System() = default;

sim::Unit* System::unit(std::string_view name) const {
  const auto it =
      std::find_if(units_.begin(), units_.end(), [&](const auto& u) { return u->name() == name; });
  return it == units_.end() ? nullptr : it->get();
}

sim::LinkBase* System::link(std::string_view name) const {
  const auto it =
      std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l->name() == name; });
  return it == links_.end() ? nullptr : it->get();
}

std::string_view System::source_of(const sim::Unit& unit) const {
  for (std::size_t c = 0; c < sources_.size(); ++c)
    if (timeline_.clocks()[c].engine == unit.engine() && unit.index() < sources_[c].size())
      return sources_[c][unit.index()];
  return "model";
}

std::string System::rtl_alone() const {
  std::vector<std::pair<std::string, unsigned>> kinds;
  const auto count = [&](std::string name) {
    name = name.substr(0, name.find('@'));
    if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);
    const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == name; });
    if (it == kinds.end())
      kinds.emplace_back(name, 1);
    else
      ++it->second;
  };
  for (const sim::Timeline::Clock& clock : timeline_.clocks())
    for (const sim::Unit* unit : clock.engine->units())
      if (source_of(*unit) == "rtl") count(unit->name());
  for (const MeshSystem& mesh : meshes_)
    if (mesh.agent_twin != nullptr && mesh.control_agent == nullptr) count("agent");
  std::string text;
  for (const auto& [name, n] : kinds) {
    text += text.empty() ? "" : ", ";
    text += n == 1 ? name : fmt::format("{} {}", n, name);
  }
  return text;
}

sim::Cycle System::last_dram_handshake() const {
  sim::Cycle last = 0;
  for (const MeshSystem& mesh : meshes_)
    if (mesh.last_dram_handshake() != sim::kNever) last = std::max(last, mesh.last_dram_handshake());
  return last;
}

bool System::any_dram_handshake() const {
  return std::any_of(meshes_.begin(), meshes_.end(),
                     [](const MeshSystem& mesh) { return mesh.last_dram_handshake() != sim::kNever; });
}

std::uint64_t System::progress() const {
  std::uint64_t sum = any_dram_handshake() ? last_dram_handshake() : 0;
  for (sim::FlitLink* link : flit_links_) sum += link->transferred();
  for (const auto& unit : units_) sum += unit->progress();
  return sum;
}

bool System::drained() const { return timeline_.next_wanted() == sim::kNever; }

}  // namespace ktpu::platform
