// SPDX-License-Identifier: Apache-2.0
// Where the cluster's cycles go. Nothing here changes what it does.
#include <algorithm>

#include "tlm/cluster/matmul_cluster.h"

namespace ktpu::cluster {

using sim::Cycle;

// The cycles below `end`, which are those since the last call; sweep_ has been advanced through end - 1, and
// the stall was the same all the time.
void MatmulCluster::account_sweep(Cycle end) {
  if (end <= sweep_accounted_) return;
  const auto add = [this](SweepCycle s, Cycle n) { sweep_cycles_[static_cast<std::size_t>(s)] += n; };
  const Cycle from = sweep_accounted_;
  sweep_accounted_ = end;
  const Cycle issues = sweep_.issued() - issues_accounted_;
  issues_accounted_ = sweep_.issued();
  Cycle running_end = from;  // first cycle in which everything is issued
  if (sweep_.running()) {
    running_end = end;
    if (stalled()) {
      add(SweepCycle::kStalled, end - from);
      return;
    }
  } else if (sweep_.ever_issued()) {
    running_end = std::max(from, sweep_.last_issue() + 1);
  }
  add(SweepCycle::kIssuing, issues);
  add(SweepCycle::kPacing, running_end - from - issues);
  const Cycle busy_end = std::clamp(gemm_end(), running_end, end);
  add(SweepCycle::kAccumulating, busy_end - running_end);
  add(SweepCycle::kIdle, end - busy_end);
}

SequencerCycle MatmulCluster::sequencer_state(Cycle t) const {
  switch (state_) {
    case State::kIdle:
      return SequencerCycle::kIdle;
    case State::kFill:
      return received_ == inst_.eff_n() ? SequencerCycle::kStep : SequencerCycle::kFill;
    case State::kGemmStart:
      if (peer_.peer_open() || (!params_.quirks && peer_.peer_stream())) return SequencerCycle::kPeer;
      if (inst_.emit && drain_busy()) return SequencerCycle::kBatch;
      return (wide() ? sweep_busy(t) : gemm_busy(t)) ? SequencerCycle::kSweep : SequencerCycle::kStep;
    case State::kDrainStart:
      if (peer_.peer_open()) return SequencerCycle::kPeer;
      return !inst_.fuse && gemm_busy(t) ? SequencerCycle::kSweep : SequencerCycle::kStep;
    case State::kDrainWait:
      if (drain_busy()) return SequencerCycle::kResults;
      return write_back_.idle() ? SequencerCycle::kStep : SequencerCycle::kSend;
    case State::kGemmPulse:
    case State::kGemmRetire:
    case State::kDrainPulse:
    case State::kDone:
      break;
  }
  return SequencerCycle::kStep;
}

DrainCycle MatmulCluster::drain_state() const {
  if (write_back_.sending()) return DrainCycle::kSending;
  return d_run_ || d_out_ != 0 || write_back_.queued() != 0 || !write_back_.idle() ? DrainCycle::kCollecting
                                                                                   : DrainCycle::kIdle;
}

ReceiveCycle MatmulCluster::receive_state() const {
  const arch::Flit* head = base_.recv_head();
  if (head == nullptr) return ReceiveCycle::kIdle;
  if (head->type() == arch::FlitType::kMemRdResp && state_ != State::kFill) return ReceiveCycle::kNoFill;
  if (head->type() == arch::FlitType::kCuData && !peer_.can_take()) return ReceiveCycle::kPeerHold;
  return ReceiveCycle::kIdle;
}

// What cycle `t` is from its registers alone; clock(t) knows better where it enters a state itself.
void MatmulCluster::enter_states(Cycle t) {
  sequencer_cycles_.enter(t, sequencer_state(t));
  drain_states_.enter(t, drain_state());
  receive_cycles_.enter(t, receive_state());
}

}  // namespace ktpu::cluster
