// SPDX-License-Identifier: Apache-2.0
// A cluster with a test at the other end of its two links.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "arch/encoding/payloads.h"
#include "tlm/cluster/matmul_cluster.h"
#include "tlm/sim/engine.h"

namespace ktpu::test {

using arch::ClusterInst;
using arch::ClusterOp;
using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;

inline constexpr Coord kAgent{0, 1}, kMemory{0, 1}, kCluster{2, 1};

// Sends scripted flits in order, each from its cycle on, and takes what comes out.
class FarEnd final : public sim::Unit {
 public:
  FarEnd(sim::FlitPort links) : Unit("far"), to_(links.in), from_(links.out) {
    to_->bind_sender(*this);
    from_->bind_receiver(*this);
  }
  struct Seen {
    Cycle out;    // first cycle on the output
    Cycle taken;  // accepted
    Flit flit;
  };

  void send(Cycle from, const Flit& flit) { script_.push_back({from, flit}); }
  void forget() {  // what is not sent, and what came; at a reset
    script_.clear();
    seen.clear();
    fresh_ = showing_ = false;
    to_->withdraw();
  }
  std::size_t unsent() const { return script_.size(); }
  std::function<bool(Cycle)> busy = [](Cycle) { return false; };
  std::function<void(const Seen&)> on_flit;
  bool sleeps = false;  // only with a busy() that never changes
  std::vector<Seen> seen;
  std::vector<Cycle> accepted;  // cycle of each of our flits

  void reset(Cycle) override {}
  void drive(Cycle now) override {
    from_->set_busy(busy(now));
    if (!script_.empty() && script_.front().from <= now) {
      if (!to_->valid() || fresh_) to_->offer(script_.front().flit);
      fresh_ = false;
    } else if (to_->valid()) {
      to_->withdraw();
    }
  }
  Cycle clock(Cycle now) override {
    if (to_->valid() && to_->sample_sent()) {
      accepted.push_back(now);
      script_.pop_front();
      fresh_ = true;
    }
    if (from_->valid()) {
      if (!showing_) out_since_ = now;
      showing_ = true;
      if (!from_->busy()) {
        seen.push_back({out_since_, now, from_->data()});
        showing_ = false;
        if (on_flit) on_flit(seen.back());
      }
    }
    if (!sleeps || from_->valid() || to_->valid()) return now + 1;
    return script_.empty() ? sim::kNever : std::max(now + 1, script_.front().from);
  }

 private:
  struct Item {
    Cycle from;
    Flit flit;
  };
  sim::FlitLink* to_;
  sim::FlitLink* from_;
  std::deque<Item> script_;
  bool fresh_ = false, showing_ = false;
  Cycle out_since_ = 0;
};

// Writes down everything a probe hears.
struct Record final : cluster::ClusterProbe {
  struct Command {
    Cycle cycle;
    cluster::AccOp op;
    unsigned tile;
    bool lost;
    auto operator<=>(const Command&) const = default;
  };
  std::vector<Cycle> issue, retire, gemm_start, drain_start, l1_write, push, quirk;
  std::vector<bool> retire_fault;
  std::vector<Command> commands;
  std::map<cluster::BusyFlag, std::vector<std::pair<Cycle, bool>>> busy;
  std::vector<noc::EndpointMisuse> misuse;

  void on_issue(Cycle c, const ClusterInst&) override { issue.push_back(c); }
  void on_retire(Cycle c, bool fault) override {
    retire.push_back(c);
    retire_fault.push_back(fault);
  }
  void on_gemm_start(Cycle c) override { gemm_start.push_back(c); }
  void on_drain_start(Cycle c, bool) override { drain_start.push_back(c); }
  void on_busy(Cycle c, cluster::BusyFlag f, bool level) override { busy[f].push_back({c, level}); }
  void on_command(Cycle c, cluster::AccOp op, unsigned tile, bool lost) override {
    commands.push_back({c, op, tile, lost});
  }
  void on_l1_write(Cycle c, arch::Side, unsigned) override { l1_write.push_back(c); }
  void on_push(Cycle c) override { push.push_back(c); }
  void on_misuse(const noc::EndpointMisuse& m) override { misuse.push_back(m); }
  void on_quirk(Cycle c) override { quirk.push_back(c); }

  std::vector<Cycle> command_cycles() const {
    std::vector<Cycle> list;
    for (const auto& c : commands) list.push_back(c.cycle);
    return list;
  }
  // First cycle of the n-th rise or fall of a level; kNever when it did not happen.
  Cycle edge(cluster::BusyFlag f, bool level, unsigned n = 0) const {
    const auto it = busy.find(f);
    if (it == busy.end()) return sim::kNever;
    for (const auto& [cycle, to] : it->second)
      if (to == level && n-- == 0) return cycle;
    return sim::kNever;
  }
};

inline cluster::ClusterParams default_params() {
  cluster::ClusterParams p;
  p.at = kCluster;
  p.memory_port = kMemory;
  return p;
}

inline Flit inst_flit(const ClusterInst& inst, unsigned txn = 0x40, bool last = false) {
  return arch::make_flit(arch::make_header(kCluster, kAgent, FlitType::kCuInst, txn, last), inst);
}
inline ClusterInst fill(unsigned n, unsigned sel = 0, std::uint64_t addr = 0) {
  ClusterInst i;
  i.op = static_cast<unsigned>(ClusterOp::kFill);
  i.n = n;
  i.sel = sel;
  i.addr = addr;
  return i;
}
inline ClusterInst gemm(unsigned gm, unsigned gn, unsigned nk, bool acc = false, bool emit = false) {
  ClusterInst i;
  i.op = static_cast<unsigned>(ClusterOp::kGemm);
  i.gm = gm;
  i.gn = gn;
  i.nk = nk;
  i.acc = acc;
  i.emit = emit;
  return i;
}
inline ClusterInst drain(unsigned n, bool fuse = false, std::uint64_t addr = 0) {
  ClusterInst i;
  i.op = static_cast<unsigned>(ClusterOp::kDrain);
  i.n = n;
  i.fuse = fuse;
  i.addr = addr;
  return i;
}
inline ClusterInst drain_to_node(unsigned n, unsigned buf) {
  ClusterInst i = drain(n);
  i.dnode = 1;
  i.dst_x = 2;
  i.dst_y = 3;
  i.dbuf = buf;
  return i;
}
inline ClusterInst unknown_op() {
  ClusterInst i;
  i.op = 9;
  return i;
}
inline Flit response(unsigned entry, unsigned word, std::uint64_t seed = 0) {
  Flit f = arch::make_flit(kCluster, kMemory, FlitType::kMemRdResp, entry, word == 3, word);
  for (unsigned w = 0; w < 4; ++w)
    f.w[w] = (seed + 1) * 0x9E3779B97F4A7C15ull * (entry * 16 + word * 4 + w + 1);
  return f;
}
inline Flit data_descriptor(unsigned buf, unsigned offset, unsigned len, bool ack = true, Coord from = {1, 1},
                            Coord ack_to = kAgent, unsigned txn = 2) {
  Flit f = arch::make_flit(kCluster, from, FlitType::kCuData, txn, false);
  const auto& fields = arch::Layout<arch::CuDataDesc>::fields;
  f.set(fields[0].field, buf);
  f.set(fields[1].field, offset);
  f.set(fields[2].field, len);
  f.set(fields[3].field, ack);
  f.set(fields[4].field, ack_to.y);
  f.set(fields[5].field, ack_to.x);
  return f;
}
inline Flit data_flit(const arch::Word256& word, bool last = false, Coord from = {1, 1}) {
  Flit f = arch::make_flit(kCluster, from, FlitType::kCuData, 2, last);
  for (unsigned w = 0; w < 4; ++w) f.w[w] = word[w];
  return f;
}
inline Flit data_flit(std::uint64_t seed, bool last = false, Coord from = {1, 1}) {
  return data_flit({seed, seed * 3 + 1, seed * 5 + 2, seed * 7 + 3}, last, from);
}

// All cycles are counted from kOrigin, so that "accepted in cycle 0" of the spec is at(0).
class Bench {
 public:
  static constexpr Cycle kOrigin = 50;

  explicit Bench(const cluster::ClusterParams& params = default_params(), bool idle_skip = true,
                 bool probed = true)
      : in_("in", arch::kFlitBits),
        out_("out", arch::kFlitBits),
        unit_("cluster", params, {&in_, &out_}),
        far_({&in_, &out_}) {
    engine_.add(in_);
    engine_.add(out_);
    engine_.add(unit_);
    engine_.add(far_);
    engine_.set_idle_skip(idle_skip);
    if (probed) unit_.set_probe(&record);
    engine_.elaborate();
  }

  static Cycle at(Cycle c) { return c + kOrigin; }
  void send(Cycle c, const Flit& flit) { far_.send(at(c), flit); }
  void run(Cycle cycles) { engine_.run_until(at(cycles)); }
  // Runs until the n-th completion (or other signal) came; false: not within `limit` cycles.
  bool run_until_signals(unsigned n, Cycle limit = 100000) {
    while (engine_.now() < at(limit)) {
      if (signals().size() >= n) return true;
      engine_.run_until(engine_.now() + 1);
    }
    return signals().size() >= n;
  }

  // Cycles relative to the origin.
  static std::vector<Cycle> relative(std::vector<Cycle> list) {
    for (Cycle& c : list) c -= kOrigin;
    return list;
  }
  struct Out {
    Cycle cycle;
    Flit flit;
  };
  std::vector<Out> outputs(FlitType type) const {
    std::vector<Out> list;
    for (const auto& s : far_.seen)
      if (s.flit.type() == type) list.push_back({s.out - kOrigin, s.flit});
    return list;
  }
  std::vector<Cycle> output_cycles(FlitType type) const {
    std::vector<Cycle> list;
    for (const auto& o : outputs(type)) list.push_back(o.cycle);
    return list;
  }
  std::vector<Out> signals() const { return outputs(FlitType::kCuSignal); }
  Cycle edge(cluster::BusyFlag f, bool level, unsigned n = 0) const {
    const Cycle c = record.edge(f, level, n);
    return c == sim::kNever ? c : c - kOrigin;
  }

  sim::Engine& engine() { return engine_; }
  cluster::MatmulCluster& unit() { return unit_; }
  FarEnd& far() { return far_; }
  Record record;

 private:
  sim::Engine engine_;
  sim::FlitLink in_, out_;
  cluster::MatmulCluster unit_;
  FarEnd far_;
};

inline std::vector<Cycle> range(Cycle first, Cycle last, Cycle step = 1) {
  std::vector<Cycle> list;
  for (Cycle c = first; c <= last; c += step) list.push_back(c);
  return list;
}
inline unsigned signal_code(const Flit& f) { return static_cast<unsigned>(f.bits(248, 8)); }
inline unsigned signal_arg(const Flit& f) { return static_cast<unsigned>(f.bits(216, 32)); }

}  // namespace ktpu::test
