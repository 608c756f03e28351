// SPDX-License-Identifier: Apache-2.0
// A matmul cluster as a queue of instructions (cluster.md sections 11 to 13): one is held at a time; a sweep
// goes on behind its GEMM, emitted results behind the sweep.
#pragma once

#include <deque>

#include "arch/encoding/cluster_inst.h"
#include "compiler/cost/cluster_forms.h"
#include "compiler/cost/unit_clock.h"
#include "compiler/cost/wires.h"

namespace ktpu::cost {

class Cluster final : public Unit {
 public:
  Cluster(unsigned index, const UnitCost& cost, Ledger& ledger, Mesh& mesh);

  void instruction(Moment accepted, const arch::Flit& flit) override;
  void wake(Cycles now) override;
  void data(Moment accepted, unsigned entries) override;
  void burst(Moment accepted, const PeerBurst& burst) override;
  const UnitBooks& books() const override { return books_; }

 private:
  struct Held {
    Moment accepted;
    arch::ClusterInst inst;
    arch::Coord from;
    bool last = false;
  };
  Moment spend(Moment from, Cycles cycles, Cause cause) {
    return ledger_.after(from, clock_.fabric(cycles), cause);
  }
  // Goes on with the queue as far as it can in `now`.
  void proceed(Cycles now);
  Moment visible(const Held& held);
  void fill(const Held& held, Moment v);
  void fill_done(Moment accepted);
  bool gemm(const Held& held, Moment v, Cycles now);
  bool drain(const Held& held, Moment v, Cycles now);
  // True if a start may not be made in `now`; asks to be woken then.
  bool too_early(Moment start, Cycles now);
  void send(const DrainForm& form, const arch::ClusterInst& inst, Moment origin, Cause cause);
  void retire(Moment done);

  unsigned index_;
  const ClusterCost& cost_;
  UnitClock clock_;
  arch::Coord at_;
  Ledger& ledger_;
  Mesh& mesh_;
  std::deque<Held> queue_;
  bool filling_ = false;
  unsigned wanted_ = 0, received_ = 0;
  Moment began_;         // the held instruction became visible
  Moment done_;          // the one before was done
  bool behind_ = false;  // it was directly followed by this one
  Moment sweep_free_, gemm_free_, emitted_, peer_free_;
  UnitBooks books_;
};

}  // namespace ktpu::cost
