// SPDX-License-Identifier: Apache-2.0
// fabric.md section 12: random requests, control and passing flits under random back-pressure, against a
// plain array. KTPU_SEED repeats a run.
#include <cstdlib>
#include <random>

#include "tests/unit/noc/adapter_bench.h"

namespace ktpu::noc::test {
namespace {

using B = AdapterBench;
constexpr unsigned kLines = 64;

// A request takes effect in the order of the endpoint's flits, except that a beat may be written while the
// run before it is still being read. So the endpoint waits for the words of a run before it writes again.
void run(std::uint64_t seed, bool idle_skip) {
  std::mt19937_64 random(seed);
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  const std::uint64_t router_seed = random(), unit_seed = random();
  const unsigned router_busy = static_cast<unsigned>(random() % 80),
                 unit_busy = static_cast<unsigned>(random() % 80);
  const auto pattern = [](std::uint64_t key, unsigned percent) {
    return [key, percent](Cycle c) {
      std::uint64_t x = (c + key) * 0x9E3779B97F4A7C15ull;
      x ^= x >> 29;
      x *= 0xBF58476D1CE4E5B9ull;
      return (x >> 40) % 100 < percent;
    };
  };
  B b(kLines, pattern(router_seed, router_busy), pattern(unit_seed, unit_busy));
  b.engine.set_idle_skip(idle_skip);
  b.router.push(0, B::control(arch::kCtrlWrite, 0xE1, B::kBase));
  b.router.push(100, B::control(arch::kCtrlWrite, 0xE2, 1));
  b.engine.run_until(200);
  ASSERT_TRUE(b.adapter.window().enabled);

  std::array<std::uint64_t, kLines> plain{};
  std::vector<Flit> up{}, down{},
      answers{};  // expected, in order: passed to the router, to the unit; own answers
  unsigned serial = 0;
  for (unsigned step = 0; step < 60; ++step) {
    const Cycle at = b.engine.now() + random() % 4;
    for (unsigned n = static_cast<unsigned>(random() % 4); n != 0; --n) {
      down.push_back(B::passing(++serial));
      b.router.push(at, down.back());
    }
    const unsigned line = static_cast<unsigned>(random() % kLines);
    const auto txn = static_cast<unsigned>(random() % 256);
    if (chance(40)) {
      const auto words = static_cast<unsigned>(1 + random() % 8);
      const bool served = line + words < kLines;
      std::vector<Flit> burst{B::write(line, words, txn)};
      for (unsigned i = 0; i < words; ++i) burst.push_back(B::beat(random(), i + 1 == words));
      for (const Flit& flit : burst) {
        b.unit.push(at, flit);
        if (!served) up.push_back(flit);
      }
      if (served) {
        for (unsigned i = 0; i < words; ++i) plain[line + i] = burst[i + 1].w[0];
        answers.push_back(arch::make_flit(B::kUnit, B::kPort, FlitType::kMemWrAck, txn, true));
      }
    } else if (chance(60)) {
      const bool stream = chance(50);
      const auto entry = static_cast<unsigned>(random() % 6);  // 0 and 5 mean 4
      const unsigned words = entry == 0 || entry == 5 ? 4 : entry;
      const auto count = static_cast<unsigned>(random() % 8);
      const auto length = static_cast<unsigned>(1 + random() % 24);
      const Flit request = stream ? B::stream(line, count, entry, txn) : B::read(line, length, txn);
      b.unit.push(at, request);
      const unsigned priced = stream ? count * (words == 3 ? 4 : words) : length;
      if (line + priced >= kLines || (stream && count == 0)) {
        up.push_back(request);
      } else {
        const unsigned all = stream ? count * words : length;
        for (unsigned i = 0; i < all; ++i) {
          const unsigned word = stream ? i % words : 0;
          Flit answer = arch::make_flit(B::kUnit, B::kPort, FlitType::kMemRdResp,
                                        stream ? (txn + i / words) & 255 : txn,
                                        stream ? word + 1 == words : i + 1 == all, word);
          answer.w[0] = plain[line + i];
          if (plain[line + i] != 0) answer.w[3] = ~plain[line + i];
          answers.push_back(answer);
        }
      }
    } else {
      up.push_back(B::passing(++serial, FlitType::kCuSignal));
      b.unit.push(at, up.back());
    }
    if (chance(20)) b.router.push(at, B::control(0, 0xE0));
    const auto done = [&] {
      return b.unit.done() && b.router.done() && b.counter("answers") == answers.size() &&
             b.counter("valid") == 0;
    };
    for (unsigned n = 0; n < 2000 && (!done() || chance(50)); ++n) b.engine.run_until(b.engine.now() + 1);
    ASSERT_TRUE(done()) << "step " << step << ": something stands still";
  }
  b.engine.run_until(b.engine.now() + 100);

  std::vector<Flit> got_up, got_down, got_answers;
  for (const Crossed& c : b.at_router.taken)
    if (c.flit.type() != FlitType::kCuCtrl) got_up.push_back(c.flit);
  for (const Crossed& c : b.at_unit.taken)
    (c.flit.type() == FlitType::kMemRdResp || c.flit.type() == FlitType::kMemWrAck ? got_answers : got_down)
        .push_back(c.flit);
  EXPECT_EQ(got_up, up);
  EXPECT_EQ(got_down, down);
  EXPECT_EQ(got_answers, answers);
}

TEST(Fabric_S12_Property, RandomTrafficAgainstAPlainStore) {
  std::uint64_t first = std::random_device{}();
  unsigned runs = 40;
  if (const char* text = std::getenv("KTPU_SEED")) {
    first = std::stoull(text);
    runs = 1;
  }
  for (unsigned r = 0; r < runs; ++r) {
    SCOPED_TRACE(::testing::Message() << "KTPU_SEED=" << first + r);
    run(first + r, r % 2 == 0);
    if (::testing::Test::HasFailure()) return;
  }
}

// Sleeping changes nothing: the same flits in the same cycles.
TEST(Fabric_S12_Property, SleepingChangesNothing) {
  std::array<std::vector<std::pair<Cycle, std::string>>, 2> seen;
  for (const bool skip : {false, true}) {
    B b(
        64, [](Cycle c) { return c % 7 < 3; }, [](Cycle c) { return c % 5 < 3; });
    b.engine.set_idle_skip(skip);
    b.router.push(0, B::control(arch::kCtrlWrite, 0xE1, B::kBase));
    b.router.push(20, B::control(arch::kCtrlWrite, 0xE2, 1));
    b.fill(40, 0, 8, 1);
    b.unit.push(60, B::read(0, 30));
    b.unit.push(200, B::stream(1, 3, 2));
    for (unsigned i = 0; i < 12; ++i) b.router.push(50 + 9 * i, B::passing(i));
    b.router.push(300, B::control(0, 0xE3));
    b.engine.run_until(400);
    for (const Taker* taker : {&b.at_unit, &b.at_router})
      for (const Crossed& c : taker->taken) seen[skip].emplace_back(c.cycle, arch::to_hex(c.flit));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_GT(seen[0].size(), 50u);
}

}  // namespace
}  // namespace ktpu::noc::test
