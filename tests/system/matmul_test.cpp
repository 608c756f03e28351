// SPDX-License-Identifier: Apache-2.0
// Every example program: operands in memory and result, bit for bit, against the plain model.
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

class Matmul : public testing::TestWithParam<Example> {};

std::string name_of(const testing::TestParamInfo<Example>& info) { return info.param.name; }

TEST_P(Matmul, BitEqualToPlainLoops) {
  const Example& e = GetParam();
  ExampleRun run(e);
  if (e.b != 0) {  // else the host writes them when the program runs
    EXPECT_EQ(platform::read_memory(run.system().mesh(), e.a, std::uint64_t{e.m} * e.k * 2),
              plain::to_entries(operand_a(e), e.m, e.k, e.a_groups, e.blocks));
    EXPECT_EQ(platform::read_memory(run.system().mesh(), e.b, std::uint64_t{e.n} * e.k * 2),
              plain::to_entries(operand_b(e), e.n, e.k, e.b_groups, e.blocks));
  }
  run.finish();
  const plain::Halves got = run.result(), want = expected(e);
  ASSERT_EQ(got.size(), want.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    if (different++ == 0)
      ADD_FAILURE() << "first difference at (" << i / e.n << "," << i % e.n << "): " << std::hex << got[i]
                    << ", not " << want[i];
  }
  EXPECT_EQ(different, 0u);
}

INSTANTIATE_TEST_SUITE_P(Examples, Matmul, testing::ValuesIn(kExamples), name_of);

// The machine of the recorded traces: adapters, a script host, a small memory that wraps.
TEST(MatmulMachines, Reference) {
  const Example& e = example("matmul_256x256x256");
  ExampleRun run(e, {}, "reference_mesh8");
  run.finish();
  EXPECT_EQ(run.result(), expected(e));
}

// Operands the generator never makes: every FP16 pattern, infinities and NaNs as ordinary binades, zeros and
// subnormals.
TEST(MatmulOperands, AnyBitPattern) {
  const Example& e = example("matmul_32x32x128");
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::uint32_t x = seed;
    const auto random = [&x] {
      x ^= x << 13;
      x ^= x >> 17;
      return x ^= x << 5;
    };
    plain::Halves a(32 * 128), b(32 * 128);
    for (plain::Halves* operand : {&a, &b}) {
      for (std::size_t block = 0; block < operand->size(); block += 32) {
        const std::uint32_t mask = seed % 4 == 0 ? 0x83FF : seed % 4 == 1 ? 0xFFFF : 0xBFFF;
        const unsigned shift = random() % 16;
        for (std::size_t i = 0; i < 32; ++i) {
          const std::uint32_t bits = random();
          (*operand)[block + i] =
              static_cast<std::uint16_t>(bits >> 20 == 0 ? 0 : (bits & mask & ~((1u << shift / 4) - 1)));
        }
      }
    }
    ExampleRun run(e);
    platform::write_memory(run.system().mesh(), e.a, plain::to_entries(a, 32, 128, 8, 4));
    platform::write_memory(run.system().mesh(), e.b, plain::to_entries(b, 32, 128, 8, 4));
    run.finish();
    EXPECT_EQ(run.result(), plain::matmul(a, b, 32, 32, 128)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ktpu::test
