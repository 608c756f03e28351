// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/encoding/cluster_inst.h"
#include "arch/formats/operand.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/cycle.h"

namespace ktpu::cluster {

// Accumulator commands with the machine's codes (cluster.md section 7).
enum class AccOp : std::uint8_t {
  kNop = 0,
  kLoad = 1,
  kAdd = 2,
  kAddPeer = 3,
  kSend = 4,
  kEmit = 5,
  kForward = 6,  // no command source
  kAddEmit = 7,
};

enum class BusyFlag : std::uint8_t { kSweep, kGemm, kDrain };

// Sees what happens inside a cluster in the cycle it happens. A tool attaches one; by default there is none.
// While one is attached the cluster does not sleep as long as anything is in flight.
class ClusterProbe {
 public:
  virtual ~ClusterProbe() = default;
  virtual void on_issue(sim::Cycle /*now*/, const arch::ClusterInst&) {}  // inst_ready pulse
  virtual void on_retire(sim::Cycle /*now*/, bool /*fault*/) {}           // exec_done pulse
  virtual void on_gemm_start(sim::Cycle /*now*/) {}                       // start pulse
  virtual void on_drain_start(sim::Cycle /*now*/, bool /*fused*/) {}      // start pulse
  // `now` is the first cycle with the new level.
  virtual void on_busy(sim::Cycle /*now*/, BusyFlag, bool /*level*/) {}
  // A command at the accumulator's port; `lost`: another command owned the port (section 9.4).
  virtual void on_command(sim::Cycle /*now*/, AccOp, unsigned /*tile*/, bool /*lost*/) {}
  virtual void on_l1_write(sim::Cycle /*enable*/, arch::Side, unsigned /*entry*/) {}
  virtual void on_push(sim::Cycle /*now*/) {}  // granule into the drain queue
  virtual void on_misuse(const noc::EndpointMisuse&) {}
  virtual void on_quirk(sim::Cycle /*now*/) {}  // C1
};

}  // namespace ktpu::cluster
