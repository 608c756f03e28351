// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/dram.h"

#include <algorithm>
#include <cmath>

#include "arch/encoding/address_map.h"

namespace ktpu::cost {

Dram::Dram(const DramCost& cost, const PathCost& path, Ledger& ledger)
    : cost_(cost),
      path_(path),
      ledger_(ledger),
      words_per_beat_(cost.bus_bits / arch::kPayloadBits),
      there_(path.crossing.cycles(1, cost.fabric_per_cycle)),
      back_(path.crossing.cycles(cost.fabric_per_cycle, 1)) {
  banks_.resize(cost.banks);
}

Cycles Dram::scaled(Cycles cycles) const {
  return cost_.fabric_per_cycle == 1 ? cycles
                                     : std::llround(static_cast<double>(cycles) * cost_.fabric_per_cycle);
}

Cycles Dram::gaps(const std::vector<Cycles>& list, Cycles beats) const {
  Cycles sum = 0;
  if (!list.empty())
    for (Cycles k = 0; k + 1 < beats; ++k) sum += list[static_cast<std::size_t>(k) % list.size()];
  return sum;
}

// memory.md section 7.3, packing: the first word may lie inside a beat.
Cycles Dram::beats(std::uint64_t addr, unsigned words) const {
  const auto phase = static_cast<Cycles>(addr / arch::kWordBytes) % words_per_beat_;
  return (static_cast<Cycles>(words) + phase + words_per_beat_ - 1) / words_per_beat_;
}

Cycles Dram::bank_latency(std::uint64_t addr, Cycles from, Cycles beats) {
  const std::uint64_t row = arch::address::local(addr) / cost_.row_bytes;
  Bank& bank = banks_[row % banks_.size()];
  Cycles column = std::max(from, bank.free);
  if (!bank.open)
    column += scaled(cost_.row_closed - cost_.row_hit);
  else if (bank.row != row)
    column += scaled(cost_.row_conflict - cost_.row_hit);
  bank.open = true;
  bank.row = row;
  const double bytes = static_cast<double>(beats) * cost_.bus_bits / 8;
  bank.free = column + std::max<Cycles>(1, scaled(static_cast<Cycles>(bytes / cost_.bytes_per_cycle)));
  return column + scaled(cost_.row_hit) - from;
}

Cycles Dram::bus(Cycles from, Cycles beats) {
  const double beat =
      std::max(1.0, static_cast<double>(cost_.bus_bits) / 8 / cost_.bytes_per_cycle) * cost_.fabric_per_cycle;
  bus_free_ = std::max(bus_free_, static_cast<double>(from)) + beat * static_cast<double>(beats);
  return static_cast<Cycles>(std::ceil(bus_free_)) - 1;
}

Moment Dram::read(Moment a, std::uint64_t addr, unsigned words) {
  const Cycles n = beats(addr, words);
  const Moment asked = ledger_.after(a, path_.grant + there_, Cause::kPort);
  const Moment accepted = cost_.in_flight == 1 ? latest(asked, read_free_) : asked;
  const Cycles latency = banks_.empty() ? scaled(cost_.first_read_beat) : bank_latency(addr, accepted.t, n);
  const Cycles first = accepted.t + latency;
  const Cycles done = banks_.empty()
                          ? accepted.t + scaled(cost_.first_read_beat + n - 1 + gaps(cost_.read_gaps, n))
                          : bus(first, n);
  const Moment last = ledger_.after(accepted, done - accepted.t, Cause::kDram);
  read_free_ = ledger_.after(last, scaled(1), Cause::kDram);
  // A word a cycle comes back, the words of the last beat not before it.
  const Cycles come = std::max(first + back_, return_free_) + words - 1;
  const Cycles behind = last.t + back_ + std::min<Cycles>(words, words_per_beat_) - 1;
  const Cycles back = std::max(come, behind);
  return_free_ = back + 1;
  last_handshake_ = latest(last_handshake_, last);
  ++books_.read_bursts;
  books_.read_words += words;
  books_.read_busy += read_free_.t - accepted.t;
  return ledger_.after(last, back + path_.port_skid - last.t, Cause::kPort);
}

Moment Dram::write(Moment a, std::uint64_t addr, unsigned words) {
  const Cycles n = beats(addr, words);
  const Moment asked = ledger_.after(a, path_.grant + there_, Cause::kPort);
  const Moment accepted = cost_.in_flight == 1 ? latest(asked, write_free_) : asked;
  const Moment sent = ledger_.after(a, path_.write_data + there_ + words - 1, Cause::kPort);
  Cycles taken = accepted.t + scaled(cost_.first_write_beat + n - 1 + gaps(cost_.write_gaps, n));
  if (!banks_.empty()) taken = bus(std::max(accepted.t, sent.t - (n - 1)), n);
  const Moment last = latest(sent, ledger_.after(accepted, taken - accepted.t, Cause::kDram));
  // A bank works once the last beat is there; the response waits for it.
  Cycles answer = scaled(cost_.write_response);
  if (!banks_.empty()) answer = std::max(answer, bank_latency(addr, last.t, n));
  const Moment response = ledger_.after(last, answer, Cause::kDram);
  write_free_ = ledger_.after(response, scaled(1), Cause::kDram);
  last_write_beat_ = latest(last_write_beat_, last);
  last_handshake_ = latest(last_handshake_, response);
  ++books_.write_bursts;
  books_.written_words += words;
  books_.write_busy += write_free_.t - accepted.t;
  return ledger_.after(response, back_ + path_.write_response, Cause::kPort);
}

}  // namespace ktpu::cost
