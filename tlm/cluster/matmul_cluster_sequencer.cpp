// SPDX-License-Identifier: Apache-2.0
// The cluster's sequencer, one instruction at a time, and the head of its receive FIFO.
#include <algorithm>

#include "arch/encoding/latencies.h"
#include "arch/encoding/payloads.h"
#include "tlm/cluster/matmul_cluster.h"

namespace ktpu::cluster {

using arch::ClusterOp;
using arch::Flit;
using arch::FlitType;
using arch::Side;
using sim::Cycle;

namespace {

constexpr Cycle kReuseMin = arch::latency::kReuseMin.value;

constexpr std::uint32_t period_of(const SweepJob& job) {  // section 8
  if (job.nk <= 1 || job.tiles() >= 5) return 1;
  return job.tiles() == 1 ? 5 : job.tiles() == 2 ? 3 : 2;
}

}  // namespace

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
  issues_accounted_ = 0;
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
  receive_cycles_.enter(now, ReceiveCycle::kTaking);
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

}  // namespace ktpu::cluster
