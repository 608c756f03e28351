// SPDX-License-Identifier: Apache-2.0
#include "apps/common/vector_probes.h"

#include "tlm/sim/lockstep.h"
#ifdef KTPU_HAVE_RTL
#include "rtl_models/vector/vector_twin.h"
#endif

namespace ktpu::apps {

bool attach_probe(sim::Unit& unit, vector::VectorProbe& probe) {
  if (auto* model = dynamic_cast<vector::VectorCore*>(&unit)) {
    model->set_probe(&probe);
    return true;
  }
#ifdef KTPU_HAVE_RTL
  if (auto* twin = dynamic_cast<rtl::VectorTwin*>(&unit)) {
    twin->observe([&probe](sim::Cycle now, const rtl::VectorEvents& e) {
      if (e.start) probe.on_run(now + 1, e.pc);
      if (e.execute) probe.on_execute(now, e.pc, e.word);
      if (e.done) probe.on_done(now, e.result, e.fault, e.run);
    });
    return true;
  }
#endif
  if (auto* pair = dynamic_cast<sim::Lockstep*>(&unit)) return attach_probe(pair->model(), probe);
  return false;
}

}  // namespace ktpu::apps
