// SPDX-License-Identifier: Apache-2.0
// A transformer block with arrays only: no tile, no address, no unit. The device compiles the kernels it
// calls for the machine and runs them on the functional interpreter.
//
//   transformer_block [MACHINE] [TOKENS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "arch/error.h"
#include "compiler/device/device.h"
#include "topologies/reader.h"

namespace {

using ktpu::device::Array;
using ktpu::device::Device;

constexpr std::uint32_t kModel = 64, kHidden = 256;

Array random(Device& dev, ktpu::tensor::Shape shape, std::mt19937& generator) {
  std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(shape.back())));
  std::vector<float> values(ktpu::tensor::elements(shape));
  for (float& value : values) value = normal(generator);
  return dev.array(std::move(shape), values);
}

struct Block {
  Array norm1, wq, wk, wv, wo, norm2, gate, up, down;

  Block(Device& dev, std::mt19937& g)
      : norm1(dev.array({kModel}, std::vector<float>(kModel, 1))),
        wq(random(dev, {kModel, kModel}, g)),
        wk(random(dev, {kModel, kModel}, g)),
        wv(random(dev, {kModel, kModel}, g)),
        wo(random(dev, {kModel, kModel}, g)),
        norm2(norm1),
        gate(random(dev, {kHidden, kModel}, g)),
        up(random(dev, {kHidden, kModel}, g)),
        down(random(dev, {kModel, kHidden}, g)) {}

  Array operator()(const Array& x) const {
    const Array n = rmsnorm(x, norm1);
    const Array a = attention(matmul(n, wq), matmul(n, wk), matmul(n, wv), /*causal=*/true);
    const Array h = x + matmul(a, wo);
    const Array m = rmsnorm(h, norm2);
    return h + matmul(silu(matmul(m, gate)) * matmul(m, up), down);
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Device dev(ktpu::topo::read_file(argc > 1 ? argv[1] : "mesh8"));
    const auto tokens = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 64);
    std::mt19937 generator(1);
    const Block block(dev, generator);
    const Array x = random(dev, {tokens, kModel}, generator), y = block(x);
    std::printf("%s\n", dev.explain({y}).c_str());
    dev.sync();
    double sum = 0;
    for (const float value : y.values()) sum += static_cast<double>(value) * static_cast<double>(value);
    std::printf("root mean square of the result %.4f\n%s", std::sqrt(sum / (tokens * kModel)),
                dev.stats().text().c_str());
    return 0;
  } catch (const ktpu::arch::UserError& error) {
    std::fprintf(stderr, "transformer_block: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}
