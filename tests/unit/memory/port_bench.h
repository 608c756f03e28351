// SPDX-License-Identifier: Apache-2.0
// A memory port alone, with a trivial memory in place of the DRAM path: addresses are granted at once and
// read beats follow as fast as the port's skid takes them, from `delay` cycles after the grant on.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "tests/unit/memory/bench.h"
#include "tlm/memory/memory_port.h"

namespace ktpu::memory::test {

class PortBench {
 public:
  explicit PortBench(unsigned reads_in_flight = 1) : port(kPort, reads_in_flight, misuse) { port.reset(); }

  void send(Cycle at, const Flit& flit) { script_.push_back({at, flit}); }
  // Fixed cycles in which the beats of the read bursts cross the bus, in order; else as soon as possible.
  std::deque<Cycle> beat_cycles;
  Cycle delay = 0;
  std::function<bool(Cycle)> out_busy;

  void run(Cycle end) {
    for (; now_ < end; ++now_) step();
  }

  MisuseLog misuse;
  MemoryPort port;
  std::vector<Cycle> ar_valid, aw_valid, out_shown, skid_taken;  // first cycles
  std::vector<Seen> out;

 private:
  void step() {
    DramWires& w = port.wires();
    if (w.ar_valid) {
      ar_valid.push_back(now_);
      w.ar_granted = true;
    }
    if (w.aw_valid && !aw_before_) aw_valid.push_back(now_);
    aw_before_ = w.aw_valid;
    if (beats_ != 0 && ready_at_ <= now_ && w.r_ready &&
        (beat_cycles.empty() || beat_cycles.front() <= now_)) {
      if (!beat_cycles.empty()) beat_cycles.pop_front();
      w.r_valid = true;
      w.r_data = {value_, value_ + 1, value_ + 2, value_ + 3};
      value_ += 4;
      --beats_;
    }
    if (w.ar_granted) {
      beats_ += w.ar_beats;
      ready_at_ = now_ + 1 + delay;
    }
    if (const Flit* flit = port.out()) {
      if (!showing_) out_shown.push_back(now_);
      showing_ = true;
      taken_ = !(out_busy && out_busy(now_));
      if (taken_) {
        out.push_back({now_, *flit});
        showing_ = false;
      }
    } else {
      taken_ = false;
    }
    const Flit* in = nullptr;
    if (!script_.empty() && script_.front().cycle <= now_ && !port.busy()) in = &script_.front().flit;
    port.clock(now_, in, taken_);
    if (in != nullptr) script_.pop_front();
  }

  std::deque<Seen> script_;
  Cycle now_ = 0;
  Cycle ready_at_ = 0;
  std::uint64_t beats_ = 0, value_ = 0;
  bool aw_before_ = false, showing_ = false, taken_ = false;
};

}  // namespace ktpu::memory::test
