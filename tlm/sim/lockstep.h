// SPDX-License-Identifier: Apache-2.0
// A unit that is two: a model on the machine's links and its twin (RTL) on shadow links fed the same inputs.
// Every output wire of every cycle is compared; the first difference ends the run with exit status 6.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "arch/error.h"
#include "tlm/sim/comparison.h"
#include "tlm/sim/lockstep_shadow.h"
#include "tlm/sim/unit.h"

namespace ktpu::sim {

struct Mismatch {
  std::string unit;
  Cycle cycle = 0;
  std::string port;  // "north.out"
  FieldDifference difference;
  std::string text() const;  // one line
};

class LockstepError : public arch::UserError {
 public:
  explicit LockstepError(const Mismatch& mismatch);
  const Mismatch& mismatch() const { return mismatch_; }

 private:
  Mismatch mismatch_;
};

class Lockstep final : public Unit, public Comparison {
 public:
  // Called once, before the LockstepError is thrown: the place to write the last cycles of waves.
  using OnMismatch = std::function<void(const Lockstep&, const Mismatch&)>;

  // `model` stands on the real links, `twin` on the links that `shadows` gave for them.
  Lockstep(std::string name, Shadows shadows, std::unique_ptr<Unit> model, std::unique_ptr<Unit> twin);

  void on_mismatch(OnMismatch hook) { hook_ = std::move(hook); }

  void reset(Cycle start) override;
  void drive(Cycle now) override;
  Cycle clock(Cycle now) override;  // throws LockstepError
  bool is_mealy() const override { return model_->is_mealy(); }
  bool settle(Cycle now) override;
  std::vector<const LinkBase*> settle_reads() const override { return model_->settle_reads(); }
  std::vector<const LinkBase*> settle_writes() const override { return model_->settle_writes(); }
  bool free_running() const override { return model_->free_running() || twin_->free_running(); }
  bool resting() const override;
  std::vector<Unit*> parts() const override { return {model_.get(), twin_.get()}; }
  void visit(Archive& archive) override;
  void sync(Cycle now) override;
  std::uint64_t progress() const override { return model_->progress(); }
  std::vector<Wait> waits(Cycle now) const override { return model_->waits(now); }

  Unit& model() { return *model_; }
  const Unit& model() const { return *model_; }
  Unit& twin() { return *twin_; }

  Cycle compared_cycles() const override { return compared_cycles_; }
  // Wires and data words compared: each output's valid or busy counts one, each valid flit one more.
  std::uint64_t compared_values() const override { return compared_values_; }
  // For the end of a run: throws UserError (exit status 6) if not a single output was compared, because such
  // a run proves nothing.
  void require_compared() const;

  // The last transfers over all ports, oldest first, one a line, in words.
  void print_transfers(std::ostream& out, const DialectAt& dialect) const;
  // The last cycles, oldest first, as a table (one line a cycle and port that was not idle; 32 at most) or as
  // VCD with the scopes <unit>.model and <unit>.twin, one time unit a cycle.
  void print_history(std::ostream& out) const;
  void write_history_vcd(std::ostream& out) const;

 private:
  void compare(Cycle now);
  std::vector<std::size_t> history_slots() const;  // oldest first

  Shadows shadows_;
  std::unique_ptr<Unit> model_;
  std::unique_ptr<Unit> twin_;
  OnMismatch hook_;
  std::vector<Cycle> recorded_;  // cycle of each history slot
  Cycle model_next_ = 0;         // what the units' last clock() answered
  Cycle twin_next_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t compared_cycles_ = 0;
  std::uint64_t compared_values_ = 0;
};

// `unit` as a T, which is what tells of a program; of a lock-step pair the model is asked. Null: it is none.
template <class T>
const T* model_as(const Unit* unit) {
  const auto* pair = dynamic_cast<const Lockstep*>(unit);
  return dynamic_cast<const T*>(pair != nullptr ? &pair->model() : unit);
}
template <class T>
T* model_as(Unit* unit) {
  return const_cast<T*>(model_as<T>(static_cast<const Unit*>(unit)));
}

}  // namespace ktpu::sim
