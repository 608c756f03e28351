// SPDX-License-Identifier: Apache-2.0
// The same arrays on the simulator and on the interpreter: the same bits, and the simulator knows cycles.
#include "compiler/device/device.h"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/common/simulated_runner.h"
#include "topologies/reader.h"

namespace ktpu::test {
namespace {

using device::Array;
using device::Device;

std::vector<float> wave(std::size_t n, double step) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return values;
}

std::vector<std::uint16_t> block(Device& dev) {
  const Array x = dev.array({32, 64}, wave(32 * 64, 0.7)), w = dev.array({64, 64}, wave(64 * 64, 1.3)),
              b = dev.array({64}, wave(64, 0.1));
  const Array h = silu(matmul(x, w)) + x;
  return softmax(matmul(h, w) + b).halves();
}

TEST(DeviceOnTheSimulator, HasTheInterpretersBits) {
  const topo::Machine machine = topo::read_file("mesh8");
  Device fast(machine), exact(machine, std::make_unique<apps::SimulatedRunner>(machine));
  EXPECT_EQ(block(exact), block(fast));
  EXPECT_GT(exact.stats().cycles, 1000U);
  EXPECT_EQ(fast.stats().cycles, 0U);
  EXPECT_EQ(exact.stats().rounds, fast.stats().rounds);
}

}  // namespace
}  // namespace ktpu::test
