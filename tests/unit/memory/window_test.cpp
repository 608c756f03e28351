// SPDX-License-Identifier: Apache-2.0
// memory.md section 8: the host memory window and its quantising upload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "arch/formats/quantise.h"
#include "tests/unit/memory/bench.h"
#include "tlm/memory/window_bus.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A host that offers addresses from given cycles on and words as fast as they are taken.
class WindowHost final : public sim::Unit {
 public:
  explicit WindowHost(WindowBus& bus) : Unit("host"), bus_(bus) {
    bus.aw.bind_sender(*this);
    bus.ar.bind_sender(*this);
    bus.w.bind_sender(*this);
    bus.r.bind_receiver(*this);
    bus.b.bind_receiver(*this);
  }
  struct Burst {
    Cycle from;
    WindowAddress address;
  };
  std::deque<Burst> writes, reads;
  std::deque<WindowWord> words;
  std::function<bool(Cycle)> slow;  // takes no answers
  std::vector<Cycle> aw, ar, w, b, r;
  std::vector<WindowWord> data;
  std::vector<bool> last;

  void reset(Cycle) override {}
  void drive(Cycle now) override {
    show(bus_.aw, writes, now);
    show(bus_.ar, reads, now);
    if (words.empty())
      bus_.w.withdraw();
    else
      bus_.w.offer({words.front(), false});
    bus_.r.set_busy(slow && slow(now));
    bus_.b.set_busy(slow && slow(now));
  }
  Cycle clock(Cycle now) override {
    if (bus_.aw.valid() && bus_.aw.sample_sent()) aw.push_back(now), writes.pop_front();
    if (bus_.ar.valid() && bus_.ar.sample_sent()) ar.push_back(now), reads.pop_front();
    if (bus_.w.valid() && bus_.w.sample_sent()) w.push_back(now), words.pop_front();
    if (bus_.b.transfers()) b.push_back(now);
    if (bus_.r.transfers()) {
      r.push_back(now);
      data.push_back(bus_.r.data().data);
      last.push_back(bus_.r.data().last);
    }
    return now + 1;
  }

 private:
  static void show(sim::Link<WindowAddress>& link, const std::deque<Burst>& bursts, Cycle now) {
    if (!bursts.empty() && bursts.front().from <= now)
      link.offer(bursts.front().address);
    else
      link.withdraw();
  }
  WindowBus& bus_;
};

struct WindowBench : Bench {
  explicit WindowBench(BenchConfig config = {}) : Bench(config) {
    for (sim::LinkBase* link :
         std::initializer_list<sim::LinkBase*>{&wires.aw, &wires.ar, &wires.w, &wires.r, &wires.b})
      engine.add(*link);
    engine.add(host);
    agent.bind_window(wires);
  }
  void write(Cycle from, std::uint64_t addr, std::uint32_t beats, std::uint64_t seed = 0) {
    host.writes.push_back({from, {addr, beats}});
    for (std::uint32_t i = 0; i < beats; ++i)
      host.words.push_back({seed + 4 * i, seed + 4 * i + 1, seed + 4 * i + 2, seed + 4 * i + 3});
  }
  std::uint64_t word(std::uint64_t addr) {
    std::uint64_t value = 0;
    memory.read(addr, {reinterpret_cast<std::uint8_t*>(&value), 8});
    return value;
  }
  WindowBus wires{"window"};
  WindowHost host{wires};
};

TEST(Memory_8, PlainWrite) {
  WindowBench bench;
  bench.write(10, 0x1000, 4);
  bench.run(100);
  EXPECT_THAT(bench.host.aw, ElementsAre(10));
  // Its address is valid in 11: section 7.3 gives the DRAM bus and the response.
  ASSERT_EQ(bench.bus.aw.size(), 1u);
  EXPECT_EQ(bench.bus.aw[0], (BusLog::Event{21, 1, 0x1000, 4}));  // requester 1: behind the port
  EXPECT_THAT(cycles_of(bench.bus.w), ElementsAre(25, 26, 27, 28));
  EXPECT_THAT(bench.host.b, ElementsAre(11 + 23 + 3 + 1 + 1));  // latched one cycle after the pulse
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(bench.word(0x1000 + 32 * i), 4u * i);
  EXPECT_TRUE(bench.agent.idle());
}

TEST(Memory_8, PlainRead) {
  WindowBench bench;
  fill_words(bench.memory, 0x2000, 3);
  bench.host.reads.push_back({10, {0x2000, 3}});
  bench.run(100);
  EXPECT_EQ(bench.bus.ar.at(0), (BusLog::Event{21, 1, 0x2000, 3}));
  EXPECT_THAT(bench.host.r, ElementsAre(31, 32, 33));  // DRAM beats 22.., inner beats 30..
  EXPECT_THAT(bench.host.last, ElementsAre(false, false, true));
  EXPECT_EQ(bench.host.data.at(2)[0], 8u);
}

TEST(Memory_8, AnswersWaitForTheHost) {
  WindowBench bench;
  fill_words(bench.memory, 0x2000, 5);
  bench.host.slow = [](Cycle now) { return now < 60 || now % 3 != 0; };
  bench.host.reads.push_back({10, {0x2000, 5}});
  bench.write(100, 0x3000, 1);
  bench.run(300);
  EXPECT_THAT(bench.host.r, ElementsAre(60, 63, 66, 69, 72));
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(bench.host.data.at(i)[0], 4u * i);
  ASSERT_EQ(bench.host.b.size(), 1u);
  EXPECT_EQ(bench.host.b[0] % 3, 0u);
}

// One transaction at a time, writes before reads that are offered together.
TEST(Memory_8, WritesWinOverReads) {
  WindowBench bench;
  fill_words(bench.memory, 0x1000, 1, 50);
  bench.host.reads.push_back({10, {0x1000, 1}});
  bench.write(10, 0x1000, 1, 7);
  bench.write(11, 0x1020, 1, 9);
  bench.run(300);
  ASSERT_EQ(bench.host.r.size(), 1u);
  EXPECT_EQ(bench.host.data[0][0], 7u);
  EXPECT_GT(bench.bus.ar.at(0).cycle, bench.host.b.at(0));
  EXPECT_GT(bench.bus.aw.at(1).cycle, bench.host.r[0]);
}

std::vector<std::uint16_t> half_floats(unsigned count) {
  std::vector<std::uint16_t> values(count);
  for (unsigned i = 0; i < count; ++i)
    values[i] = static_cast<std::uint16_t>((i * 37 % 1024) | ((i * 5 % 20 + 5) << 10) | (i % 3 == 0) << 15);
  return values;
}

void upload(WindowBench& bench, Cycle from, std::uint64_t addr, const std::vector<std::uint16_t>& values) {
  const unsigned beats = static_cast<unsigned>(values.size()) / 16;
  bench.host.writes.push_back({from, {addr, beats}});
  for (unsigned i = 0; i < beats; ++i) {
    WindowWord word;
    std::memcpy(word.data(), &values[16 * i], 32);
    bench.host.words.push_back(word);
  }
}

// Per entry: 8 accepted beats, done 9 cycles after the 8th, write address 2 cycles later, 4 data beats, wait
// for the response, next entry.
TEST(Memory_8, UploadTiming) {
  WindowBench bench;
  upload(bench, 10, 0x84'0000'1000, half_floats(256));
  bench.run(300);
  std::vector<Cycle> taken;
  Cycle begin = 11;  // the cycle after the address
  for (unsigned entry = 0; entry < 2; ++entry) {
    for (unsigned i = 0; i < 8; ++i) taken.push_back(begin + i);
    const Cycle address = begin + 7 + 9 + 2;
    EXPECT_EQ(bench.bus.aw.at(entry), (BusLog::Event{address + 10, 1, 0x1000u + 128 * entry, 4}));
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(bench.bus.w.at(4 * entry + i).cycle, address + 14 + i);
    begin = address + 23 + 3 + 1 + 1;  // after the response
  }
  EXPECT_EQ(bench.host.w, taken);
  EXPECT_THAT(bench.host.b, ElementsAre(begin));
}

// Section 3: aperture 0x4 packs as A, 0x5 as B; the destination is the mesh bits and the low 32.
TEST(Memory_8, UploadQuantises) {
  const auto values = half_floats(3 * 128);
  for (const auto side : {arch::Side::kA, arch::Side::kB}) {
    WindowBench bench;
    upload(bench, 10, side == arch::Side::kA ? 0x84'0000'1000 : 0x85'0000'1000, values);
    bench.run(500);
    for (unsigned e = 0; e < 3; ++e) {
      const auto entry = arch::quantise_entry(std::span<const std::uint16_t, 128>(&values[128 * e], 128));
      for (unsigned w = 0; w < 4; ++w) {
        const auto want = arch::operand_word(side, w, entry);
        WindowWord got;
        bench.memory.read(0x1000 + 128 * e + 32 * w, {reinterpret_cast<std::uint8_t*>(got.data()), 32});
        for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(got[i], want[i]) << e << " " << w;
      }
    }
    EXPECT_EQ(bench.agent.misuse().total(), 0u);
  }
  BenchConfig mesh2;
  mesh2.agent.mesh_id = 2;
  WindowBench bench(mesh2);
  upload(bench, 10, 0xA4'0000'1000, half_floats(128));
  bench.run(300);
  EXPECT_EQ(bench.bus.aw.at(0).addr, 0x20'0000'1000u);
  EXPECT_EQ(bench.agent.misuse().total(), 0u);
}

// Section 12: upload not a multiple of 8 beats, the window is stuck and says why.
TEST(Memory_12, UploadThatIsNoWholeNumberOfEntriesHangs) {
  WindowBench bench;
  upload(bench, 10, 0x84'0000'1000, half_floats(16 * 10));
  bench.run(1000);
  EXPECT_EQ(bench.host.w.size(), 10u);
  EXPECT_TRUE(bench.host.b.empty());
  EXPECT_FALSE(bench.agent.idle());
  std::string text;
  for (const sim::Wait& wait : bench.agent.waits(1000)) text += wait.what + "\n";
  EXPECT_THAT(text, HasSubstr("upload of 10 beats at 0x8400001000 has 2 of the 8 beats of its last entry"));
}

// Only writes are quantised: an upload aperture read goes to DRAM as it is, and is reported.
TEST(Memory_8, OtherAperturesGoOut) {
  WindowBench bench;
  bench.host.reads.push_back({10, {0x84'0000'0000, 1}});
  bench.run(100);
  EXPECT_EQ(bench.bus.ar.at(0).addr, 0x84'0000'0000u);
  EXPECT_EQ(bench.agent.misuse().kept().at(0).kind, MisuseKind::kAperture);
}

TEST(Memory_8, ReachesConvergedStaging) {
  BenchConfig config;
  config.agent.staging = StagingPlacement::kConverged;
  WindowBench bench(config);
  bench.write(10, 0x80'0000'0080, 4);
  bench.host.reads.push_back({60, {0x80'0000'00A0, 2}});
  bench.run(200);
  EXPECT_THAT(bench.host.b, ElementsAre(11 + 2 + 3 + 1 + 1));  // section 7.2
  EXPECT_THAT(bench.host.r, ElementsAre(61 + 7 + 1, 61 + 13 + 1));
  EXPECT_EQ(bench.host.data.at(1)[0], 8u);
  EXPECT_TRUE(bench.bus.aw.empty());
}

// A window that nobody uses costs nobody a cycle; sleeping changes nothing.
TEST(Memory_8, IdleSkipChangesNothing) {
  std::vector<Cycle> events[2];
  for (const bool skip : {false, true}) {
    WindowBench bench;
    bench.engine.set_idle_skip(skip);
    upload(bench, 10, 0x85'0000'1000, half_floats(256));
    bench.write(20, 0x3000, 20);
    bench.host.reads.push_back({15, {0x3000, 9}});
    bench.sender().send(30, read_request(raw_entries(0x1000, 4, 4)));
    bench.run(1000);
    for (const auto* list : {&bench.host.aw, &bench.host.ar, &bench.host.w, &bench.host.b, &bench.host.r})
      events[skip].insert(events[skip].end(), list->begin(), list->end());
    const auto out = bench.out_cycles();
    events[skip].insert(events[skip].end(), out.begin(), out.end());
  }
  EXPECT_EQ(events[0], events[1]);
  EXPECT_EQ(events[0].size(), 2u + 1 + 36 + 2 + 9 + 16);
}

}  // namespace
}  // namespace ktpu::memory::test
