// SPDX-License-Identifier: Apache-2.0
// The C++ models, one line a kind: the place to look for what can stand in a socket.
#include "arch/error.h"
#include "tlm/cluster/matmul_cluster.h"
#include "tlm/platform/model_params.h"
#include "tlm/platform/registry.h"
#include "tlm/traffic/node.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::platform {

cluster::ClusterParams cluster_params(const EndpointContext& context) {
  const topo::MatmulCluster& c = *context.node.get<topo::MatmulCluster>();
  cluster::ClusterParams params;
  params.at = context.node.at;
  params.memory_port = context.memory_port;
  params.tiles = c.tiles;
  params.l1_a = c.l1_a;
  params.l1_b = c.l1_b;
  params.acc_mw = c.acc_mw;
  params.inst_depth = c.inst_depth;
  params.recv_depth = c.recv_depth;
  params.quirks = context.node.quirks == topo::Quirks::kReference;
  return params;
}

vector::VectorParams vector_params(const EndpointContext& context) {
  const topo::VectorCore& v = *context.node.get<topo::VectorCore>();
  vector::VectorParams params;
  params.at = context.node.at;
  params.memory_port = context.memory_port;
  params.inst_depth = v.inst_depth;
  params.recv_depth = v.recv_depth;
  params.l1_words = v.l1_words;
  params.quirks = context.node.quirks == topo::Quirks::kReference;
  return params;
}

namespace {

traffic::Pattern traffic_pattern(topo::Pattern pattern) {
  switch (pattern) {
    case topo::Pattern::kHotspot:
      return traffic::Pattern::kHotspot;
    case topo::Pattern::kTranspose:
      return traffic::Pattern::kTranspose;
    case topo::Pattern::kScript:
    case topo::Pattern::kUniform:
      break;
  }
  return traffic::Pattern::kUniform;
}

std::unique_ptr<sim::Unit> make_traffic(const EndpointContext& context) {
  const topo::Traffic& t = *context.node.get<topo::Traffic>();
  traffic::NodeParams params;
  params.position = context.node.at;
  params.busy = t.busy.period != 0 ? traffic::BusyPattern::periodic(t.busy.period, t.busy.duty, t.busy.offset)
                                   : traffic::BusyPattern::runs(t.busy.runs);
  if (t.pattern != topo::Pattern::kScript && t.rate > 0) {
    traffic::RandomTraffic random;
    random.pattern = traffic_pattern(t.pattern);
    random.rate = t.rate;
    random.seed = t.seed;
    random.flits = t.flits;
    if (t.hotspot) random.hotspot = *t.hotspot;
    for (const topo::Node& node : context.mesh.nodes)
      if (node.kind() == topo::Kind::kTraffic) random.destinations.push_back(node.at);
    params.random = random;
  }
  return std::make_unique<traffic::Node>(context.name, params, context.port);
}

std::unique_ptr<sim::Unit> make_cluster(const EndpointContext& context) {
  return std::make_unique<cluster::MatmulCluster>(context.name, cluster_params(context), context.port);
}

std::unique_ptr<sim::Unit> make_vector(const EndpointContext& context) {
  return std::make_unique<vector::VectorCore>(context.name, vector_params(context), context.port);
}

// A traffic node without a script: swallows everything, sends nothing.
std::unique_ptr<sim::Unit> make_null(const EndpointContext& context) {
  traffic::NodeParams params;
  params.position = context.node.at;
  return std::make_unique<traffic::Node>(context.name, params, context.port);
}

}  // namespace

void register_models(Registry& registry) {
  using topo::Impl;
  using topo::Kind;
  registry.add_router(Impl::kModel,
                      [](std::string name, const noc::RouterParams& params,
                         const noc::Router::Ports& ports) -> std::unique_ptr<sim::Unit> {
                        return std::make_unique<noc::Router>(std::move(name), params, ports);
                      });
  registry.add_endpoint(Kind::kMatmulCluster, Impl::kModel, make_cluster);
  registry.add_endpoint(Kind::kVectorCore, Impl::kModel, make_vector);
  registry.add_endpoint(Kind::kTraffic, Impl::kModel, make_traffic);
  registry.add_endpoint(Kind::kNull, Impl::kModel, make_null);
}

}  // namespace ktpu::platform
