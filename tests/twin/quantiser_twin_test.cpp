// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/twin/quantiser_campaign.h"

namespace ktpu::test {
namespace {

TEST(QuantiserTwin, EntriesAndTheirCycles) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_EQ(check_quantiser<rtl::QuantiserTwin>(seed, 3000), "") << "seed " << seed;
}

// The worked rows of number-formats.md section 4.6: one block with these values first, zeros after them.
TEST(QuantiserTwin, WorkedExamples) {
  struct Row {
    std::vector<std::uint16_t> in;
    unsigned field;
    std::vector<int> out;
  };
  const std::vector<Row> rows{
      {{0x3C00}, 0x71, {57}},
      {{0x3C00, 0xBC00, 0x3800, 0x3555}, 0x71, {57, -57, 28, 19}},
      {{0x3C6E, 0x3C00}, 0x71, {63, 57}},
      {{0x3C6F, 0x3C00}, 0x72, {57, 51}},
      {{0x3FE0}, 0x78, {63}},
      {{0x3FE1, 0x2C00}, 0x79, {56, 2}},
      {{0x7BFF, 0x0001}, 0xF1, {57, 0}},
      {{0x7C00, 0x3C00}, 0xF1, {57, 0}},
      {{0x0200, 0x0100}, 0x01, {28, 14}},
      {{0x0001, 0x8003}, 0x05, {0, 0}},
      {{0x8000}, 0xA0, {0}},
  };
  rtl::QuantiserTwin q;
  q.reset(0);
  sim::Cycle now = 0;
  for (const Row& row : rows) {
    q.clock(now++, {true, false, nullptr});
    for (unsigned b = 0; b < 8; ++b) {
      rtl::QuantiserTwin::Beat beat{};
      if (b == 0)
        for (std::size_t i = 0; i < row.in.size(); ++i)
          beat[0] |= static_cast<std::uint64_t>(row.in[i]) << (16 * i);
      q.clock(now++, {false, false, &beat});
    }
    for (unsigned c = 1; c < arch::latency::kQuantDone; ++c) q.clock(now++, {});
    ASSERT_TRUE(q.done());
    EXPECT_EQ(q.word(0)[0] >> 24 & 0xFF, row.field);
    for (std::size_t i = 0; i < row.out.size(); ++i) {
      const unsigned at = 249 - 7 * static_cast<unsigned>(i);
      const auto w = q.word(0);
      const auto low = w[at / 64] >> (at % 64) | (at % 64 > 57 ? w[at / 64 + 1] << (64 - at % 64) : 0);
      EXPECT_EQ(static_cast<int>(low & 127), row.out[i] & 127) << fmt::format("{:04x}", row.in[0]);
    }
  }
}

}  // namespace
}  // namespace ktpu::test
