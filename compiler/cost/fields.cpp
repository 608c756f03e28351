// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/fields.h"

#include <cmath>
#include <string>
#include <type_traits>

#include "arch/error.h"
#include "arch/suggest.h"

namespace ktpu::cost {
namespace {

template <typename T>
void touch(T& value, const double* set, double* get) {
  if (set != nullptr) {
    if (*set < 0 || (!std::is_floating_point_v<T> && *set != std::floor(*set)))
      throw arch::UserError::make(
          "{:g} is not a {}", *set,
          std::is_floating_point_v<T> ? "number from 0 on" : "whole number from 0 on");
    value = static_cast<T>(*set);
  }
  if (get != nullptr) *get = static_cast<double>(value);
}

template <auto Member>
void in_host(CostMachine& machine, const double* set, double* get) {
  touch(machine.host.*Member, set, get);
}
template <auto Group, auto Member>
void in_mesh(CostMachine& machine, const double* set, double* get) {
  for (MeshCost& mesh : machine.meshes) touch(mesh.*Group.*Member, set, get);
}
template <auto Group, auto Member>
void in_unit(CostMachine& machine, const double* set, double* get) {
  for (MeshCost& mesh : machine.meshes)
    for (UnitCost& unit : mesh.units) touch(unit.*Group.*Member, set, get);
}

const Field& find(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Field& f : fields()) {
    if (f.name == name) return f;
    names.push_back(f.name);
  }
  throw arch::UserError::make("the cost model has no number \"{}\"{}", name, arch::did_you_mean(name, names));
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> all{
      {"host.start", "programs/README.md", "address of the first transaction, counted from the end of reset",
       in_host<&HostCost::start>},
      {"host.write", "orchestrator.md 2", "a register write to the next transaction",
       in_host<&HostCost::write>},
      {"host.read", "orchestrator.md 2", "a register read to the next transaction", in_host<&HostCost::read>},
      {"host.beat", "orchestrator.md 2", "address to W beat, or to the sample of a read",
       in_host<&HostCost::beat>},
      {"host.engine_go", "orchestrator.md 8", "W beat of GO to the first fetch",
       in_host<&HostCost::engine_go>},
      {"host.engine_command", "orchestrator.md 8", "a command to the next, polls that are met included",
       in_host<&HostCost::engine_command>},
      {"host.engine_beat", "orchestrator.md 8", "fetch to W beat or sample", in_host<&HostCost::engine_beat>},
      {"host.engine_retry", "orchestrator.md 8", "failed poll to its next read",
       in_host<&HostCost::engine_retry>},
      {"host.engine_commands", "orchestrator.md 8", "entries of the engine",
       in_host<&HostCost::engine_commands>},
      {"dispatch.first_flit", "orchestrator.md 5", "W beat of PROG_KICK to flit 0 on the agent's output",
       in_mesh<&MeshCost::dispatch, &DispatchCost::first_flit>},
      {"dispatch.flit", "orchestrator.md 5", "flit to flit",
       in_mesh<&MeshCost::dispatch, &DispatchCost::flit>},
      {"dispatch.run_clear", "orchestrator.md 5", "W beat of PROG_KICK to run = 0, of a program of one flit",
       in_mesh<&MeshCost::dispatch, &DispatchCost::run_clear>},
      {"dispatch.signal_visible", "orchestrator.md 5",
       "signal taken by the agent to NODE_STATUS and SIG_DONE",
       in_mesh<&MeshCost::dispatch, &DispatchCost::signal_visible>},
      {"fabric.hop", "fabric.md 7.3", "through one router", in_mesh<&MeshCost::fabric, &FabricCost::hop>},
      {"fabric.adapter", "fabric.md 7.3", "staging adapter, unit to router",
       in_mesh<&MeshCost::fabric, &FabricCost::adapter>},
      {"port.queue", "memory.md 1", "of reads, and of write flits",
       in_mesh<&MeshCost::port, &PortCost::queue>},
      {"port.queue_margin", "memory.md 4.2", "busy so many before it is full",
       in_mesh<&MeshCost::port, &PortCost::queue_margin>},
      {"port.write_slots", "memory.md 1", "reassembly slots",
       in_mesh<&MeshCost::port, &PortCost::write_slots>},
      {"port.read_address", "memory.md 4.3", "request accepted to address valid",
       in_mesh<&MeshCost::port, &PortCost::read_address>},
      {"port.write_ready", "memory.md 4.5", "last data flit accepted to slot ready",
       in_mesh<&MeshCost::port, &PortCost::write_ready>},
      {"port.write_address", "memory.md 4.5", "slot ready to address valid",
       in_mesh<&MeshCost::port, &PortCost::write_address>},
      {"port.quant_emit", "memory.md 4.3", "last beat taken to word 0 on the wire, through the quantiser",
       in_mesh<&MeshCost::port, &PortCost::quant_emit>},
      {"port.raw_emit", "memory.md 4.3", "the same without it",
       in_mesh<&MeshCost::port, &PortCost::raw_emit>},
      {"port.quant_period", "memory.md 4.3", "entry to entry when memory is never the limit",
       in_mesh<&MeshCost::port, &PortCost::quant_period>},
      {"port.raw_gap", "memory.md 4.3", "raw entries: words and this",
       in_mesh<&MeshCost::port, &PortCost::raw_gap>},
      {"port.plain_emit", "memory.md 4.4", "beat taken to the response on the wire, plain reads",
       in_mesh<&MeshCost::port, &PortCost::plain_emit>},
      {"port.entry_bytes", "memory.md 1", "FP16 entry in memory",
       in_mesh<&MeshCost::port, &PortCost::entry_bytes>},
      {"port.packed_bytes", "memory.md 1", "MXFP7 entry in memory",
       in_mesh<&MeshCost::port, &PortCost::packed_bytes>},
      {"path.grant", "memory.md 7.3", "address valid at the port to pushed into the address FIFO",
       in_mesh<&MeshCost::path, &PathCost::grant>},
      {"path.port_skid", "memory.md 7.3", "internal beat to taken by the port",
       in_mesh<&MeshCost::path, &PathCost::port_skid>},
      {"path.write_data", "memory.md 7.3", "write address valid at the port to the first beat taken",
       in_mesh<&MeshCost::path, &PathCost::write_data>},
      {"path.write_response", "memory.md 7.3", "response out of its FIFO to the port's",
       in_mesh<&MeshCost::path, &PathCost::write_response>},
      {"path.ack", "memory.md 4.5", "the port's response to the acknowledgement on the wire",
       in_mesh<&MeshCost::path, &PathCost::ack>},
      {"dram.bus_bits", "memory.md 15", "MW, a multiple of 256",
       in_mesh<&MeshCost::dram, &DramCost::bus_bits>},
      {"dram.in_flight", "memory.md 15", "bursts of one direction at the device",
       in_mesh<&MeshCost::dram, &DramCost::in_flight>},
      {"dram.first_read_beat", "memory.md 15", "D: read address accepted to beat 0",
       in_mesh<&MeshCost::dram, &DramCost::first_read_beat>},
      {"dram.first_write_beat", "memory.md 15", "write address accepted to data taken",
       in_mesh<&MeshCost::dram, &DramCost::first_write_beat>},
      {"dram.write_response", "memory.md 15", "Dw", in_mesh<&MeshCost::dram, &DramCost::write_response>},
      {"dram.banks", "topologies", "banks of the banked model; 0: the simple model",
       in_mesh<&MeshCost::dram, &DramCost::banks>},
      {"dram.row_bytes", "topologies", "of one bank", in_mesh<&MeshCost::dram, &DramCost::row_bytes>},
      {"dram.row_hit", "topologies", "address to first beat, row open",
       in_mesh<&MeshCost::dram, &DramCost::row_hit>},
      {"dram.row_closed", "topologies", "no row open", in_mesh<&MeshCost::dram, &DramCost::row_closed>},
      {"dram.row_conflict", "topologies", "another row open",
       in_mesh<&MeshCost::dram, &DramCost::row_conflict>},
      {"dram.bytes_per_cycle", "topologies", "bound on both directions together; banked only",
       in_mesh<&MeshCost::dram, &DramCost::bytes_per_cycle>},
      {"cluster.visible", "cluster.md 13.2", "flit accepted to visible at the sequencer",
       in_unit<&UnitCost::cluster, &ClusterCost::visible>},
      {"cluster.fill_request", "cluster.md 13.3", "visible to the request on the output",
       in_unit<&UnitCost::cluster, &ClusterCost::fill_request>},
      {"cluster.fill_request_busy", "cluster.md 13.3", "the same directly behind another completion",
       in_unit<&UnitCost::cluster, &ClusterCost::fill_request_busy>},
      {"cluster.fill_done", "cluster.md 13.3", "last word accepted to exec_done",
       in_unit<&UnitCost::cluster, &ClusterCost::fill_done>},
      {"cluster.start_test", "cluster.md 13.3", "visible to the first start test of GEMM and DRAIN",
       in_unit<&UnitCost::cluster, &ClusterCost::start_test>},
      {"cluster.gemm_issue", "cluster.md 13.3", "start test passes to the first issue",
       in_unit<&UnitCost::cluster, &ClusterCost::gemm_issue>},
      {"cluster.gemm_done", "cluster.md 13.3", "start test passes to exec_done",
       in_unit<&UnitCost::cluster, &ClusterCost::gemm_done>},
      {"cluster.unknown_done", "cluster.md 13.3", "visible to exec_done of an unknown opcode",
       in_unit<&UnitCost::cluster, &ClusterCost::unknown_done>},
      {"cluster.signal", "cluster.md 13.3", "exec_done to the completion on the output",
       in_unit<&UnitCost::cluster, &ClusterCost::signal>},
      {"cluster.issues_per_cycle", "cluster.md 1", "sub-tile steps (4 x 4 x 32 MACs) a cycle",
       in_unit<&UnitCost::cluster, &ClusterCost::issues_per_cycle>},
      {"cluster.reuse", "cluster.md 8", "REUSE_MIN, steps on one tile at least so far apart",
       in_unit<&UnitCost::cluster, &ClusterCost::reuse>},
      {"cluster.wide", "cluster.md 5.2", "gm * gn from which a sweep waits only for the cascade",
       in_unit<&UnitCost::cluster, &ClusterCost::wide>},
      {"cluster.sweep_free", "cluster.md 13.3", "last issue to sweep_busy low",
       in_unit<&UnitCost::cluster, &ClusterCost::sweep_free>},
      {"cluster.gemm_free", "cluster.md 13.3", "last issue to gemm_busy low",
       in_unit<&UnitCost::cluster, &ClusterCost::gemm_free>},
      {"cluster.burst", "cluster.md 2", "granules of a write burst",
       in_unit<&UnitCost::cluster, &ClusterCost::burst>},
      {"cluster.burst_period", "cluster.md 13.4", "burst to burst, 9 flits and one empty cycle",
       in_unit<&UnitCost::cluster, &ClusterCost::burst_period>},
      {"cluster.drain_first", "cluster.md 13.4",
       "start test to the descriptor of burst 0, 8 granules or more",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_first>},
      {"cluster.drain_first_short", "cluster.md 13.4", "the same with fewer, plus the granules",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_first_short>},
      {"cluster.drain_done", "cluster.md 13.4", "start test to exec_done, beside bursts and granules",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_done>},
      {"cluster.drain_done_short", "cluster.md 13.4", "the same with one burst, plus twice the granules",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_done_short>},
      {"cluster.emit_first", "cluster.md 13.4", "first ADD_EMIT issue to the descriptor of burst 0",
       in_unit<&UnitCost::cluster, &ClusterCost::emit_first>},
      {"cluster.emit_first_short", "cluster.md 13.4",
       "last issue to the only descriptor, fewer than 8 granules",
       in_unit<&UnitCost::cluster, &ClusterCost::emit_first_short>},
      {"cluster.drain_tail", "cluster.md 13.3", "last data flit on the output to exec_done",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_tail>},
      {"cluster.fused_done", "cluster.md 13.3", "visible to exec_done, batch already written out",
       in_unit<&UnitCost::cluster, &ClusterCost::fused_done>},
      {"cluster.drain_limit", "cluster.md 9.1", "granules outstanding that stop an emitting sweep",
       in_unit<&UnitCost::cluster, &ClusterCost::drain_limit>},
      {"cluster.peer_taken", "cluster.md 13.3", "CU_DATA flit accepted to taken",
       in_unit<&UnitCost::cluster, &ClusterCost::peer_taken>},
      {"cluster.peer_ack", "cluster.md 13.3", "last data flit taken to the acknowledgement on the output",
       in_unit<&UnitCost::cluster, &ClusterCost::peer_ack>},
      {"cluster.peer_tile", "cluster.md 13.3", "sub-tile to sub-tile of a peer sum",
       in_unit<&UnitCost::cluster, &ClusterCost::peer_tile>},
      {"cluster.peer_busy", "cluster.md 11", "ADD_PEER keeps gemm_busy high",
       in_unit<&UnitCost::cluster, &ClusterCost::peer_busy>},
      {"vector.lanes", "vector.md 1", "elements of a beat", in_unit<&UnitCost::vector, &VectorCost::lanes>},
      {"vector.visible", "vector.md 12.6", "flit accepted to visible at the sequencer",
       in_unit<&UnitCost::vector, &VectorCost::visible>},
      {"vector.envelope", "vector.md 12.6", "visible to exec_done of IMEM and DESC, and to kernel cycle 0",
       in_unit<&UnitCost::vector, &VectorCost::envelope>},
      {"vector.signal", "vector.md 12.6", "exec_done to the completion on the output",
       in_unit<&UnitCost::vector, &VectorCost::signal>},
      {"vector.fetch", "vector.md 12.1", "F to E", in_unit<&UnitCost::vector, &VectorCost::fetch>},
      {"vector.first_execute", "vector.md 12.1", "E of the first instruction",
       in_unit<&UnitCost::vector, &VectorCost::first_execute>},
      {"vector.chain_word", "vector.md 12.3", "each further word of a chain group",
       in_unit<&UnitCost::vector, &VectorCost::chain_word>},
      {"vector.alu", "vector.md 12.2", "latency of a stage", in_unit<&UnitCost::vector, &VectorCost::alu>},
      {"vector.ready", "vector.md 12.3", "last beat to the result, beside the stages",
       in_unit<&UnitCost::vector, &VectorCost::ready>},
      {"vector.pipe", "vector.md 12.2", "last beat to \"pipe empty\"",
       in_unit<&UnitCost::vector, &VectorCost::pipe>},
      {"vector.set_immediate", "vector.md 12.3", "VSETI",
       in_unit<&UnitCost::vector, &VectorCost::set_immediate>},
      {"vector.load_chunk", "vector.md 12.3", "VLD, each L1 word",
       in_unit<&UnitCost::vector, &VectorCost::load_chunk>},
      {"vector.store_chunk", "vector.md 12.3", "VST FP16",
       in_unit<&UnitCost::vector, &VectorCost::store_chunk>},
      {"vector.store_chunk_wide", "vector.md 12.3", "VST FP32",
       in_unit<&UnitCost::vector, &VectorCost::store_chunk_wide>},
      {"vector.move_chunk", "vector.md 12.3", "VCVT, VSHUF, VBCAST of a scalar",
       in_unit<&UnitCost::vector, &VectorCost::move_chunk>},
      {"vector.move_base", "vector.md 12.3", "fixed part of all of these",
       in_unit<&UnitCost::vector, &VectorCost::move_base>},
      {"vector.to_scalar", "vector.md 12.3", "VBCAST to a scalar",
       in_unit<&UnitCost::vector, &VectorCost::to_scalar>},
      {"vector.reduce_tail", "vector.md 12.3", "VRED: tail beat to the next fetch",
       in_unit<&UnitCost::vector, &VectorCost::reduce_tail>},
      {"vector.scoreboard", "vector.md 14", "pending writes it counts before it wraps (Q6); 0: never",
       in_unit<&UnitCost::vector, &VectorCost::scoreboard>},
      {"vector.fill_first", "vector.md 12.3", "VFILL: start to the first request decided",
       in_unit<&UnitCost::vector, &VectorCost::fill_first>},
      {"vector.fill_link", "vector.md 12.5", "request decided to the node's link",
       in_unit<&UnitCost::vector, &VectorCost::fill_link>},
      {"vector.word", "vector.md 12.3", "fill and drain: word to word",
       in_unit<&UnitCost::vector, &VectorCost::word>},
      {"vector.fill_base", "vector.md 12.3", "VFILL: next fetch beside the words",
       in_unit<&UnitCost::vector, &VectorCost::fill_base>},
      {"vector.landed", "vector.md 12.3", "response accepted to \"no fill outstanding\"",
       in_unit<&UnitCost::vector, &VectorCost::landed>},
      {"vector.drain_base", "vector.md 12.3", "VDRAIN: next fetch beside the words",
       in_unit<&UnitCost::vector, &VectorCost::drain_base>},
      {"vector.drain_first", "vector.md 12.3", "VDRAIN: E to the data flit of word 0 on the link",
       in_unit<&UnitCost::vector, &VectorCost::drain_first>},
      {"vector.halt", "vector.md 12.3", "VHALT: pipe empty to `cycles`",
       in_unit<&UnitCost::vector, &VectorCost::halt>},
      {"vector.data_received", "vector.md 12.5", "last data flit of a peer burst to the acknowledgement",
       in_unit<&UnitCost::vector, &VectorCost::data_received>},
  };
  return all;
}

double field(const CostMachine& machine, std::string_view name) {
  CostMachine copy = machine;
  double value = 0;
  find(name).access(copy, nullptr, &value);
  return value;
}

void set_field(CostMachine& machine, std::string_view name, double value) {
  try {
    find(name).access(machine, &value, nullptr);
  } catch (const arch::UserError& error) {
    throw arch::UserError::make("{}={:g}: {}", name, value, error.what());
  }
}

}  // namespace ktpu::cost
