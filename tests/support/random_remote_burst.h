// SPDX-License-Identifier: Apache-2.0
// What a unit sends through an interlink.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/unit/memory/bench.h"
#include "tlm/sim/random.h"

namespace ktpu::test {

// A CU_DATA burst or a write for another mesh: its flits, with txn and mark on each.
inline std::vector<arch::Flit> random_remote_burst(sim::Random& random, unsigned mesh, arch::Coord port,
                                                   arch::Coord src, unsigned flits) {
  std::vector<arch::Flit> burst;
  const bool write = random.below(2) == 0 && flits <= 9 && flits >= 2;
  const arch::Coord to{static_cast<std::uint8_t>(write ? port.x : random.below(4)),
                       static_cast<std::uint8_t>(write ? port.y : 1 + random.below(4))};
  for (unsigned n = 0; n < flits; ++n) {
    const auto type = !write   ? arch::FlitType::kCuData
                      : n == 0 ? arch::FlitType::kMemWrReq
                               : arch::FlitType::kMemWrData;
    arch::Flit flit =
        arch::make_flit(port, src, type, to.node_byte(), n + 1 == flits, arch::kRsvdRemote | mesh);
    for (unsigned w = 0; w < 4; ++w) flit.w[w] = random.next();
    if (n == 0 && random.below(8) == 0) flit.w[3] = 0;  // no node for the acknowledgement
    if (n == 0 && write) {
      const arch::Flit request = memory::test::write_request(
          std::uint64_t{mesh} << 36 | random.below(1u << 12) * 32ull, flits - 1, src, 0, port);
      std::copy_n(request.w.begin(), 4, flit.w.begin());
    }
    burst.push_back(flit);
  }
  return burst;
}

}  // namespace ktpu::test
