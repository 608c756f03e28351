// SPDX-License-Identifier: Apache-2.0
// One block in lock-step between neighbours that send its stimulus, answer its memory requests late and
// refuse its flits at random.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "apps/ktpu-cosim/stimulus.h"
#include "arch/error.h"

namespace ktpu::cosim {

struct Conditions {
  std::uint64_t seed = 1;  // of stalls, delays and the contents of memory
  unsigned stalls = 0;     // percent of the cycles in which a neighbour refuses, and pauses; 0..95
  sim::Cycle cycles = 4000;
};

// One transfer over a port of the block.
struct Transaction {
  sim::Cycle cycle = 0;
  unsigned port = 0;
  bool into_block = false;
  arch::Flit flit;
};

struct PortCount {
  std::uint64_t in = 0, out = 0;  // flits taken by the block, and from it
};

struct Outcome {
  sim::Cycle cycles = 0;
  std::uint64_t values = 0;  // wires and flits compared
  std::vector<PortCount> ports;
  std::string failure;  // empty: model and twin are equal
  arch::ExitStatus status = arch::ExitStatus::kOk;
  std::string history;            // of a failure: the last cycles of all ports
  std::vector<Transaction> last;  // of a failure: the last transfers, oldest first
  bool failed() const { return !failure.empty(); }
};

// Runs `stimulus` to the end of the cycles or to the first difference. The same arguments give the same
// outcome. `waves`: where the last cycles of both sides go as VCD after a difference; null: nowhere.
Outcome run(const Block& block, const platform::Registry& registry, const Stimulus& stimulus,
            const Conditions& conditions, std::ostream* waves = nullptr);

// "  1234 mesh in  gemm gm=8 gn=8 nk=4 txn=0x40"
std::string text_of(const Block& block, const Transaction& transaction);
std::string text_of(const Block& block, const Message& message);

}  // namespace ktpu::cosim
