// SPDX-License-Identifier: Apache-2.0
#include "Vktpu_cluster.h"
#include "rtl_models/cluster/cluster_twin_impl.h"

template class ktpu::rtl::ClusterTwinOf<Vktpu_cluster>;
