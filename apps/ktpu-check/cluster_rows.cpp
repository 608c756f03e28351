// SPDX-License-Identifier: Apache-2.0
// cycles_cluster.jsonl: one cluster instruction alone in the small system.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"

namespace ktpu::check {

using cluster::BusyFlag;
using nlohmann::json;

namespace {

constexpr Cycle kInject = 60;                               // any cycle past reset
constexpr std::uint64_t kOperands = 0, kResults = 0x80000;  // as in cycles_matmul; addresses do not matter

unsigned number(const json& row, const char* field, unsigned high, unsigned absent) {
  if (!row.contains(field)) return absent;
  return static_cast<unsigned>(integer(row[field], field, 0, high));
}

std::vector<arch::ClusterInst> instructions_of(const json& row) {
  const std::string& op = text(member(row, "op"), "op");
  std::vector<arch::ClusterInst> list;
  if (op == "FILL") {
    const auto side = number(row, "sel", 1, 0) != 0 ? arch::Side::kB : arch::Side::kA;
    const unsigned n = number(row, "n", 0xFFFF, 1);
    append_fills(list, side, kOperands, n, 0, number(row, "preq", 1, 0) != 0, n);
  } else if (op == "GEMM" || op == "FUSED") {
    arch::ClusterInst sweep =
        gemm(number(row, "gm", 255, 1), number(row, "gn", 255, 1), number(row, "nk", 255, 1));
    if (op == "FUSED") {
      sweep.emit = 1;
      sweep.addr = kResults;
    }
    list.push_back(sweep);
    if (op == "FUSED") {
      list.push_back(drain(sweep.gm * sweep.gn, kResults));
      list.back().fuse = 1;
    }
  } else if (op == "DRAIN") {
    list.push_back(drain(number(row, "n", 0xFFFF, 1), kResults));
  } else {
    throw arch::UserError::make("op \"{}\" is none of FILL, GEMM, DRAIN, FUSED", op);
  }
  return list;
}

// first, last and number of some events, from a common origin.
void span_of(const Cycles& cycles, Cycle from, const char* first, const char* last, const char* count,
             json& got) {
  if (count != nullptr) got[count] = cycles.size();
  if (cycles.empty()) return;
  if (first != nullptr) got[first] = cycles.front() - from;
  if (last != nullptr) got[last] = cycles.back() - from;
}

Cycles results_out(const LinkLog::Watched& out) {
  Cycles cycles;
  for (const FlitEvent& e : out.flits)
    if (e.flit.type() == arch::FlitType::kMemWrReq || e.flit.type() == arch::FlitType::kMemWrData)
      cycles.push_back(e.cycle);
  return cycles;
}

void measure_fill(const Rig& rig, arch::Coord at, Cycle issue, json& got) {
  const Cycles requests = cycles_of(rig.out(at).flits, arch::FlitType::kMemRdReq);
  span_of(requests, issue, "req_out", nullptr, nullptr, got);
  span_of(cycles_of(rig.in(at).flits, arch::FlitType::kMemRdResp), issue, "first_resp", "last_resp",
          "responses", got);
  span_of(rig.dram.read_bursts, issue, "first_ar", nullptr, "ar_bursts", got);
  span_of(rig.dram.read_beats, issue, "first_rd", nullptr, "rd_beats", got);
}

void measure_sweep(const ClusterLog& log, Cycle issue, json& got) {
  if (log.gemm_start.empty()) return;
  const Cycle start = log.gemm_start.front();
  got["start_delay"] = start - issue;
  const auto &sweep = log.intervals(BusyFlag::kSweep), &gemm_busy = log.intervals(BusyFlag::kGemm);
  if (!sweep.empty()) got["sweep_busy"] = sweep.front().length();
  if (!gemm_busy.empty()) {
    got["gemm_busy"] = gemm_busy.front().length();
    got["start_to_idle"] = gemm_busy.back().end - start;
  }
  Cycles commands;
  for (const ClusterLog::Command& c : log.sweep_commands()) commands.push_back(c.cycle);
  span_of(commands, start, "first_cmd", "last_cmd", "acu_cmds", got);
}

void measure_drain(const Rig& rig, arch::Coord at, Cycle start, json& got) {
  span_of(results_out(rig.out(at)), start, "first_flit", "last_flit", "flits_out", got);
  span_of(rig.dram.write_beats, start, nullptr, "last_dram_beat", "dram_beats", got);
  got["dram_bursts"] = rig.dram.write_bursts.size();
}

}  // namespace

void check_cycles_cluster(const json& row, Differences& differences) {
  const auto list = instructions_of(row);
  const std::string& op = text(row["op"], "op");
  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  Rig rig(std::move(machine));
  const arch::Coord at = rig.only(topo::Kind::kMatmulCluster).at, from = rig.only(topo::Kind::kTraffic).at;
  rig.inject(from, instruction_flits(list, at, from), kInject);
  rig.run();

  const ClusterLog& log = rig.cluster(at);
  const auto& injected = rig.out(from).flits;
  const Cycles signals = cycles_of(rig.in(from).flits, arch::FlitType::kCuSignal);
  json got = json::object();
  if (!log.issue.empty() && !injected.empty()) got["inject_to_issue"] = log.issue[0] - injected[0].cycle;
  if (!log.issue.empty() && !log.retire.empty()) {
    got["issue_to_retire"] = log.retire[0] - log.issue[0];
    if (!signals.empty()) got["signal_latency"] = signals[0] - log.retire[0];
    if (op == "FILL") measure_fill(rig, at, log.issue[0], got);
    if (op == "GEMM" || op == "FUSED") measure_sweep(log, log.issue[0], got);
    if (op == "DRAIN" && !log.drain_start.empty()) {
      const Cycle start = log.drain_start[0];
      got["start_delay"] = start - log.issue[0];
      got["start_to_retire"] = log.retire[0] - start;
      if (!log.intervals(BusyFlag::kDrain).empty())
        got["drain_busy"] = log.intervals(BusyFlag::kDrain).front().length();
      measure_drain(rig, at, start, got);
    }
    if (op == "FUSED" && !log.gemm_start.empty()) {
      got["gemm_start_to_drain_retire"] = log.retire.back() - log.gemm_start[0];
      measure_drain(rig, at, log.gemm_start[0], got);
    }
  }
  compare_fields(row, got, {"dram", "op", "n", "preq", "sel", "gm", "gn", "nk"}, {}, differences);
}

}  // namespace ktpu::check
