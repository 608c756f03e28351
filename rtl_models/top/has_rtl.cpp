// SPDX-License-Identifier: Apache-2.0
#include "rtl_models/top/has_rtl.h"

#include "arch/encoding/latencies.h"
#include "arch/error.h"

namespace ktpu::rtl {

namespace {

constexpr unsigned kAccMw = 14;         // of ktpu_cluster
constexpr unsigned kMaxEntries = 512;   // of its L1, a side
constexpr unsigned kVectorWords = 512;  // of ktpu_vector's L1
constexpr unsigned kMaxStaging = 128;   // flits of ktpu_agent's staging RAM

[[noreturn]] void refuse(const topo::Place& place, const std::string& what, const std::string& why) {
  throw arch::UserError(fmt::format("{}: {}: {}", place.text(), what, why));
}

void check_cluster(const topo::Node& node, const std::string& id) {
  const auto& cluster = *node.get<topo::MatmulCluster>();
  if (cluster.acc_mw != kAccMw)
    refuse(node.place, id,
           fmt::format("the RTL cluster has an accumulator mantissa of {} bits, acc_mw is {}", kAccMw,
                       cluster.acc_mw));
  if (cluster.l1_a > kMaxEntries || cluster.l1_b > kMaxEntries)
    refuse(node.place, id,
           fmt::format("the RTL cluster has up to {} L1 entries a side, l1_a and l1_b are {} and {}",
                       kMaxEntries, cluster.l1_a, cluster.l1_b));
}

void check_vector(const topo::Node& node, const std::string& id) {
  const auto& core = *node.get<topo::VectorCore>();
  if (core.l1_words > kVectorWords)
    refuse(node.place, id,
           fmt::format("the RTL vector core has up to {} L1 words, l1_words is {}", kVectorWords,
                       core.l1_words));
}

void check_node(const topo::Machine& machine, const topo::Node& node, const std::string& id) {
  switch (node.kind()) {
    case topo::Kind::kMatmulCluster:
      check_cluster(node, id);
      break;
    case topo::Kind::kVectorCore:
      check_vector(node, id);
      break;
    case topo::Kind::kController:
    case topo::Kind::kPe:
      refuse(node.place, id, fmt::format("there is no RTL of kind \"{}\"", topo::kind_name(node.kind())));
    case topo::Kind::kMemoryPort:
    case topo::Kind::kTraffic:  // a port of the top
    case topo::Kind::kNull:
      break;
  }
  if (node.crossing)
    refuse(node.place, id,
           fmt::format("there is no RTL of clock crossings, and its clock is '{}': leave `clock` out",
                       machine.clocks[node.clock].name));
  if (node.adapter) refuse(node.place, id, "there is no RTL of the staging adapter: leave `adapter` out");
}

void check_memory(const topo::Machine& machine, const topo::Mesh& mesh, const std::string& id) {
  if (mesh.agent && mesh.agent->staging_flits > kMaxStaging)
    refuse(mesh.place, id,
           fmt::format("the RTL control agent stages up to {} flits, staging_flits is {}", kMaxStaging,
                       mesh.agent->staging_flits));
  if (mesh.dram && mesh.dram->clock != 0)
    refuse(mesh.place, id,
           fmt::format(
               "the RTL memory agent has the clock of its DRAM, and that of `dram` is '{}': leave `clock` "
               "out",
               machine.clocks[mesh.dram->clock].name));
}

}  // namespace

void check_has_rtl(const topo::Machine& machine) {
  for (const topo::Mesh& mesh : machine.meshes) {
    const std::string id = fmt::format("mesh {}", mesh.id);
    const topo::RouterConfig& router = mesh.router;
    if (router.fifo_latency != arch::latency::kFifo || router.fifo_extra != arch::latency::kFifoExtra)
      refuse(mesh.place, id,
             fmt::format(
                 "the RTL router's FIFOs take {} cycles and hold {} words beyond their depth; fifo_latency "
                 "and fifo_extra are {} and {}",
                 arch::latency::kFifo.value, arch::latency::kFifoExtra.value, router.fifo_latency,
                 router.fifo_extra));
    for (const topo::Node& node : mesh.nodes) check_node(machine, node, topo::node_id(machine, mesh, node));
    check_memory(machine, mesh, id);
  }
}

}  // namespace ktpu::rtl
