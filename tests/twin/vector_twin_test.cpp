// SPDX-License-Identifier: Apache-2.0
// The vector core's RTL in lock-step with the model.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/random_vector_kernel.h"
#include "tests/support/wild_vector_kernel.h"
#include "tests/twin/vector_bench.h"
#include "tests/unit/vector/kernel_bench.h"

namespace ktpu::test {
namespace {

std::uint64_t base_seed() {
  const char* given = std::getenv("KTPU_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 20261201;
}
unsigned runs(unsigned few) { return std::getenv("KTPU_LONG") != nullptr ? 50 * few : few; }

// Something that a core told of its inside.
struct Told {
  enum class What : std::uint8_t { kRun, kExecute, kDone };
  sim::Cycle cycle = 0;
  What what = What::kRun;
  unsigned pc = 0;
  std::uint32_t value = 0;
  bool fault = false, run = false;
  bool operator==(const Told&) const = default;
};

struct Totals final : vector::VectorProbe {
  std::vector<Told> model_told, twin_told;  // since the last add()
  std::uint64_t cycles = 0, values = 0, flits = 0, faults = 0;
  std::array<std::uint64_t, 32> executed{};  // by opcode
  std::array<std::uint64_t, 10> codes{};     // faults
  std::map<arch::QuirkId, std::uint64_t> quirks;

  void on_run(sim::Cycle start, unsigned pc) override { model_told.push_back({start, Told::What::kRun, pc}); }
  void on_execute(sim::Cycle now, unsigned pc, std::uint32_t word) override {
    ++executed[word >> 27];
    model_told.push_back({now, Told::What::kExecute, pc, word});
  }
  void on_done(sim::Cycle now, std::uint32_t result, bool fault, bool run) override {
    if (fault) ++codes.at(result);
    model_told.push_back({now, Told::What::kDone, 0, result, fault, run});
  }
  void listen(VectorBench& bench) {
    bench.model().set_probe(this);
    bench.twin().observe([this](sim::Cycle now, const rtl::VectorEvents& e) {
      if (e.start) twin_told.push_back({now + 1, Told::What::kRun, e.pc});
      if (e.execute) twin_told.push_back({now, Told::What::kExecute, e.pc, e.word});
      if (e.done) twin_told.push_back({now, Told::What::kDone, 0, e.result, e.fault, e.run});
    });
  }
  void add(VectorBench& bench) {
    EXPECT_FALSE(model_told.empty());
    EXPECT_EQ(model_told.size(), twin_told.size());
    EXPECT_TRUE(model_told == twin_told) << "model and RTL tell different things of their inside";
    model_told.clear();
    twin_told.clear();
    for (const noc::QuirkHits& hits : bench.model().quirk_hits()) quirks[hits.id] += hits.count;
    bench.pair().require_compared();
    cycles += bench.pair().compared_cycles();
    values += bench.pair().compared_values();
    flits += bench.sent();
    faults += bench.faults();
  }
  void print(std::uint64_t seed) const {
    std::printf("seed %llu: %llu cycles, %llu values, %llu flits sent, %llu faults, no mismatch\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(cycles),
                static_cast<unsigned long long>(values), static_cast<unsigned long long>(flits),
                static_cast<unsigned long long>(faults));
    for (unsigned op = 0; op < executed.size(); ++op)
      std::printf("%s %llu%s", std::string(arch::kVectorOpcodes[op].name).c_str(),
                  static_cast<unsigned long long>(executed[op]),
                  op + 1 < executed.size() ? ", " : "\nfaults 1 to 9:");
    for (unsigned code = 1; code < codes.size(); ++code)
      std::printf(" %llu", static_cast<unsigned long long>(codes[code]));
    std::printf("\nquirks:");
    for (const auto& [id, count] : quirks)
      std::printf(" %s %llu", std::string(arch::kQuirks[static_cast<std::size_t>(id)].name).c_str(),
                  static_cast<unsigned long long>(count));
    std::printf("\n");
  }
};

void walk(VectorBench& bench, unsigned ad, std::uint64_t base, std::int64_t stride, unsigned bound) {
  bench.descriptor(ad, 0, base);
  bench.descriptor(ad, 1, (static_cast<std::uint64_t>(stride) & 0x3FFFF) << 16 | bound);
}

// All registers to memory: vectors as FP16 and FP32, then predicates and scalars as vectors.
Kernel dump() {
  Kernel k;
  k.mode(VectorMode::kFlat);
  VectorWord w = word(VectorOpcode::kVseti);
  for (unsigned s = 0; s < 15; ++s) k.spread(0, s).store(0, 5, 2).drain(6, 0);  // through v0
  k.drain(6, 0);
  k.seti(15, 128).setvl(15);
  for (unsigned r = 1; r < 16; ++r) k.store(r, 5, 2).drain(6, 0).store(r, 5, 1).drain(6, 0);
  for (unsigned p = 0; p < 4; ++p) {
    w = Kernel::arithmetic(VectorOpcode::kVmov, 1, 1);
    w.sa = kK;
    k.add(w);
    w.pm = 1;
    w.pr = p;
    k.add(w).store(1, 5).drain(6, 0);
  }
  k.halt();
  return k;
}

TEST(VectorTwin, FirstKernel) {
  VectorBench bench({VectorBench::core_params(true)});
  Kernel k;
  k.length(64).fill(0, 0).bar().load(0, 1).op(VectorOpcode::kVadd, 1, 0, 0, 0).store(1, 2).drain(3, 4).halt();
  for (unsigned i = 0; i < 4; ++i) bench.memory[0x1000 / 32 + i] = halves(16 * i);
  walk(bench, 0, 0x1000, 32, 4);
  walk(bench, 1, 0, 1, 4);
  walk(bench, 2, 4, 1, 4);
  walk(bench, 3, 0x2000, 32, 4);
  bench.imem(0, k.words);
  bench.start(0);
  ASSERT_TRUE(bench.settle(10'000));
  EXPECT_EQ(bench.memory[0x2000 / 32][0], 0x4600'4400'4000'0000u);  // 0 2 4 6
  bench.pair().require_compared();
}

VectorBench::Params params_of(std::uint64_t seed, bool quirks) {
  std::mt19937_64 random(seed);
  VectorBench::Params params;
  params.core = VectorBench::core_params(quirks);
  params.seed = seed;
  params.busy_percent = seed % 3 == 0 ? 0 : static_cast<unsigned>(random() % 70);
  params.memory_latency = 1 + static_cast<unsigned>(random() % 20);
  params.memory_spread = seed % 2 ? 40 : 0;
  if (seed % 5 == 0) params.core.l1_words = 256;
  if (seed % 7 == 0) params.core.inst_depth = 4;
  if (seed % 7 == 0) params.core.recv_depth = 3;
  return params;
}

// Kernels that mean something: the model equals a straight-line interpreter on the same ones.
TEST(VectorTwin, RandomKernels) {
  const std::uint64_t seed = base_seed();
  Totals totals;
  for (unsigned i = 0; i < runs(60); ++i)
    for (const bool quirks : {true, false}) {
      SCOPED_TRACE(seed + i);
      RandomVectorKernel g(seed + i);
      g.make();
      VectorBench bench(params_of(seed + i, quirks));
      bench.memory = g.memory;
      bench.imem(0, g.words);
      for (unsigned d = 0; d < 8; ++d) {
        bench.descriptor(d, 0, g.walks[d].base);
        for (unsigned n = 0; n < 4; ++n)
          bench.descriptor(
              d, 1 + n,
              (static_cast<std::uint64_t>(g.walks[d].stride[n]) & 0x3FFFF) << 16 | g.walks[d].bound[n]);
      }
      totals.listen(bench);
      bench.start(0, i % 2);
      ASSERT_TRUE(bench.settle(200'000));
      walk(bench, 5, 0, 1, 256);
      walk(bench, 6, 0x10000, 32, 16);
      bench.imem(0, dump().words);
      bench.start(0);
      ASSERT_TRUE(bench.settle(200'000));
      totals.add(bench);
    }
  totals.print(seed);
}

// Reductions of numbers, of every kind and in any order: in random kernels little but NaN is left to them.
TEST(VectorTwin, Reductions) {
  const std::uint64_t seed = base_seed();
  Totals totals;
  for (unsigned i = 0; i < runs(40); ++i) {
    VectorBench bench(params_of(seed + i, i % 2 != 0));
    auto& random = bench.random();
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (unsigned w = 0; w < 32; ++w)
      for (unsigned h = 0; h < 16; ++h)  // around 1
        bench.memory[0x1000 / 32 + w][h / 4] |=
            std::uint64_t{below(2) << 15 | (12 + below(6)) << 10 | below(1024)} << (16 * (h % 4));
    Kernel k;
    k.length(16 * (1 + below(8))).fill(0, 0).bar();
    for (unsigned r = 0; r < 4; ++r) k.move(VectorOpcode::kVld, r, 1, 1, 8 * r);
    k.mode(VectorMode::kTree);
    for (unsigned s = 0; s < 14; ++s)
      k.reduce(static_cast<ReduceKind>(below(8)), s, below(4), below(4), below(4));
    k.halt();
    walk(bench, 0, 0x1000, 32, 32);
    walk(bench, 1, 0, 1, 8);
    bench.imem(0, k.words);
    totals.listen(bench);
    bench.start(0);
    ASSERT_TRUE(bench.settle(20'000));
    walk(bench, 5, 0, 1, 256);
    walk(bench, 6, 0x10000, 32, 16);
    bench.imem(0, dump().words);
    bench.start(0);
    ASSERT_TRUE(bench.settle(200'000));
    totals.add(bench);
  }
  totals.print(seed);
}

TEST(VectorTwin, WildKernels) {
  const std::uint64_t seed = base_seed();
  Totals totals;
  unsigned hung = 0, runs_of = 0;
  for (unsigned i = 0; i < runs(40); ++i)
    for (const bool quirks : {true, false}) {
      VectorBench bench(params_of(seed + i, quirks));
      totals.listen(bench);
      auto& random = bench.random();
      const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
      for (unsigned w = 0; w < 64; ++w)
        for (auto& part : bench.memory[0x1000 / 32 + w]) part = random();
      try {
        bool rest = true;
        for (unsigned k = 0; k < 12 && rest; ++k) {
          for (unsigned d = 0; d < 8; ++d) {
            if (below(3) == 0) continue;
            bench.descriptor(d, 0, below(8) == 0 ? random() & 0xFFFFFFFFFF : 0x1000 + 32 * below(64));
            const bool is_long = below(60) == 0;
            for (unsigned n = 0; n < 4; ++n)
              bench.descriptor(
                  d, 1 + n,
                  (below(3) == 0 ? random() & 0x3FFFF0000 : (std::uint64_t{32} * below(4)) << 16) |
                      (is_long ? below(500)
                       : n < 2 ? below(6)
                               : below(3)));
            if (below(10) == 0) bench.descriptor(d, 5 + below(3), random() & 0xFFFFFFFFFF);
          }
          WildVectorKernel wild(random);
          bench.imem(8 * k, wild.make());
          bench.start(8 * k, below(4) == 0);
          for (unsigned n = below(8); n != 0; --n) {
            switch (below(4)) {
              case 0:
                bench.control(below(6), below(256));
                break;
              case 1:
                bench.burst({static_cast<std::uint8_t>(below(16)), 2}, below(12) == 0,
                            below(10) == 0 ? below(600) : below(200), 1 + below(30), below(2),
                            below(2) ? arch::Coord{} : arch::Coord{5, 6}, below(15) == 0);
                break;
              case 2:
                bench.offer(
                    arch::make_flit(VectorBench::kNode, VectorBench::kPort,
                                    below(300) == 0 ? arch::FlitType::kMemRdResp : arch::FlitType::kMemWrAck,
                                    below(256), true),
                    below(200));
                break;
              default: {
                arch::VectorInst inst;
                inst.op = 4 + below(12);
                bench.offer_inst(inst, below(256), below(2));
              }
            }
          }
          rest = bench.settle(60'000);
          runs_of += rest;
        }
        if (rest) {
          walk(bench, 5, 0, 1, 256);
          walk(bench, 6, 0x10000, 32, 16);
          bench.imem(0, dump().words);
          bench.start(0);
          bench.settle(200'000);
        }
        hung += !rest;
        totals.add(bench);
      } catch (const std::exception& e) {
        FAIL() << "seed " << seed + i << " quirks " << quirks << ": " << e.what();
      }
    }
  std::printf("%u kernels, %u runs hung (V9, or responses nobody asked for)\n", runs_of, hung);
  totals.print(seed);
}

// The twin alone sleeps when nothing moves; nobody else may notice.
TEST(VectorTwin, AloneAsTheModel) {
  const std::uint64_t seed = base_seed();
  std::size_t flits = 0;
  for (unsigned i = 0; i < runs(10); ++i) {
    RandomVectorKernel g(seed + i);
    g.make();
    std::array<std::vector<VectorBench::Event>, 2> sent;
    for (const bool twin : {false, true}) {
      VectorBench::Params params = params_of(seed + i, true);
      params.unit = twin ? VectorBench::Unit::kTwin : VectorBench::Unit::kModel;
      VectorBench bench(params);
      bench.memory = g.memory;
      bench.imem(0, g.words);
      for (unsigned d = 0; d < 8; ++d)
        walk(bench, d, g.walks[d].base, g.walks[d].stride[0], g.walks[d].bound[0]);
      for (unsigned n = 0; n < 4; ++n) {
        bench.start(0);
        bench.settle(100'000);
        bench.pause(1 + 37 * n);
      }
      sent[twin] = bench.events();
    }
    ASSERT_EQ(sent[0].size(), sent[1].size()) << "seed " << seed + i;
    for (std::size_t k = 0; k < sent[0].size(); ++k) {
      ASSERT_EQ(sent[0][k].cycle, sent[1][k].cycle) << "seed " << seed + i << ", flit " << k;
      ASSERT_EQ(sent[0][k].flit, sent[1][k].flit) << "seed " << seed + i << ", flit " << k;
    }
    flits += sent[0].size();
  }
  std::printf("seed %llu: %zu flits\n", static_cast<unsigned long long>(seed), flits);
}

}  // namespace
}  // namespace ktpu::test
