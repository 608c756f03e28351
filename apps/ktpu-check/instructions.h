// SPDX-License-Identifier: Apache-2.0
// The instruction sequences that vectors/rtl/README.md describes in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/encoding/cluster_inst.h"
#include "arch/flit.h"
#include "arch/formats/operand.h"
#include "arch/program/program.h"

namespace ktpu::check {

struct Matmul {
  unsigned m = 4, n = 4, k = 32;      // elements
  std::string variant = "plain";      // plain, fused or ksplit
  unsigned blocks_per_chunk = 0;      // of K, ksplit only; 0: all in one
  unsigned entries_per_fill = 128;    // longer fills are cut
  std::uint64_t a = 0, b = 0, c = 0;  // byte addresses

  unsigned gm() const { return (m + 3) / 4; }
  unsigned gn() const { return (n + 3) / 4; }
  unsigned nk() const { return (k + 31) / 32; }
  unsigned chunk() const { return blocks_per_chunk == 0 ? nk() : blocks_per_chunk; }
};

// C = A * B^T. Throws UserError for a variant it does not know.
std::vector<arch::ClusterInst> matmul_instructions(const Matmul& job);

// `n` entries of quantised (or with `preq` finished) operands into one side, cut into fills.
void append_fills(std::vector<arch::ClusterInst>& list, arch::Side side, std::uint64_t address, unsigned n,
                  unsigned bank, bool preq, unsigned entries_per_fill);
arch::ClusterInst gemm(unsigned gm, unsigned gn, unsigned nk);
arch::ClusterInst drain(unsigned n, std::uint64_t address);

// As staged or injected: header with `last` on the final one, tag 0x40.
std::vector<arch::Flit> instruction_flits(const std::vector<arch::ClusterInst>& list, arch::Coord to,
                                          arch::Coord from);

// Stages the flits, seeds the credit and kicks them off to `to`; waits for nothing.
arch::Program dispatch_program(const std::vector<arch::Flit>& flits, arch::Coord to, unsigned credit);

}  // namespace ktpu::check
