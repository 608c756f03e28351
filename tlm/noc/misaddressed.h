// SPDX-License-Identifier: Apache-2.0
// Flits that came to somewhere else than they were addressed: a destination where no unit is reaches the
// nearest slot, and a slot where nothing is attached loses them (fabric.md section 6.1). For reports.
#pragma once

#include <cstdint>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::noc {

struct Misaddressed {
  std::uint64_t count = 0;
  std::uint64_t probes = 0;  // of them: CU_CTRL, which discovery sends everywhere (section 10.4)
  sim::Cycle first = 0;      // of the first one that is no probe, else of the first: its cycle
  std::uint32_t header = 0;  // and its header (arch::make_header)

  std::uint64_t serious() const { return count - probes; }
  void add(sim::Cycle now, const arch::Flit& flit) {
    const bool probe = flit.type() == arch::FlitType::kCuCtrl;
    const bool tell = count == 0 || (!probe && serious() == 0);
    ++count;
    probes += probe;
    if (!tell) return;
    first = now;
    header = flit.hdr();
  }
  arch::Flit first_flit() const {
    arch::Flit flit;
    flit.w[4] = header;
    return flit;
  }
  // Without the count, which is a statistic of its owner.
  void visit(sim::Archive& archive) {
    archive.state("probes", probes);
    archive.state("first", first);
    archive.state("first_header", header, 32);
  }
};

}  // namespace ktpu::noc
