// SPDX-License-Identifier: Apache-2.0
// One product as passes of clusters: what stays in L1, what is fetched ahead, which instructions a tile takes
// (compiler.md section 10).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/encoding/cluster_inst.h"
#include "arch/flit.h"

namespace ktpu::planner {

inline constexpr std::uint32_t kBankEntries = 256;  // that an offset of 8 bits reaches
inline constexpr std::uint32_t kLongestFill = 255;  // entries one FILL names

// A tile of the result, in tiles.
struct TileAt {
  std::uint64_t row = 0, column = 0;
  bool operator==(const TileAt&) const = default;
};
struct ClusterTiles {
  arch::Coord at;
  std::vector<TileAt> tiles;  // in the order they are computed
};
// First words of the operands and of the result in memory, words of 32 bytes. `end`: behind the result,
// again a multiple of 8.
struct MemoryWords {
  std::uint64_t a = 0, b = 0, c = 0, end = 0;
  bool operator==(const MemoryWords&) const = default;
};

// How L1 is used.
enum class Policy : std::uint8_t {
  // As the reference: chunks lie one behind the other. One may then lie in two banks, which no GEMM can read
  // (offsets wrap inside their bank, cluster.md section 5.2); and where there is room for one chunk only, it
  // is overwritten under the sweep that reads it.
  kCompat,
  // A chunk that would be cut begins in the next bank; the second case is refused.
  kBest,
};

struct GemmProblem {
  std::uint64_t m_tiles = 1, n_tiles = 1, k_chunks = 1;
  std::uint32_t gm = 1, gn = 1, nk = 1;  // of a tile: groups of 4 rows and columns, blocks of 32 along K
  std::vector<ClusterTiles> clusters;    // each tile of the result with one of them
  std::uint32_t l1_a = 128, l1_b = 256;  // entries over all banks
  bool preq_a = false, preq_b = false;   // the operand lies in memory as MXFP7 already
  std::uint64_t first_word = 0;          // of A
  Policy policy = Policy::kBest;

  std::uint32_t a_entries() const { return gm * nk; }  // of a chunk
  std::uint32_t b_entries() const { return gn * nk; }
  // A, then B behind it, the result at the next multiple of 8.
  MemoryWords memory() const;
};

struct L1Plan {
  std::uint32_t banks_a = 1, banks_b = 1;  // chunks held at once
  bool b_resident = false;                 // all of a column's B, for every tile of the column
  bool fused = false;                      // results leave while the last chunk is computed
  // First entry of the chunk of sweep number `sweep` of a cluster (B: chunk `chunk` of the column).
  std::uint64_t a_entry(const GemmProblem& problem, std::uint64_t sweep) const;
  std::uint64_t b_entry(const GemmProblem& problem, std::uint64_t sweep, std::uint64_t chunk) const;
};

// A tile's instructions; one kick. Its last instruction is the DRAIN.
struct Pass {
  arch::Coord at;
  TileAt tile;
  std::vector<arch::ClusterInst> steps;
  std::size_t lent = 0;  // of them, instructions of the next tile that go ahead of the DRAIN
};

struct GemmPasses {
  GemmProblem problem;
  L1Plan l1;
  std::vector<Pass> passes;  // all clusters', in turn; then the rest of those that have more, one by one
};

// Throws UserError: no tiles; base::Refusal CHUNK_OVER_BANK: a chunk does not fit L1 (policy best: two where
// they follow each other).
GemmPasses plan_passes(const GemmProblem& problem);
// Throws UserError that names pass and step: a GEMM on entries that do not hold its chunk, a fill out of L1
// or of what a sweep may still read, a tile computed twice or not at all, a pass without its DRAIN.
void verify(const GemmPasses& plan);
std::string print(const GemmPasses& plan);

}  // namespace ktpu::planner
