// SPDX-License-Identifier: Apache-2.0
// cycles_dispatch.jsonl: instructions that retire at once, from the agent or from the injection port.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/vector_inst.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kInject = 60;  // any cycle past reset

std::vector<arch::Flit> flits_of(const json& row, arch::Coord to, arch::Coord from) {
  const auto count = static_cast<std::size_t>(integer(member(row, "flits"), "flits", 1, 128));
  const std::string& instruction = text(member(row, "instruction"), "instruction");
  const std::uint32_t header = arch::make_header(to, from, arch::FlitType::kCuInst, 0, false);
  arch::Flit flit;
  if (instruction == "no-op") {
    flit = arch::make_flit(header, arch::ClusterInst{});
  } else if (instruction == "IMEM write") {
    arch::VectorInst imem;
    imem.op = static_cast<std::uint32_t>(arch::VectorOp::kImem);
    flit = arch::make_flit(header, imem);
  } else {
    throw arch::UserError::make("instruction \"{}\" is neither \"no-op\" nor \"IMEM write\"", instruction);
  }
  return std::vector<arch::Flit>(count, flit);
}

json from_origin(const Cycles& cycles, Cycle origin) {
  json list = json::array();
  for (const Cycle c : cycles)
    list.push_back(static_cast<std::int64_t>(c) - static_cast<std::int64_t>(origin));
  return list;
}

Cycles all_cycles(const std::vector<FlitEvent>& events) {
  Cycles cycles;
  for (const FlitEvent& e : events) cycles.push_back(e.cycle);
  return cycles;
}

}  // namespace

void check_cycles_dispatch(const json& row, Differences& differences) {
  const std::string& target = text(member(row, "target"), "target");
  const std::string& kind = text(member(row, "kind"), "kind");
  if (target != "cluster" && target != "vector")
    throw arch::UserError::make("target \"{}\" is neither cluster nor vector", target);
  if (kind != "agent_dispatch" && kind != "direct_injection")
    throw arch::UserError::make("kind \"{}\" is neither agent_dispatch nor direct_injection", kind);
  const bool by_agent = kind == "agent_dispatch";
  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  const topo::Kind unit = target == "cluster" ? topo::Kind::kMatmulCluster : topo::Kind::kVectorCore;
  arch::Coord at, port;
  for (const topo::Node& node : machine.meshes.front().nodes) {
    if (node.kind() == unit) at = node.at;
    if (node.kind() == topo::Kind::kTraffic) port = node.at;
  }
  const auto flits = flits_of(row, at, port);
  const auto credit =
      by_agent ? static_cast<unsigned>(integer(member(row, "credit"), "credit", 0, 0xFFFF)) : 0u;
  const arch::Program program = dispatch_program(flits, at, credit);
  Rig rig(std::move(machine), by_agent ? &program : nullptr);
  if (!by_agent) rig.inject(port, flits, kInject);
  rig.run();

  json got = json::object();
  const auto& sent = rig.out(port).flits;
  const Cycle origin = by_agent ? (rig.agent.kicks.empty() ? 0 : rig.agent.kicks.front())
                                : (sent.empty() ? 0 : sent.front().cycle);
  if (by_agent) {
    got["push"] = from_origin(all_cycles(rig.agent.pushes), origin);
    got["agent_out"] = from_origin(all_cycles(rig.agent.leaves), origin);
    got["agent_signal_in"] = from_origin(cycles_of(rig.agent.arrivals, arch::FlitType::kCuSignal), origin);
  } else {
    got["inject"] = from_origin(all_cycles(sent), origin);
    got["signal_back"] = from_origin(cycles_of(rig.in(port).flits, arch::FlitType::kCuSignal), origin);
  }
  const Cycles arrivals = cycles_of(rig.in(at).flits, arch::FlitType::kCuInst);
  got["unit_in"] = from_origin(arrivals, origin);
  got["unit_signal_out"] = from_origin(cycles_of(rig.out(at).flits, arch::FlitType::kCuSignal), origin);
  if (!arrivals.empty()) got["routers"] = rig.hops(arch::FlitType::kCuInst) / arrivals.size() + 1;
  compare_fields(row, got, {"dram", "kind", "target", "flits", "credit", "instruction"}, {}, differences);
}

}  // namespace ktpu::check
