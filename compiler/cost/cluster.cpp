// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/cluster.h"

#include <algorithm>

#include "arch/encoding/codes.h"

namespace ktpu::cost {

using arch::ClusterInst;
using arch::ClusterOp;

Cluster::Cluster(unsigned index, const UnitCost& cost, Ledger& ledger, Mesh& mesh)
    : index_(index),
      cost_(cost.cluster),
      clock_(cost.fabric_per_cycle),
      at_(cost.at),
      ledger_(ledger),
      mesh_(mesh) {}

void Cluster::instruction(Moment accepted, const arch::Flit& flit) {
  queue_.push_back({accepted, arch::unpack<ClusterInst>(flit), flit.src(), flit.last()});
  if (queue_.size() == 1 && !filling_) mesh_.wake(index_, accepted.t);
}

void Cluster::wake(Cycles now) { proceed(now); }

// Back to back: one cycle after the completion of the one before (section 13.3).
Moment Cluster::visible(const Held& held) {
  const Moment arrived = spend(held.accepted, cost_.visible, Cause::kClusterControl);
  const Moment next = spend(done_, 1, Cause::kClusterControl);
  behind_ = books_.instructions != 0 && next.t >= arrived.t;
  return latest(arrived, next);
}

bool Cluster::too_early(Moment start, Cycles now) {
  if (start.t <= now) return false;
  mesh_.wake(index_, start.t);
  return true;
}

void Cluster::proceed(Cycles now) {
  while (!queue_.empty() && !filling_) {
    const Held held = queue_.front();
    const Moment v = visible(held);
    if (too_early(v, now)) return;
    began_ = v;
    if (held.inst.is(ClusterOp::kFill)) {
      fill(held, v);
    } else if (held.inst.is(ClusterOp::kGemm)) {
      if (!gemm(held, v, now)) return;
    } else if (held.inst.is(ClusterOp::kDrain)) {
      if (!drain(held, v, now)) return;
    } else {
      retire(spend(v, cost_.unknown_done, Cause::kClusterControl));
    }
  }
}

void Cluster::retire(Moment done) {
  const Held held = queue_.front();
  queue_.pop_front();
  done_ = done;
  ++books_.instructions;
  books_.busy += done.t - began_.t;
  mesh_.signal(index_, held.last ? Message::Signal::kBatch : Message::Signal::kComplete, held.from,
               spend(done, cost_.signal, Cause::kClusterControl));
}

// Only the cluster with the lowest node byte asks (section 5.1).
void Cluster::fill(const Held& held, Moment v) {
  const ClusterInst& inst = held.inst;
  filling_ = true;
  wanted_ = std::max(1u, inst.n & 255u);
  const std::uint32_t peers[3] = {inst.peer0, inst.peer1, inst.peer2};
  const unsigned count = std::min(inst.npeer, 3u);
  const bool leader = std::all_of(peers, peers + count, [&](std::uint32_t p) { return at_.node_byte() < p; });
  if (leader) {
    Message request;
    request.kind = Message::Kind::kEntries;
    request.addr = inst.addr;
    request.count = static_cast<std::uint16_t>(wanted_);
    request.quant = inst.preq == 0;
    request.peers = static_cast<std::uint8_t>(count);
    for (unsigned i = 0; i < count; ++i) request.peer[i] = static_cast<std::uint8_t>(peers[i]);
    mesh_.request(index_, request,
                  spend(v, behind_ ? cost_.fill_request_busy : cost_.fill_request, Cause::kClusterControl));
  }
  if (received_ >= wanted_) fill_done(v);
}

void Cluster::fill_done(Moment accepted) {
  received_ -= wanted_;
  filling_ = false;
  const Moment done = spend(accepted, cost_.fill_done, Cause::kClusterControl);
  books_.fill += done.t - began_.t;
  retire(done);
  if (!queue_.empty()) mesh_.wake(index_, done.t);
}

void Cluster::data(Moment accepted, unsigned entries) {
  received_ += entries;
  if (filling_ && received_ >= wanted_) fill_done(accepted);
}

bool Cluster::gemm(const Held& held, Moment v, Cycles now) {
  const ClusterInst& inst = held.inst;
  const SweepForm sweep = sweep_form(cost_, inst.gm, inst.gn, inst.nk);
  Moment start = latest(spend(v, cost_.start_test, Cause::kClusterControl),
                        latest(sweep.wide ? sweep_free_ : gemm_free_, peer_free_));
  if (inst.emit != 0) start = latest(start, emitted_);
  if (too_early(start, now)) return false;
  const Moment first = spend(start, cost_.gemm_issue, Cause::kClusterControl);
  Moment last = spend(first, sweep.length(), Cause::kCluster);
  if (inst.emit != 0) {
    const Moment emit = spend(first, sweep.to_last_block(), Cause::kCluster);
    const DrainForm form = emitted_drain(cost_, sweep);
    send(form, inst, emit, Cause::kClusterDrain);
    emitted_ = spend(emit, form.bursts.back().last_flit, Cause::kClusterDrain);
    // No more than `drain_limit` granules wait to be written: the sweep stops until there are fewer.
    if (sweep.results > cost_.drain_limit) {
      const auto taken = static_cast<std::size_t>(sweep.results - cost_.drain_limit) / cost_.burst;
      const auto& burst = form.bursts[std::min(taken, form.bursts.size() - 1)];
      last = latest(last, spend(emit, burst.last_flit - burst.granules, Cause::kClusterDrain));
    }
  }
  sweep_free_ = spend(last, cost_.sweep_free, Cause::kCluster);
  gemm_free_ = spend(last, cost_.gemm_free, Cause::kCluster);
  books_.compute += clock_.fabric(sweep.length()) + 1;
  retire(spend(start, cost_.gemm_done, Cause::kClusterControl));
  return true;
}

bool Cluster::drain(const Held& held, Moment v, Cycles now) {
  const ClusterInst& inst = held.inst;
  const Moment test = spend(v, cost_.start_test, Cause::kClusterControl);
  if (inst.fuse != 0) {
    const Moment start = latest(test, peer_free_);
    if (too_early(start, now)) return false;
    const Moment done = latest(spend(v, cost_.fused_done, Cause::kClusterControl),
                               spend(emitted_, cost_.drain_tail, Cause::kClusterDrain));
    books_.drain += done.t - began_.t;
    retire(done);
    return true;
  }
  const Moment start = latest(test, latest(gemm_free_, peer_free_));
  if (too_early(start, now)) return false;
  const bool send_tiles = inst.dnode != 0 && inst.dbuf == 2;
  const unsigned n = std::max(1u, inst.n);
  const DrainForm form = explicit_drain(cost_, send_tiles ? 2 * n : n, send_tiles);
  send(form, inst, start, Cause::kClusterDrain);
  const Moment done = spend(start, form.done, Cause::kClusterDrain);
  emitted_ = done;
  books_.drain += done.t - began_.t;
  retire(done);
  return true;
}

void Cluster::send(const DrainForm& form, const ClusterInst& inst, Moment origin, Cause cause) {
  for (const DrainForm::Burst& b : form.bursts) {
    const Moment out = spend(origin, b.last_flit, cause);
    if (inst.dnode == 0) {
      mesh_.write(index_, inst.addr + std::uint64_t{b.first} * arch::kWordBytes, b.granules, out);
      continue;
    }
    PeerBurst burst;
    burst.to = {static_cast<std::uint8_t>(inst.dst_x), static_cast<std::uint8_t>(inst.dst_y)};
    burst.ack = {static_cast<std::uint8_t>(inst.dack_x), static_cast<std::uint8_t>(inst.dack_y)};
    burst.from = at_;
    burst.buffer = static_cast<std::uint8_t>(inst.dbuf);
    burst.flits = static_cast<std::uint16_t>(b.granules);
    burst.signal = (inst.dflags & 1) != 0;
    mesh_.peer(index_, burst, out);
  }
}

// A peer sum keeps sweeps and drains from starting, and waits for the sweep before it (section 9.4).
void Cluster::burst(Moment accepted, const PeerBurst& burst) {
  const Moment taken = spend(accepted, cost_.peer_taken, Cause::kClusterControl);
  if (burst.buffer == 2) {
    const Moment begin = latest(taken, gemm_free_);
    peer_free_ = latest(peer_free_, spend(begin, cost_.peer_tile * (burst.flits / 2), Cause::kCluster));
    gemm_free_ = latest(gemm_free_, spend(peer_free_, cost_.peer_busy, Cause::kCluster));
  }
  if (!burst.signal) return;
  const bool to_sender = burst.ack.x == 0 && burst.ack.y == 0;
  mesh_.signal(index_, Message::Signal::kDataReceived, to_sender ? burst.from : burst.ack,
               spend(taken, cost_.peer_ack, Cause::kClusterControl));
}

}  // namespace ktpu::cost
