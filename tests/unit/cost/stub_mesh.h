// SPDX-License-Identifier: Apache-2.0
// A mesh that writes down what a unit sends, and wakes it when it wants to be.
#pragma once

#include <map>
#include <vector>

#include "compiler/cost/wires.h"

namespace ktpu::cost {

class StubMesh final : public Mesh {
 public:
  struct Sent {
    Message message;
    Cycles t = 0;
  };
  struct Write {
    std::uint64_t addr = 0;
    unsigned words = 0;
    Cycles last_flit = 0;
    bool operator==(const Write&) const = default;
  };
  std::vector<Sent> requests;
  std::vector<Write> writes;
  std::vector<Cycles> signals;
  std::vector<std::pair<PeerBurst, Cycles>> bursts;

  void request(unsigned, Message message, Moment out) override { requests.push_back({message, out.t}); }
  void write(unsigned, std::uint64_t addr, unsigned words, Moment last_out) override {
    writes.push_back({addr, words, last_out.t});
  }
  void signal(unsigned, Message::Signal, arch::Coord, Moment out) override { signals.push_back(out.t); }
  void peer(unsigned, const PeerBurst& burst, Moment last_out) override {
    bursts.emplace_back(burst, last_out.t);
  }
  void wake(unsigned, Cycles t) override { wakes_.emplace(t, 0); }
  // Wakes the unit until it asks no more.
  void run(Unit& unit) {
    while (!wakes_.empty()) {
      const Cycles t = wakes_.begin()->first;
      wakes_.erase(wakes_.begin());
      unit.wake(t);
    }
  }

 private:
  std::multimap<Cycles, int> wakes_;
};

}  // namespace ktpu::cost
