// SPDX-License-Identifier: Apache-2.0
// cycles_mesh8.jsonl: up to eight clusters of the 2x2 mesh, each with a matmul of its own, and the host that
// kicks them off one after the other (vectors/rtl/README.md).
#include <array>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr std::array<arch::Coord, 8> kClusters{
    {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 0}, {2, 0}, {1, 3}, {2, 3}}};
constexpr unsigned kCredit = 128;
constexpr unsigned kIdleBeforeKicks = 50;
constexpr unsigned kPreloadBytes = 64;  // loaded by the back door per cycle
constexpr unsigned kFillLimit = 255;    // one fill an operand

Matmul job_of(const json& row, unsigned index) {
  const auto extent = [&](const char* field) {
    return static_cast<unsigned>(integer(member(row, field), field, 4, 1024));
  };
  Matmul job;
  job.m = extent("M");
  job.n = extent("N");
  job.k = extent("K");
  job.variant = text(member(row, "variant"), "variant");
  job.entries_per_fill = kFillLimit;
  job.a = index * std::uint64_t{0x20000};
  job.b = job.a + 0x10000;
  job.c = 0x200000 + index * std::uint64_t{0x10000};
  return job;
}

std::uint64_t operand_bytes(const Matmul& job) {
  return std::uint64_t{256} * job.nk() * (job.gm() + job.gn());
}

void write(arch::Program& program, std::uint32_t offset, std::uint64_t value) {
  program.steps.push_back({0, arch::StepWrite{offset, value}});
}

}  // namespace

void check_cycles_mesh8(const json& row, Differences& differences) {
  namespace reg = arch::agent;
  const auto clusters =
      static_cast<unsigned>(integer(member(row, "clusters"), "clusters", 1, kClusters.size()));
  topo::Machine machine = shipped_machine("reference_mesh8");
  apply_dram(row, machine);
  arch::Program program;
  std::vector<unsigned> lengths;
  unsigned slot = 0;
  std::uint64_t preloaded = 0;
  for (unsigned i = 0; i < clusters; ++i) {
    const Matmul job = job_of(row, i);
    const auto flits = instruction_flits(matmul_instructions(job), kClusters[i], {});
    program.steps.push_back({0, arch::StepStage{slot, flits}});
    lengths.push_back(static_cast<unsigned>(flits.size()));
    slot += lengths.back();
    preloaded += operand_bytes(job);
  }
  write(program, reg::kProgCred, kCredit);
  write(program, reg::kSigDone, 0);
  program.steps.push_back({0, arch::StepQuiet{kIdleBeforeKicks}});
  slot = 0;
  for (unsigned i = 0; i < clusters; ++i) {
    write(program, reg::kProgBase, slot);
    write(program, reg::kProgDst, kClusters[i].node_byte());
    write(program, reg::kProgLen, lengths[i]);
    write(program, reg::kProgKick, 1);
    program.steps.push_back({0, arch::StepPoll{reg::kProgStat, 1, 0}});
    slot += lengths[i];
  }
  machine.host.script.start_cycles += static_cast<unsigned>(preloaded / kPreloadBytes);
  Rig rig(std::move(machine), &program);
  rig.run();

  json got = json::object();
  got["instructions"] = slot;
  got["dram_read_beats"] = rig.dram.read_beats.size();
  got["dram_write_beats"] = rig.dram.write_beats.size();
  if (!rig.agent.kicks.empty()) {
    const Cycle kick = rig.agent.kicks.front();
    got["first_kick_cycle"] = kick;
    got["first_kick_to_all_kicked"] = rig.host.end_cycle - kick;
    json completions = json::array();
    // SIG_DONE shows a signal in the cycle after it was taken.
    for (const Cycle c : cycles_of(rig.agent.arrivals, arch::FlitType::kCuSignal))
      completions.push_back(c + 1 - kick);
    if (completions.size() == slot) got["first_kick_to_last_signal"] = completions.back();
    got["completions"] = completions;
    if (!rig.dram.write_beats.empty()) got["last_dram_write_beat"] = rig.dram.write_beats.back() - kick;
  }
  compare_fields(row, got, {"dram", "clusters", "M", "N", "K", "variant", "max_rel_err"}, {}, differences);
}

}  // namespace ktpu::check
