// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/window_host.h"

#include "arch/flit.h"

namespace ktpu::cosim {

WindowHost::WindowHost(const Setup& setup, memory::WindowBus& bus)
    : Unit("host"),
      bus_(bus),
      conditions_(setup.conditions),
      transfers_(setup.transfers),
      w_(setup.block.port("window.w")),
      r_(setup.block.port("window.r")),
      b_(setup.block.port("window.b")) {
  writes_.port = setup.block.port("window.aw");
  reads_.port = setup.block.port("window.ar");
  bus.aw.bind_sender(*this);
  bus.ar.bind_sender(*this);
  bus.w.bind_sender(*this);
  bus.r.bind_receiver(*this);
  bus.b.bind_receiver(*this);
}

void WindowHost::show(sim::Link<memory::WindowAddress>& link, const Side& side) {
  if (side.offers)
    link.offer(side.waiting.front()->burst->address);
  else
    link.withdraw();
}

void WindowHost::drive(sim::Cycle now) {
  show(bus_.aw, writes_);
  show(bus_.ar, reads_);
  if (offer_w_)
    bus_.w.offer(word_);
  else
    bus_.w.withdraw();
  bus_.r.set_busy(stalls(r_, now));
  bus_.b.set_busy(stalls(b_, now));
}

bool WindowHost::advance(sim::Cycle now, sim::Link<memory::WindowAddress>& link, Side& side) {
  if (link.valid() && link.sample_sent()) {
    const memory::WindowAddress address = link.data();
    transfers_.in(now, side.port,
                  [&] { return fmt::format("{} words at {:#x}", address.beats, address.addr); });
    side.waiting.pop_front();
    side.offers = false;
    side.free_from = now + 1;
  }
  if (side.offers || side.waiting.empty() || side.free_from + side.waiting.front()->gap > now + 1 ||
      stalls(side.port, now))
    return false;
  side.offers = true;
  return true;
}

sim::Cycle WindowHost::clock(sim::Cycle now) {
  // Words may come before, with or after their address; here they are ready with it.
  if (advance(now, bus_.aw, writes_)) data_.push_back(writes_.waiting.front()->burst->address);
  advance(now, bus_.ar, reads_);
  const auto word = [](const memory::WindowBeat& beat) { return fmt::format("{:#018x}...", beat.data[0]); };
  if (bus_.w.valid() && bus_.w.sample_sent()) {
    transfers_.in(now, w_, [&] { return word(word_); });
    offer_w_ = false;
  }
  if (bus_.r.transfers()) transfers_.out(now, r_, [&] { return word(bus_.r.data()); });
  if (bus_.b.transfers()) transfers_.out(now, b_, [] { return std::string("written"); });
  if (!offer_w_ && !data_.empty() && !stalls(w_, now)) {
    memory::WindowAddress& burst = data_.front();
    const arch::Flit data = memory_word(conditions_.seed + 1, burst.addr + 32ull * burst.beats);
    std::copy_n(data.w.begin(), word_.data.size(), word_.data.begin());
    offer_w_ = true;
    if (--burst.beats == 0) data_.pop_front();
  }
  return now + 1;
}

}  // namespace ktpu::cosim
