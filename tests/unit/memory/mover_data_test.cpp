// SPDX-License-Identifier: Apache-2.0
// memory.md sections 10.1 to 10.3: where the mover puts which words, against a scalar reading of the page.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "arch/formats/philox.h"
#include "tests/unit/memory/mover_bench.h"

namespace ktpu::memory::test {
namespace {

using Word = std::array<std::uint64_t, 4>;
using mover::Mode;

constexpr std::uint64_t kSource = 0x100000, kDestination = 0x400000, kIndices = 0x20000;

Word word_at(SparseMemory& memory, std::uint64_t addr) {
  Word w;
  memory.read(addr & ~31ull, {reinterpret_cast<std::uint8_t*>(w.data()), 32});
  return w;
}

struct Axis {
  int base = 0;
  unsigned extent = 0;
};
struct Dimension {
  unsigned count = 0;
  std::int64_t stride = 0;
  unsigned axis = 0;
  int step = 0;
};
struct Descriptor {
  std::uint64_t base = 0;
  unsigned ndim = 1;
  std::array<Dimension, 6> dimensions{};
  std::array<Axis, 2> axes{};

  std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (unsigned d = 0; d < ndim; ++d) n *= std::max(1u, dimensions[d].count);
    return n;
  }
  // Index of each dimension of element `i`, the highest-numbered one fastest; past the end: the final
  // element.
  std::array<std::uint64_t, 6> indices(std::uint64_t i) const {
    i = std::min(i, elements() - 1);
    std::array<std::uint64_t, 6> at{};
    for (unsigned d = ndim; d-- > 0;) {
      const unsigned count = std::max(1u, dimensions[d].count);
      at[d] = i % count;
      i /= count;
    }
    return at;
  }
  std::uint64_t address(std::uint64_t i) const {
    const auto at = indices(i);
    std::uint64_t a = base;
    for (unsigned d = 0; d < ndim; ++d) a += at[d] * static_cast<std::uint64_t>(dimensions[d].stride);
    return a & ((1ull << 40) - 1);
  }
  bool valid(std::uint64_t i) const {
    const auto at = indices(i);
    for (unsigned a = 0; a < 2; ++a) {
      if (axes[a].extent == 0) continue;
      std::int64_t position = axes[a].base;
      for (unsigned d = 0; d < ndim; ++d)
        if (dimensions[d].axis == a + 1) position += static_cast<std::int64_t>(at[d]) * dimensions[d].step;
      if (position < 0 || position >= static_cast<std::int64_t>(axes[a].extent)) return false;
    }
    return true;
  }
  void write_to(Writes& writes, bool destination) const {
    writes.push_back({mover::kBase, base_word(destination, base, ndim)});
    for (unsigned d = 0; d < 6; ++d)
      add_dimension(writes, destination, d, dimensions[d].count, dimensions[d].stride, dimensions[d].axis,
                    dimensions[d].step);
    for (unsigned a = 0; a < 2; ++a)
      writes.push_back({mover::kExtent, extent_word(destination, a + 1, axes[a].base, axes[a].extent)});
  }
};

struct Job {
  Descriptor source, destination;
  mover::Control control;
  std::uint64_t seed = 0;
  std::uint32_t immediate = 0;
  std::vector<std::uint32_t> indices;
  std::uint32_t pitch = 0;
  unsigned row_words = 1;

  Word fill() const {
    Word w{};
    for (unsigned byte = 0; byte < 32; ++byte) {
      const unsigned in_element = byte % (1u << control.width);
      w[byte / 8] |= std::uint64_t{immediate >> (8 * in_element) & 0xFF} << (8 * (byte % 8));
    }
    return w;
  }
  std::uint64_t source_of(std::uint64_t i) const {
    if (control.mode != Mode::kGather) return source.address(i);
    const unsigned words = std::max(1u, row_words);
    return source.base + static_cast<std::uint32_t>(indices[i / words] * pitch) + 32 * (i % words);
  }
  // What memory holds afterwards where the move wrote.
  std::map<std::uint64_t, Word> expected(SparseMemory& memory) const {
    std::map<std::uint64_t, Word> out;
    for (std::uint64_t i = 0; i < destination.elements(); ++i) {
      if (!destination.valid(i)) continue;
      const std::uint64_t to = destination.address(i);
      Word word = fill();
      if (control.mode == Mode::kGenerate)
        word = arch::generated_word(seed, to);
      else if (control.mode == Mode::kGather || (control.mode == Mode::kCopy && source.valid(i)))
        word = word_at(memory, source_of(i));
      out[to] = word;
    }
    return out;
  }
  Writes writes() const {
    Writes w;
    source.write_to(w, false);
    destination.write_to(w, true);
    w.push_back({mover::kIndex, kIndices | std::uint64_t{indices.size()} << 40});
    w.push_back({mover::kSeed, seed});
    w.push_back({mover::kImmediate, immediate});
    w.push_back({mover::kGatherRow, pitch | std::uint64_t{row_words} << 32});
    return w;
  }
};

Job random_job(std::mt19937_64& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
  };
  const auto descriptor = [&](std::uint64_t centre) {
    Descriptor d;
    d.base = centre + 32 * static_cast<std::uint64_t>(pick(0, 300));
    d.ndim = static_cast<unsigned>(pick(0, 6));
    for (unsigned i = 0; i < 6; ++i) {
      Dimension& dim = d.dimensions[i];
      dim.count = static_cast<unsigned>(i + 1 == d.ndim ? pick(1, 60) : pick(0, 4));
      constexpr std::int64_t kStrides[] = {0, 32, 32, 32, -32, 64, 1024, 4096, 32 * 17, -32 * 40};
      dim.stride = kStrides[pick(0, 9)];
      dim.axis = static_cast<unsigned>(pick(0, 2));
      dim.step = static_cast<int>(pick(-2, 3));
    }
    for (Axis& axis : d.axes)
      if (pick(0, 2) == 0) axis = {static_cast<int>(pick(-3, 3)), static_cast<unsigned>(pick(1, 12))};
    return d;
  };
  Job job;
  job.source = descriptor(kSource);
  do job.destination = descriptor(kDestination);
  while (job.destination.elements() > 1500);
  constexpr Mode kModes[] = {Mode::kCopy, Mode::kCopy, Mode::kGather, Mode::kGenerate, Mode::kFill};
  job.control.mode = kModes[pick(0, 4)];
  if (job.control.mode == Mode::kGenerate)
    while (job.destination.elements() > 40) job.destination = descriptor(kDestination);
  job.control.width = static_cast<unsigned>(pick(0, 2));
  job.control.coalesce = pick(0, 2) != 0;
  job.control.cap_code = static_cast<unsigned>(pick(0, 7));
  job.seed = rng();
  job.immediate = static_cast<std::uint32_t>(rng());
  job.pitch = static_cast<std::uint32_t>(32 * pick(0, 20));
  job.row_words = static_cast<unsigned>(pick(0, 7));
  const std::uint64_t rows = job.destination.elements() / std::max(1u, job.row_words) + 1;
  for (std::uint64_t i = 0; i < rows; ++i) job.indices.push_back(static_cast<std::uint32_t>(pick(0, 60)));
  return job;
}

void fill_source(SparseMemory& memory) {
  std::vector<std::uint64_t> words(4 << 15);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 0x9E3779B97F4A7C15ull;
  memory.write(kSource / 2, {reinterpret_cast<const std::uint8_t*>(words.data()), 8 * words.size()});
}

void check_memory(SparseMemory& memory, const std::map<std::uint64_t, Word>& expected, std::uint64_t begin,
                  std::uint64_t end) {
  for (std::uint64_t at = begin; at < end; at += 32) {
    const auto found = expected.find(at);
    ASSERT_EQ(word_at(memory, at), found == expected.end() ? Word{} : found->second)
        << fmt::format("{:#x}", at);
  }
}

TEST(Memory_S10_2_Walk, RandomMovesAgainstAScalarReading) {
  std::map<Mode, unsigned> modes;
  unsigned padded = 0, suppressed = 0;
  for (unsigned seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 rng(seed);
    const Job job = random_job(rng);
    MoverBench bench;
    fill_source(bench.memory);
    bench.memory.write(kIndices,
                       {reinterpret_cast<const std::uint8_t*>(job.indices.data()), 4 * job.indices.size()});
    const auto expected = job.expected(bench.memory);
    bench.start(5, job.writes(), job.control);
    bench.finish();
    ASSERT_TRUE(bench.agent.idle());
    EXPECT_EQ(bench.fault(), 0u);
    EXPECT_EQ(bench.moves(), 1u);
    check_memory(bench.memory, expected, kDestination - 0x40000, kDestination + 0x60000);
    if (testing::Test::HasFailure()) return;
    ++modes[job.control.mode];
    for (std::uint64_t i = 0; i < job.destination.elements(); ++i) {
      suppressed += !job.destination.valid(i);
      padded += job.destination.valid(i) && job.control.mode == Mode::kCopy && !job.source.valid(i);
    }
  }
  for (const Mode mode : {Mode::kCopy, Mode::kGather, Mode::kGenerate, Mode::kFill})
    EXPECT_GT(modes[mode], 20u);
  EXPECT_GT(padded, 500u);
  EXPECT_GT(suppressed, 500u);
}

TEST(Memory_S10_2_Walk, WithTwoDimensionsDimensionOneIsTheFastOne) {
  MoverBench bench;
  fill_words(bench.memory, 0x1000, 6);
  Writes writes{{mover::kBase, base_word(false, 0x1000, 1)}, {mover::kBase, base_word(true, 0x8000, 2)}};
  add_dimension(writes, false, 0, 6, 32);
  add_dimension(writes, true, 0, 2, 0x1000);
  add_dimension(writes, true, 1, 3, 0x100);
  bench.start(5, writes, {});
  bench.finish();
  std::vector<std::uint64_t> order;
  for (const auto& w : bench.bus.aw) order.push_back(w.addr);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0x8000, 0x8100, 0x8200, 0x9000, 0x9100, 0x9200}));
  EXPECT_EQ(word_at(bench.memory, 0x9100)[0], 16u);
}

TEST(Memory_S10_2_Walk, SourceThatRunsOutStaysOnItsFinalElement) {
  MoverBench bench;
  fill_words(bench.memory, 0x1000, 8, 100);
  Writes writes = copy_of(0x1000, 0x8000, 5);
  add_dimension(writes, false, 0, 3, 32);
  bench.start(5, writes, {});
  bench.finish();
  for (unsigned i = 0; i < 5; ++i)
    EXPECT_EQ(word_at(bench.memory, 0x8000 + 32 * i)[0], 100 + 4 * std::min(i, 2u));
}

TEST(Memory_S10_2_Walk, ResetStateIsOneElementAtAddressZero) {
  MoverBench bench;
  bench.start(5, {{mover::kImmediate, 0xAB}}, {.mode = Mode::kFill, .width = 0});
  bench.finish();
  ASSERT_EQ(bench.bus.aw.size(), 1u);
  EXPECT_EQ(bench.bus.aw[0].addr, 0u);
  EXPECT_EQ(word_at(bench.memory, 0)[3], 0xABABABABABABABABull);
}

TEST(Memory_S10_2_Element, MisalignedDestinationStopsTheWalk) {
  MoverBench bench;
  fill_words(bench.memory, 0x1000, 8, 100);
  Writes writes = copy_of(0x1000, 0x8000, 8);
  writes.push_back({mover::kBase, base_word(true, 0x8000, 2)});
  add_dimension(writes, true, 0, 2, 0x101);
  add_dimension(writes, true, 1, 3, 32);
  bench.start(5, writes, {.coalesce = true});
  bench.finish();
  EXPECT_EQ(bench.fault(), 6u);
  EXPECT_EQ(bench.moves(), 0u);
  ASSERT_EQ(bench.bus.aw.size(), 1u);  // the elements before it are written
  EXPECT_EQ(bench.bus.aw[0].beats, 3u);
  bench.start(bench.engine.now() + 1, copy_of(0x1000, 0x9000, 1), {});
  bench.finish();
  EXPECT_EQ(bench.fault(), 0u);  // cleared by the next GO
  EXPECT_EQ(bench.moves(), 1u);
}

TEST(Memory_S10_2_Element, MisalignedDestinationOutsideItsExtentsIsOnlySuppressed) {
  MoverBench bench;
  Writes writes = fill_of(0x8001, 4);
  add_dimension(writes, true, 0, 4, 32, 1, 1);
  writes.push_back({mover::kExtent, extent_word(true, 1, -10, 4)});
  bench.start(5, writes, {.mode = Mode::kFill});
  bench.finish();
  EXPECT_EQ(bench.fault(), 0u);
  EXPECT_EQ(bench.moves(), 1u);
  EXPECT_TRUE(bench.bus.aw.empty());
}

TEST(Memory_S10_3_Generator, CheckValues) {
  const std::array<std::uint32_t, 4> zero{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(arch::philox4x32_10({0, 0, 0, 0}, 0), zero);
  const auto hex = [](const Word& w) {
    return fmt::format("{:016x}{:016x}{:016x}{:016x}", w[3], w[2], w[1], w[0]);
  };
  EXPECT_EQ(hex(arch::generated_word(0, 0x8000)),
            "79ada607a9d7adafbeaba36209f20f55f362a95009973de282b950e6ed8385b7");
  EXPECT_EQ(hex(arch::generated_word(0, 0x8020)),
            "db032c956e383cf4efb3dc94e575c40545b6fa6ec8438fc992e908c1a3d71adc");
  EXPECT_EQ(hex(arch::generated_word(0x0123456789abcdef, 0)),
            "5d27ddd99d46a01259dd3f68d9412d6a7a84fff914a7a020c58cb04bb850222e");
  // Position bits [34:32] go above the half.
  EXPECT_NE(arch::generated_word(0, 1ull << 37), arch::generated_word(0, 0));
}

TEST(Memory_S10_3_Generator, WordsInMemory) {
  MoverBench bench;
  bench.start(5, fill_of(0x8000, 2), {.mode = Mode::kGenerate, .coalesce = true});
  bench.finish();
  EXPECT_EQ(word_at(bench.memory, 0x8000), arch::generated_word(0, 0x8000));
  EXPECT_EQ(word_at(bench.memory, 0x8020), arch::generated_word(0, 0x8020));
  EXPECT_EQ(bench.bus.aw.size(), 2u);  // never coalesced
}

// Section 13, "Mover, copy 8 contiguous words 0x1000 -> 0x8000, coalesced".
TEST(Memory_S13_Mover, CopyOfEightWords) {
  MoverBench bench;
  fill_words(bench.memory, 0x1000, 8, 5);
  const Writes writes{{0x10, 0x100000010000}, {0x18, 0x2000080}, {0x20, 0x0},    {0x10, 0x100000080001},
                      {0x18, 0x2000081},      {0x20, 0x0},       {0x00, 0x10808}};
  EXPECT_EQ(base_word(false, 0x1000, 1), writes[0].second);
  EXPECT_EQ(dimension_word(false, 0, 8, 32), writes[1].second);
  EXPECT_EQ(axis_word(0, 0), writes[2].second);
  EXPECT_EQ(base_word(true, 0x8000, 1), writes[3].second);
  EXPECT_EQ(dimension_word(true, 0, 8, 32), writes[4].second);
  EXPECT_EQ(control_word({.coalesce = true}), writes[6].second);
  bench.write(10, writes);
  bench.finish();
  ASSERT_EQ(bench.bus.ar.size(), 1u);
  EXPECT_EQ(bench.bus.ar[0].addr, 0x1000u);
  EXPECT_EQ(bench.bus.ar[0].beats, 8u);
  ASSERT_EQ(bench.bus.aw.size(), 1u);
  EXPECT_EQ(bench.bus.aw[0].addr, 0x8000u);
  EXPECT_EQ(bench.bus.aw[0].beats, 8u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(word_at(bench.memory, 0x8000 + 32 * i)[0], 5 + 4 * i);
  EXPECT_EQ(bench.moves(), 1u);
}

}  // namespace
}  // namespace ktpu::memory::test
