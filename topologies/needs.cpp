// SPDX-License-Identifier: Apache-2.0
#include "topologies/needs.h"

#include <span>

#include "arch/encoding/address_map.h"
#include "arch/error.h"
#include "arch/program/program.h"
#include "topologies/writer.h"

namespace ktpu::topo {

namespace {

// `text`, with the mesh where there are several.
std::string place(const Machine& machine, std::size_t mesh, const std::string& text) {
  return machine.meshes.size() == 1 ? text : fmt::format("{} of mesh {}", text, machine.meshes[mesh].id);
}

void check_mesh(std::size_t mesh, const Machine& machine, std::string_view what) {
  if (mesh >= machine.meshes.size())
    throw arch::UserError::make("{} is for mesh {}, but machine \"{}\" has {}", what, mesh, machine.name,
                                machine.meshes.size());
}

void check_unit(const arch::UnitNeed& need, const Machine& machine) {
  const Mesh& mesh = machine.meshes[need.mesh];
  const std::string where = place(machine, need.mesh, fmt::format("({},{})", need.at.x, need.at.y));
  const Node* node = mesh.node_at(need.at);
  if (node == nullptr || kind_name(node->kind()) != need.kind)
    throw arch::UserError::make("the program needs a {} at {}, but machine \"{}\" has {} there", need.kind,
                                where, machine.name, node == nullptr ? "nothing" : kind_name(node->kind()));
  const auto check = [&](std::string_view what, unsigned needed, unsigned has) {
    if (needed > has)
      throw arch::UserError::make("the program needs {} {} at {} {}, but machine \"{}\" has {}", what, needed,
                                  need.kind, where, machine.name, has);
  };
  if (const auto* c = node->get<MatmulCluster>()) {
    check("tiles", need.tiles, c->tiles);
    check("l1_a", need.l1_a, c->l1_a);
    check("l1_b", need.l1_b, c->l1_b);
    check("inst_depth", need.inst_depth, c->inst_depth);
  } else if (const auto* v = node->get<VectorCore>()) {
    check("inst_depth", need.inst_depth, v->inst_depth);
  }
}

}  // namespace

void check_needs(const arch::Program& program, const Machine& machine) {
  const arch::MachineNeeds& needs = program.needs;
  if (needs.fingerprint != 0 && needs.fingerprint != program_fingerprint(machine))
    throw arch::UserError::make(
        "the program was made for exactly the machine \"{}\" (fingerprint {:016x}), but machine \"{}\" is "
        "another one "
        "(fingerprint {:016x})",
        needs.machine, needs.fingerprint, machine.name, program_fingerprint(machine));
  if (needs.meshes > machine.meshes.size())
    throw arch::UserError::make("the program needs {} meshes, but machine \"{}\" has {}", needs.meshes,
                                machine.name, machine.meshes.size());
  for (const Mesh& mesh : std::span(machine.meshes).first(needs.meshes))
    if (needs.staging_flits != 0 && (!mesh.agent || mesh.agent->staging_flits < needs.staging_flits))
      throw arch::UserError::make("the program needs {} staging flits, but machine \"{}\" has {}",
                                  needs.staging_flits, machine.name,
                                  mesh.agent ? mesh.agent->staging_flits : 0);
  for (const arch::UnitNeed& unit : needs.units) {
    check_mesh(unit.mesh, machine, fmt::format("the {} that the program needs", unit.kind));
    check_unit(unit, machine);
  }
  for (const arch::MemoryNeed& need : needs.memory) {
    check_mesh(need.mesh, machine, "memory that the program uses");
    const Mesh& mesh = machine.meshes[need.mesh];
    if (!mesh.dram)
      throw arch::UserError::make("the program needs memory, but machine \"{}\" has no DRAM", machine.name);
    const Dram& d = *mesh.dram;
    // The DRAM sees address bits [35:0] only (memory.md section 3).
    const std::uint64_t begin = arch::address::local(need.begin), bytes = need.end - need.begin;
    const bool fits =
        d.wrap ? bytes <= d.size_bytes
               : begin >= d.base && bytes <= d.size_bytes && begin - d.base <= d.size_bytes - bytes;
    if (!fits)
      throw arch::UserError::make(
          "the program uses memory 0x{:x}..0x{:x}, but the DRAM of {} is 0x{:x}..0x{:x}", need.begin,
          need.end - 1, place(machine, need.mesh, fmt::format("machine \"{}\"", machine.name)), d.base,
          d.base + d.size_bytes - 1);
  }
  for (const auto& [mesh, image] : program.images) check_mesh(mesh, machine, "a memory image");
  for (const auto* tensors : {&program.inputs, &program.outputs})
    for (const arch::Tensor& tensor : *tensors)
      check_mesh(tensor.mesh, machine, fmt::format("tensor \"{}\"", tensor.name));
  for (const arch::Step& step : program.steps) {
    check_mesh(step.mesh, machine, fmt::format("a \"{}\" step", arch::step_name(step.action)));
    const Mesh& mesh = machine.meshes[step.mesh];
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

}  // namespace ktpu::topo
