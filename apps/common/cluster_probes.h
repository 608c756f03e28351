// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tlm/cluster/cluster_probe.h"
#include "tlm/sim/unit.h"

namespace ktpu::apps {

// Lets `probe` hear what happens in the cluster `unit`, whatever stands there: the model, RTL (without
// on_misuse and on_quirk, on_l1_write and on_issue without their details), or both (the model speaks). False:
// `unit` is no cluster.
bool attach_probe(sim::Unit& unit, cluster::ClusterProbe& probe);

}  // namespace ktpu::apps
