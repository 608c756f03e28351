// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/schedule_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule_to_program/limits.h"
#include "compiler/schedule_to_program/lower.h"

namespace ktpu::schedule_to_program {

Told refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::CannotFuse& refusal) {
    return {refusal.code(), refusal.phase(), true};
  } catch (const base::Refusal& refusal) {
    return {refusal.code(), refusal.phase(), false};
  }
  return {};
}

schedule::BufferId Maker::buffer(std::uint64_t elements) {
  schedule::Buffer b;
  b.name = fmt::format("b{}", schedule_.buffers.size());
  b.nbytes = elements * 2;
  b.held = b.held_widest = elements;
  b.address = schedule::global_address(0, next_);
  next_ += ceil_div(b.nbytes, 2048) * 2048;
  schedule_.buffers.push_back(b);
  return static_cast<schedule::BufferId>(schedule_.buffers.size() - 1);
}

void Maker::stage(UnitType unit, const std::vector<std::vector<Statement>>& instances) {
  schedule::Stage stage;
  stage.unit = unit;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    schedule::Instance instance;
    instance.key = {static_cast<std::int32_t>(i)};
    instance.statements = instances[i];
    stage.instances.push_back(std::move(instance));
  }
  schedule_.stages.push_back(std::move(stage));
}

void Maker::chains(const std::vector<Chain>& statements) {
  stage(UnitType::kVector, {{statements.begin(), statements.end()}});
}

program::Program Maker::lowered() const { return lower(schedule_); }

Told Maker::told() const {
  return refused([&] { lowered(); });
}

Leaf memory(schedule::BufferId id, std::uint64_t at) {
  Leaf leaf;
  leaf.stretch = {id, at};
  leaf.asked_at = at;
  return leaf;
}
Leaf constant(double value) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kConstant;
  leaf.value = value;
  return leaf;
}
Leaf resident(std::uint32_t slot) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kResident;
  leaf.slot = slot;
  return leaf;
}
Leaf channel(schedule::BufferId id) {
  Leaf leaf;
  leaf.kind = Leaf::Kind::kChannel;
  leaf.stretch = {id, 0};
  return leaf;
}

Chain chain(schedule::BufferId result, LaneOp op, const std::vector<Leaf>& leaves, std::uint64_t span,
            std::optional<base::RowShape> row) {
  Chain c;
  c.result = {result, 0};
  c.leaves = leaves;
  c.span = c.asked_span = span;
  Expr::Id value = c.expr.leaf(0);
  if (base::info(op).arguments == 1) {
    value = c.expr.op(op, {value, 0, 0}, row);
  } else {
    for (std::uint32_t l = 1; l < c.leaves.size(); ++l)
      value = c.expr.op(op, {value, c.expr.leaf(l), 0}, row);
    if (c.leaves.size() == 1) value = c.expr.op(op, {value, value, 0}, row);
  }
  c.expr.set_root(value);
  return c;
}

schedule::Fill fill(schedule::BufferId buffer, std::uint32_t groups, std::uint32_t blocks) {
  schedule::Fill f;
  f.buffer = buffer;
  f.groups = groups;
  f.blocks = blocks;
  return f;
}

std::vector<program::ClusterStep> cluster_steps(const program::Program& program) {
  return std::get<std::vector<program::ClusterStep>>(program.stages.at(0).instances.at(0).steps);
}
std::vector<program::VectorStep> vector_steps(const program::Program& program, std::size_t instance) {
  return std::get<std::vector<program::VectorStep>>(program.stages.at(0).instances.at(instance).steps);
}
std::size_t runs(const std::vector<program::VectorStep>& steps) {
  return static_cast<std::size_t>(
      std::count_if(steps.begin(), steps.end(), [](const auto& s) { return s.is(arch::VectorOp::kRun); }));
}

}  // namespace ktpu::schedule_to_program
