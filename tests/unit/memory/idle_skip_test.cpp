// SPDX-License-Identifier: Apache-2.0
// Sleeping must change nothing: random traffic with idle skip on and off gives the same flits, bus events and
// state in the same cycles; and every byte read is a byte written.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/memory/bench.h"
#include "tlm/memory/banked_dram.h"

namespace ktpu::memory::test {
namespace {

// Everything an archive sees, as one number.
class Digest final : public sim::Archive {
 public:
  std::uint64_t value = 0xcbf29ce484222325ull;

 private:
  void bytes(const void* data, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      value = (value ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3ull;
  }
  void on_value(std::string_view name, void* data, std::size_t n, const sim::ValueInfo&) override {
    bytes(name.data(), name.size());
    bytes(data, n);
  }
  void on_computed(std::string_view, std::uint64_t v, const sim::ValueInfo&) override { bytes(&v, 8); }
  void on_memory(std::string_view, void* data, std::size_t size, std::size_t count) override {
    bytes(data, size * count);
  }
  void on_enter(std::string_view name) override { bytes(name.data(), name.size()); }
  void on_leave() override {}
};

struct Outcome {
  std::vector<Seen> accepted[2], taken[2], shown[2];
  std::vector<BusLog::Event> ar, r, aw, w, b;
  std::vector<std::uint64_t> digests;
  std::uint64_t skipped = 0;
  bool idle = false;
};

Outcome run(unsigned seed, bool idle_skip) {
  std::mt19937 random(seed);
  const auto pick = [&](unsigned lo, unsigned hi) {
    return lo + static_cast<unsigned>(random() % (hi - lo + 1));
  };
  BenchConfig config;
  config.bus_bits = 256u << pick(0, 2);
  config.agent = {{{0, 1}, {0, 2}}, 0, pick(0, 1) == 1, pick(0, 1) == 1 ? 1 : pick(1, 20)};
  config.agent.staging = static_cast<StagingPlacement>(pick(0, 2));
  config.dram.first_read_beat = pick(1, 3) == 1 ? pick(1, 120) : pick(1, 3);
  config.dram.first_write_beat = pick(1, 12);
  config.dram.write_response = pick(1, 30);
  for (unsigned i = pick(0, 3); i-- > 0;) config.dram.read_gaps.push_back(pick(0, 3));
  for (unsigned i = pick(0, 3); i-- > 0;) config.dram.write_gaps.push_back(pick(0, 3));
  const bool banked = pick(0, 3) == 0;
  BankedDramParams params;
  params.bytes_per_cycle = pick(8, 100);
  params.reads_outstanding = pick(1, 8);
  Bench bench(config, [&](SparseMemory& memory) -> std::unique_ptr<DramDevice> {
    if (banked) return std::make_unique<BankedDram>(memory, params, config.bus_bits);
    return std::make_unique<SimpleDram>(memory, config.dram, config.bus_bits);
  });
  fill_words(bench.memory, 0, 4096);
  // With staging memory, some accesses go there and some to an aperture that is dropped.
  const auto address = [&](unsigned lo, unsigned hi) {
    const std::uint64_t local = 32ull * pick(lo, hi);
    if (config.agent.staging == StagingPlacement::kNone) return local;
    switch (pick(0, 4)) {
      case 0:
        return local;
      case 1:
        return 0x81'0000'0000 + local;
      default:
        return 0x80'0000'0000 + local;
    }
  };
  for (unsigned p : {0u, 1u}) {
    const unsigned period = pick(1, 9), duty = pick(0, period - 1);
    if (duty != 0) bench.receiver(p).busy = [=](Cycle now) { return now % period < duty; };
    const Coord port{0, static_cast<std::uint8_t>(1 + p)};
    Cycle at = 0;
    for (unsigned i = 0; i < 40; ++i) {
      at += pick(0, 2) == 0 ? pick(0, 400) : pick(0, 3);
      const Coord src{static_cast<std::uint8_t>(pick(1, 3)), static_cast<std::uint8_t>(pick(1, 3))};
      switch (pick(0, 4)) {
        case 0:
          bench.sender(p).send(
              at, read_request(raw_entries(address(0, 900), pick(1, 6), pick(0, 5)), src, i, port));
          break;
        case 1:
          bench.sender(p).send(
              at, read_request(quant_entries(address(0, 900), pick(1, 6), pick(0, 1)), src, i, port));
          break;
        case 2:
          bench.sender(p).send(at, read_request(plain_read(address(0, 900), pick(1, 9)), src, i, port));
          break;
        default: {
          const unsigned n = pick(1, 8);
          bench.sender(p).send(at, write_request(address(2000, 4000), n, src, i, port));
          for (unsigned k = 0; k < n; ++k)
            bench.sender(p).send(at + k * pick(0, 2), write_data(k, k + 1 == n, src, port));
        }
      }
    }
  }
  bench.engine.set_idle_skip(idle_skip);
  Outcome outcome;
  for (unsigned chunk = 0; chunk < 60; ++chunk) {
    bench.run(1 + 37 * (seed % 5) + 400);
    bench.engine.sync();
    Digest digest;
    bench.agent.visit(digest);
    outcome.digests.push_back(digest.value);
  }
  for (unsigned p : {0u, 1u}) {
    outcome.accepted[p] = bench.sender(p).accepted;
    outcome.taken[p] = bench.receiver(p).taken;
    outcome.shown[p] = bench.receiver(p).first_shown;
    EXPECT_EQ(bench.sender(p).unsent(), 0u);
  }
  outcome.ar = bench.bus.ar;
  outcome.r = bench.bus.r;
  outcome.aw = bench.bus.aw;
  outcome.w = bench.bus.w;
  outcome.b = bench.bus.b;
  outcome.skipped = bench.engine.cycles_skipped();
  outcome.idle = bench.agent.idle();
  return outcome;
}

TEST(Memory_IdleSkip, ChangesNothing) {
  std::uint64_t skipped = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Outcome fast = run(seed, true), slow = run(seed, false);
    for (unsigned p : {0u, 1u}) {
      EXPECT_EQ(fast.accepted[p], slow.accepted[p]);
      EXPECT_EQ(fast.taken[p], slow.taken[p]);
      EXPECT_EQ(fast.shown[p], slow.shown[p]);
    }
    EXPECT_EQ(fast.ar, slow.ar);
    EXPECT_EQ(fast.r, slow.r);
    EXPECT_EQ(fast.aw, slow.aw);
    EXPECT_EQ(fast.w, slow.w);
    EXPECT_EQ(fast.b, slow.b);
    EXPECT_EQ(fast.digests, slow.digests);
    EXPECT_TRUE(fast.idle);
    EXPECT_GT(fast.ar.size(), 2u);
    EXPECT_EQ(slow.skipped, 0u);
    skipped += fast.skipped;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(skipped, 60u * 1000);
}

}  // namespace
}  // namespace ktpu::memory::test
