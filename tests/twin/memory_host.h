// SPDX-License-Identifier: Apache-2.0
// A host that uses the memory window at random: plain writes and reads, uploads, both kinds of address at
// once, pauses in its words, and answers that it takes late.
#pragma once

#include <deque>

#include "tests/support/random_bursts.h"
#include "tlm/sim/unit.h"

namespace ktpu::test {

class RandomHost final : public sim::Unit {
 public:
  RandomHost(memory::WindowBus& bus, std::uint64_t seed, unsigned bursts, bool staged, unsigned mesh)
      : Unit("host"), bus_(bus), random_(seed) {
    bus.aw.bind_sender(*this);
    bus.ar.bind_sender(*this);
    bus.w.bind_sender(*this);
    bus.r.bind_receiver(*this);
    bus.b.bind_receiver(*this);
    for (unsigned n = 0; n < bursts; ++n) {
      const RandomBurst burst = random_burst(random_, staged, mesh);
      (burst.write ? writes : reads).push_back(burst.address);
      if (burst.write) words += burst.address.beats;
    }
  }
  std::deque<memory::WindowAddress> writes, reads;
  std::uint64_t words = 0;  // to send
  std::uint64_t answers = 0, words_read = 0;
  bool done() const { return writes.empty() && reads.empty() && words == 0; }

  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {
    show(bus_.aw, writes, offer_aw_);
    show(bus_.ar, reads, offer_ar_);
    if (offer_w_)
      bus_.w.offer({word_, false});
    else
      bus_.w.withdraw();
    bus_.r.set_busy(r_busy_);
    bus_.b.set_busy(b_busy_);
  }
  sim::Cycle clock(sim::Cycle now) override {
    if (bus_.aw.valid() && bus_.aw.sample_sent()) writes.pop_front(), offer_aw_ = false;
    if (bus_.ar.valid() && bus_.ar.sample_sent()) reads.pop_front(), offer_ar_ = false;
    if (bus_.w.valid() && bus_.w.sample_sent()) --words, offer_w_ = false;
    answers += bus_.b.transfers();
    words_read += bus_.r.transfers();
    offer_aw_ |= !writes.empty() && random_.below(8) == 0;
    offer_ar_ |= !reads.empty() && random_.below(8) == 0;
    if (!offer_w_ && words != 0 && random_.below(3) != 0) {
      offer_w_ = true;
      for (std::uint64_t& part : word_) part = random_.next();
    }
    r_busy_ = random_.below(3) == 0;
    b_busy_ = random_.below(2) == 0;
    return now + 1;
  }

 private:
  static void show(sim::Link<memory::WindowAddress>& link, const std::deque<memory::WindowAddress>& bursts,
                   bool offers) {
    if (offers)
      link.offer(bursts.front());
    else
      link.withdraw();
  }
  memory::WindowBus& bus_;
  sim::Random random_;
  bool offer_aw_ = false, offer_ar_ = false, offer_w_ = false, r_busy_ = false, b_busy_ = false;
  memory::WindowWord word_{};
};

}  // namespace ktpu::test
