// SPDX-License-Identifier: Apache-2.0
// What a cluster tells about itself: state list, waits, misuse, probe. Nothing here changes what it does.
#include "arch/encoding/latencies.h"
#include "tlm/cluster/matmul_cluster.h"
#include "tlm/sim/engine.h"

namespace ktpu::cluster {

using arch::ClusterInst;
using arch::ClusterOp;
using sim::Cycle;

namespace {

constexpr Cycle kToCommand = arch::latency::kIssueToCommand.value;
constexpr unsigned kBank = 256;      // entries of an L1 bank (section 2)
constexpr unsigned kAnchor = 40;     // the only one the arithmetic is defined for (section 15)
constexpr unsigned kTileBuffer = 2;  // CU_DATA buffer of the resident tiles

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
  if (inst_.is(ClusterOp::kFill)) check_fill(now);
  if (inst_.is(ClusterOp::kGemm)) check_gemm(now);
  if (inst_.is(ClusterOp::kDrain)) check_drain(now);
}

void MatmulCluster::check_fill(Cycle now) {
  const ClusterInst& i = inst_;
  const unsigned n = i.eff_n(), entries = i.sel ? params_.l1_b : params_.l1_a;
  if (i.n > 255)
    report(now, "fill-count",
           fmt::format("FILL of {} entries never completes: the unit counts to 255 at most", i.n));
  else if (i.eoff + n > kBank)
    report(now, "fill-bank",
           fmt::format("FILL of {} entries from offset {} runs past the end of its bank and wraps inside it",
                       n, i.eoff));
  else if (i.fbank * kBank + i.eoff + n > entries)
    report(now, "l1-capacity",
           fmt::format("FILL up to entry {} of L1 {}, which has {}: the address wraps",
                       i.fbank * kBank + i.eoff + n - 1, i.sel ? 'B' : 'A', entries));
}

void MatmulCluster::check_gemm(Cycle now) {
  const ClusterInst& i = inst_;
  const unsigned gm = i.eff_gm(), gn = i.eff_gn(), nk = i.eff_nk();
  if (i.aoff + gm * nk > kBank || i.boff + gn * nk > kBank)
    report(now, "gemm-bank",
           fmt::format(
               "GEMM {}x{}, nk {} with aoff {} and boff {} reads past the end of a bank and wraps inside it",
               gm, gn, nk, i.aoff, i.boff));
  else if (i.abank * kBank + i.aoff + gm * nk > params_.l1_a ||
           i.bbank * kBank + i.boff + gn * nk > params_.l1_b)
    report(now, "l1-capacity",
           fmt::format(
               "GEMM {}x{}, nk {} reads up to entry {} of L1 A and {} of L1 B, which have {} and {}: the "
               "address wraps",
               gm, gn, nk, i.abank * kBank + i.aoff + gm * nk - 1, i.bbank * kBank + i.boff + gn * nk - 1,
               params_.l1_a, params_.l1_b));
  if (gm * gn > params_.tiles)
    report(
        now, "tile-capacity",
        fmt::format("GEMM {}x{} makes {} sub-tiles; the cluster holds {}", gm, gn, gm * gn, params_.tiles));
  if (i.anchor != kAnchor)
    report(now, "gemm-anchor",
           fmt::format("GEMM with anchor {}; the arithmetic is defined for {}", i.anchor, kAnchor));
  if (i.acc && open_gm_ != 0 && (gm != open_gm_ || gn != open_gn_))
    report(
        now, "acc-shape",
        fmt::format("GEMM {}x{} adds to sub-tiles of a result opened as {}x{}", gm, gn, open_gm_, open_gn_));
  if (!i.acc) {
    open_gm_ = gm;
    open_gn_ = gn;
  }
  if (!i.emit) return;
  if (!i.acc && nk == 1)
    report(now, "emit-load", "GEMM with emit, nk = 1 and acc = 0 emits nothing and is counted as emitting");
  if (i.dnode && i.dbuf == kTileBuffer) report(now, "emit-buffer", "GEMM with emit to buffer 2 emits FP16");
  if (batch_open_)
    report(
        now, "emit-order",
        "a second emitting GEMM came before the fused DRAIN of the first; queued results may be redirected");
  batch_open_ = true;
  batch_inst_ = i;
}

void MatmulCluster::check_drain(Cycle now) {
  const ClusterInst& i = inst_;
  if (!i.fuse) {
    if (i.n > params_.tiles)
      report(now, "tile-capacity",
             fmt::format("DRAIN of {} sub-tiles; the cluster holds {}", i.n, params_.tiles));
    if (batch_open_)
      report(now, "emit-order", "an explicit DRAIN came before the fused DRAIN of an emitting GEMM");
    batch_open_ = false;
    if (i.dnode && i.dbuf == kTileBuffer && i.dfin == 0 && i.dst_x == params_.at.x && i.dst_y == params_.at.y)
      report(now, "peer-self",
             fmt::format("DRAIN {} sends raw tiles to itself: its drain and its receiver wait for each other",
                         i.eff_n()));
    return;
  }
  if (!batch_open_) {
    report(now, "fuse-alone", fmt::format("fused DRAIN of {} without an emitting GEMM", i.eff_n()));
    return;
  }
  const unsigned results = batch_inst_.eff_gm() * batch_inst_.eff_gn();
  if (i.eff_n() != results)
    report(now, "fuse-count",
           fmt::format("fused DRAIN of {} for a GEMM with {} results", i.eff_n(), results));
  if (!same_destination(i, batch_inst_))
    report(now, "fuse-destination",
           "a fused DRAIN names another destination than its GEMM: results still queued are redirected");
  batch_open_ = false;
}

// Once an instruction (or peer stream) each.
void MatmulCluster::collect_reports(Cycle now) {
  if (const auto unloaded = data_.take_unloaded(); unloaded.count != 0 && !told_unloaded_) {
    told_unloaded_ = true;
    report(
        unloaded.cycle, "tile-unloaded",
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

// Parts: sequencer, sweep (the running one), results (on their way out), receiver (head of the receive FIFO),
// and the endpoint's input and output.
std::vector<sim::Wait> MatmulCluster::waits(Cycle now) const {
  std::vector<sim::Wait> list;
  if (state_ != State::kIdle && state_ != State::kDone) sequencer_waits(now, list);
  if (sweep_.running() && stalled())
    list.push_back(
        {.what = fmt::format("the running sweep, {} of {} commands issued: {} results before it to leave",
                             sweep_.issued(), sweep_.total(), d_out_),
         .part = "sweep",
         .on_part = "results",
         .kind = "results"});
  if (drain_busy()) result_waits(list);
  receiver_waits(list);
  base_.waits(now, list);
  return list;
}

void MatmulCluster::sequencer_waits(Cycle now, std::vector<sim::Wait>& list) const {
  const std::string inst = instruction_text();
  const auto add = [&](std::string_view kind, std::string what, std::string on_part,
                       std::optional<arch::Coord> node = {}) {
    list.push_back({.what = fmt::format("{}: {}", inst, what),
                    .part = "sequencer",
                    .on_part = std::move(on_part),
                    .kind = kind,
                    .node = node,
                    .since = entered_at_});
  };
  const auto sweep_before = [&](bool gemm_too) {
    if (gemm_too ? gemm_busy(now) : sweep_busy(now))
      add("sweep",
          fmt::format("the sweep before to end, {} of {} commands issued", sweep_.issued(), sweep_.total()),
          "sweep");
    if (peer_.peer_open())
      add("peer-stream",
          fmt::format("the end of the CU_DATA stream from ({},{}), {} data flits to come", peer_.source().x,
                      peer_.source().y, peer_.stream() ? peer_.left() : 0),
          "receiver");
  };
  switch (state_) {
    case State::kFill: {
      arch::Coord asks = params_.at;
      for (unsigned i = 0; i < inst_.npeer; ++i)
        if (inst_.peer(i) < asks.node_byte()) asks = arch::Coord::from_node_byte(inst_.peer(i));
      const std::string placed = fmt::format("{} of {} entries placed; ", received_, inst_.eff_n());
      if (asks != params_.at)
        add("shared-fill",
            placed + fmt::format("the responses to the request of ({},{}), which asks for the group", asks.x,
                                 asks.y),
            "sequencer", asks);
      else if (request_valid_)
        add("fill-request", placed + "its read request has not left", "output");
      else
        add("read-response",
            placed + fmt::format("read responses from ({},{})", params_.memory_port.x, params_.memory_port.y),
            "reads", params_.memory_port);
      if (base_.input_blocked(now))
        add("own-input", placed + "its own input is blocked, so no response can come in", "input");
      break;
    }
    case State::kGemmStart:
      sweep_before(!wide());
      if (inst_.emit && drain_busy())
        add("results", fmt::format("{} results of the batch before to leave", d_out_), "results");
      break;
    case State::kDrainStart:
      sweep_before(!inst_.fuse);
      break;
    case State::kDrainWait:
      if (barrier_)
        add("batch",
            fmt::format("{} of {} results were taken by the write port", write_back_.taken(), barrier_n_),
            "results");
      else if (drain_busy())
        add("results", fmt::format("{} results to leave", d_out_), "results");
      else
        add("write-back", "its last flits to leave", "output");
      break;
    default:
      break;
  }
}

void MatmulCluster::result_waits(std::vector<sim::Wait>& list) const {
  sim::Wait wait{.what = {}, .part = "results"};
  if (const arch::Flit* flit = write_back_.flit()) {
    wait.what = fmt::format("a {} flit for ({},{}) to leave, {} results behind it",
                            arch::flit_type_name(flit->type_code()), flit->dst_x(), flit->dst_y(),
                            write_back_.queued());
    wait.kind = "write-back";
    wait.on_part = "output";
  } else if (sweep_.running() && !stalled()) {
    wait.what = fmt::format("results of the running sweep, {} of {} commands issued", sweep_.issued(),
                            sweep_.total());
    wait.kind = "sweep";
    wait.on_part = "sweep";
  } else {
    // Counted as issued, or awaited by a barrier, but nothing in the unit makes them.
    wait.what =
        fmt::format("{} results that no command makes", barrier_ ? barrier_n_ - write_back_.taken() : d_out_);
    wait.kind = "no-results";
  }
  list.push_back(std::move(wait));
}

void MatmulCluster::receiver_waits(std::vector<sim::Wait>& list) const {
  const arch::Flit* head = base_.recv_head();
  if (head != nullptr && head->type() == arch::FlitType::kMemRdResp && state_ != State::kFill)
    list.push_back(
        {.what = fmt::format("a FILL to take the read response (entry {}) at the head of its receive FIFO, "
                             "which blocks the {} flits in it",
                             head->txn(), base_.recv_count()),
         .part = "receiver",
         .on_part = "sequencer",
         .kind = "stray-response"});
  if (peer_.pending())
    list.push_back({.what = fmt::format("the accumulator, to add a peer's sub-tile: {}",
                                        drain_busy() ? "results wait to leave" : "a sweep runs"),
                    .part = "receiver",
                    .on_part = drain_busy() ? "results" : "sweep",
                    .kind = "peer-add"});
  if (const arch::Flit* ack = peer_.ack())
    list.push_back({.what = fmt::format("its DATA_RECEIVED for ({},{}) to leave", ack->dst_x(), ack->dst_y()),
                    .part = "receiver",
                    .on_part = "output",
                    .kind = "output"});
  if (peer_.stream() && (head == nullptr || head->type() != arch::FlitType::kMemRdResp))
    list.push_back({.what = fmt::format("{} more CU_DATA flits from ({},{})", peer_.left(), peer_.source().x,
                                        peer_.source().y),
                    .part = "receiver",
                    .on_part = "results",
                    .kind = "peer-stream",
                    .node = peer_.source(),
                    .since = peer_.opened_at()});
}

std::uint64_t MatmulCluster::progress() const {
  const std::uint64_t retired = fills_ + gemms_ + drains_ + unknown_;
  return sweep_.running() && !stalled() && engine() != nullptr ? retired + engine()->now() : retired;
}

void MatmulCluster::visit(sim::Archive& a) {
  a.scope("endpoint", [&] { base_.visit(a); });
  a.scope("sequencer", [&] {
    a.state("state", state_, 4);
    a.state("entered", entered_, 1);
    a.state("entered_at", entered_at_);
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
    a.kept("accounted", sweep_accounted_);
    a.kept("issues_accounted", issues_accounted_);
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
  if (a.is_checkpoint()) keep(a);
}

// What visit() leaves out because it has no name outside.
void MatmulCluster::keep(sim::Archive& a) {
  a.kept("emit_from", emit_from_);
  a.kept("emit_real", emit_real_);
  a.kept("emits_seen", emits_seen_);
  for (Push& push : push_) {
    a.kept("push_due", push.due);
    a.kept_memory("push_word", push.word.data(), push.word.size());
  }
  a.kept("push_base", push_base_);
  a.kept("push_tail", push_tail_);
  a.kept("told_unloaded", told_unloaded_);
  a.kept("told_hazard", told_hazard_);
  a.kept("batch_open", batch_open_);
  for (const auto& binding : arch::Layout<ClusterInst>::fields)
    if (binding.narrow != nullptr) a.kept("batch_inst", batch_inst_.*binding.narrow);
  a.kept("batch_addr", batch_inst_.addr);
  a.kept("open_gm", open_gm_);
  a.kept("open_gn", open_gn_);
  a.kept("accounted", accounted_);
  misuse_.visit(a);
  a.kept("c1_cycle", c1_cycle_);
  a.kept("c1_text", c1_text_);
}

}  // namespace ktpu::cluster
