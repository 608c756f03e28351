// SPDX-License-Identifier: Apache-2.0
// Small schedules by hand: buffers one after the other, stages of instances that tests give their statements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/refusal.h"
#include "compiler/program/unit_program.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::schedule_to_program {

using base::Expr;
using base::LaneOp;
using base::Phase;
using schedule::Chain;
using schedule::Leaf;
using schedule::Policy;
using schedule::Statement;
using schedule::UnitType;

// What an action was refused with; an empty code: nothing.
struct Told {
  std::string code;
  Phase phase = Phase::kBind;
  bool cannot_fuse = false;
};
Told refused(const std::function<void()>& action);

class Maker {
 public:
  explicit Maker(Policy policy = Policy::kCompat) { schedule_.policy = policy; }

  schedule::BufferId buffer(std::uint64_t elements);
  schedule::Buffer& operator[](schedule::BufferId id) { return schedule_.buffers[id]; }
  schedule::Schedule& schedule() { return schedule_; }
  // The statements of each instance; keys count up from 0.
  void stage(UnitType unit, const std::vector<std::vector<Statement>>& instances);
  // A vector stage of one instance.
  void chains(const std::vector<Chain>& statements);
  program::Program lowered() const;
  Told told() const;

 private:
  schedule::Schedule schedule_;
  std::uint64_t next_ = 0x8010'0000;
};

Leaf memory(schedule::BufferId id, std::uint64_t at = 0);
Leaf constant(double value);
Leaf resident(std::uint32_t slot);
Leaf channel(schedule::BufferId id);

// result <- leaf 0 op leaf 1 op ..., or op leaf 0.
Chain chain(schedule::BufferId result, LaneOp op, const std::vector<Leaf>& leaves, std::uint64_t span,
            std::optional<base::RowShape> row = {});
schedule::Fill fill(schedule::BufferId buffer, std::uint32_t groups, std::uint32_t blocks);

// Of the first stage.
std::vector<program::ClusterStep> cluster_steps(const program::Program& program);
std::vector<program::VectorStep> vector_steps(const program::Program& program, std::size_t instance = 0);
std::size_t runs(const std::vector<program::VectorStep>& steps);

}  // namespace ktpu::schedule_to_program
