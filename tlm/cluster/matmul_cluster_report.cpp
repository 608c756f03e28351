// SPDX-License-Identifier: Apache-2.0
// What a cluster tells about itself: state list, waits, misuse, probe. Nothing here changes what it does.
#include "arch/encoding/latencies.h"
#include "tlm/cluster/matmul_cluster.h"

namespace ktpu::cluster {

using arch::ClusterInst;
using arch::ClusterOp;
using sim::Cycle;

namespace {

constexpr Cycle kToCommand = arch::latency::kIssueToCommand.value;

bool same_destination(const ClusterInst& a, const ClusterInst& b) {
  return a.addr == b.addr && a.dnode == b.dnode && a.dst_x == b.dst_x && a.dst_y == b.dst_y &&
         a.dbuf == b.dbuf && a.dflags == b.dflags && a.dack_y == b.dack_y && a.dack_x == b.dack_x &&
         a.dmesh == b.dmesh && a.dfin == b.dfin;
}

}  // namespace

std::string MatmulCluster::instruction_text() const {
  const ClusterInst& i = inst_;
  if (i.is(ClusterOp::kFill)) return fmt::format("FILL {}", i.sel ? 'B' : 'A');
  if (i.is(ClusterOp::kGemm)) return fmt::format("GEMM {}x{}, nk {}", i.eff_gm(), i.eff_gn(), i.eff_nk());
  if (i.is(ClusterOp::kDrain)) return fmt::format("{}DRAIN {}", i.fuse ? "fused " : "", i.eff_n());
  return fmt::format("opcode {}", i.op);
}

void MatmulCluster::report(Cycle cycle, const char* kind, std::string text) {
  noc::EndpointMisuse misuse{kind, cycle, std::move(text)};
  if (probe_ != nullptr) probe_->on_misuse(misuse);
  misuse_.add(std::move(misuse));
}

std::vector<noc::QuirkHits> MatmulCluster::quirk_hits() const {
  if (c1_hits_ == 0) return {};
  return {{arch::QuirkId::kC1, c1_hits_, c1_cycle_, c1_text_}};
}

// The rules of section 15 that an instruction breaks by itself or by its place in the program.
void MatmulCluster::check_program(Cycle now) {
  const ClusterInst& i = inst_;
  if (i.is(ClusterOp::kFill)) {
    if (i.n > 255)
      report(now, "fill-too-long",
             fmt::format("FILL of {} entries never completes: the unit counts to 255 at most", i.n));
    else if (i.eoff + i.eff_n() > 256)
      report(
          now, "fill-past-bank",
          fmt::format("FILL of {} entries from offset {} runs past the end of its bank and wraps inside it",
                      i.eff_n(), i.eoff));
  } else if (i.is(ClusterOp::kGemm)) {
    const unsigned gm = i.eff_gm(), gn = i.eff_gn(), nk = i.eff_nk();
    if (i.aoff + gm * nk > 256 || i.boff + gn * nk > 256)
      report(
          now, "gemm-past-bank",
          fmt::format(
              "GEMM {}x{}, nk {} with aoff {} and boff {} reads past the end of a bank and wraps inside it",
              gm, gn, nk, i.aoff, i.boff));
    if (gm * gn > params_.tiles)
      report(
          now, "too-many-tiles",
          fmt::format("GEMM {}x{} makes {} sub-tiles; the cluster holds {}", gm, gn, gm * gn, params_.tiles));
    if (i.emit && !i.acc && nk == 1)
      report(now, "emit-on-load",
             "GEMM with emit, nk = 1 and acc = 0 emits nothing and is counted as emitting");
    if (i.emit && i.dnode && i.dbuf == 2)
      report(now, "emit-to-buffer-2", "GEMM with emit to buffer 2 emits FP16");
    if (i.emit) {
      if (batch_open_)
        report(now, "emit-without-drain",
               "a second emitting GEMM came before the fused DRAIN of the first; queued results may be "
               "redirected");
      batch_open_ = true;
      batch_inst_ = i;
    }
  } else if (i.is(ClusterOp::kDrain)) {
    if (i.n > params_.tiles && !i.fuse)
      report(now, "drain-too-long",
             fmt::format("DRAIN of {} sub-tiles; the cluster holds {}", i.n, params_.tiles));
    if (batch_open_ && !i.fuse)
      report(now, "drain-over-batch", "an explicit DRAIN came before the fused DRAIN of an emitting GEMM");
    if (batch_open_ && i.fuse) {
      const unsigned results = batch_inst_.eff_gm() * batch_inst_.eff_gn();
      if (i.eff_n() != results)
        report(now, "fused-drain-count",
               fmt::format("fused DRAIN of {} for a GEMM with {} results", i.eff_n(), results));
      if (!same_destination(i, batch_inst_))
        report(now, "fused-drain-destination",
               "a fused DRAIN names another destination than its GEMM: results still queued are redirected");
      batch_open_ = false;
    }
  }
}

// Once an instruction (or peer stream) each.
void MatmulCluster::collect_reports(Cycle now) {
  if (const auto unloaded = data_.take_unloaded(); unloaded.count != 0 && !told_unloaded_) {
    told_unloaded_ = true;
    report(
        unloaded.cycle, "tile-never-loaded",
        fmt::format(
            "sub-tile {} was read although no LOAD ever wrote it: a real machine has undefined bits there, "
            "the model zeros",
            unloaded.tile));
  }
  if (data_.take_hazards() != 0 && !told_hazard_) {
    told_hazard_ = true;
    report(
        now, "reuse-distance",
        fmt::format(
            "an accumulator command met an unfinished write of its sub-tile (less than {} cycles before) and "
            "worked on the old value",
            arch::latency::kReuseMin.value));
  }
}

void MatmulCluster::probe_cycle(Cycle now, bool drain) {
  const bool levels[3] = {sweep_busy(now), gemm_busy(now), drain};
  for (unsigned f = 0; f < 3; ++f) {
    if (levels[f] != shown_[f]) probe_->on_busy(now, static_cast<BusyFlag>(f), levels[f]);
    shown_[f] = levels[f];
  }
  const bool owned = command_ != AccOp::kNop || d_run_ || (!batch_ && d_out_ != 0);
  if (!owned) probe_sweep_command(now, false);
}

void MatmulCluster::probe_sweep_command(Cycle now, bool lost) {
  if (now <= kToCommand) return;
  const std::uint32_t end = sweep_.issued_through(now - kToCommand);
  if (end == 0 || sweep_.cycle_of(end - 1) + kToCommand != now) return;
  const SweepJob& job = data_.job();
  const std::uint32_t kb = (end - 1) / job.tiles(), t = (end - 1) % job.tiles();
  const AccOp op = job.load(kb) ? AccOp::kLoad : job.counts_emit(kb) ? AccOp::kAddEmit : AccOp::kAdd;
  probe_->on_command(now, op, t & (params_.tiles - 1), lost);
}

std::vector<sim::Wait> MatmulCluster::waits(Cycle now) const {
  std::vector<sim::Wait> list;
  const auto add = [&list](std::string what) { list.push_back({std::move(what)}); };
  const auto blockers = [&](bool gemm_too) {
    if (gemm_too ? gemm_busy(now) : sweep_busy(now))
      add(fmt::format("{}: the sweep before, {} of {} commands issued{}", instruction_text(), sweep_.issued(),
                      sweep_.total(),
                      sweep_.running() && stalled() ? ", stalled by results waiting to leave" : ""));
    if (peer_.peer_open())
      add(fmt::format("{}: the end of the CU_DATA stream from ({},{}), {} data flits to come",
                      instruction_text(), peer_.source().x, peer_.source().y,
                      peer_.stream() ? peer_.left() : 0));
  };
  switch (state_) {
    case State::kFill:
      add(fmt::format("{}: {} of {} entries placed, waiting for responses from ({},{}){}", instruction_text(),
                      received_, inst_.eff_n(), params_.memory_port.x, params_.memory_port.y,
                      leads() ? "" : "; another cluster of the group asks for them"));
      break;
    case State::kGemmStart:
      blockers(!wide());
      if (inst_.emit && drain_busy())
        add(fmt::format("{}: {} results of the batch before to leave", instruction_text(), d_out_));
      break;
    case State::kDrainStart:
      blockers(!inst_.fuse);
      break;
    case State::kDrainWait:
      if (barrier_)
        add(fmt::format("{}: {} of {} results taken by the write port", instruction_text(),
                        write_back_.taken(), barrier_n_));
      else
        add(fmt::format("{}: {} results outstanding", instruction_text(), d_out_));
      break;
    default:
      break;
  }
  if (state_ != State::kGemmStart && state_ != State::kDrainStart && sweep_.running() && stalled())
    add(fmt::format("the running sweep: {} of {} commands issued, stalled with {} results outstanding",
                    sweep_.issued(), sweep_.total(), d_out_));
  if (state_ != State::kDrainWait && drain_busy())
    add(fmt::format("{} results waiting to leave, {} in the drain queue", d_out_, write_back_.queued()));
  if (peer_.stream())
    add(fmt::format("{} more CU_DATA flits from ({},{})", peer_.left(), peer_.source().x, peer_.source().y));
  if (peer_.pending()) add("the accumulator, to add a peer's sub-tile");
  if (const arch::Flit* head = base_.recv_head();
      head != nullptr && head->type() == arch::FlitType::kMemRdResp && state_ != State::kFill)
    add(fmt::format(
        "a FILL to take the read response (entry {}) at the head of its receive FIFO, which blocks {} flits",
        head->txn(), base_.recv_count()));
  base_.waits(now, list);
  return list;
}

void MatmulCluster::visit(sim::Archive& a) {
  a.scope("endpoint", [&] { base_.visit(a); });
  a.scope("sequencer", [&] {
    a.state("state", state_, 4);
    a.state("entered", entered_, 1);
    a.state("exec_done", exec_done_, 1);
    a.state("exec_fault", exec_fault_, 1);
    for (const auto& binding : arch::Layout<ClusterInst>::fields) {
      if (binding.narrow != nullptr) a.state(binding.field.name, inst_.*binding.narrow, binding.field.width);
    }
    a.state("addr", inst_.addr, 40);
    a.state("received", received_, 8);
    a.state("request_valid", request_valid_, 1);
    a.flit("request", request_);
    a.state("done_count", done_count_, 16);
    sequencer_cycles_.visit(a);
    a.state("fault", fault_, 1);
    a.memory("assembly", &assembly_.q[0][0], sizeof assembly_.q);
    a.memory("assembly_scale", assembly_.scale, arch::kLanes);
  });
  a.scope("sweep", [&] {
    sweep_.visit(a);
    a.scope("cycles", [&] {
      for (unsigned s = 0; s < kSweepCycles.size(); ++s)
        a.exclusive(kSweepCycles[s].name, sweep_cycles_[s], s + 1, kSweepCycles[s].sentence);
    });
    a.bookkeeping("accounted", sweep_accounted_);
    a.bookkeeping("issues_accounted", issues_accounted_);
  });
  a.scope("accumulator", [&] {
    data_.visit(a);
    a.state("command", command_, 3);
    a.state("command_tile", command_tile_, 16);
    a.memory("command_value", command_value_.lane, arch::kSubTileLanes);
    a.state("command_busy_until", command_end_);
    a.state("emit_count_due", emit_count_.bits());
    a.state("emit_push_due", emit_push_.bits());
  });
  a.scope("drain", [&] {
    a.state("outstanding", d_out_, 16);
    a.state("run", d_run_, 1);
    a.state("send", d_send_, 1);
    a.state("gap", d_gap_, 1);
    a.state("batch", batch_, 1);
    a.state("barrier", barrier_, 1);
    a.state("barrier_n", barrier_n_, 16);
    a.state("left", d_left_, 16);
    a.state("tile", d_tile_, 16);
    a.counter("busy_cycles", drain_cycles_, "cycles", "Cycles with results outstanding or a drain issuing.");
    write_back_.visit(a);
    drain_states_.visit(a);
  });
  a.scope("peer", [&] { peer_.visit(a); });
  a.scope("receive", [&] { receive_cycles_.visit(a); });
  a.counter("fills", fills_, "instructions", "FILLs retired.");
  a.counter("gemms", gemms_, "instructions", "GEMMs retired, which is when their sweep starts.");
  a.counter("drains", drains_, "instructions", "DRAINs retired.");
  a.counter("unknown_ops", unknown_, "instructions", "Instructions with an opcode the unit does not know.");
  a.counter("compute_cycles", compute_cycles_, "cycles",
            "Cycles with a sweep or an accumulator command under way.");
  a.counter("fill_cycles", fill_cycles_, "cycles", "Cycles in which a FILL was in execution.");
  a.counter("stall_cycles", stall_cycles_, "cycles",
            "Cycles in which a sweep could not issue because 112 or more results waited to leave.");
  a.counter("commands", commands_, "commands",
            "Accumulator commands of started sweeps, drains and peer streams.");
  a.counter(
      "sweep_commands", sweep_commands_, "commands",
      "Accumulator commands of started sweeps, each with one product of 4x32 by 32x4 (512 multiply-adds).");
  a.counter("lost_commands", lost_commands_, "commands", "Sweep commands lost to another owner of the port.");
  a.counter("entries_written", entries_, "entries", "L1 entries written.");
  a.counter("flits_discarded", discarded_, "flits", "Received flits of a type the unit does not use.");
  a.counter("quirk_c1", c1_hits_, "hits", "Peer streams that overlapped the start of a sweep (quirk C1).");
}

}  // namespace ktpu::cluster
