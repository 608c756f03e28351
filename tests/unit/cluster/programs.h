// SPDX-License-Identifier: Apache-2.0
// Random programs for one cluster, legal and not.
#pragma once

#include <random>

#include "tests/unit/cluster/bench.h"

namespace ktpu::test {

struct Program {
  cluster::ClusterParams params;
  std::vector<std::pair<Cycle, Flit>> script;
  std::uint64_t seed = 0;
  unsigned busy_per_8 = 0;  // eighths of the cycles in which the far end is busy
};

inline Flit random_operand_flit(std::mt19937_64& rng, Flit f) {
  for (unsigned w = 0; w < 4; ++w) f.w[w] = rng();
  // Scales in the middle of the range, so that sums neither vanish nor saturate at once.
  f.w[0] = (f.w[0] & ~0xFFFFFFFFull) | (0xA0A0A0A0u ^ (static_cast<std::uint32_t>(rng()) & 0x1F1F1F1Fu));
  return f;
}

inline Program random_program(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  Program p;
  p.seed = seed;
  p.params = default_params();
  p.params.tiles = 1u << (pick(3) == 0 ? pick(3) : 4 + pick(3));  // 1, 2, 4 or 16, 32, 64
  p.params.l1_a = 1u << (2 + pick(8));
  p.params.l1_b = 1u << (2 + pick(8));
  p.busy_per_8 = pick(2) ? 0 : pick(6);
  const bool legal = pick(2);
  Cycle at = 0;
  const unsigned steps = 4 + pick(14);
  ClusterInst last_emit;
  bool batch = false;
  for (unsigned s = 0; s < steps; ++s) {
    at += pick(4) == 0 ? pick(200) : pick(4);
    switch (pick(batch && legal ? 3 : 6)) {
      case 0: {
        ClusterInst f = fill(1 + pick(6), pick(2));
        f.eoff = pick(24);
        f.fbank = pick(2);
        p.script.push_back({at, inst_flit(f, pick(256))});
        break;
      }
      case 1: {  // a stream
        const unsigned buf = legal && pick(4) ? pick(2) : pick(4),
                       len = buf == 2 ? 2 * (1 + pick(8)) : 4 * (1 + pick(4));
        const unsigned offset = buf == 2 ? 2 * pick(8) : 4 * pick(24);
        p.script.push_back({at, data_descriptor(buf, offset, len - 1, pick(2))});
        for (unsigned i = 0; i < len; ++i)
          p.script.push_back({at, random_operand_flit(rng, data_flit(0, i + 1 == len))});
        break;
      }
      case 2:
        if (batch) {
          ClusterInst d = drain(last_emit.eff_gm() * last_emit.eff_gn(), true, last_emit.addr);
          p.script.push_back({at, inst_flit(d, pick(256), pick(2))});
          batch = false;
          break;
        }
        [[fallthrough]];
      case 3: {
        if (legal) at += 100;  // lets the sweep before finish before its tiles are drained by anything else
        p.script.push_back(
            {at, inst_flit(pick(3) ? drain(1 + pick(20)) : drain_to_node(1 + pick(12), pick(3)))});
        break;
      }
      default: {
        ClusterInst g = gemm(1 + pick(5), 1 + pick(5), 1 + pick(4), pick(2), pick(3) == 0);
        g.aoff = pick(24);
        g.boff = pick(24);
        g.abank = pick(2);
        g.bbank = pick(2);
        g.addr = 0x1000 * pick(16);
        if (pick(8) == 0) g.anchor = 36 + pick(8);
        if (g.emit && !g.acc && g.nk == 1) g.acc = 1;
        if (g.emit) {
          if (batch && legal) g.emit = 0;
          last_emit = g;
          batch = g.emit || batch;
        }
        p.script.push_back({at, inst_flit(g, pick(256))});
      }
    }
  }
  if (batch)
    p.script.push_back(
        {at, inst_flit(drain(last_emit.eff_gm() * last_emit.eff_gn(), true, last_emit.addr), 1, true)});
  return p;
}

// The hole of section 9.4 with peer and sweep commands on the same few tiles.
inline Program hole_program(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  Program p;
  p.seed = seed;
  p.params = default_params();
  p.params.tiles = 16;
  for (const unsigned buf : {0u, 1u}) {
    p.script.push_back({0, data_descriptor(buf, 0, 127, false)});
    for (unsigned i = 0; i < 128; ++i)
      p.script.push_back({0, random_operand_flit(rng, data_flit(0, i == 127))});
  }
  p.script.push_back({300, inst_flit(gemm(4, 4, 1))});
  p.script.push_back({400, inst_flit(unknown_op())});
  ClusterInst g = gemm(1 + pick(3), 3 + pick(2), 1 + pick(6), pick(2), pick(2));
  if (g.emit) g.acc = 1;
  p.script.push_back({401, inst_flit(g)});
  // Peer commands from 410, one in 3; sweep commands from 429: the stream's last tiles meet the sweep.
  const unsigned offset = 2 * pick(6), halves = 32 - offset - 2 * pick(4);
  p.script.push_back({403, data_descriptor(2, offset, halves - 1)});
  Cycle at = 403;
  const bool slow = pick(2);
  for (unsigned i = 0; i < halves; ++i) {
    if (slow) at += pick(8);
    p.script.push_back({at, random_operand_flit(rng, data_flit(0, i + 1 == halves))});
  }
  if (!g.emit) p.script.push_back({700, inst_flit(drain(16))});
  return p;
}

}  // namespace ktpu::test
