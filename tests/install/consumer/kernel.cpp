// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "compiler/device/device.h"
#include "compiler/kernel/trace.h"
#include "topologies/reader.h"

int main() {
  using namespace ktpu::kernel;
  const Definition square{"mine.square", {in("x", {"..."}), out("y", {"..."})}, {}, [](Trace& L) {
                            const Ref x = L.port("x");
                            L.port("y") <<= Value(x) * x;
                          }};
  ktpu::device::Device dev(ktpu::topo::read_file("mesh8"));
  const float value = dev.call(square, {{"x", dev.array({4, 4}, std::vector<float>(16, 3))}})[0].values()[5];
  std::printf("3 * 3 = %g\n", static_cast<double>(value));
  return value == 9 ? 0 : 1;
}
