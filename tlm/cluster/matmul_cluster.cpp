// SPDX-License-Identifier: Apache-2.0
#include "tlm/cluster/matmul_cluster.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/latencies.h"

namespace ktpu::cluster {

using arch::Flit;
using arch::FlitType;
using sim::Cycle;
using sim::kNever;

namespace {

// Cycles of cluster.md section 13.3, all counted from a sweep issue i or a command c.
constexpr Cycle kToCommand = arch::latency::kIssueToCommand.value;  // i -> command
constexpr Cycle kToEmitCount = 3;  // i -> last cycle before d_out counts an ADD_EMIT: manager's third stage
constexpr Cycle kEmitPush =
    arch::latency::kAcuEmit.value;  // c -> EMIT result or high SEND half into the queue
constexpr Cycle kSendPush = arch::latency::kAcuSend.value;  // c -> low SEND half
constexpr Cycle kCommandBusy = 12;                          // gemm_busy from c on (section 11)
constexpr Cycle kReuseMin = arch::latency::kReuseMin.value;
constexpr unsigned kDrainLimit = arch::latency::kDrainLimit.value;

unsigned checked_power(const std::string& unit, const char* what, unsigned value, unsigned max) {
  if (!std::has_single_bit(value) || value > max)
    throw arch::UserError::make("{}: {} is {}; it must be a power of two up to {}", unit, what, value, max);
  return value;
}

noc::EndpointParams endpoint(const ClusterParams& p) {
  noc::EndpointParams e;
  e.at = p.at;
  e.caps = arch::make_cu_caps(arch::UnitType::kMatmulCluster, 4, 2, p.inst_depth);  // fabric.md section 10.2
  e.inst_depth = p.inst_depth;
  e.recv_depth = p.recv_depth;
  e.drops_acks = true;
  return e;
}

}  // namespace

MatmulCluster::MatmulCluster(std::string name, const ClusterParams& params, sim::FlitPort links)
    : Unit(std::move(name)),
      params_(params),
      base_(endpoint(params), links, *this),
      data_(checked_power(Unit::name(), "tiles", params.tiles, 65536),
            checked_power(Unit::name(), "l1_a", params.l1_a, 512),
            checked_power(Unit::name(), "l1_b", params.l1_b, 512), params.acc_mw),
      write_back_(params.at, params.memory_port),
      peer_(params.at, {params.l1_a, params.l1_b, params.tiles, params.acc_mw}) {}

void MatmulCluster::reset(Cycle start) {
  if (start != 0) {
    sweep_.advance(start - 1, stalled());
    account_sweep(start);
  }
  issues_accounted_ = 0;
  base_.reset(start);
  data_.reset();
  sweep_.reset();
  write_back_.reset();
  peer_.reset();
  state_ = State::kIdle;
  entered_ = exec_done_ = exec_fault_ = request_valid_ = fault_ = false;
  inst_ = {};
  received_ = 0;
  done_count_ = 0;
  command_end_ = 0;
  emit_from_ = emits_seen_ = ~0u;
  emit_real_ = false;
  emit_count_.clear();
  emit_push_.clear();
  command_ = AccOp::kNop;
  push_base_ = push_tail_ = 0;
  d_out_ = d_left_ = d_tile_ = barrier_n_ = 0;
  d_run_ = d_send_ = d_gap_ = batch_ = barrier_ = false;
  batch_open_ = told_unloaded_ = told_hazard_ = false;
  for (bool& level : shown_) level = false;
  enter_states(start);
  accounted_ = start;
  compute_cycles_ = fill_cycles_ = drain_cycles_ = stall_cycles_ = fills_ = gemms_ = drains_ = unknown_ = 0;
  commands_ = sweep_commands_ = lost_commands_ = entries_ = discarded_ = c1_hits_ = 0;
}

Cycle MatmulCluster::DueMask::next(Cycle now) const {
  return now + 1 + static_cast<Cycle>(std::countr_zero(std::rotr(bits_, static_cast<int>((now + 1) % 64))));
}

// Section 11: sweep_busy through i+20, gemm_busy through i+31 and for 12 cycles from any single command.
Cycle MatmulCluster::sweep_end() const {
  return sweep_.ever_issued() ? sweep_.last_issue() + kToCommand + 1 : 0;
}
Cycle MatmulCluster::gemm_end() const {
  const Cycle end = sweep_.ever_issued() ? sweep_.last_issue() + kToCommand + kCommandBusy : 0;
  return std::max(end, command_end_);
}

bool MatmulCluster::stalled() const { return d_out_ >= kDrainLimit; }

// Adds the cycles below `end` to the counters. All levels but gemm_busy are constant between two clocks.
void MatmulCluster::account(Cycle end) {
  if (end <= accounted_) return;
  const Cycle cycles = end - accounted_;
  if (state_ == State::kFill) fill_cycles_ += cycles;
  if (drain_busy()) drain_cycles_ += cycles;
  if (sweep_.running()) {
    compute_cycles_ += cycles;
    if (stalled()) stall_cycles_ += cycles;
  } else if (gemm_end() > accounted_) {
    compute_cycles_ += std::min(end, gemm_end()) - accounted_;
  }
  accounted_ = end;
}

Cycle MatmulCluster::clock(Cycle now) {
  sweep_.advance(now, stalled());
  account(now);
  base_.begin(now, compute_cycles_ << 32 | (fill_cycles_ & 0xFFFFFFFF));
  account(now + 1);
  account_sweep(now + 1);
  sequencer_cycles_.enter(now, sequencer_state(now));

  // Registers of this cycle that are needed after something below has moved them on.
  const bool drain = drain_busy(), gemm = gemm_busy(now);
  const bool write_back_idle = write_back_.idle(), filling = state_ == State::kFill;
  const bool peer_can_take = peer_.can_take();
  const std::uint16_t taken = write_back_.taken();

  if (probe_ != nullptr) probe_cycle(now, drain);
  note_emits();
  run_command(now);
  push_results(now);
  const bool offered = write_back_.flit() != nullptr;
  const Sent sent = arbitrate();
  if (offered && !sent.write_back) drain_states_.enter(now, DrainCycle::kBlocked);
  const bool popped = write_back_.clock(now, drain, sent.write_back);
  unsigned counted = 0;
  const bool peer_issued = issue_command(now, drain, counted);
  if (emit_count_.take(now) && batch_) ++counted;
  d_out_ = static_cast<std::uint16_t>(d_out_ + counted - popped);
  if (barrier_ && taken >= barrier_n_) barrier_ = false;
  run_sequencer(now, drain, write_back_idle, taken);
  peer_.clock_flags(gemm, peer_issued, sent.ack);
  receive(now, filling, peer_can_take);
  collect_reports(now);
  const Cycle base_wake = base_.end(now);
  enter_states(now + 1);
  return wake(now, base_wake);
}

// Enters the issues that leave an emit behind into the list of things due. In the emitting part of a sweep
// the cluster runs in every cycle with an issue, so this is one at a time.
void MatmulCluster::note_emits() {
  if (sweep_.runs() > SweepSchedule::kRuns / 2) execute_through(accounted_ - 1 - kReuseMin);
  for (; emits_seen_ < sweep_.issued(); ++emits_seen_) {
    const Cycle issue = sweep_.cycle_of(emits_seen_);
    emit_count_.add(issue + kToEmitCount);
    if (emit_real_) emit_push_.add(issue + kToCommand + kEmitPush);
  }
}

// Runs the sweep's commands at the port in cycles up to `command_cycle`.
void MatmulCluster::execute_through(Cycle command_cycle, bool tracked) {
  if (command_cycle < kToCommand || data_.executed() >= sweep_.issued()) return;
  data_.execute(sweep_.issued_through(command_cycle - kToCommand), sweep_, tracked);
  sweep_.forget(data_.executed());
}

// The accumulator's command port (section 7).
void MatmulCluster::run_command(Cycle now) {
  const bool owned = command_ != AccOp::kNop || d_run_ || (!batch_ && d_out_ != 0);
  if (owned && data_.executed() < sweep_.issued()) lose_command(now);
  if (command_ == AccOp::kNop) return;
  // Sweep commands of the last cycles still have writes under way: keep what their tiles held before.
  if (now > kReuseMin) execute_through(now - kReuseMin);
  if (now > 0) execute_through(now - 1, true);
  const auto result = [&](Cycle due, const arch::Word256& word) {
    push_[push_tail_++ % kPushes] = {due, word};
  };
  switch (command_) {
    case AccOp::kEmit:
      result(now + kEmitPush, data_.emit(command_tile_, now));
      break;
    case AccOp::kSend: {
      const arch::PeerGranules granules = data_.send(command_tile_, now);
      result(now + kSendPush, granules[0]);
      result(now + kEmitPush, granules[1]);
      break;
    }
    default:
      data_.add_peer(command_tile_, command_value_, now);
  }
  ++commands_;
  if (probe_ != nullptr) probe_->on_command(now, command_, command_tile_ & (params_.tiles - 1), false);
  command_ = AccOp::kNop;
}

// A sweep command that comes to the port in this cycle is lost: the drain sequencer owns it.
void MatmulCluster::lose_command(Cycle now) {
  if (now <= kToCommand) return;
  const std::uint32_t end = sweep_.issued_through(now - kToCommand);
  if (end == 0 || sweep_.cycle_of(end - 1) + kToCommand != now) return;
  if (now > kReuseMin) execute_through(now - kReuseMin);  // no further: run_command() wants to track the rest
  data_.lose(end - 1);
  if (end - 1 >= emit_from_) emit_push_.take(now + kEmitPush);
  ++lost_commands_;
  if (probe_ != nullptr) probe_sweep_command(now, true);
}

// Results of the accumulator enter the drain queue.
void MatmulCluster::push_results(Cycle now) {
  if (emit_push_.take(now)) {
    execute_through(now - kEmitPush);
    KTPU_CHECK(data_.emitted() != 0, "no result to push");
    write_back_.push(now, data_.take_emitted());
    if (probe_ != nullptr) probe_->on_push(now);
  }
  if (push_base_ != push_tail_ && push_[push_base_ % kPushes].due == now) {
    write_back_.push(now, push_[push_base_++ % kPushes].word);
    if (probe_ != nullptr) probe_->on_push(now);
  }
}

// Section 10: data-received acknowledge, then FILL request, then write-back.
MatmulCluster::Sent MatmulCluster::arbitrate() {
  Sent sent;
  if (!base_.send_ready()) return sent;
  if (const Flit* ack = peer_.ack()) {
    base_.send(*ack);
    sent.ack = true;
  } else if (request_valid_) {
    base_.send(request_);
    request_valid_ = false;
    sent.request = true;
  } else if (const Flit* flit = write_back_.flit()) {
    base_.send(*flit);
    sent.write_back = true;
  }
  return sent;
}

// The register in front of the port: the explicit drain (section 9.1), else the pending peer sub-tile (9.4).
bool MatmulCluster::issue_command(Cycle now, bool drain, unsigned& counted) {
  bool peer_issued = false;
  if (d_run_) {
    if (d_gap_) {
      d_gap_ = false;
    } else if (d_out_ < kDrainLimit) {
      command_ = d_send_ ? AccOp::kSend : AccOp::kEmit;
      command_tile_ = d_tile_++;
      counted = d_send_ ? 2 : 1;
      d_gap_ = d_send_;
      if (--d_left_ == 0) d_run_ = false;
    }
  } else if (peer_.pending() && peer_.gate() && !drain) {
    command_ = AccOp::kAddPeer;
    command_tile_ = peer_.peer_tile();
    command_value_ = peer_.peer_value();
    peer_issued = true;
  }
  if (command_ != AccOp::kNop) command_end_ = now + 1 + kCommandBusy;
  return peer_issued;
}

// When the sweep (and the accumulator) will be free if nothing else happens.
Cycle MatmulCluster::when_free(bool gemm_too, Cycle now) const {
  const Cycle tail = kToCommand + (gemm_too ? kCommandBusy : 1);
  if (sweep_.running()) return stalled() ? kNever : sweep_.expected(sweep_.total() - 1) + tail;
  return std::max(now + 1, gemm_too ? gemm_end() : sweep_end());
}

// The next cycle in which anything can change without a new flit.
Cycle MatmulCluster::wake(Cycle now, Cycle base_wake) const {
  if (base_wake <= now + 1 || entered_ || exec_done_ || command_ != AccOp::kNop || d_run_ || request_valid_ ||
      peer_.ack() != nullptr || (barrier_ && write_back_.taken() >= barrier_n_))
    return now + 1;
  Cycle next = base_wake;
  const auto want = [&next](Cycle c) { next = std::min(next, c); };
  const bool drain = drain_busy(), open = peer_.peer_open();
  switch (state_) {
    case State::kIdle:
      break;
    case State::kFill:
      if (received_ == inst_.eff_n()) return now + 1;
      break;
    case State::kGemmStart:
      if (!open && (params_.quirks || !peer_.peer_stream()) && !(inst_.emit && drain))
        want(when_free(!wide(), now));
      break;
    case State::kDrainStart:
      if (!open) want(inst_.fuse ? now + 1 : when_free(true, now));
      break;
    case State::kDrainWait:
      if (!drain && write_back_.idle()) return now + 1;
      break;
    case State::kGemmPulse:
    case State::kGemmRetire:
    case State::kDrainPulse:
    case State::kDone:
      return now + 1;
  }
  if (emit_count_.any()) want(emit_count_.next(now));
  if (emit_push_.any()) want(emit_push_.next(now));
  if (push_base_ != push_tail_) want(push_[push_base_ % kPushes].due);
  if (sweep_.running() && emit_from_ != ~0u && !stalled())
    want(sweep_.expected(std::max(sweep_.issued(), emit_from_)));
  want(write_back_.wake(now, drain));
  if (peer_.pending() && peer_.gate() && !drain) return now + 1;
  if (peer_.unsettled(gemm_busy(now + 1))) return now + 1;
  if (open && !peer_.gate()) want(when_free(true, now));
  if (const Flit* head = base_.recv_head()) {
    const bool takes = head->type() == FlitType::kMemRdResp ? state_ == State::kFill
                       : head->type() == FlitType::kCuData  ? peer_.can_take()
                                                            : true;
    if (takes) want(base_.recv_from());
  }
  // A run may not end under a sweep: its last tile writes belong to it.
  if (gemm_busy(now + 1)) want(when_free(true, now));
  if (probe_ != nullptr && (drain || gemm_busy(now + 1) || shown_[0] || shown_[1] || shown_[2]))
    return now + 1;
  return std::max(next, now + 1);
}

void MatmulCluster::sync(Cycle now) {
  if (now == 0) return;
  sweep_.advance(now - 1, stalled());
  account(now);
  account_sweep(now);
  sequencer_cycles_.sync(now);
  drain_states_.sync(now);
  receive_cycles_.sync(now);
  base_.sync(now);
  // Tile writes happen at the end of c+6: those of commands up to now-7 are done.
  constexpr Cycle kWritten = arch::latency::kAcuWrite.value + 1;
  if (now >= kWritten) execute_through(now - kWritten);
  collect_reports(now);
}

bool MatmulCluster::idle(Cycle now) const {
  return state_ == State::kIdle && !entered_ && !exec_done_ && base_.idle() && write_back_.idle() &&
         write_back_.queued() == 0 && !drain_busy() && !gemm_busy(now) && !peer_.stream() &&
         !peer_.pending() && peer_.ack() == nullptr;
}

}  // namespace ktpu::cluster
