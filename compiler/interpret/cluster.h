// SPDX-License-Identifier: Apache-2.0
// A matmul cluster, one instruction after the other, each finished before the next (cluster.md section 5).
// Programs that section 15 calls illegal end in a UserError that says why.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "arch/encoding/cluster_inst.h"
#include "compiler/interpret/accumulator.h"
#include "compiler/interpret/machine.h"
#include "compiler/interpret/wires.h"

namespace ktpu::interpret {

class Cluster {
 public:
  Cluster(const UnitFacts& facts, Rounding rounding, Counters& counters);

  // False: a shared FILL waits for its leader, nothing happened.
  bool execute(const arch::ClusterInst& inst, Wires& wires);
  // Entries another cluster's FILL asked for.
  void share(const SharedEntry& entry) { shared_.push_back(entry); }
  void receive(const Stream& stream, Wires& wires);
  std::uint32_t retired() const { return retired_; }

 private:
  struct L1 {
    std::vector<arch::OperandEntry> entries;
    std::vector<bool> written;
  };
  // L1 entries of one bank that a sweep reads: [begin, end), bank included.
  struct Range {
    unsigned begin = 0, end = 0;
  };
  // A sweep that emits, until its fused DRAIN.
  struct Emission {
    arch::ClusterInst gemm;
    unsigned tiles = 0;
  };

  bool fill(const arch::ClusterInst& inst, Wires& wires);
  void gemm(const arch::ClusterInst& inst, Wires& wires);
  void drain(const arch::ClusterInst& inst, Wires& wires);
  void put(unsigned side, unsigned entry, const SharedEntry& from);
  void check_sweep(unsigned side, unsigned begin, unsigned end, const char* who) const;
  void gather(unsigned side, unsigned bank, unsigned offset, unsigned count,
              std::vector<const arch::OperandEntry*>& list, Wires& wires);
  // Sends granules to where `inst` says, in bursts of 8 (section 9.2).
  void write_back(const arch::ClusterInst& inst, std::span<const Word256> granules, Wires& wires);
  bool leads(const arch::ClusterInst& inst) const;

  UnitFacts facts_;
  Counters& counters_;
  Accumulator accumulator_;
  std::array<L1, 2> l1_;
  std::array<Range, 2> swept_{};  // by the last GEMM; empty after a DRAIN
  std::deque<SharedEntry> shared_;
  std::optional<Emission> emission_;
  std::uint32_t retired_ = 0;
  std::vector<const arch::OperandEntry*> a_, b_;  // scratch
  std::vector<Word256> granules_;                 // scratch
};

}  // namespace ktpu::interpret
