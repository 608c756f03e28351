// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog cluster in the socket of cluster::MatmulCluster: same parameters, same ports, same
// cycles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "arch/flit.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

class Vktpu_cluster;

namespace ktpu::rtl {

template <class V>
class Twin;

// What the twin needs of cluster::ClusterParams; the meanings are there. One Verilated module serves all.
struct ClusterShape {
  arch::Coord at, memory_port;
  unsigned tiles = 4096, l1_a = 512, l1_b = 512, acc_mw = 14, inst_depth = 512, recv_depth = 512;
  bool quirks = true;
};

// What happens inside in one cycle; the meanings are those of cluster::ClusterProbe, codes of commands too
// (0: none).
struct ClusterEvents {
  bool issue, retire, fault, gemm_start, drain_start;
  bool sweep_busy, gemm_busy, drain_busy;  // levels
  bool push, l1_write;
  unsigned command, lost;  // at the accumulator's port; of the sweep, when it loses the port
  unsigned tile;           // of `command`
};
using ClusterObserver = std::function<void(sim::Cycle now, const ClusterEvents&)>;

template <class V>
class ClusterTwinOf final : public sim::Unit {
 public:
  // `params`: a cluster::ClusterParams (taken by shape, so that this folder does not depend on the models).
  // Throws UserError for a size the RTL is not built for.
  template <class Params>
  ClusterTwinOf(std::string name, const Params& params, sim::FlitPort links)
      : ClusterTwinOf(std::move(name),
                      ClusterShape{params.at, params.memory_port, params.tiles, params.l1_a, params.l1_b,
                                   params.acc_mw, params.inst_depth, params.recv_depth, params.quirks},
                      links) {}
  ClusterTwinOf(std::string name, const ClusterShape& shape, sim::FlitPort links);
  ~ClusterTwinOf() override;

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  bool is_mealy() const override { return true; }  // the acknowledge bypass
  bool settle(sim::Cycle now) override;
  std::vector<const sim::LinkBase*> settle_reads() const override { return {links_.in}; }
  std::vector<const sim::LinkBase*> settle_writes() const override { return {links_.in}; }
  // Its counters run in every cycle, so the twin never sleeps.
  bool free_running() const override { return true; }
  // Nothing will happen without an input, and nothing happened in the last cycle: levels that fell were seen.
  bool resting() const override;
  void visit(sim::Archive& archive) override;
  // Cycles with a command at the accumulator or an instruction retired.
  std::uint64_t progress() const override { return progress_; }
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  // Called in every cycle; empty: nobody.
  void observe(ClusterObserver observer) { observer_ = std::move(observer); }

  // Waves of the inside of the RTL (rtl_models/twin.h).
  void open_waves(const std::string& path);

 private:
  void pins_in();
  void count(const ClusterEvents& events);

  ClusterShape shape_;
  ClusterObserver observer_;
  std::uint64_t progress_ = 0;
  // What the events tell, counted as the model does.
  std::uint64_t retired_ = 0, compute_cycles_ = 0, drain_cycles_ = 0, sweep_commands_ = 0, lost_commands_ = 0,
                entries_ = 0;
  bool was_quiet_ = false;  // in the cycle before
  sim::FlitPort links_;
  std::unique_ptr<Twin<V>> twin_;
};

using ClusterTwin = ClusterTwinOf<Vktpu_cluster>;
extern template class ClusterTwinOf<Vktpu_cluster>;

}  // namespace ktpu::rtl
