// SPDX-License-Identifier: Apache-2.0
// The converged path to DRAM with bare requesters: each presents its addresses in order and records grants,
// beats and responses.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "tests/unit/memory/bench.h"
#include "tlm/memory/dram_path.h"

namespace ktpu::memory::test {

class PathBench {
 public:
  explicit PathBench(unsigned bus_bits = 256, SimpleDramParams dram = {}, unsigned requesters = 4,
                     unsigned reads_in_flight = 1, bool staging = false)
      : device(memory, std::move(dram), bus_bits),
        path({requesters, reads_in_flight, 0, staging}, device, misuse),
        ends(requesters) {
    for (unsigned i = 0; i < requesters; ++i) path.attach(i, ends[i].wires);
    path.reset(0);
  }
  struct Request {
    Cycle from;  // presented as soon as the one before was granted, but not before this cycle
    std::uint64_t addr;
    unsigned beats;
  };
  struct End {
    DramWires wires;
    std::deque<Request> reads, writes;
    std::deque<std::array<std::uint64_t, 4>> data;  // of the writes granted
    std::uint64_t next_value = 1;
    std::vector<Cycle> ar_granted, aw_granted, taken, beats, responses;
    std::vector<std::uint64_t> values;
    std::function<bool(Cycle)> stalled;
  };
  void run(Cycle end) {
    for (; now < end; ++now) step();
  }
  // The same as a unit of an engine, for a DRAM with another clock: one cycle.
  void run_cycle(Cycle at) {
    now = at;
    step();
  }

  SparseMemory memory{{}};
  SimpleDram device;
  MisuseLog misuse;
  DramPath path;
  std::vector<End> ends;
  BusLog bus;
  Cycle now = 0;

 private:
  void step() {
    for (End& e : ends) {
      DramWires& w = e.wires;
      if (!w.ar_valid && !e.reads.empty() && e.reads.front().from <= now) {
        w.ar_valid = true;
        w.ar_addr = e.reads.front().addr;
        w.ar_beats = e.reads.front().beats;
        e.reads.pop_front();
      }
      if (!w.aw_valid && !e.writes.empty() && e.writes.front().from <= now) {
        w.aw_valid = true;
        w.aw_addr = e.writes.front().addr;
        w.aw_beats = e.writes.front().beats;
        for (unsigned i = 0; i < w.aw_beats; ++i) {
          e.data.push_back({e.next_value, 0, 0, 0});
          ++e.next_value;
        }
        e.writes.pop_front();
      }
      w.w_data = e.data.empty() ? nullptr : e.data.front().data();
      w.r_ready = !(e.stalled && e.stalled(now));
    }
    path.clock(now, &bus);
    for (End& e : ends) {
      DramWires& w = e.wires;
      if (w.ar_granted) e.ar_granted.push_back(now), w.ar_valid = false;
      if (w.aw_granted) e.aw_granted.push_back(now), w.aw_valid = false;
      if (w.w_taken) e.taken.push_back(now), e.data.pop_front();
      if (w.r_valid) e.beats.push_back(now), e.values.push_back(w.r_data[0]);
      if (w.b) e.responses.push_back(now);
      w.clear_events();
    }
  }
};

}  // namespace ktpu::memory::test
