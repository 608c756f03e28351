// SPDX-License-Identifier: Apache-2.0
// What the constructor of a node's model is given, for those who put a twin of it in its place.
#pragma once

#include "tlm/cluster/matmul_cluster.h"
#include "tlm/platform/registry.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::platform {

// `context.node` is a matmul cluster.
cluster::ClusterParams cluster_params(const EndpointContext& context);
// `context.node` is a vector core.
vector::VectorParams vector_params(const EndpointContext& context);

}  // namespace ktpu::platform
