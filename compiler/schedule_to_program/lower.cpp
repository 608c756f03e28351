// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/lower.h"

#include <algorithm>

#include "arch/error.h"
#include "compiler/schedule_to_program/cluster.h"
#include "compiler/schedule_to_program/epilogue.h"
#include "compiler/schedule_to_program/runs.h"

namespace ktpu::schedule_to_program {
namespace {

bool resident(const schedule::Instance& instance) {
  for (const schedule::Statement& statement : instance.statements)
    if (const auto* chain = std::get_if<schedule::Chain>(&statement); chain != nullptr && chain->resident())
      return true;
  return false;
}

program::Relayout lower(const schedule::Schedule& schedule, const schedule::Relayout& relayout) {
  const schedule::Buffer& buffer = schedule.buffers.at(relayout.buffer);
  if (!buffer.address)
    throw arch::UserError::make("buffer '{}' has no address yet: allocate first", buffer.name);
  return {buffer.name,         buffer.address->value(), buffer.shape,
          relayout.from.key(), relayout.to.key(),       buffer.batch_stride};
}

// Whether each instance of a stage finds its cluster as the clusters' last stage left it: the same instances,
// dealt the same way, and none shares a cluster.
bool keeps_l1(const schedule::Schedule& schedule, std::size_t s) {
  const std::vector<schedule::Instance>& instances = schedule.stages[s].instances;
  if (instances.size() > schedule.resources.clusters) return false;
  while (s-- > 0) {
    const schedule::Stage& earlier = schedule.stages[s];
    if (earlier.unit != schedule::UnitType::kCluster) continue;
    return std::equal(instances.begin(), instances.end(), earlier.instances.begin(), earlier.instances.end(),
                      [](const auto& a, const auto& b) { return a.key == b.key; });
  }
  return false;
}

program::Stage lower(const schedule::Schedule& schedule, std::size_t s) {
  const schedule::Stage& stage = schedule.stages[s];
  program::Stage lowered;
  const bool cluster = stage.unit == schedule::UnitType::kCluster;
  lowered.unit = cluster ? program::UnitType::kCluster : program::UnitType::kVector;
  lowered.feeds_next = stage.feeds_next;
  lowered.waits = stage.waits;
  for (const schedule::Relayout& relayout : stage.before) lowered.before.push_back(lower(schedule, relayout));
  for (const schedule::Instance& instance : stage.instances) {
    program::Instance made;
    made.key = instance.key;
    if (cluster) {
      ClusterProgram program = cluster_program(schedule, instance, keeps_l1(schedule, s));
      made.steps = std::move(program.steps);
      made.acks = program.acks;
    } else {
      made.steps = vector_program(schedule, instance, stage.instances.front());
    }
    lowered.instances.push_back(std::move(made));
  }
  return lowered;
}

}  // namespace

void require_fusing(const schedule::Schedule& schedule) {
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const schedule::Stage& stage = schedule.stages[s];
    if (stage.feeds_next) require_pairing(schedule, s);
    for (const schedule::Instance& instance : stage.instances)
      if (resident(instance)) vector_program(schedule, instance, stage.instances.front());
  }
}

program::Program lower(const schedule::Schedule& schedule) {
  require_fusing(schedule);
  program::Program program;
  program.name = schedule.name;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) program.stages.push_back(lower(schedule, s));
  return program;
}

}  // namespace ktpu::schedule_to_program
