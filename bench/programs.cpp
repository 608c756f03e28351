// SPDX-License-Identifier: Apache-2.0
#include "bench/programs.h"

#include <algorithm>
#include <vector>

#include "arch/encoding/address_map.h"
#include "arch/encoding/cluster_inst.h"
#include "arch/error.h"
#include "arch/formats/operand.h"

namespace ktpu::bench {

namespace {

using namespace arch;

constexpr std::uint32_t kTxn = 0x40;
constexpr std::size_t kInstDepth =
    512;  // of every unit of the machines used: a round's flits to one unit must fit
constexpr std::uint32_t kMaxFill = 128;  // entries a FILL; at most 255
constexpr std::uint64_t kAlign = 0x1000;

using Instructions = std::vector<ClusterInst>;

std::uint32_t up(std::uint32_t v, std::uint32_t to) { return (v + to - 1) / to; }

std::vector<Coord> clusters_of(const topo::Machine& machine) {
  std::vector<Coord> at;
  for (const topo::Node& node : machine.meshes.front().nodes)
    if (node.kind() == topo::Kind::kMatmulCluster) at.push_back(node.at);
  if (at.empty()) throw UserError::make("machine \"{}\" has no matmul cluster", machine.name);
  return at;
}

void add_fills(Instructions& to, Side side, std::uint64_t address, std::uint32_t entries,
               std::uint32_t bank) {
  for (std::uint32_t first = 0; first < entries; first += kMaxFill) {
    ClusterInst fill;
    fill.op = static_cast<std::uint32_t>(ClusterOp::kFill);
    fill.sel = side == Side::kB;
    fill.addr = address + std::uint64_t{first} * address::kEntryBytesFp16;
    fill.n = std::min(kMaxFill, entries - first);
    fill.eoff = first;
    fill.fbank = bank;
    to.push_back(fill);
  }
}

ClusterInst sweep(std::uint32_t gm, std::uint32_t gn, std::uint32_t nk, std::uint32_t bank, bool acc) {
  ClusterInst gemm;
  gemm.op = static_cast<std::uint32_t>(ClusterOp::kGemm);
  gemm.gm = gm;
  gemm.gn = gn;
  gemm.nk = nk;
  gemm.acc = acc;
  gemm.abank = gemm.bbank = bank;
  return gemm;
}

ClusterInst drain(std::uint32_t tiles, std::uint64_t address, bool fused) {
  ClusterInst d;
  d.op = static_cast<std::uint32_t>(ClusterOp::kDrain);
  d.n = tiles;
  d.addr = address;
  d.fuse = fused;
  return d;
}

std::vector<Flit> flits_of(const Instructions& instructions) {
  std::vector<Flit> flits;
  for (const ClusterInst& inst : instructions)
    flits.push_back(
        make_flit(make_header({}, {}, FlitType::kCuInst, kTxn, &inst == &instructions.back()), inst));
  return flits;
}

// One stretch of staging slots and who gets it.
struct Part {
  std::vector<Coord> to;
  Instructions instructions;
};

// A round: stage all parts, kick each of their clusters, wait for all. The credit covers the whole round, so
// that no cluster waits for another one's completions.
void add_round(Program& p, const std::vector<Part>& parts) {
  StepBaseline baseline;
  StepStage stage;
  std::vector<Step> kicks, awaits;
  std::uint32_t sent = 0;
  for (const Part& part : parts) {
    const auto base = static_cast<std::uint32_t>(stage.flits.size());
    const auto count = static_cast<std::uint32_t>(part.instructions.size());
    KTPU_CHECK(count <= kInstDepth, "{} instructions for one unit", count);
    for (const Flit& flit : flits_of(part.instructions)) stage.flits.push_back(flit);
    for (const Coord at : part.to) {
      baseline.nodes.push_back(at);
      kicks.push_back({0, StepKick{at, base, count}});
      awaits.push_back({0, StepAwait{at, count}});
      sent += count;
    }
  }
  p.steps.push_back({0, StepRound{"round"}});
  p.steps.push_back({0, std::move(baseline)});
  p.steps.push_back({0, std::move(stage)});
  p.steps.push_back({0, StepCredit{sent}});
  for (Step& step : kicks) p.steps.push_back(std::move(step));
  for (Step& step : awaits) p.steps.push_back(std::move(step));
}

// Operands and results, one after the other from the start of the DRAM.
struct Memory {
  std::uint64_t a = 0, b = 0, c = 0, end = 0;
};

Memory lay_out(const topo::Machine& machine, std::uint64_t a_entries, std::uint64_t b_entries,
               std::uint64_t tiles) {
  const auto align = [](std::uint64_t address) { return (address + kAlign - 1) / kAlign * kAlign; };
  const topo::Dram& dram = machine.meshes.front().dram.value();
  Memory m;
  m.a = dram.base;
  m.b = align(m.a + a_entries * address::kEntryBytesFp16);
  m.c = align(m.b + b_entries * address::kEntryBytesFp16);
  m.end = m.c + tiles * address::kSubTileBytes;
  if (m.end > dram.base + dram.size_bytes)
    throw UserError::make("machine \"{}\": {} bytes do not fit its DRAM", machine.name, m.end - m.a);
  return m;
}

Program start(const topo::Machine& machine, std::string name, const Memory& memory) {
  Program p;
  p.name = std::move(name);
  p.needs.machine = machine.name;
  p.needs.memory.push_back({0, memory.a, memory.end});
  return p;
}

}  // namespace

Program matmul(const topo::Machine& machine, const Matmul& s) {
  const std::vector<Coord> clusters = clusters_of(machine);
  const std::uint32_t rows = up(s.m, 4 * s.gm), columns = up(s.n, 4 * s.gn), chunks = up(s.k, 32 * s.nk);
  const std::uint32_t a_entries = s.gm * s.nk, b_entries = s.gn * s.nk, tiles = s.gm * s.gn;
  const Memory memory =
      lay_out(machine, std::uint64_t{rows} * chunks * a_entries, std::uint64_t{columns} * chunks * b_entries,
              std::uint64_t{rows} * columns * tiles);
  Program p = start(machine, fmt::format("matmul {}x{}x{}", s.m, s.n, s.k), memory);
  const std::string a_layout = fmt::format("entry:{}x{}", s.gm, s.nk),
                    b_layout = fmt::format("entry:{}x{}", s.gn, s.nk);
  p.images.push_back({0, {memory.a, ImageTensor{{std::uint64_t{s.m} * s.k, 139, 10}, {s.m, s.k}, a_layout}}});
  p.images.push_back({0, {memory.b, ImageTensor{{std::uint64_t{s.n} * s.k, 151, 10}, {s.n, s.k}, b_layout}}});
  p.outputs.push_back({"c",
                       0,
                       memory.c,
                       DType::kFp16,
                       {s.m, s.n},
                       fmt::format("tile:{}x{}:{}x{}", rows, columns, s.gm, s.gn)});

  std::vector<Part> parts;
  std::vector<std::uint32_t> chunks_done(clusters.size(), 0);  // their parity is the bank of the next one
  for (std::uint32_t i = 0; i < rows * columns; ++i) {
    const std::uint64_t result = memory.c + std::uint64_t{i} * tiles * address::kSubTileBytes;
    Part part{{clusters[i % clusters.size()]}, {}};
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      const std::uint32_t bank = chunks_done[i % clusters.size()]++ % 2;
      const auto fill = [&](Side side, std::uint64_t base, std::uint32_t block, std::uint32_t entries) {
        add_fills(part.instructions, side,
                  base + std::uint64_t{block * chunks + chunk} * entries * address::kEntryBytesFp16, entries,
                  bank);
      };
      fill(Side::kA, memory.a, i / columns, a_entries);
      fill(Side::kB, memory.b, i % columns, b_entries);
      ClusterInst gemm = sweep(s.gm, s.gn, s.nk, bank, chunk != 0);
      if (s.fused && chunk + 1 == chunks) {
        gemm.emit = 1;
        gemm.addr = result;
      }
      part.instructions.push_back(gemm);
    }
    part.instructions.push_back(drain(tiles, result, s.fused));
    parts.push_back(std::move(part));
  }

  // As many instances a round as there are clusters and room in the staging RAM.
  const std::size_t staging = machine.meshes.front().agent.value().staging_flits;
  for (std::uint32_t t = 0; t < s.times; ++t) {
    for (std::size_t first = 0; first < parts.size();) {
      std::size_t last = first, slots = 0;
      while (last < parts.size() && last - first < clusters.size() &&
             slots + parts[last].instructions.size() <= staging)
        slots += parts[last++].instructions.size();
      if (last == first)
        throw UserError::make("one instance takes {} flits of staging, there are {}",
                              parts[first].instructions.size(), staging);
      add_round(p, {parts.begin() + static_cast<std::ptrdiff_t>(first),
                    parts.begin() + static_cast<std::ptrdiff_t>(last)});
      first = last;
    }
  }
  return p;
}

Program resident(const topo::Machine& machine, const Resident& s) {
  const std::vector<Coord> clusters = clusters_of(machine);
  const std::uint32_t a_entries = s.gm * s.nk, b_entries = s.gn * s.nk, tiles = s.gm * s.gn;
  const std::uint32_t m = 4 * s.gm, n = 4 * s.gn, k = 32 * s.nk;
  const Memory memory = lay_out(machine, a_entries, b_entries, tiles);
  Program p = start(machine, fmt::format("{} sweeps over resident operands", s.sweeps * s.rounds), memory);
  p.images.push_back(
      {0,
       {memory.a,
        ImageTensor{{std::uint64_t{m} * k, 139, 10}, {m, k}, fmt::format("entry:{}x{}", s.gm, s.nk)}}});
  p.images.push_back(
      {0,
       {memory.b,
        ImageTensor{{std::uint64_t{n} * k, 151, 10}, {n, k}, fmt::format("entry:{}x{}", s.gn, s.nk)}}});
  p.outputs.push_back({"c", 0, memory.c, DType::kFp16, {m, n}, fmt::format("tile:1x1:{}x{}", s.gm, s.gn)});
  for (std::uint32_t round = 0; round < s.rounds; ++round) {
    Part part{clusters, {}};
    if (round == 0) {
      add_fills(part.instructions, Side::kA, memory.a, a_entries, 0);
      add_fills(part.instructions, Side::kB, memory.b, b_entries, 0);
    }
    for (std::uint32_t i = 0; i < s.sweeps; ++i)
      part.instructions.push_back(sweep(s.gm, s.gn, s.nk, 0, i != 0));
    part.instructions.push_back(drain(tiles, memory.c, false));
    add_round(p, {part});
  }
  return p;
}

}  // namespace ktpu::bench
