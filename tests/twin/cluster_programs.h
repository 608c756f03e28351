// SPDX-License-Identifier: Apache-2.0
// Programs for the lock-step of the cluster that go where the model's own tests do not: every field of every
// instruction, every flit type, control reads, full queues, long blocked outputs.
#pragma once

#include "tests/unit/cluster/programs.h"

namespace ktpu::test {

// Operands without any care for the size of what comes out: all scales, -64 among the elements.
inline Flit wild_payload(std::mt19937_64& rng, Flit f) {
  for (unsigned w = 0; w < 4; ++w) f.w[w] = rng();
  if (rng() % 4 == 0) f.w[3] = 0x8102040810204081ull;  // a run of -64
  if (rng() % 6 == 0)
    for (unsigned w = 0; w < 4; ++w) f.w[w] &= rng() & rng();  // many zeros
  return f;
}

inline ClusterInst wild_instruction(std::mt19937_64& rng) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  ClusterInst i;
  switch (pick(8)) {
    case 0:
      i = unknown_op();
      i.op = pick(4) ? 4 + pick(12) : 0;
      break;
    case 1:
    case 2:
      i = fill(pick(12), pick(2), rng() & 0xFFFFFFFFFF);
      i.eoff = pick(4) ? pick(32) : 240 + pick(16);
      i.fbank = pick(2);
      i.preq = pick(2);
      if (pick(6) == 0) {  // shared; the far end answers only what it is asked
        i.npeer = pick(4);
        i.peer0 = 0x30 + pick(16);
        i.peer1 = pick(8) ? 0x40 + pick(16) : pick(256);
        i.peer2 = 0x50 + pick(16);
      }
      break;
    case 3:
    case 4: {
      i = drain(pick(5) ? pick(24) : 60 + pick(120), false, rng() & 0xFFFFFFFFFF);
      break;
    }
    default:
      i = gemm(pick(7), pick(7), pick(5), pick(2), false);
      if (pick(12) == 0) i.gm = 10 + pick(20);
      i.aoff = pick(3) ? pick(32) : pick(256);
      i.boff = pick(3) ? pick(32) : pick(256);
      i.abank = pick(2);
      i.bbank = pick(2);
      i.anchor = pick(3) ? 40 : pick(256);
  }
  return i;
}

inline void wild_destination(std::mt19937_64& rng, ClusterInst& i) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  i.dnode = pick(2);
  i.dst_x = pick(16);
  i.dst_y = pick(16);
  i.dbuf = i.emit ? pick(2) : pick(4);
  i.dflags = pick(256);
  i.dack_x = pick(16);
  i.dack_y = pick(16);
  i.dmesh = pick(4);
  i.dfin = pick(3) ? 0 : pick(256);
}

inline Program wild_program(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  Program p;
  p.seed = seed;
  p.params = default_params();
  p.params.quirks = pick(2);
  if (pick(2)) p.params.tiles = 1u << pick(13);
  if (pick(2)) p.params.l1_a = 1u << pick(10);
  if (pick(2)) p.params.l1_b = 1u << pick(10);
  if (pick(2)) p.params.inst_depth = 1 + pick(6);
  if (pick(2)) p.params.recv_depth = 1 + pick(12);
  p.busy_per_8 = pick(3) ? pick(8) : 0;
  Cycle at = 0;
  const unsigned steps = 10 + pick(40);
  for (unsigned s = 0; s < steps; ++s) {
    at += pick(4) == 0 ? pick(300) : pick(4);
    switch (pick(8)) {
      case 0: {  // a stream, sometimes from two senders
        const unsigned buf = pick(8) ? pick(3) : pick(256), len = 1 + pick(20);
        const unsigned offset = pick(5) ? 2 * pick(40) : pick(65536);
        const Coord from{static_cast<std::uint8_t>(pick(16)), static_cast<std::uint8_t>(pick(16))};
        const Coord ack{static_cast<std::uint8_t>(pick(3)), static_cast<std::uint8_t>(pick(2))};
        p.script.push_back({at, data_descriptor(buf, offset, len - 1, pick(2), from, ack, pick(256))});
        for (unsigned i = 0; i < len; ++i) {
          if (pick(6) == 0) at += pick(20);
          p.script.push_back({at, wild_payload(rng, data_flit(0, i + 1 == len, pick(20) ? from : kAgent))});
        }
        break;
      }
      case 1: {  // control reads, back to back now and then
        for (unsigned n = 1 + pick(3); n != 0; --n) {
          Flit f = arch::make_flit(kCluster, {3, 2}, FlitType::kCuCtrl, pick(256), pick(2));
          f.set(arch::Layout<arch::Ctrl>::fields[1].field, pick(6) ? pick(4) : pick(256));
          p.script.push_back({at, f});
        }
        break;
      }
      case 2: {  // what is dropped
        const unsigned type = pick(2) ? static_cast<unsigned>(FlitType::kMemWrAck) : 9 + pick(7);
        for (unsigned n = 1 + pick(6); n != 0; --n)
          p.script.push_back(
              {at, arch::make_flit(kCluster, kMemory, static_cast<FlitType>(type), pick(256), true)});
        break;
      }
      case 3: {  // an emitting sweep and its drain
        ClusterInst g = gemm(1 + pick(8), 1 + pick(8), 1 + pick(3), true, true);
        if (pick(5) == 0) g.gm = 20 + pick(20);
        g.addr = rng() & 0xFFFFFFFFFF;
        wild_destination(rng, g);
        p.script.push_back({at, inst_flit(g, pick(256), pick(2))});
        ClusterInst d = g;
        d.op = static_cast<unsigned>(ClusterOp::kDrain);
        d.fuse = 1;
        d.n = g.gm * g.gn;
        p.script.push_back({at + pick(3) * pick(200), inst_flit(d, pick(256), pick(2))});
        break;
      }
      default: {
        ClusterInst i = wild_instruction(rng);
        if (i.is(ClusterOp::kDrain)) wild_destination(rng, i);
        p.script.push_back({at, inst_flit(i, pick(256), pick(4) == 0)});
      }
    }
  }
  return p;
}

// Shared fills with every order of node ids, all answered whether this cluster asks or not.
inline Program shared_fill_program(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  Program p;
  p.seed = seed;
  p.params = default_params();
  const unsigned own = kCluster.node_byte();
  ClusterInst f = fill(1, pick(2), rng() & 0xFFFFFFFFFF);
  f.npeer = pick(4);
  const auto id = [&] { return pick(3) == 0 ? own : own - 2 + pick(5); };
  f.peer0 = id();
  f.peer1 = id();
  f.peer2 = id();
  p.script.push_back({0, inst_flit(f, pick(256))});
  for (unsigned w = 0; w < 4; ++w) p.script.push_back({20, wild_payload(rng, response(f.eoff, w))});
  return p;
}

// Sums of ACC values at the edges of the adder: peer streams onto tiles of zero, read back raw and as FP16.
inline Program accumulator_program(std::uint64_t seed) {
  constexpr unsigned kMw = arch::kDefaultAccMw, kTiles = 32;
  std::mt19937_64 rng(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  Program p;
  p.seed = seed;
  p.params = default_params();
  p.script.push_back({0, inst_flit(gemm(4, 8, 1))});  // L1 starts at zero
  Cycle at = 120;
  const unsigned base = pick(3) == 0 ? 100 + pick(27) : 30 + pick(40);
  const auto value = [&] {
    constexpr std::uint32_t kOnes = (1u << kMw) - 1;
    const std::uint32_t r = static_cast<std::uint32_t>(rng()) & kOnes;
    const std::array<std::uint32_t, 5> mantissas{kOnes, 0, kOnes - pick(4), 1u << pick(kMw), r};
    const std::array<unsigned, 4> exponents{base + pick(27), base + pick(3), pick(3), 125 + pick(3)};
    return arch::acc_pack(pick(2), std::min(127u, exponents[pick(12) == 0 ? 2 + pick(2) : pick(2)]),
                          mantissas[pick(5)], kMw);
  };
  for (unsigned round = 0; round < 4; ++round) {
    p.script.push_back({at, data_descriptor(2, 0, 2 * kTiles - 1, false)});
    for (unsigned t = 0; t < kTiles; ++t) {
      arch::SubTile tile;
      for (std::uint32_t& lane : tile.lane) lane = value();
      for (const arch::Word256& granule : arch::pack_granules(tile, kMw))
        p.script.push_back({at, data_flit(granule, false)});
    }
    at += 6 * kTiles;
    p.script.push_back({at, inst_flit(drain_to_node(kTiles, 2))});
    p.script.push_back({at, inst_flit(drain(kTiles))});
    at += 300;
  }
  return p;
}

}  // namespace ktpu::test
