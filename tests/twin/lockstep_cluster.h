// SPDX-License-Identifier: Apache-2.0
// A cluster, model and RTL in lock-step, with a test at the other end of its links.
#pragma once

#include <memory>
#include <string>

#include "rtl_models/cluster/cluster_twin.h"
#include "tests/twin/cluster_programs.h"
#include "tests/unit/cluster/bench.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::test {

template <class Twin = rtl::ClusterTwin>
std::unique_ptr<sim::Lockstep> lockstep_cluster(const std::string& name, const cluster::ClusterParams& params,
                                                sim::FlitPort port) {
  sim::Shadows shadows;
  const sim::FlitPort mirrored = shadows.mirror("mesh", port);
  auto model = std::make_unique<cluster::MatmulCluster>(name, params, port);
  auto twin = std::make_unique<Twin>(name, params, mirrored);
  return std::make_unique<sim::Lockstep>(name, std::move(shadows), std::move(model), std::move(twin));
}

// All cycles are counted from kOrigin, as in Bench.
template <class Twin = rtl::ClusterTwin>
class LockstepBench {
 public:
  explicit LockstepBench(const cluster::ClusterParams& params = default_params())
      : in_("in", arch::kFlitBits),
        out_("out", arch::kFlitBits),
        pair_(lockstep_cluster<Twin>("cluster", params, {&in_, &out_})),
        far_({&in_, &out_}) {
    engine_.add(in_);
    engine_.add(out_);
    engine_.add(*pair_);
    engine_.add(far_);
    engine_.elaborate();
  }

  void send(Cycle c, const Flit& flit) { far_.send(c + Bench::kOrigin, flit); }
  void run(Cycle cycles) { engine_.run_until(cycles + Bench::kOrigin); }

  sim::Engine& engine() { return engine_; }
  sim::Lockstep& pair() { return *pair_; }
  cluster::MatmulCluster& model() { return dynamic_cast<cluster::MatmulCluster&>(pair_->model()); }
  FarEnd& far() { return far_; }

 private:
  sim::Engine engine_;
  sim::FlitLink in_, out_;
  std::unique_ptr<sim::Lockstep> pair_;
  FarEnd far_;
};

// What a campaign compared.
struct Compared {
  std::uint64_t cycles = 0, values = 0, flits = 0;
  Compared& operator+=(const Compared& o) {
    cycles += o.cycles;
    values += o.values;
    flits += o.flits;
    return *this;
  }
};

// Answers read requests with random operand words, some of them late; `wild`: of any size.
template <class Twin>
void serve_fills(LockstepBench<Twin>& b, std::mt19937_64& rng, bool wild) {
  b.far().on_flit = [&b, &rng, wild](const FarEnd::Seen& seen) {
    if (seen.flit.type() != FlitType::kMemRdReq) return;
    const unsigned count = std::max(1u, static_cast<unsigned>(seen.flit.bits(192, 8)));
    Cycle at = seen.taken + 1;
    for (unsigned i = 0; i < 4 * count; ++i) {
      at += rng() % 4 == 0 ? rng() % 9 : 0;
      const Flit word = response(seen.flit.txn() + i / 4, i % 4);
      b.far().send(at, wild ? wild_payload(rng, word) : random_operand_flit(rng, word));
    }
  };
}

// One program to the end of `cycles`. Throws LockstepError at the first difference.
template <class Twin = rtl::ClusterTwin>
Compared run_lockstep(const Program& p, Cycle cycles, bool wild = false) {
  LockstepBench<Twin> b(p.params);
  std::mt19937_64 rng(p.seed * 77 + 1);
  b.far().busy = [&p](Cycle c) { return ((c * 2654435761u) >> 7) % 8 < p.busy_per_8; };
  serve_fills(b, rng, wild);
  for (const auto& [at, flit] : p.script) b.send(at, flit);
  b.run(cycles);
  b.pair().require_compared();
  return {b.pair().compared_cycles(), b.pair().compared_values(), b.far().seen.size()};
}

}  // namespace ktpu::test
