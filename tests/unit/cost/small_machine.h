// SPDX-License-Identifier: Apache-2.0
// A cluster on one router with a memory port, and programs of unknown instructions for it.
#pragma once

#include "arch/program/program.h"
#include "compiler/cost/machine.h"

namespace ktpu::cost {

inline CostMachine small_machine() {
  CostMachine machine;
  machine.name = "small";
  MeshCost mesh;
  mesh.ports.push_back({{0, 1}, {1, 1}});
  UnitCost unit;
  unit.at = unit.router = {1, 1};
  mesh.units.push_back(unit);
  machine.meshes.push_back(mesh);
  return machine;
}

// A round that kicks `flits` instructions of no effect at (1,1) and waits for them.
inline void add_round(arch::Program& program, const std::string& name, unsigned flits) {
  const auto add = [&](arch::Action action) { program.steps.push_back({0, std::move(action)}); };
  add(arch::StepRound{name});
  add(arch::StepBaseline{{{1, 1}}});
  arch::StepStage stage;
  for (unsigned i = 0; i < flits; ++i)
    stage.flits.push_back(arch::make_flit({}, {}, arch::FlitType::kCuInst, 0, i + 1 == flits));
  add(std::move(stage));
  add(arch::StepCredit{512});
  add(arch::StepKick{{1, 1}, 0, flits});
  add(arch::StepAwait{{1, 1}, flits});
}

}  // namespace ktpu::cost
