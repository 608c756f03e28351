// SPDX-License-Identifier: Apache-2.0
// The way of a staging adapter's own answers to its endpoint (fabric.md section 12, Read hit and Writes): the
// run of a read, the RAM with a latency of 2, and the 16-deep queue that read responses and write
// acknowledgements share.
//
//   t    t+1       t+2    t+3      t+4, t+5   t+5    t+8
//   read register  run    address  RAM        queue  offered
//   beat register = run of the acknowledge, so it is offered at t+7
#pragma once

#include <cstdint>
#include <vector>

#include "arch/flit.h"
#include "tlm/noc/adapter_window.h"
#include "tlm/noc/line_store.h"
#include "tlm/sim/fifo.h"

namespace ktpu::noc {

class WindowReader {
 public:
  static constexpr unsigned kOutstanding = 13;  // answers made and not taken by the endpoint
  static constexpr unsigned kQueue = 16;

  WindowReader() : queue_(sim::FifoShape::sync(kQueue)) {}

  void reset();

  // All of these tell of the registers of the present cycle.
  bool running() const { return words_left_ != 0; }
  bool room() const { return outstanding_ < kOutstanding; }
  bool readable(sim::Cycle now) const { return queue_.readable(now); }
  const arch::Flit& head() const { return queue_.head(); }
  bool quiet() const { return words_left_ == 0 && outstanding_ == 0; }
  std::uint32_t words_left() const { return words_left_; }
  std::uint32_t outstanding() const { return outstanding_; }

  // Within clock(now): advance(), with whether the endpoint took the head and the acknowledgement that leaves
  // the adapter's register in this cycle (needs room(); it goes before the run's next word); then start() for
  // the read that leaves it (needs !running()).
  void advance(sim::Cycle now, const LineStore& store, bool taken, const arch::Flit* acknowledge);
  void start(const arch::Flit& request, const WindowRun& run);

  void visit(sim::Archive& archive);

 private:
  struct Stage {
    arch::Flit flit;  // header, later the data
    std::uint32_t line = 0;
    bool read = false;
    bool valid = false;
    void visit(sim::Archive& archive, std::string_view name);
  };

  // The run: whom its responses go to and come from, and the next one.
  arch::Coord to_{}, from_{};
  std::uint32_t line_ = 0, words_left_ = 0, entry_words_ = 0, word_ = 0, txn_ = 0;
  Stage address_, ram_, data_;
  sim::Fifo<arch::Flit> queue_;
  std::uint32_t outstanding_ = 0;
  std::uint64_t words_read_ = 0;
};

}  // namespace ktpu::noc
