// SPDX-License-Identifier: Apache-2.0
// What passed over the ports of a block on the bench: counts, and the last of it in words.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tlm/sim/cycle.h"

namespace ktpu::cosim {

// One transfer over a port of the block.
struct Transaction {
  sim::Cycle cycle = 0;
  unsigned port = 0;
  bool into_block = false;
  std::string text;
};

struct PortCount {
  std::uint64_t in = 0, out = 0;  // transfers into the block, and out of it
};

class Transfers {
 public:
  // `last`: transfers kept in words; 0: they are only counted.
  Transfers(std::size_t ports, std::size_t last) : counts_(ports), limit_(last) {}

  // `text`: called only if it is kept.
  template <class Text>
  void in(sim::Cycle now, unsigned port, Text&& text) {
    ++counts_.at(port).in;
    if (limit_ != 0) keep({now, port, true, text()});
  }
  template <class Text>
  void out(sim::Cycle now, unsigned port, Text&& text) {
    ++counts_.at(port).out;
    if (limit_ != 0) keep({now, port, false, text()});
  }

  const std::vector<PortCount>& counts() const { return counts_; }
  const std::deque<Transaction>& last() const { return last_; }

 private:
  void keep(Transaction transaction) {
    last_.push_back(std::move(transaction));
    if (last_.size() > limit_) last_.pop_front();
  }

  std::vector<PortCount> counts_;
  std::size_t limit_;
  std::deque<Transaction> last_;
};

}  // namespace ktpu::cosim
