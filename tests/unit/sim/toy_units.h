// SPDX-License-Identifier: Apache-2.0
// Small units for tests of the engine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tlm/sim/engine.h"
#include "tlm/sim/link.h"

namespace ktpu::test {

// Notes every cycle in which it runs; decides by a function when to run next.
class Sleeper final : public sim::Unit {
 public:
  using Next = std::function<sim::Cycle(sim::Cycle)>;
  Sleeper(std::string name, Next next) : Unit(std::move(name)), next_(std::move(next)) {}
  void reset(sim::Cycle) override { ran.clear(); }
  void drive(sim::Cycle) override {}
  sim::Cycle clock(sim::Cycle now) override {
    ran.push_back(now);
    return next_(now);
  }
  using Unit::wake_next;
  std::vector<sim::Cycle> ran;

 private:
  Next next_;
};

// One register: what is taken in a cycle is offered from the next on.
class Stage final : public sim::Unit {
 public:
  Stage(std::string name, sim::FlitLink& in, sim::FlitLink& out) : Unit(std::move(name)), in_(in), out_(out) {
    in_.bind_receiver(*this, &in_valid_, 1);
    out_.bind_sender(*this);
  }
  void reset(sim::Cycle) override { full_ = false; }
  void drive(sim::Cycle) override {
    in_.set_busy(full_);
    if (full_)
      out_.offer(held_);
    else
      out_.withdraw();
  }
  sim::Cycle clock(sim::Cycle now) override {
    ++runs;
    const bool was_full = full_;
    if (full_ && out_.sample_sent()) full_ = false;
    if (in_valid_ != 0 && !in_.busy()) {
      held_ = in_.data();
      if (fault) fault(held_, now);
      full_ = true;
    }
    return full_ || was_full ? now + 1 : sim::kNever;
  }
  std::function<void(arch::Flit&, sim::Cycle)> fault;
  std::uint64_t runs = 0;

 private:
  sim::FlitLink& in_;
  sim::FlitLink& out_;
  std::uint32_t in_valid_ = 0;
  arch::Flit held_;
  bool full_ = false;
};

// Zero cycles both ways, like a staging adapter with nothing in it: Mealy.
class Wire final : public sim::Unit {
 public:
  Wire(std::string name, sim::FlitLink& in, sim::FlitLink& out, std::vector<std::string>* order = nullptr)
      : Unit(std::move(name)), in_(in), out_(out), order_(order) {
    in_.bind_receiver(*this);
    out_.bind_sender(*this);
  }
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle) override {
    if (order_ != nullptr) order_->push_back(name());
    bool changed = in_.valid() != out_.valid();
    if (in_.valid())
      out_.offer(in_.data());
    else
      out_.withdraw();
    changed |= in_.set_busy(out_.busy());
    return changed;
  }
  std::vector<const sim::LinkBase*> settle_reads() const override { return {&in_, &out_}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {&in_, &out_}; }
  sim::Cycle clock(sim::Cycle now) override {
    if (out_.valid()) out_.sample_sent();
    return in_.valid() ? now + 1 : sim::kNever;
  }

 private:
  sim::FlitLink& in_;
  sim::FlitLink& out_;
  std::vector<std::string>* order_;
};

// Forwards valid only, in one direction: chains of these have an order.
class ValidOnly final : public sim::Unit {
 public:
  ValidOnly(std::string name, sim::FlitLink& in, sim::FlitLink& out, std::vector<std::string>& order,
            bool invert)
      : Unit(std::move(name)), in_(in), out_(out), order_(order), invert_(invert) {}
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle) override {
    order_.push_back(name());
    const bool show = in_.valid() != invert_;
    const bool changed = show != out_.valid();
    if (show)
      out_.offer({});
    else
      out_.withdraw();
    return changed;
  }
  std::vector<const sim::LinkBase*> settle_reads() const override { return {&in_}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {&out_}; }
  sim::Cycle clock(sim::Cycle now) override { return now + 1; }

 private:
  sim::FlitLink& in_;
  sim::FlitLink& out_;
  std::vector<std::string>& order_;
  bool invert_;
};

// Two wires of one unit, each settled in its own place: `first` reads `a` and writes `b`, the unit itself
// reads `c` and writes `d`.
class TwoPlaces final : public sim::Unit {
 public:
  TwoPlaces(std::string name, sim::FlitLink& a, sim::FlitLink& b, sim::FlitLink& c, sim::FlitLink& d,
            std::vector<std::string>& order)
      : Unit(name), first_(name + ".first", a, b, order, false), second_(name, c, d, order, false) {}
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  std::vector<sim::Unit*> parts() const override { return {const_cast<ValidOnly*>(&first_)}; }
  bool parts_settle_apart() const override { return true; }
  bool is_mealy() const override { return true; }
  bool settle(sim::Cycle now) override { return second_.settle(now); }
  std::vector<const sim::LinkBase*> settle_reads() const override { return second_.settle_reads(); }
  std::vector<const sim::LinkBase*> settle_writes() const override { return second_.settle_writes(); }
  sim::Cycle clock(sim::Cycle now) override { return now + 1; }

 private:
  ValidOnly first_, second_;
};

}  // namespace ktpu::test
