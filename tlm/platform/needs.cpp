// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "arch/error.h"
#include "arch/program/program.h"
#include "tlm/platform/runner.h"
#include "topologies/writer.h"

namespace ktpu::platform {

namespace {

void check_unit(const arch::UnitNeed& need, const topo::Machine& machine) {
  const topo::Mesh& mesh = machine.meshes[need.mesh];
  const std::string where = fmt::format("({},{})", need.at.x, need.at.y);
  const topo::Node* node = mesh.node_at(need.at);
  if (node == nullptr || topo::kind_name(node->kind()) != need.kind)
    throw arch::UserError::make("the program needs a {} at {}, but machine \"{}\" has {} there", need.kind,
                                where, machine.name,
                                node == nullptr ? "nothing" : topo::kind_name(node->kind()));
  const auto check = [&](std::string_view what, unsigned needed, unsigned has) {
    if (needed > has)
      throw arch::UserError::make("the program needs {} {} at {} {}, but machine \"{}\" has {}", what, needed,
                                  need.kind, where, machine.name, has);
  };
  if (const auto* c = node->get<topo::MatmulCluster>()) {
    check("tiles", need.tiles, c->tiles);
    check("l1_a", need.l1_a, c->l1_a);
    check("l1_b", need.l1_b, c->l1_b);
    check("inst_depth", need.inst_depth, c->inst_depth);
  } else if (const auto* v = node->get<topo::VectorCore>()) {
    check("inst_depth", need.inst_depth, v->inst_depth);
  }
}

}  // namespace

void check_needs(const arch::Program& program, const topo::Machine& machine) {
  const arch::MachineNeeds& needs = program.needs;
  if (needs.fingerprint != 0 && needs.fingerprint != topo::program_fingerprint(machine))
    throw arch::UserError::make(
        "the program was made for exactly the machine \"{}\" (fingerprint {:016x}), but machine \"{}\" is "
        "another one "
        "(fingerprint {:016x})",
        needs.machine, needs.fingerprint, machine.name, topo::program_fingerprint(machine));
  if (needs.meshes > machine.meshes.size())
    throw arch::UserError::make("the program needs {} meshes, but machine \"{}\" has {}", needs.meshes,
                                machine.name, machine.meshes.size());
  for (const topo::Mesh& mesh : machine.meshes)
    if (needs.staging_flits != 0 && (!mesh.agent || mesh.agent->staging_flits < needs.staging_flits))
      throw arch::UserError::make("the program needs {} staging flits, but machine \"{}\" has {}",
                                  needs.staging_flits, machine.name,
                                  mesh.agent ? mesh.agent->staging_flits : 0);
  for (const arch::UnitNeed& unit : needs.units) {
    if (unit.mesh >= machine.meshes.size())
      throw arch::UserError::make("the program needs mesh {}, but machine \"{}\" has {}", unit.mesh,
                                  machine.name, machine.meshes.size());
    check_unit(unit, machine);
  }
  for (const arch::MemoryNeed& need : needs.memory) {
    const topo::Mesh& mesh = machine.meshes.at(std::min<std::size_t>(need.mesh, machine.meshes.size() - 1));
    if (!mesh.dram)
      throw arch::UserError::make("the program needs memory, but machine \"{}\" has no DRAM", machine.name);
    const topo::Dram& d = *mesh.dram;
    const bool fits = d.wrap ? need.end - need.begin <= d.size_bytes
                             : need.begin >= d.base && need.end <= d.base + d.size_bytes;
    if (!fits)
      throw arch::UserError::make(
          "the program uses memory 0x{:x}..0x{:x}, but the DRAM of machine \"{}\" is 0x{:x}..0x{:x}",
          need.begin, need.end - 1, machine.name, d.base, d.base + d.size_bytes - 1);
  }
  for (const arch::Step& step : program.steps) {
    if (step.mesh >= machine.meshes.size())
      throw arch::UserError::make("a step is for mesh {}, but machine \"{}\" has {}", step.mesh, machine.name,
                                  machine.meshes.size());
    const topo::Mesh& mesh = machine.meshes[step.mesh];
    if (const auto* stage = std::get_if<arch::StepStage>(&step.action)) {
      const unsigned capacity = mesh.agent ? mesh.agent->staging_flits : 0;
      if (stage->base + stage->flits.size() > capacity)
        throw arch::UserError::make("the program stages flits in slots {}..{}, but machine \"{}\" has {}",
                                    stage->base, stage->base + stage->flits.size() - 1, machine.name,
                                    capacity);
    } else if (const auto* kick = std::get_if<arch::StepKick>(&step.action)) {
      const unsigned capacity = mesh.agent ? mesh.agent->staging_flits : 0;
      if (kick->base + kick->count > capacity)
        throw arch::UserError::make("the program kicks slots {}..{}, but machine \"{}\" has {}", kick->base,
                                    kick->base + kick->count - 1, machine.name, capacity);
    }
  }
}

}  // namespace ktpu::platform
