// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tlm/platform/runner.h"
#include "topologies/reader.h"

int main() {
  ktpu::platform::Registry registry;
  ktpu::platform::register_models(registry);
  ktpu::platform::System system(ktpu::topo::read_file("noc3x3"), registry);
  system.engine().run_until(100);
  std::printf("%zu units, cycle %llu\n", system.engine().units().size(),
              static_cast<unsigned long long>(system.engine().now()));
  return system.engine().now() == 100 ? 0 : 1;
}
