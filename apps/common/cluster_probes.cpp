// SPDX-License-Identifier: Apache-2.0
#include "apps/common/cluster_probes.h"

#include <array>

#include "tlm/cluster/matmul_cluster.h"
#include "tlm/sim/lockstep.h"
#ifdef KTPU_HAVE_RTL
#include "rtl_models/cluster/cluster_twin.h"
#endif

namespace ktpu::apps {

#ifdef KTPU_HAVE_RTL
namespace {

using cluster::BusyFlag;

rtl::ClusterObserver teller(cluster::ClusterProbe& probe) {
  return [&probe, shown = std::array<bool, 3>{}](sim::Cycle now, const rtl::ClusterEvents& e) mutable {
    const std::array<bool, 3> levels{e.sweep_busy, e.gemm_busy, e.drain_busy};
    for (std::size_t flag = 0; flag < levels.size(); ++flag)
      if (levels[flag] != shown[flag]) probe.on_busy(now, static_cast<BusyFlag>(flag), levels[flag]);
    shown = levels;
    if (e.lost != 0) probe.on_command(now, static_cast<cluster::AccOp>(e.lost), 0, true);
    if (e.command != 0) probe.on_command(now, static_cast<cluster::AccOp>(e.command), e.tile, false);
    if (e.push) probe.on_push(now);
    if (e.retire) probe.on_retire(now, e.fault);
    if (e.issue) probe.on_issue(now, {});
    if (e.gemm_start) probe.on_gemm_start(now);
    if (e.drain_start) probe.on_drain_start(now, false);
    if (e.l1_write) probe.on_l1_write(now, arch::Side::kA, 0);
  };
}

}  // namespace
#endif

bool attach_probe(sim::Unit& unit, cluster::ClusterProbe& probe) {
  if (auto* model = dynamic_cast<cluster::MatmulCluster*>(&unit)) {
    model->set_probe(&probe);
    return true;
  }
#ifdef KTPU_HAVE_RTL
  if (auto* twin = dynamic_cast<rtl::ClusterTwin*>(&unit)) {
    twin->observe(teller(probe));
    return true;
  }
#endif
  if (auto* pair = dynamic_cast<sim::Lockstep*>(&unit)) return attach_probe(pair->model(), probe);
  return false;
}

}  // namespace ktpu::apps
