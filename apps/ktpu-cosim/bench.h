// SPDX-License-Identifier: Apache-2.0
// One block in lock-step between neighbours that send its stimulus, answer its memory requests late and
// refuse its flits at random.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "apps/ktpu-cosim/stimulus.h"
#include "apps/ktpu-cosim/transfers.h"
#include "arch/error.h"
#include "tlm/platform/registry.h"

namespace ktpu::cosim {

struct Conditions {
  std::uint64_t seed = 1;  // of stalls, delays and the contents of memory
  unsigned stalls = 0;     // percent of the cycles in which a neighbour refuses, and pauses; 0..95
  sim::Cycle cycles = 4000;
};

struct Outcome {
  sim::Cycle cycles = 0;
  std::uint64_t values = 0;  // wires and data words compared
  std::vector<PortCount> ports;
  std::string failure;  // empty: model and twin are equal
  arch::ExitStatus status = arch::ExitStatus::kOk;
  std::string history;            // of a failure: the last cycles of all ports
  std::vector<Transaction> last;  // of a failure that was watched: the last transfers, oldest first
  bool failed() const { return !failure.empty(); }
};

// What is kept for a report; it takes time.
struct Watch {
  bool transactions = false;
  std::ostream* waves = nullptr;  // where the last cycles of both sides go as VCD after a difference
};

// Runs `stimulus` to the end of the cycles or to the first difference. The same arguments give the same
// outcome. Throws UserError when `registry` has no lock-step implementation of the block.
Outcome run(const Block& block, const platform::Registry& registry, const Stimulus& stimulus,
            const Conditions& conditions, const Watch& watch = {});

// "  1234 mesh in  gemm gm=8 gn=8 nk=4 txn=0x40"
std::string text_of(const Block& block, const Transaction& transaction);
std::string text_of(const Block& block, const Message& message);

// Pair and neighbours of one kind of block.
class Bench {
 public:
  virtual ~Bench() = default;
  // Throws sim::LockstepError and rtl::RtlFailure.
  virtual void run(sim::Cycle cycles) = 0;
  virtual sim::Cycle now() const = 0;
  virtual std::uint64_t values() const = 0;  // compared
  // The last cycles of all wires; nothing where none are kept.
  virtual void print_history(std::ostream&) const {}
  virtual void write_waves(std::ostream&) const {}
};

// All that a bench is made of. What it names must outlive the bench.
struct Setup {
  const Block& block;
  const platform::Registry& registry;
  const Stimulus& stimulus;
  const Conditions& conditions;
  Transfers& transfers;
};
std::unique_ptr<Bench> flit_bench(const Setup& setup);  // routers and endpoints
std::unique_ptr<Bench> memory_bench(const Setup& setup);
std::unique_ptr<Bench> chain_bench(const Setup& setup);
std::unique_ptr<Bench> agent_bench(const Setup& setup);
std::unique_ptr<Bench> engine_bench(const Setup& setup);
std::unique_ptr<Bench> quantiser_bench(const Setup& setup);

}  // namespace ktpu::cosim
