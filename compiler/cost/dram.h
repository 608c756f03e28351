// SPDX-License-Identifier: Apache-2.0
// The DRAM and the path to it, as servers: a burst starts when it is asked for and the device is free.
// Bursts must be asked for in order of time.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compiler/cost/ledger.h"
#include "compiler/cost/machine.h"

namespace ktpu::cost {

struct DramBooks {
  Cycles read_bursts = 0, write_bursts = 0;
  Cycles read_busy = 0, write_busy = 0;  // address accepted to the next address possible, fabric cycles
  std::uint64_t read_words = 0, written_words = 0;
};

class Dram {
 public:
  Dram(const DramCost& cost, const PathCost& path, Ledger& ledger);

  // Address of a read valid at the port in `a`: the moment its last word is taken by the port.
  Moment read(Moment a, std::uint64_t addr, unsigned words);
  // Address of a write valid at the port in `a`: the moment the response is back at the port.
  Moment write(Moment a, std::uint64_t addr, unsigned words);

  // The same for requests that may come in one cycle: noted by `requester` (below kRequesters, one of each
  // kind at a time) and granted in turns once all of the cycle are there (memory.md section 7.3).
  static constexpr unsigned kRequesters = 8;
  struct Burst {
    Moment address;
    std::uint64_t addr = 0;
    unsigned words = 0;
  };
  void ask(unsigned requester, bool write, const Burst& burst) {
    (write ? writes_ : reads_).asked[requester] = burst;
  }
  // Calls `done(requester, write, moment)` for each.
  template <typename Done>
  void grant(Done done) {
    for (const bool is_write : {false, true}) {
      Turn& turn = is_write ? writes_ : reads_;
      const unsigned first = turn.next;
      for (unsigned i = 0; i < kRequesters; ++i) {
        const unsigned requester = (first + i) % kRequesters;
        if (!turn.asked[requester]) continue;
        const Burst burst = *turn.asked[requester];
        turn.asked[requester].reset();
        turn.next = (requester + 1) % kRequesters;
        done(requester, is_write,
             is_write ? write(burst.address, burst.addr, burst.words)
                      : read(burst.address, burst.addr, burst.words));
      }
    }
  }

  Moment last_write_beat() const { return last_write_beat_; }
  Moment last_handshake() const { return last_handshake_; }
  bool wrote() const { return books_.write_bursts != 0; }
  const DramBooks& books() const { return books_; }

 private:
  struct Turn {
    std::array<std::optional<Burst>, kRequesters> asked;
    unsigned next = 0;
  };
  struct Bank {
    std::uint64_t row = 0;
    Cycles free = 0;
    bool open = false;
  };
  // DRAM cycles in fabric cycles.
  Cycles scaled(Cycles cycles) const;
  Cycles gaps(const std::vector<Cycles>& list, Cycles beats) const;
  Cycles beats(std::uint64_t addr, unsigned words) const;
  // Cycles from address to first beat, the bank's state moved on.
  Cycles bank_latency(std::uint64_t addr, Cycles from, Cycles beats);
  // Time the shared data bus is done with a burst that could begin in `from`.
  Cycles bus(Cycles from, Cycles beats);

  const DramCost& cost_;
  const PathCost& path_;
  Ledger& ledger_;
  Cycles words_per_beat_;
  Cycles there_, back_;  // clock crossings
  std::vector<Bank> banks_;
  Turn reads_, writes_;
  Moment read_free_, write_free_;
  Cycles return_free_ = 0;  // the read return carries one word a cycle
  double bus_free_ = 0;
  Moment last_write_beat_;
  Moment last_handshake_;
  DramBooks books_;
};

}  // namespace ktpu::cost
