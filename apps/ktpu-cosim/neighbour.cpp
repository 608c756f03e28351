// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/neighbour.h"

#include "arch/encoding/payloads.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

using arch::Flit;
using arch::FlitType;

Neighbour::Neighbour(unsigned number, const sim::FlitPort& port, const Setup& setup, bool memory,
                     arch::Dialect dialect)
    : Unit("neighbour"),
      number_(number),
      to_(*port.in),
      from_(*port.out),
      conditions_(setup.conditions),
      transfers_(setup.transfers),
      memory_(memory),
      dialect_(dialect),
      feed_(&Message::flits, conditions_.seed + number) {
  to_.bind_sender(*this);
  from_.bind_receiver(*this);
}

void Neighbour::drive(sim::Cycle now) {
  from_.set_busy(stalled(conditions_, 4 * number_, now));
  if (holding_) {
    if (fresh_) to_.offer(held_);
    fresh_ = false;
  } else if (to_.valid()) {
    to_.withdraw();
  }
}

sim::Cycle Neighbour::clock(sim::Cycle now) {
  if (holding_ && to_.valid() && to_.sample_sent()) {
    transfers_.in(now, number_, [&] { return arch::flit_to_text(held_, dialect_); });
    holding_ = false;
  }
  if (from_.transfers()) take(now, from_.data());
  if (!holding_) choose(now + 1);
  return now + 1;
}

void Neighbour::choose(sim::Cycle now) {
  if (stalled(conditions_, 4 * number_ + 1, now)) return;
  const bool answer = !answers_.empty() && answers_.front().from <= now;
  if (answer && (!feed_.ready(now) || sim::Random::nth(conditions_.seed, now) % 2 == 0)) {
    held_ = answers_.front().flit;
    answers_.pop_front();
  } else if (const auto flit = feed_.take(now)) {
    held_ = *flit;
  } else {
    return;
  }
  holding_ = fresh_ = true;
}

void Neighbour::take(sim::Cycle now, const Flit& flit) {
  transfers_.out(now, number_, [&] { return arch::flit_to_text(flit, dialect_); });
  if (loop_ && flit.dst() == *loop_ &&
      (flit.type() == FlitType::kMemWrReq || flit.type() == FlitType::kMemWrData))
    answers_.push_back({now + 3, flit});
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
