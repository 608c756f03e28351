// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/lockstep.h"

#include <algorithm>

namespace ktpu::sim {

std::string Mismatch::text() const {
  return fmt::format("cycle {}: lock-step mismatch at {}, {}.{}: expected {} (model), got {} (twin)", cycle,
                     unit, port, difference.field, difference.expected, difference.got);
}

LockstepError::LockstepError(const Mismatch& mismatch)
    : UserError(mismatch.text(), arch::ExitStatus::kLockstepMismatch), mismatch_(mismatch) {}

Lockstep::Lockstep(std::string name, Shadows shadows, std::unique_ptr<Unit> model, std::unique_ptr<Unit> twin)
    : Unit(std::move(name)),
      shadows_(std::move(shadows)),
      model_(std::move(model)),
      twin_(std::move(twin)),
      recorded_(shadows_.history(), 0) {
  KTPU_CHECK(model_->is_mealy() == twin_->is_mealy(),
             "{}: only one of the two looks at inputs of the same cycle", this->name());
}

void Lockstep::reset(Cycle start) {
  for (const auto& shadow : shadows_.all()) shadow->lower();
  records_ = 0;
  model_->reset(start);
  twin_->reset(start);
}

void Lockstep::drive(Cycle now) {
  model_->drive(now);
  twin_->drive(now);
}

bool Lockstep::settle(Cycle now) {
  const bool changed = model_->settle(now);
  for (const auto& shadow : shadows_.all()) shadow->copy_inputs();
  twin_->settle(now);
  return changed;
}

Cycle Lockstep::clock(Cycle now) {
  for (const auto& shadow : shadows_.all()) shadow->copy_inputs();
  compare(now);
  model_next_ = model_->clock(now);
  twin_next_ = twin_->clock(now);
  return std::min(model_next_, twin_next_);
}

bool Lockstep::resting() const {
  return (model_next_ == kNever || (model_->free_running() && model_->resting())) &&
         (twin_next_ == kNever || (twin_->free_running() && twin_->resting()));
}

void Lockstep::compare(Cycle now) {
  const std::size_t slot = records_++ % recorded_.size();
  recorded_[slot] = now;
  bool same = true;
  for (const auto& shadow : shadows_.all()) {
    shadow->record(slot, now);
    same = shadow->same(compared_values_) && same;
  }
  ++compared_cycles_;
  if (same) return;
  for (const auto& shadow : shadows_.all()) {
    const auto difference = shadow->difference();
    if (!difference) continue;
    const Mismatch mismatch{name(), now, shadow->port(), *difference};
    if (hook_) hook_(*this, mismatch);
    throw LockstepError(mismatch);
  }
}

void Lockstep::require_compared() const {
  if (compared_values_ != 0) return;
  throw arch::UserError(
      fmt::format("{}: the lock-step run compared nothing: the unit ran in no cycle or has no attached port",
                  name()),
      arch::ExitStatus::kLockstepMismatch);
}

void Lockstep::visit(Archive& archive) {
  archive.unreachable("state of a lock-step pair");
  model_->visit(archive);
  archive.scope("lockstep", [&] {
    archive.counter("cycles", compared_cycles_, "cycles", "Cycles in which model and twin were compared");
    archive.counter("values", compared_values_, "values", "Output wires and flits compared");
  });
  archive.scope("twin", [&] { twin_->visit(archive); });
}

void Lockstep::sync(Cycle now) {
  model_->sync(now);
  twin_->sync(now);
}

}  // namespace ktpu::sim
