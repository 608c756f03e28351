// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/lockstep.h"

#include <algorithm>
#include <ostream>

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
    shadow->record(slot);
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

std::vector<std::size_t> Lockstep::history_slots() const {
  const std::size_t size = recorded_.size();
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(records_, size));
  std::vector<std::size_t> slots;
  for (std::size_t k = 0; k < count; ++k)
    slots.push_back(static_cast<std::size_t>((records_ - count + k) % size));
  return slots;
}

void Lockstep::print_history(std::ostream& out) const {
  const auto line = [](const Shadow::Wires& w) {
    return fmt::format("valid {} busy {} {}", int{w.valid}, int{w.busy}, w.data);
  };
  for (const std::size_t slot : history_slots()) {
    for (const auto& shadow : shadows_.all()) {
      const auto model = shadow->recorded(slot, false, Shadow::Form::kHex);
      const auto twin = shadow->recorded(slot, true, Shadow::Form::kHex);
      if (model == twin) {
        if (model != Shadow::Wires{})
          out << fmt::format("{:>10} {:<12} both  {}\n", recorded_[slot], shadow->port(), line(model));
        continue;
      }
      out << fmt::format("{:>10} {:<12} model {}\n", recorded_[slot], shadow->port(), line(model));
      out << fmt::format("{:>10} {:<12} twin  {}\n", "", "", line(twin));
    }
  }
}

void Lockstep::write_history_vcd(std::ostream& out) const {
  const auto& all = shadows_.all();
  // Identifiers: base 94 from '!'; three wires (valid, busy, data) a link and side.
  const auto id = [](std::size_t index) {
    std::string text;
    do {
      text += static_cast<char>('!' + index % 94);
      index /= 94;
    } while (index != 0);
    return text;
  };
  const auto index = [&](std::size_t link, bool twin) { return (link * 2 + (twin ? 1 : 0)) * 3; };
  const auto flat = [](std::string text) {
    std::replace(text.begin(), text.end(), '.', '_');
    return text;
  };
  out << "$timescale 1 ns $end\n$scope module " << flat(name()) << " $end\n";
  for (const bool twin : {false, true}) {
    out << "$scope module " << (twin ? "twin" : "model") << " $end\n";
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string port = flat(all[k]->port());
      out << "$var wire 1 " << id(index(k, twin)) << ' ' << port << "_valid $end\n"
          << "$var wire 1 " << id(index(k, twin) + 1) << ' ' << port << "_busy $end\n"
          << "$var wire " << all[k]->width() << ' ' << id(index(k, twin) + 2) << ' ' << port
          << "_data $end\n";
    }
    out << "$upscope $end\n";
  }
  out << "$upscope $end\n$enddefinitions $end\n";
  std::vector<Shadow::Wires> last(all.size() * 2);
  bool first = true;
  for (const std::size_t slot : history_slots()) {
    out << '#' << recorded_[slot] << '\n';
    for (std::size_t k = 0; k < all.size(); ++k) {
      for (const bool twin : {false, true}) {
        const auto now = all[k]->recorded(slot, twin, Shadow::Form::kBinary);
        Shadow::Wires& before = last[k * 2 + (twin ? 1 : 0)];
        if (first || now.valid != before.valid) out << int{now.valid} << id(index(k, twin)) << '\n';
        if (first || now.busy != before.busy) out << int{now.busy} << id(index(k, twin) + 1) << '\n';
        if (first || now.data != before.data)
          out << 'b' << (now.data.empty() ? "x" : now.data) << ' ' << id(index(k, twin) + 2) << '\n';
        before = now;
      }
    }
    first = false;
  }
}

}  // namespace ktpu::sim
