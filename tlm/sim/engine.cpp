// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/engine.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "arch/error.h"

namespace ktpu::sim {

void LinkBase::bind_sender(Unit& unit) {
  KTPU_CHECK(sender() == nullptr, "link {} has two senders: {} and {}", name(), sender()->name(),
             unit.name());
  cold_->sender = &unit;
}

void LinkBase::bind_receiver(Unit& unit, std::uint32_t* mask, std::uint32_t bit) {
  KTPU_CHECK(receiver() == nullptr, "link {} has two receivers: {} and {}", name(), receiver()->name(),
             unit.name());
  cold_->receiver = &unit;
  if (mask != nullptr) {
    receiver_mask_ = mask;
    receiver_bit_ = bit;
  }
}

void LinkBase::visit(Archive& archive) {
  bool valid = valid_;
  archive.kept("valid", valid);
  archive.kept("busy", busy_);
  archive.kept("transferred", transferred_);
  archive.kept("stalled_cycles", stalled_cycles_);
  if (!archive.restores()) return;
  if (valid)
    raise_asleep();
  else
    lower();
}

void Unit::wake_next() {
  if (engine_ != nullptr) engine_->next_[index_ / 64] |= 1ull << (index_ % 64);
}

void Engine::add(Unit& unit) {
  KTPU_CHECK(!elaborated_, "unit {} added after elaboration", unit.name());
  place(unit, units_.size());
  units_.push_back(&unit);
}

void Engine::place(Unit& unit, std::size_t index) {
  KTPU_CHECK(unit.engine_ == nullptr, "unit {} added twice", unit.name());
  unit.engine_ = this;
  unit.index_ = index;
  for (Unit* part : unit.parts()) place(*part, index);
}

// A unit may have let wires lapse that nobody looked at: all run in the next cycle.
void Engine::add(Observer& observer) {
  if constexpr (!kTracing) throw arch::UserError("waves are not built in: configure with -DKTPU_TRACING=ON");
  observers_.push_back(&observer);
  if (elaborated_) next_ = all_;
}

void Engine::remove(Observer& observer) { std::erase(observers_, &observer); }

void Engine::elaborate() {
  KTPU_CHECK(!elaborated_, "elaborated twice");
  elaborated_ = true;
  words_ = (units_.size() + 63) / 64;
  active_.assign(words_, 0);
  next_.assign(words_, 0);
  all_.assign(words_, 0);
  wheel_.assign(words_ * kWheel, 0);
  working_.assign(words_, 0);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    all_[i / 64] |= 1ull << (i % 64);
    if (!units_[i]->free_running()) working_[i / 64] |= 1ull << (i % 64);
  }
  for (LinkBase* link : links_) {
    if (link->receiver() == nullptr || link->receiver()->engine_ != this) continue;
    const std::size_t i = link->receiver()->index_;
    link->wake_word_ = &active_[i / 64];
    link->wake_bit_ = static_cast<std::uint8_t>(i % 64);
  }
  order_mealy();
  reset();
}

// Kahn's algorithm over "unit A writes a wire that unit B's settle() reads".
void Engine::order_mealy() {
  std::vector<Unit*> pending;
  for (Unit* unit : units_) {
    if (unit->is_mealy()) pending.push_back(unit);
    if (!unit->parts_settle_apart()) continue;
    for (Unit* part : unit->parts())
      if (part->is_mealy()) pending.push_back(part);
  }
  std::unordered_map<const LinkBase*, std::vector<const Unit*>> writers;
  for (Unit* unit : pending)
    for (const LinkBase* link : unit->settle_writes()) writers[link].push_back(unit);
  std::unordered_set<const Unit*> done;
  mealy_.clear();
  while (!pending.empty()) {
    const auto ready = std::find_if(pending.begin(), pending.end(), [&](Unit* unit) {
      for (const LinkBase* link : unit->settle_reads()) {
        const auto it = writers.find(link);
        if (it == writers.end()) continue;
        for (const Unit* writer : it->second)
          if (writer != unit && !done.contains(writer)) return false;
      }
      return true;
    });
    if (ready == pending.end()) {
      mealy_cyclic_ = true;
      mealy_.insert(mealy_.end(), pending.begin(), pending.end());
      break;
    }
    done.insert(*ready);
    mealy_.push_back(*ready);
    pending.erase(ready);
  }
  mealy_bits_ = 0;
  if (words_ != 1 || mealy_cyclic_) return;
  for (const Unit* unit : mealy_) mealy_bits_ |= 1ull << unit->index_;
  if (static_cast<std::size_t>(std::popcount(mealy_bits_)) != mealy_.size()) mealy_bits_ = 0;
}

void Engine::reset() {
  std::fill(wheel_.begin(), wheel_.end(), 0);
  wheel_used_ = 0;
  far_ = {};
  for (LinkBase* link : links_) {
    link->lower();
    link->busy_ = false;
  }
  for (Unit* unit : units_) unit->reset(now_);
  next_ = all_;
}

void Engine::wake_at(const Unit& unit, Cycle at) {
  const std::size_t word = unit.index_ / 64;
  const std::uint64_t bit = 1ull << (unit.index_ % 64);
  if (at <= now_) {
    next_[word] |= bit;
  } else if (at - now_ < kWheel) {
    const std::size_t row = at % kWheel;
    wheel_[row * words_ + word] |= bit;
    wheel_used_ |= 1ull << row;
  } else {
    far_.push({at, unit.index_});
  }
}

void Engine::merge_due() {
  const std::size_t row = now_ % kWheel;
  if ((wheel_used_ >> row) & 1) {
    for (std::size_t w = 0; w < words_; ++w) {
      next_[w] |= wheel_[row * words_ + w];
      wheel_[row * words_ + w] = 0;
    }
    wheel_used_ &= ~(1ull << row);
  }
  while (!far_.empty() && far_.top().at <= now_) {
    next_[far_.top().unit / 64] |= 1ull << (far_.top().unit % 64);
    far_.pop();
  }
}

void Engine::settle_all() {
  const auto awake = [this](const Unit* u) { return (active_[u->index_ / 64] >> (u->index_ % 64)) & 1; };
  if (!mealy_cyclic_) {
    if (words_ == 1) {  // most machines: this is run in every cycle
      const std::uint64_t* active = active_.data();
      // None or one, mostly: no order to keep, unless it wakes another one (a pacer its receiver).
      auto from = mealy_.begin();
      const std::uint64_t first = *active & mealy_bits_;
      if (mealy_bits_ != 0 && (first & (first - 1)) == 0) {
        if (first == 0) return;
        Unit* only = units_[static_cast<std::size_t>(std::countr_zero(first))];
        only->settle(now_);
        if ((*active & mealy_bits_) == first) return;
        from = std::find(from, mealy_.end(), only) + 1;
      }
      for (auto at = from; at != mealy_.end(); ++at)
        if ((*active >> (*at)->index_) & 1) (*at)->settle(now_);
      return;
    }
    for (Unit* unit : mealy_)
      if (awake(unit)) unit->settle(now_);
    return;
  }
  for (std::size_t round = 0; round < mealy_.size() + 1; ++round) {
    bool changed = false;
    for (Unit* unit : mealy_)
      if (awake(unit)) changed |= unit->settle(now_);
    if (!changed) return;
  }
  report_loop();
}

void Engine::report_loop() const {
  std::string names;
  for (Unit* unit : mealy_)
    if (unit->settle(now_)) names += (names.empty() ? "" : ", ") + unit->name();
  throw arch::UserError(
      fmt::format("cycle {}: combinational cycle: the wires of {} still change after {} settling rounds. Put "
                  "a registered "
                  "unit (a router or an adapter) between them.",
                  now_, names, mealy_.size() + 1));
}

// Out of line: the loop of a run that nobody watches pays for one comparison.
[[gnu::noinline, gnu::cold]] static void show_cycle(const std::vector<Observer*>& observers, Cycle now) {
  for (Observer* observer : observers) observer->on_cycle(now);
}

void Engine::step() {
  merge_due();
  // Copied, not swapped: links hold pointers into active_.
  for (std::size_t w = 0; w < words_; ++w) {
    active_[w] = idle_skip_ ? next_[w] : all_[w];
    next_[w] = 0;
  }
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t bits = active_[w]; bits != 0; bits &= bits - 1)
      units_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))]->drive(now_);
  if (!mealy_.empty()) settle_all();
  if constexpr (kTracing)
    if (observers_.data() != nullptr) [[unlikely]]  // there were some, at least: one comparison
      show_cycle(observers_, now_);
  const Cycle now = now_++;  // wake_at() during clock() counts from the next cycle
  ++cycles_run_;
  for (std::size_t w = 0; w < words_; ++w) {
    for (std::uint64_t bits = active_[w]; bits != 0; bits &= bits - 1) {
      Unit& unit = *units_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
      const Cycle next = unit.clock(now);
      if (next == now_) {
        next_[w] |= bits & -bits;
      } else if (next != kNever) {
        wake_at(unit, next);
      }
    }
    active_[w] = 0;
  }
}

Cycle Engine::next_event() const {
  if (!idle_skip_) return now_;
  for (const std::uint64_t word : next_)
    if (word != 0) return now_;
  return next_timer();
}

Cycle Engine::next_wanted() const {
  for (std::size_t w = 0; w < words_; ++w) {
    if ((next_[w] & working_[w]) != 0) return now_;
    for (std::uint64_t bits = next_[w]; bits != 0; bits &= bits - 1)
      if (!units_[w * 64 + static_cast<std::size_t>(std::countr_zero(bits))]->resting()) return now_;
  }
  return next_timer();
}

Cycle Engine::next_timer() const {
  Cycle first = far_.empty() ? kNever : far_.top().at;
  if (wheel_used_ != 0) {
    const std::uint64_t from_now = std::rotr(wheel_used_, static_cast<int>(now_ % kWheel));
    first = std::min(first, now_ + static_cast<Cycle>(std::countr_zero(from_now)));
  }
  return std::max(first, now_);
}

void Engine::skip_to(Cycle cycle) {
  KTPU_CHECK(cycle >= now_ && cycle <= next_event(), "skip from {} to {} over an event", now_, cycle);
  jump(cycle);
}

// `now` is the engine's clock, which those see who look at every cycle.
[[gnu::noinline, gnu::cold]] static void show_jump(const std::vector<Observer*>& observers, Cycle& now,
                                                   Cycle end) {
  const Cycle first = now;
  for (Observer* observer : observers) {
    if (observer->wants_skipped_cycles())
      for (; now < end; ++now) observer->on_cycle(now);
    else
      observer->on_skip(first, end);
    now = first;
  }
}

void Engine::jump(Cycle cycle) {
  if (cycle == now_) return;
  if constexpr (kTracing)
    if (observers_.data() != nullptr) [[unlikely]]
      show_jump(observers_, now_, cycle);
  now_ = cycle;
}

void Engine::run_until(Cycle end) {
  while (now_ < end) {
    const Cycle event = next_event();
    if (event >= end) {
      jump(end);
      return;
    }
    jump(event);
    step();
  }
}

void Engine::visit(Archive& archive) {
  archive.kept("now", now_);
  archive.kept("cycles_run", cycles_run_);
  archive.kept_memory("next", next_.data(), next_.size());
  archive.kept_memory("wheel", wheel_.data(), wheel_.size());
  archive.kept("wheel_used", wheel_used_);
  std::vector<Timer> far;  // earliest first
  for (auto rest = far_; !rest.empty(); rest.pop()) far.push_back(rest.top());
  archive.kept_list("far", far, [&](Timer& timer) {
    archive.kept("at", timer.at);
    archive.kept("unit", timer.unit);
  });
  if (!archive.restores()) return;
  far_ = {};
  for (const Timer& timer : far) {
    KTPU_CHECK(timer.unit < units_.size(), "wake-up of unit {} of {}", timer.unit, units_.size());
    far_.push(timer);
  }
  if (!observers_.empty()) next_ = all_;  // as after add(): wires may have lapsed that nobody looked at
}

void Engine::sync() {
  for (Unit* unit : units_) unit->sync(now_);
}

}  // namespace ktpu::sim
