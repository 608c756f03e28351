// SPDX-License-Identifier: Apache-2.0
// The example kernel on a whole machine: dispatched, filled from and drained to memory.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "arch/program/image.h"
#include "tests/system/run.h"

namespace ktpu::test {
namespace {

double value(std::uint16_t fp16) {
  const int exponent = fp16 >> 10 & 31;
  const double magnitude =
      exponent == 0 ? std::ldexp(fp16 & 1023, -24) : std::ldexp(1024 + (fp16 & 1023), exponent - 25);
  return fp16 & 0x8000 ? -magnitude : magnitude;
}

TEST(VectorExample, Vector_S15_ReluOfAWholeProgram) {
  const arch::Program program = example_program("vector_relu");
  platform::Registry models;
  platform::register_models(models);
  platform::System system(topo::read_file("mesh8", {}), models);
  platform::Runner runner(system, &program, platform::RunLimits{100'000, 20'000});
  const platform::RunResult result = runner.run();
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  const std::vector<std::uint8_t> bytes = platform::read_memory(system.mesh(), 0x80002000, 128);
  const plain::Halves x = plain::lcg(64, 139, 9);
  unsigned positive = 0;
  for (unsigned i = 0; i < 64; ++i) {
    std::uint16_t y = 0;
    std::memcpy(&y, &bytes[2 * i], 2);
    // Multiples of 2^-10 below 8: exact inside the core, rounded once on the way to memory.
    const double want = std::max(1.5 * value(x[i]) - 0.25, 0.0);
    EXPECT_EQ(y, arch::double_to_fp16(want)) << i << ": " << want;
    positive += want > 0;
  }
  EXPECT_GT(positive, 10u);
  EXPECT_LT(positive, 54u);
}

}  // namespace
}  // namespace ktpu::test
