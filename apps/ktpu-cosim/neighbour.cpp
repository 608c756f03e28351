// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/neighbour.h"

#include <algorithm>
#include <array>

#include "arch/encoding/payloads.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

using arch::Flit;
using arch::FlitType;

Neighbour::Neighbour(unsigned number, const sim::FlitPort& port, const Conditions& conditions, bool memory,
                     std::function<void(const Transaction&)> tell)
    : Unit("neighbour"),
      number_(number),
      to_(*port.in),
      from_(*port.out),
      conditions_(conditions),
      memory_(memory),
      tell_(std::move(tell)) {
  to_.bind_sender(*this);
  from_.bind_receiver(*this);
}

// Windows of 32 cycles that are free, calm, average or dense, so that queues fill and run empty.
bool Neighbour::stalled(unsigned salt, sim::Cycle now) const {
  if (conditions_.stalls == 0) return false;
  const std::uint64_t seed = conditions_.seed * 64 + number_ * 4 + salt;
  constexpr std::array<unsigned, 4> kHalves{0, 1, 2, 5};
  const unsigned percent = conditions_.stalls * kHalves[sim::Random::nth(~seed, now / 32) % 4] / 2;
  return sim::Random::nth(seed, now) % 100 < std::min(percent, 97u);
}

void Neighbour::drive(sim::Cycle now) {
  from_.set_busy(stalled(0, now));
  if (holding_) {
    if (fresh_) to_.offer(held_);
    fresh_ = false;
  } else if (to_.valid()) {
    to_.withdraw();
  }
}

sim::Cycle Neighbour::clock(sim::Cycle now) {
  if (holding_ && to_.valid() && to_.sample_sent()) {
    tell_({now, number_, true, held_});
    holding_ = false;
  }
  if (from_.transfers()) take(now, from_.data());
  if (!holding_) choose(now + 1);
  return now + 1;
}

void Neighbour::choose(sim::Cycle now) {
  if (stalled(1, now)) return;
  const bool answer = !answers_.empty() && answers_.front().from <= now;
  const bool message = !messages_.empty() && (cursor_ != 0 || free_from_ + messages_.front().gap <= now);
  if (!answer && !message) return;
  holding_ = fresh_ = true;
  if (answer && (!message || sim::Random::nth(conditions_.seed, now) % 2 == 0)) {
    held_ = answers_.front().flit;
    answers_.pop_front();
    return;
  }
  held_ = messages_.front().flits[cursor_];
  if (++cursor_ == messages_.front().flits.size()) {
    messages_.pop_front();
    cursor_ = 0;
    free_from_ = now + 1;
  }
}

void Neighbour::take(sim::Cycle now, const Flit& flit) {
  tell_({now, number_, false, flit});
  if (!memory_) return;
  if (flit.type() == FlitType::kMemRdReq) read(now, flit);
  if (flit.type() == FlitType::kMemWrReq) write_ = flit;
  if (flit.type() == FlitType::kMemWrData && flit.last())
    answer(now, arch::make_flit(flit.src(), flit.dst(), FlitType::kMemWrAck, write_.txn(), true));
}

void Neighbour::answer(sim::Cycle now, const Flit& flit) {
  const sim::Cycle delay = 4 + sim::Random::nth(conditions_.seed + 7, now) % 40;
  answers_.push_back({now + delay, flit});
}

// memory.md sections 4.3 and 4.4.
void Neighbour::read(sim::Cycle now, const Flit& request) {
  const auto req = arch::unpack<arch::MemReq>(request);
  const bool entries = req.stream() || req.quant();
  const unsigned count = !entries ? 1 : req.stream() && req.count != 0 ? req.count : 1;
  const bool raw = !req.quant() && req.entry_words >= 1 && req.entry_words <= 4;
  const unsigned words = !entries ? req.len + 1 : raw ? req.entry_words : 4;
  for (unsigned e = 0; e < count; ++e)
    for (unsigned w = 0; w < words; ++w) {
      Flit flit = memory_word(conditions_.seed, req.addr + 32ull * (e * words + w));
      flit.w[4] = arch::make_header(request.src(), request.dst(), FlitType::kMemRdResp, request.txn() + e,
                                    w + 1 == words, entries ? w : 0);
      answer(now, flit);
    }
}

}  // namespace ktpu::cosim
