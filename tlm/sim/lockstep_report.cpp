// SPDX-License-Identifier: Apache-2.0
// What a lock-step pair tells of its last transfers and cycles after a mismatch.
#include <algorithm>
#include <ostream>

#include "tlm/sim/lockstep.h"

namespace ktpu::sim {

std::vector<std::size_t> Lockstep::history_slots() const {
  const std::size_t size = recorded_.size();
  const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(records_, size));
  std::vector<std::size_t> slots;
  for (std::size_t k = 0; k < count; ++k)
    slots.push_back(static_cast<std::size_t>((records_ - count + k) % size));
  return slots;
}

void Lockstep::print_transfers(std::ostream& out, const DialectAt& dialect) const {
  struct Line {
    const Shadow* shadow;
    Shadow::Transfer transfer;
  };
  std::vector<Line> lines;
  for (const auto& shadow : shadows_.all())
    for (Shadow::Transfer& transfer : shadow->transfers(dialect))
      lines.push_back({shadow.get(), std::move(transfer)});
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.transfer.cycle < b.transfer.cycle; });
  if (lines.size() > Shadow::kTransfers) lines.erase(lines.begin(), lines.end() - Shadow::kTransfers);
  for (const auto& [shadow, transfer] : lines) {
    const auto side = [](const std::string& text) { return text.empty() ? "nothing" : text; };
    if (transfer.same) {
      out << fmt::format("{:>10} {:<12} {}\n", transfer.cycle, shadow->port(), transfer.model);
      continue;
    }
    out << fmt::format("{:>10} {:<12} model: {}\n", transfer.cycle, shadow->port(), side(transfer.model));
    out << fmt::format("{:>10} {:<12} twin:  {}\n", "", "", side(transfer.twin));
  }
}

void Lockstep::print_history(std::ostream& out) const {
  const auto line = [](const Shadow::Wires& w) {
    return fmt::format("valid {} busy {} {}", int{w.valid}, int{w.busy}, w.data);
  };
  constexpr std::size_t kTableCycles = 32;
  std::vector<std::size_t> slots = history_slots();
  if (slots.size() > kTableCycles) slots.erase(slots.begin(), slots.end() - kTableCycles);
  for (const std::size_t slot : slots) {
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
