// SPDX-License-Identifier: Apache-2.0
// What the interpreter must know of a machine: plain facts, whoever has them. Numbers are in the units of
// cluster.md section 2, vector.md section 1 and memory.md section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/flit.h"
#include "arch/formats/acc.h"

namespace ktpu::interpret {

enum class UnitKind : std::uint8_t { kCluster, kVectorCore };

struct UnitFacts {
  arch::Coord at;
  UnitKind kind = UnitKind::kCluster;
  unsigned tiles = 4096;                  // clusters: resident sub-tiles, a power of two
  unsigned l1_a = 512, l1_b = 512;        // clusters: L1 entries of a side, a power of two, at most 512
  unsigned acc_mw = arch::kDefaultAccMw;  // clusters: mantissa bits of the accumulator
  unsigned l1_words = 512;                // vector cores: words of L1, a power of two, at most 512
  bool quirks = false;  // vector cores: with the defects of the reference machine (quirks.md)
};

struct MeshFacts {
  unsigned id = 0;  // 0..3, what remote flits name
  std::vector<UnitFacts> units;
  // Memory ports; the control agent answers at the first.
  std::vector<arch::Coord> ports;
  unsigned staging_flits = 128;
  // DRAM: [base, base + size); `wrap`: an address counts modulo size.
  std::uint64_t dram_base = 0x8000'0000, dram_size = 1ull << 30;
  bool dram_wrap = false;
  bool staging = false;  // staging memory is built (memory.md section 7)
};

struct MachineFacts {
  std::vector<MeshFacts> meshes;
};

// How sums and lane results are rounded (compiler.md section 23.1).
enum class Rounding : std::uint8_t {
  kHardware,        // bit for bit as the machine: every K block straight into the tile, seed tables
  kReferenceModel,  // the recorded functional model: a sweep's own sum first, lanes in double, then rounded
};

}  // namespace ktpu::interpret
