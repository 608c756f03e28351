// SPDX-License-Identifier: Apache-2.0
#include "tlm/cluster/matmul_cluster.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/latencies.h"
#include "arch/encoding/payloads.h"

namespace ktpu::cluster {

using arch::ClusterOp;
using arch::Flit;
using arch::FlitType;
using arch::Side;
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

constexpr std::uint32_t period_of(const SweepJob& job) {  // section 8
  if (job.nk <= 1 || job.tiles() >= 5) return 1;
  return job.tiles() == 1 ? 5 : job.tiles() == 2 ? 3 : 2;
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

  // Registers of this cycle that are needed after something below has moved them on.
  const bool drain = drain_busy(), gemm = gemm_busy(now);
  const bool write_back_idle = write_back_.idle(), filling = state_ == State::kFill;
  const bool peer_can_take = peer_.can_take();
  const std::uint16_t taken = write_back_.taken();

  if (probe_ != nullptr) probe_cycle(now, drain);
  note_emits();
  run_command(now);
  push_results(now);
  const Sent sent = arbitrate();
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
  return wake(now, base_.end(now));
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

void MatmulCluster::run_sequencer(Cycle now, bool drain, bool write_back_idle, std::uint16_t taken) {
  if (exec_done_) {
    base_.exec_done(done_count_, exec_fault_);
    exec_done_ = false;
    if (probe_ != nullptr) probe_->on_retire(now, exec_fault_);
  }
  const bool entered = entered_;
  entered_ = false;
  if (entered) {
    base_.accept_inst();
    check_program(now);
    if (probe_ != nullptr) probe_->on_issue(now, inst_);
  }
  switch (state_) {
    case State::kIdle:
      if (base_.inst_valid()) decode(now);
      break;
    case State::kFill:
      if (entered && leads()) {
        request_ = fill_request();
        request_valid_ = true;
      }
      if (received_ == inst_.eff_n()) state_ = State::kDone;
      break;
    case State::kGemmStart:
      if (inst_.emit) write_back_.capture(inst_);
      if (gemm_may_start(now, drain)) state_ = State::kGemmPulse;
      break;
    case State::kGemmPulse:
      start_gemm(now);
      state_ = State::kGemmRetire;
      break;
    case State::kGemmRetire:
      state_ = State::kDone;
      break;
    case State::kDrainStart:
      write_back_.capture(inst_);
      if (!peer_.peer_open() && (inst_.fuse || !gemm_busy(now))) state_ = State::kDrainPulse;
      break;
    case State::kDrainPulse:
      start_drain(now, taken);
      state_ = State::kDrainWait;
      break;
    case State::kDrainWait:
      if (!drain && write_back_idle) state_ = State::kDone;
      break;
    case State::kDone:
      exec_done_ = true;
      exec_fault_ = fault_;
      fault_ = false;
      if (inst_.is(ClusterOp::kFill))
        ++fills_;
      else if (inst_.is(ClusterOp::kGemm))
        ++gemms_;
      else if (inst_.is(ClusterOp::kDrain))
        ++drains_;
      else
        ++unknown_;
      done_count_ = static_cast<std::uint16_t>(fills_ + gemms_ + drains_);
      state_ = State::kIdle;
      break;
  }
}

void MatmulCluster::decode(Cycle /*now*/) {
  inst_ = arch::unpack<arch::ClusterInst>(base_.inst());
  entered_ = true;
  received_ = 0;
  switch (static_cast<ClusterOp>(inst_.op)) {
    case ClusterOp::kFill:
      state_ = State::kFill;
      break;
    case ClusterOp::kGemm:
      state_ = State::kGemmStart;
      break;
    case ClusterOp::kDrain:
      state_ = State::kDrainStart;
      break;
    default:
      state_ = State::kDone;
  }
}

// Section 5.1: the lowest node id asks for all.
bool MatmulCluster::leads() const {
  for (unsigned i = 0; i < inst_.npeer; ++i)
    if (params_.at.node_byte() >= inst_.peer(i)) return false;
  return true;
}

Flit MatmulCluster::fill_request() const {
  arch::MemReq request;
  request.addr = inst_.addr;
  request.len = 3;
  request.flags =
      arch::kMemFlagStream | (inst_.sel ? arch::kMemFlagBLayout : 0) | (inst_.preq ? 0 : arch::kMemFlagQuant);
  request.count = inst_.n & 255;
  request.peer0 = inst_.peer0;
  request.peer1 = inst_.peer1;
  request.peer2 = inst_.peer2;
  request.n_peer = inst_.npeer;
  return arch::make_flit(
      arch::make_header(params_.memory_port, params_.at, FlitType::kMemRdReq, inst_.eoff, true), request);
}

// Section 5.2. With C1 closed the cycle between a descriptor and peer_open counts as open.
bool MatmulCluster::gemm_may_start(Cycle now, bool drain) const {
  if (wide() ? sweep_busy(now) : gemm_busy(now)) return false;
  if (inst_.emit && drain) return false;
  return !peer_.peer_open() && (params_.quirks || !peer_.peer_stream());
}

void MatmulCluster::start_gemm(Cycle now) {
  data_.execute(sweep_.issued(), sweep_);
  collect_reports(now);
  told_unloaded_ = told_hazard_ = false;
  SweepJob job;
  job.gm = inst_.eff_gm();
  job.gn = inst_.eff_gn();
  job.nk = inst_.eff_nk();
  job.aoff = inst_.aoff;
  job.boff = inst_.boff;
  job.abank = inst_.abank;
  job.bbank = inst_.bbank;
  job.anchor = inst_.anchor;
  job.acc = inst_.acc;
  job.emit = inst_.emit;
  data_.start(job, period_of(job));
  sweep_.start(now + 1, job.total(), period_of(job));
  commands_ += job.total();
  sweep_commands_ += job.total();
  emit_from_ = emits_seen_ = job.emit ? (job.nk - 1) * job.tiles() : ~0u;
  emit_real_ = job.emit && !job.load(job.nk - 1);
  if (job.emit) {
    batch_ = true;
    d_run_ = false;
    d_out_ = 0;
    write_back_.restart();
  }
  const bool hole = peer_.opened_at() + 2 == now && peer_.descriptor().buf_id == 2 && !peer_.rejected();
  if (hole) {
    if (c1_hits_++ == 0) {
      c1_cycle_ = now;
      c1_text_ = fmt::format(
          "{} started although the CU_DATA stream from ({},{}) to sub-tile {} had just opened; sweep "
          "commands that meet one of its adds are lost",
          instruction_text(), peer_.source().x, peer_.source().y, peer_.descriptor().offset / 2);
    }
    if (probe_ != nullptr) probe_->on_quirk(now);
  }
  if (probe_ != nullptr) probe_->on_gemm_start(now);
}

void MatmulCluster::start_drain(Cycle now, std::uint16_t taken) {
  if (!inst_.fuse) told_unloaded_ = told_hazard_ = false;
  const std::uint16_t n = static_cast<std::uint16_t>(inst_.eff_n());
  if (inst_.fuse) {
    barrier_ = taken < n;
    barrier_n_ = n;
  } else {
    batch_ = false;
    d_run_ = true;
    d_send_ = inst_.dnode && inst_.dbuf == 2;
    d_gap_ = false;
    d_left_ = n;
    d_tile_ = 0;
    d_out_ = 0;
    write_back_.restart();
  }
  if (probe_ != nullptr) probe_->on_drain_start(now, inst_.fuse);
}

// The head of the receive FIFO (sections 5.1 and 9.3).
void MatmulCluster::receive(Cycle now, bool filling, bool peer_can_take) {
  if (!base_.recv_valid()) return;
  const Flit& flit = base_.recv();
  switch (flit.type()) {
    case FlitType::kMemRdResp: {
      if (!filling) return;  // blocks everything behind it
      const unsigned word = flit.rsvd() & arch::kRsvdWordMask;
      store_word(now, inst_.sel ? Side::kB : Side::kA, inst_.fbank << 8 | flit.txn(), word, flit.w.data());
      if (word == 3) ++received_;
      break;
    }
    case FlitType::kCuData: {
      if (!peer_can_take) return;
      const PeerReceiver::Effect effect = peer_.take(now, flit);
      if (effect == PeerReceiver::Effect::kRejected) fault_ = true;
      if (effect == PeerReceiver::Effect::kWrongSource)
        report(now, "streams-interleaved",
               fmt::format("a CU_DATA flit from ({},{}) arrived inside the stream from ({},{}) and was taken "
                           "as its data",
                           flit.src_x(), flit.src_y(), peer_.source().x, peer_.source().y));
      PeerReceiver::OperandWord w{};
      if (peer_.take_operand(w))
        store_word(now, w.buffer ? Side::kB : Side::kA, w.entry, w.word, flit.w.data());
      break;
    }
    default:
      ++discarded_;
  }
  base_.pop_recv();
}

// One operand word into the assembly register; word 3 writes the entry. The write is enabled in now+1, so
// issues up to `now` still read the old entry (section 13.3).
void MatmulCluster::store_word(Cycle now, Side side, unsigned entry, unsigned word,
                               const std::uint64_t* payload) {
  arch::store_operand_word(side, word, payload, assembly_);
  if (word != 3) return;
  const unsigned index = data_.entry_index(side, entry);
  if (data_.pending_read(side, index, sweep_.issued())) {
    if (now > kReuseMin) execute_through(now - kReuseMin);
    data_.stash(sweep_.issued());
  }
  if (data_.future_read(side, index, sweep_.issued()))
    report(now + 1, "l1-write-under-sweep",
           fmt::format("L1 {} entry {} was written while the running sweep still has to read it",
                       side == Side::kA ? 'A' : 'B', index));
  data_.set_entry(side, index, assembly_);
  ++entries_;
  if (probe_ != nullptr) probe_->on_l1_write(now + 1, side, index);
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
  if (probe_ != nullptr && (drain || gemm_busy(now + 1) || shown_[0] || shown_[1] || shown_[2]))
    return now + 1;
  return std::max(next, now + 1);
}

void MatmulCluster::sync(Cycle now) {
  if (now == 0) return;
  sweep_.advance(now - 1, stalled());
  account(now);
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
