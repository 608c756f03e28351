// SPDX-License-Identifier: Apache-2.0
// memory.md section 10.4 and the registers of 10.1: cycles of the mover.
#include <gtest/gtest.h>

#include "tests/unit/memory/mover_bench.h"

namespace ktpu::memory::test {
namespace {

// Section 10.4: where the cycles of a copy of n contiguous words go. One run of each kind, so every element
// is one cycle of walking, behind two on the way through the stages.
TEST(Memory_S10_4_Cycles, ACopyOfOneRun) {
  for (const unsigned n : {1u, 7u, 64u}) {
    MoverBench bench;
    Control control{};
    control.coalesce = true;
    bench.start(10, copy_of(0x1000, 0x8000, n), control);
    bench.finish();
    bench.engine.sync();
    CounterArchive counters(bench.agent);
    EXPECT_EQ(counters.at("mover.issue.cycles.walking"), n + 2);
    EXPECT_EQ(counters.at("mover.issue.cycles.request") + counters.at("mover.issue.cycles.command") +
                  counters.at("mover.issue.cycles.data"),
              0u);
    EXPECT_EQ(counters.at("mover.issue.cycles.step"), 4u);  // start, two closes, end
    EXPECT_EQ(bench.engine.now() - counters.at("mover.issue.cycles.idle"),
              counters.at("mover.issue.busy_cycles"));
    EXPECT_EQ(counters.at("mover.writer.cycles.moving"), n);
    EXPECT_GT(counters.at("mover.writer.cycles.data"), 0u);
    EXPECT_GT(counters.at("mover.writer.cycles.answer"), 0u);
  }
}

constexpr std::uint64_t kSource = 0x1000, kDestination = 0x80000;

struct Result {
  std::vector<BusLog::Event> reads, writes;  // bursts
  std::vector<Cycle> read_beats, write_beats;
  Cycle first_read = 0;
  // From the first read beat.
  Cycle first() const { return write_beats.front() - read_beats.front(); }
  Cycle last() const { return write_beats.back() - read_beats.front(); }
};

Result run_move(const Writes& writes, const Control& control) {
  MoverBench bench;
  fill_words(bench.memory, kSource, 1024, 7);
  bench.start(10, writes, control);
  bench.finish();
  EXPECT_EQ(bench.moves(), 1u);
  EXPECT_EQ(bench.fault(), 0u);
  return {bench.bus.ar, bench.bus.aw, cycles_of(bench.bus.r), cycles_of(bench.bus.w)};
}

struct Row {
  const char* op;
  unsigned rows, cols;
  bool coalesce;
  std::size_t reads, writes;
  Cycle last, first;
};

TEST(Memory_S10_4_Timing, SharedRows) {
  for (const Row& row : std::vector<Row>{{"copy", 1, 1, false, 1, 1, 26, 26},
                                         {"copy", 1, 16, false, 1, 16, 131, 26},
                                         {"copy", 1, 128, false, 1, 128, 915, 26},
                                         {"copy", 1, 128, true, 1, 1, 278, 151},
                                         {"copy", 1, 512, true, 4, 4, 719, 152},
                                         {"transpose", 4, 4, false, 1, 16, 131, 26},
                                         {"transpose", 16, 8, false, 1, 128, 915, 26},
                                         {"transpose", 16, 16, true, 3, 256, 1937, 152}}) {
    SCOPED_TRACE(fmt::format("{} {}x{} coalesce {}", row.op, row.rows, row.cols, row.coalesce));
    const bool copy = std::string(row.op) == "copy";
    const Result r = run_move(copy ? copy_of(kSource, kDestination, row.cols)
                                   : transpose_of(kSource, kDestination, row.rows, row.cols),
                              {.coalesce = row.coalesce});
    EXPECT_EQ(r.reads.size(), row.reads);
    EXPECT_EQ(r.writes.size(), row.writes);
    EXPECT_EQ(r.last(), row.last);
    EXPECT_EQ(r.first(), row.first);
  }
}

// "Consequences", no coalescing, one read run: n <= 128 words of one page.
TEST(Memory_S10_4_Consequences, NoCoalescingOneRun) {
  for (const unsigned n : {1u, 2u, 3u, 7u, 31u, 64u, 127u, 128u}) {
    SCOPED_TRACE(n);
    const Result r = run_move(copy_of(kSource, kDestination, n), {});
    EXPECT_EQ(r.first(), 26u);
    EXPECT_EQ(r.last(), 26 + 7 * (n - 1));
  }
}

TEST(Memory_S10_4_Consequences, CoalescingOneRun) {
  for (const unsigned n : {3u, 4u, 7u, 31u, 64u, 127u, 128u}) {
    SCOPED_TRACE(n);
    const Result r = run_move(copy_of(kSource, kDestination, n), {.coalesce = true});
    EXPECT_EQ(r.first(), 23 + n);
    EXPECT_EQ(r.last(), 22 + 2 * n);
  }
  // Shorter ones: the data FIFO shows its first word three cycles after it arrived.
  for (const unsigned n : {1u, 2u})
    EXPECT_EQ(run_move(copy_of(kSource, kDestination, n), {.coalesce = true}).first(), 26u);
}

// More than one read run: b_(i+1) = r_i + 12 and first write r_1 + 17, coalesced or not.
TEST(Memory_S10_4_Consequences, SeveralRuns) {
  for (const unsigned code : {0u, 3u, 4u, 6u, 7u}) {  // caps 128, 4, 8, 32, 64
    const Cycle cap = code == 0 ? 128 : 1u << (code - 1);
    for (const bool coalesce : {false, true}) {
      // With a small cap word by word, writes start before the second read is presented.
      if (!coalesce && cap < 128) continue;
      SCOPED_TRACE(fmt::format("cap {} coalesce {}", cap, coalesce));
      const unsigned runs = 2, words = static_cast<unsigned>(runs * cap);
      const Result r =
          run_move(copy_of(kSource, kDestination, words), {.coalesce = coalesce, .cap_code = code});
      if (coalesce) {  // else the second run starves and is flushed
        ASSERT_EQ(r.reads.size(), runs);
      }
      const Cycle r1 = cap - 1 + 8;
      EXPECT_EQ(r.read_beats[cap] - r.read_beats[0], r1 + 12);
      EXPECT_EQ(r.first(), r1 + 17);
      if (coalesce) {
        // Nothing waits behind the second burst.
        EXPECT_EQ(r.write_beats[cap] - r.read_beats[0], r1 + 12 + cap - 1 + 8 + 16);
      }
    }
  }
}

TEST(Memory_S10_4_Worked, CoalescedCopyOf512And256) {
  const Result r = run_move(copy_of(kSource, kDestination, 512), {.coalesce = true});
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(r.read_beats[128 * i] - r.read_beats[0], (std::array<Cycle, 4>{0, 147, 294, 441})[i]);
    EXPECT_EQ(r.write_beats[128 * i] - r.read_beats[0], (std::array<Cycle, 4>{152, 299, 446, 592})[i]);
  }
  EXPECT_EQ(r.last(), 719u);
  const Result s = run_move(copy_of(kSource, kDestination, 256), {.coalesce = true});
  EXPECT_EQ(s.read_beats[128] - s.read_beats[0], 147u);
  EXPECT_EQ(s.first(), 152u);
  EXPECT_EQ(s.write_beats[128] - s.read_beats[0], 298u);
  EXPECT_EQ(s.last(), 425u);
}

TEST(Memory_S10_4_Worked, TransposeOf16By16) {
  const Result r = run_move(transpose_of(kSource, kDestination, 16, 16), {.coalesce = true});
  ASSERT_EQ(r.reads.size(), 3u);
  EXPECT_EQ(r.reads[0].beats, 128u);
  EXPECT_EQ(r.reads[1].beats, 4u);
  EXPECT_EQ(r.reads[2].beats, 124u);
  EXPECT_EQ(r.reads[2].addr, kSource + 32 * 132);
  EXPECT_EQ(r.reads[2].cycle - r.read_beats[0], 1019u);
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(r.write_beats[i] - r.read_beats[0], 152 + 7 * i);
}

TEST(Memory_S10_4_Run, NeverLeavesItsPageNorExceedsTheCap) {
  // From word 120 of a page: 8 words, then whole runs of the cap.
  const Result r =
      run_move(copy_of(kSource + 32 * 120, kDestination + 32 * 100, 100), {.coalesce = true, .cap_code = 6});
  std::vector<std::uint32_t> reads, writes;
  for (const auto& b : r.reads) reads.push_back(b.beats);
  for (const auto& b : r.writes) writes.push_back(b.beats);
  EXPECT_EQ(reads, (std::vector<std::uint32_t>{8, 32, 32, 28}));
  EXPECT_EQ(writes, (std::vector<std::uint32_t>{28, 32, 32, 8}));
}

// The table of section 10.4 that starts at g.
TEST(Memory_S10_4_Start, ReadAddressAtGPlus6PlusN) {
  for (const unsigned n : {1u, 5u, 60u}) {
    MoverBench bench;
    const Cycle g = bench.start(10, copy_of(kSource, kDestination, n), {.coalesce = true});
    bench.finish();
    EXPECT_FALSE(bench.busy(g + 1));
    EXPECT_TRUE(bench.busy(g + 2));
    // On the mover's read channel; on the DRAM bus 10 later (section 7.3).
    EXPECT_EQ(bench.bus.ar[0].cycle, g + 6 + n + 10);
  }
}

TEST(Memory_S10_4_Start, FaultsAreBusyForOneCycle) {
  struct Case {
    mover::Control control;
    unsigned indices, fault;
  };
  for (const Case& c :
       {Case{{.mode = mover::Mode::kTranspose}, 0, 4}, Case{{.mode = static_cast<mover::Mode>(7)}, 0, 4},
        Case{{.width = 3}, 0, 5}, Case{{.mode = mover::Mode::kGather}, 2049, 1}}) {
    MoverBench bench;
    Writes writes = copy_of(kSource, kDestination, 4);
    writes.push_back({mover::kIndex, std::uint64_t{c.indices} << 40});
    const Cycle g = bench.start(10, writes, c.control);
    bench.finish();
    bench.run_to(g + 10);
    EXPECT_FALSE(bench.busy(g + 1));
    EXPECT_TRUE(bench.busy(g + 2));
    EXPECT_FALSE(bench.busy(g + 3));
    EXPECT_EQ(bench.stat[g + 3] >> 4 & 15, c.fault);
    EXPECT_EQ(bench.moves(), 0u);
    EXPECT_TRUE(bench.bus.ar.empty());
    ASSERT_EQ(bench.agent.misuse().kept().size(), 1u);
    EXPECT_EQ(bench.agent.misuse().kept()[0].kind, MisuseKind::kMoverFault);
  }
}

// "a coalesced 8-word fill drops busy in the same cycle its write address first appears"; quirk M1.
TEST(Memory_S10_4_EarlyDone, ReferenceReportsDoneBeforeTheWriteIsIssued) {
  for (const bool quirks : {true, false}) {
    SCOPED_TRACE(quirks);
    BenchConfig config;
    config.agent.quirks = quirks;
    MoverBench bench(config);
    const Cycle g = bench.start(10, fill_of(kDestination, 8), {.mode = mover::Mode::kFill, .coalesce = true});
    bench.finish();
    bench.run_to(g + 100);
    ASSERT_EQ(bench.bus.aw.size(), 1u);
    const Cycle address = bench.bus.aw[0].cycle - 10;  // at the mover's channel, section 7.3
    const Cycle response = bench.bus.b[0].cycle + 9;   // its pulse
    const Cycle low = quirks ? address : response + 4;
    EXPECT_EQ(address, g + 17);
    EXPECT_TRUE(bench.busy(low - 1));
    EXPECT_FALSE(bench.busy(low));
    EXPECT_EQ(bench.stat[low - 1] >> 40, 0u);
    EXPECT_EQ(bench.stat[low] >> 40, 1u);
    EXPECT_EQ(bench.agent.mover().issue().early_done(), quirks ? 1u : 0u);
  }
}

TEST(Memory_S10_4_EarlyDone, OnlyWhenNothingElseIsUnderWay) {
  // The first of two commands is in sight when the drain is looked at.
  MoverBench bench;
  bench.start(10, fill_of(kDestination, 2), {.mode = mover::Mode::kFill});
  bench.finish();
  EXPECT_EQ(bench.agent.mover().issue().early_done(), 0u);
  MoverBench generate;
  generate.start(10, fill_of(kDestination, 1), {.mode = mover::Mode::kGenerate});
  generate.finish();
  EXPECT_EQ(generate.agent.mover().issue().early_done(), 1u);
  EXPECT_EQ(generate.bus.aw.size(), 1u);
}

// Section 10.3: "about 86 cycles per word".
TEST(Memory_S10_3_Generator, EightySixCyclesPerWord) {
  MoverBench bench;
  bench.start(10, fill_of(kDestination, 5), {.mode = mover::Mode::kGenerate});
  bench.finish();
  const auto beats = cycles_of(bench.bus.w);
  ASSERT_EQ(beats.size(), 5u);
  for (unsigned i = 1; i < 5; ++i) EXPECT_EQ(beats[i] - beats[i - 1], 86u);
}

TEST(Memory_S10_4_Rate, GatherTakesFiveCyclesPerElement) {
  MoverBench bench;
  Writes writes = fill_of(kDestination, 24);
  writes.push_back({mover::kBase, base_word(false, kSource, 1)});
  writes.push_back({mover::kIndex, 0x20000ull | 3ull << 40});
  writes.push_back({mover::kGatherRow, 128ull | 8ull << 32});
  bench.start(10, writes, {.mode = mover::Mode::kGather, .coalesce = true});
  bench.finish();
  // The index vector, then three times the row of index 0, each closed by the first element of the next.
  ASSERT_EQ(bench.bus.ar.size(), 4u);
  EXPECT_EQ(bench.bus.ar[0].addr, 0x20000u);
  for (unsigned i = 1; i < 4; ++i) EXPECT_EQ(bench.bus.ar[i].addr, kSource);
  EXPECT_EQ(bench.bus.ar[2].cycle - bench.bus.ar[1].cycle, 8 * 5u);
}

// Section 10.1: no register is buffered.
TEST(Memory_S10_1_Live, CapOfAnIgnoredGoLengthensTheBursts) {
  MoverBench bench;
  fill_words(bench.memory, kSource, 64);
  const Cycle g = bench.start(10, copy_of(kSource, kDestination, 64), {.coalesce = true, .cap_code = 1});
  bench.write(g + 60, {{mover::kControl, control_word({.coalesce = true, .cap_code = 4})}});
  bench.finish();
  EXPECT_EQ(bench.moves(), 1u);
  std::vector<std::uint32_t> beats;
  for (const auto& b : bench.bus.aw) beats.push_back(b.beats);
  EXPECT_EQ(beats.front(), 1u);
  EXPECT_EQ(*std::max_element(beats.begin(), beats.end()), 8u);
  ASSERT_EQ(bench.agent.misuse().kept().size(), 1u);
  EXPECT_EQ(bench.agent.misuse().kept()[0].kind, MisuseKind::kMoverBusy);
}

TEST(Memory_S10_1_Live, ImmediateAndStrideActFromTheNextCycleOn) {
  MoverBench bench;
  // Ten words at one a seven cycles; the immediate changes on the way.
  Writes writes = fill_of(kDestination, 10);
  writes.push_back({mover::kImmediate, 1});
  const Cycle g = bench.start(10, writes, {.mode = mover::Mode::kFill, .width = 2});
  bench.write(g + 40, {{mover::kImmediate, 2}});
  bench.finish();
  std::vector<std::uint32_t> values;
  for (unsigned i = 0; i < 10; ++i) {
    std::uint32_t value = 0;
    bench.memory.read(kDestination + 32 * i, {reinterpret_cast<std::uint8_t*>(&value), 4});
    values.push_back(value);
  }
  EXPECT_EQ(values.front(), 1u);
  EXPECT_EQ(values.back(), 2u);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));

  // Element k leaves the walker in g + 2 + k, so a stride written in g + 5 counts for the step behind
  // element 4.
  MoverBench strides;
  const Cycle h = strides.start(10, fill_of(kDestination, 8), {.mode = mover::Mode::kFill});
  strides.write(h + 4,
                {{mover::kDimension, dimension_word(true, 0, 8, 64)}, {mover::kAxis, axis_word(0, 0)}});
  strides.finish();
  std::vector<std::uint64_t> words;
  for (const auto& b : strides.bus.aw) words.push_back((b.addr - kDestination) / 32);
  EXPECT_EQ(words, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 6, 8, 10}));
}

TEST(Memory_S10_4_Aux, StatusFields) {
  MoverBench bench;
  bench.start(10, copy_of(kSource, kDestination, 1), {});
  bench.finish();
  const Cycle again = bench.engine.now() + 2;
  bench.start(again, {}, {.mode = mover::Mode::kTranspose});
  bench.run_to(again + 20);
  EXPECT_EQ(bench.agent.aux_stat(), 1ull << 40 | 4ull << 4);  // the mover's bursts are no port's
  for (unsigned word = 0; word < 16; ++word) EXPECT_EQ(bench.agent.aux_status(word), 0u);
  // Unlisted offsets, and without an interlink its window too, do nothing.
  Writes writes;
  for (std::uint32_t offset = 8; offset < 0x100; offset += 8)
    if (offset == 0x08 || offset == 0x48 || offset > 0x50) writes.push_back({offset, ~0ull});
  bench.write(bench.engine.now() + 1, writes);
  bench.finish();
  EXPECT_EQ(bench.agent.aux_stat(), 1ull << 40 | 4ull << 4);
}

TEST(Memory_S10_IdleSkip, ChangesNothingForTheMover) {
  for (const unsigned variant : {0u, 1u, 2u, 3u}) {
    std::array<std::vector<BusLog::Event>, 2> reads, writes;
    std::array<std::map<Cycle, std::uint64_t>, 2> stat;
    for (const bool skip : {false, true}) {
      MoverBench bench;
      bench.engine.set_idle_skip(skip);
      fill_words(bench.memory, kSource, 600);
      const Control control{.mode = variant == 3 ? mover::Mode::kGenerate : mover::Mode::kCopy,
                            .coalesce = variant % 2 != 0,
                            .cap_code = variant};
      bench.start(10, variant == 3 ? fill_of(kDestination, 6) : transpose_of(kSource, kDestination, 18, 30),
                  control);
      bench.finish();
      bench.run_to(12000);
      reads[skip] = bench.bus.ar;
      writes[skip] = bench.bus.w;
      stat[skip] = bench.stat;
    }
    EXPECT_EQ(reads[0], reads[1]);
    EXPECT_EQ(writes[0], writes[1]);
    EXPECT_EQ(stat[0], stat[1]);
  }
}

}  // namespace
}  // namespace ktpu::memory::test
