// SPDX-License-Identifier: Apache-2.0
// A vector core alone between an instruction source and a memory stub (vectors/vector/README.md,
// program.jsonl): a read is answered four cycles after its request was taken, writes are taken at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "apps/ktpu-check/logs.h"
#include "tlm/sim/engine.h"
#include "tlm/vector/vector_core.h"
#include "topologies/description.h"

namespace ktpu::check {

class VectorRig {
 public:
  // With the model.
  explicit VectorRig(vector::VectorParams params);
  // With what --impl says of recorded_node().
  VectorRig();
  ~VectorRig();

  static topo::Node recorded_node();  // of the recorded kernels
  static vector::VectorParams recorded_params();

  // Words of 256 bits by byte address / 32; absent ones read 0.
  std::map<std::uint64_t, vector::L1Word> memory;

  void write_imem(unsigned first, std::span<const std::uint32_t> words);
  void write_descriptor(unsigned descriptor, unsigned field, std::uint64_t value);
  // Any flit for the node, from cycle `from` on.
  void offer(Cycle from, const arch::Flit& flit);

  // Until nothing moves any more, or `limit` cycles more. Returns whether it came to rest. Of a pair in
  // lock-step, throws sim::LockstepError.
  bool settle(Cycle limit);

  struct Result {
    bool completed = false;
    unsigned code = 0;  // of the completion signal
    std::uint32_t arg = 0;
    Cycle accepted = 0;   // the RUN flit at the node's link
    Cycle signalled = 0;  // its completion on the outgoing link
  };
  // A RUN accepted when the node has been idle for 200 cycles.
  Result run(unsigned pc, Cycle limit = 1'000'000);

  vector::VectorCore& core();                  // the model, which must stand there
  const std::vector<FlitEvent>& sent() const;  // by the node
  Cycle now() const { return engine_.now(); }
  sim::Engine& engine() { return engine_; }

 private:
  class Neighbours;
  using MakeCore = std::function<std::unique_ptr<sim::Unit>(sim::FlitPort)>;
  VectorRig(const vector::VectorParams& params, const MakeCore& make);

  sim::FlitLink in_, out_;
  sim::Engine engine_;
  const vector::VectorParams params_;
  std::unique_ptr<sim::Unit> core_;
  std::unique_ptr<Neighbours> neighbours_;
};

}  // namespace ktpu::check
