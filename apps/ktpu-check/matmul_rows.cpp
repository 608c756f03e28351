// SPDX-License-Identifier: Apache-2.0
// cycles_matmul.jsonl and vectors_matmul.jsonl: one matmul on the small system's cluster.
#include <optional>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"
#include "arch/formats/operand.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kInject = 60;      // any cycle past reset
constexpr unsigned kCredit = 512;  // never the limit
constexpr unsigned kChunks = 4;    // of a ksplit row that does not say its chunk
constexpr std::int64_t kMaxExtent = 4096;

Matmul job_of(const json& row) {
  const auto extent = [&](const char* field) {
    return static_cast<unsigned>(integer(member(row, field), field, 1, kMaxExtent));
  };
  Matmul job;
  job.m = extent("M");
  job.n = extent("N");
  job.k = extent("K");
  job.variant = text(member(row, "variant"), "variant");
  job.b = 0x40000;  // vectors/rtl/README.md, cycles_matmul
  job.c = 0x80000;
  if (row.contains("k_blocks_per_chunk"))
    job.blocks_per_chunk = extent("k_blocks_per_chunk");
  else if (job.variant == "ksplit")
    job.blocks_per_chunk = (job.nk() + kChunks - 1) / kChunks;
  return job;
}

json offsets(const Cycles& cycles, Cycle origin) {
  json list = json::array();
  for (const Cycle c : cycles)
    list.push_back(static_cast<std::int64_t>(c) - static_cast<std::int64_t>(origin));
  return list;
}

// Rows of K elements into 256-byte entries, entry g * blocks + kb of each chunk of K (number-formats.md 5.1).
std::vector<std::uint8_t> pack_operand(const std::vector<std::uint16_t>& values, unsigned rows, unsigned k,
                                       unsigned blocks_per_chunk) {
  const unsigned groups = (rows + 3) / 4, blocks = (k + 31) / 32;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(std::size_t{groups} * blocks * 256);
  for (unsigned first = 0; first < blocks; first += blocks_per_chunk)
    for (unsigned g = 0; g < groups; ++g)
      for (unsigned kb = first; kb < std::min(blocks, first + blocks_per_chunk); ++kb)
        for (unsigned lane = 0; lane < 4; ++lane)
          for (unsigned e = 0; e < 32; ++e) {
            const unsigned row = 4 * g + lane, column = 32 * kb + e;
            const std::uint16_t v = row < rows && column < k ? values[std::size_t{row} * k + column] : 0;
            bytes.push_back(static_cast<std::uint8_t>(v));
            bytes.push_back(static_cast<std::uint8_t>(v >> 8));
          }
  return bytes;
}

// Sub-tiles of 4x4, tile g * gn + h, 32 bytes each (cluster.md section 9.2), to rows of N as hex.
std::string unpack_result(const std::vector<std::uint8_t>& bytes, const Matmul& job) {
  std::string hex;
  for (unsigned row = 0; row < job.m; ++row)
    for (unsigned column = 0; column < job.n; ++column) {
      const std::size_t tile = std::size_t{row / 4} * job.gn() + column / 4;
      const std::size_t at = 32 * tile + 2 * (4 * (row % 4) + column % 4);
      hex += to_hex(static_cast<std::uint64_t>(bytes[at] | bytes[at + 1] << 8), 4);
    }
  return hex;
}

}  // namespace

void check_cycles_matmul(const json& row, Differences& differences) {
  const Matmul job = job_of(row);
  const std::string& start = text(member(row, "start"), "start");
  if (start != "agent" && start != "inject")
    throw arch::UserError::make("start \"{}\" is neither agent nor inject", start);
  const bool by_agent = start == "agent";
  const auto list = matmul_instructions(job);

  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  arch::Coord at, port;
  for (const topo::Node& node : machine.meshes.front().nodes) {
    if (node.kind() == topo::Kind::kMatmulCluster) at = node.at;
    if (node.kind() == topo::Kind::kTraffic) port = node.at;
  }
  const auto flits = instruction_flits(list, at, port);
  const arch::Program program = dispatch_program(flits, at, kCredit);
  Rig rig(std::move(machine), by_agent ? &program : nullptr);
  if (!by_agent) rig.inject(port, flits, kInject);
  rig.run();

  const ClusterLog& log = rig.cluster(at);
  json got = json::object();
  got["instructions"] = list.size();
  const Cycles signals = by_agent ? cycles_of(rig.agent.arrivals, arch::FlitType::kCuSignal)
                                  : cycles_of(rig.in(port).flits, arch::FlitType::kCuSignal);
  std::optional<Cycle> origin;
  if (by_agent && !rig.agent.kicks.empty()) origin = rig.agent.kicks.front();
  if (!by_agent && !rig.out(port).flits.empty()) origin = rig.out(port).flits.front().cycle;
  if (origin) {
    if (signals.size() == list.size()) got["cycles_to_last_signal"] = signals.back() - *origin;
    if (!rig.dram.write_beats.empty())
      got["cycles_to_last_dram_beat"] = rig.dram.write_beats.back() - *origin;
    got["issue"] = offsets(log.issue, *origin);
    got["retire"] = offsets(log.retire, *origin);
    got["gemm_start"] = offsets(log.gemm_start, *origin);
  }
  got["dram_read_beats"] = rig.dram.read_beats.size();
  got["dram_write_beats"] = rig.dram.write_beats.size();
  got["mem_responses"] = cycles_of(rig.in(at).flits, arch::FlitType::kMemRdResp).size();
  got["acu_cmds"] = log.sweep_commands().size();
  got["flits_into_cluster"] = rig.in(at).flits.size();
  got["flits_out_of_cluster"] = rig.out(at).flits.size();
  compare_fields(row, got,
                 {"dram", "M", "N", "K", "variant", "start", "k_blocks_per_chunk", "operands", "seed",
                  "max_abs_err_vs_fp64", "ref_max_abs"},
                 {}, differences);
}

void check_vectors_matmul(const json& row, Differences& differences) {
  Matmul job = job_of(row);
  job.b = job.a + std::uint64_t{256} * job.gm() * job.nk();
  job.c = job.b + std::uint64_t{256} * job.gn() * job.nk();
  const unsigned chunk = job.variant == "ksplit" ? job.chunk() : job.nk();
  const auto a = hex_halves(member(row, "A"), "A", std::size_t{job.m} * job.k);
  const auto b = hex_halves(member(row, "B"), "B", std::size_t{job.n} * job.k);
  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  arch::Coord at;
  for (const topo::Node& node : machine.meshes.front().nodes)
    if (node.kind() == topo::Kind::kMatmulCluster) at = node.at;
  const arch::Program program =
      dispatch_program(instruction_flits(matmul_instructions(job), at, {}), at, kCredit);
  Rig rig(std::move(machine), &program);
  rig.write_memory(job.a, pack_operand(a, job.m, job.k, chunk));
  rig.write_memory(job.b, pack_operand(b, job.n, job.k, chunk));
  rig.run();
  json got = json::object();
  got["C"] = unpack_result(rig.read_memory(job.c, std::uint64_t{32} * job.gm() * job.gn()), job);
  compare_fields(row, got,
                 {"dram", "M", "N", "K", "variant", "k_blocks_per_chunk", "operands", "seed", "A", "B"}, {},
                 differences);
}

}  // namespace ktpu::check
