// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/instructions.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::check {

using arch::ClusterInst;
using arch::ClusterOp;

namespace {
constexpr unsigned kTxn = 0x40;
constexpr unsigned kEntryBytesFp16 = 256, kEntryBytesDone = 128;  // cluster.md section 4, preq
}  // namespace

void append_fills(std::vector<ClusterInst>& list, arch::Side side, std::uint64_t address, unsigned n,
                  unsigned bank, bool preq, unsigned entries_per_fill) {
  for (unsigned done = 0; done < n;) {
    ClusterInst fill;
    fill.op = static_cast<std::uint32_t>(ClusterOp::kFill);
    fill.sel = static_cast<std::uint32_t>(side);
    fill.n = std::min(n - done, entries_per_fill);
    fill.eoff = done;
    fill.fbank = bank;
    fill.preq = preq;
    fill.addr = address + static_cast<std::uint64_t>(done) * (preq ? kEntryBytesDone : kEntryBytesFp16);
    list.push_back(fill);
    done += fill.n;
  }
}

ClusterInst gemm(unsigned gm, unsigned gn, unsigned nk) {
  ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(ClusterOp::kGemm);
  inst.gm = gm;
  inst.gn = gn;
  inst.nk = nk;
  return inst;
}

ClusterInst drain(unsigned n, std::uint64_t address) {
  ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(ClusterOp::kDrain);
  inst.n = n;
  inst.addr = address;
  return inst;
}

std::vector<ClusterInst> matmul_instructions(const Matmul& job) {
  if (job.variant != "plain" && job.variant != "fused" && job.variant != "ksplit")
    throw arch::UserError::make("variant \"{}\" is none of plain, fused, ksplit", job.variant);
  const unsigned gm = job.gm(), gn = job.gn(), chunk = job.variant == "ksplit" ? job.chunk() : job.nk();
  const bool fused = job.variant == "fused";
  std::vector<ClusterInst> list;
  for (unsigned first = 0, index = 0; first < job.nk(); first += chunk, ++index) {
    const unsigned nk = std::min(chunk, job.nk() - first), bank = index % 2;
    const auto operand = [&](std::uint64_t base, unsigned groups) {
      return base + static_cast<std::uint64_t>(index) * groups * chunk * kEntryBytesFp16;
    };
    append_fills(list, arch::Side::kA, operand(job.a, gm), gm * nk, bank, false, job.entries_per_fill);
    append_fills(list, arch::Side::kB, operand(job.b, gn), gn * nk, bank, false, job.entries_per_fill);
    ClusterInst sweep = gemm(gm, gn, nk);
    sweep.abank = sweep.bbank = bank;
    sweep.acc = index != 0;
    if (fused) {
      sweep.emit = 1;
      sweep.addr = job.c;
    }
    list.push_back(sweep);
  }
  ClusterInst out = drain(gm * gn, job.c);
  out.fuse = fused;
  list.push_back(out);
  return list;
}

std::vector<arch::Flit> instruction_flits(const std::vector<ClusterInst>& list, arch::Coord to,
                                          arch::Coord from) {
  std::vector<arch::Flit> flits;
  for (std::size_t i = 0; i < list.size(); ++i)
    flits.push_back(arch::make_flit(
        arch::make_header(to, from, arch::FlitType::kCuInst, kTxn, i + 1 == list.size()), list[i]));
  return flits;
}

arch::Program dispatch_program(const std::vector<arch::Flit>& flits, arch::Coord to, unsigned credit) {
  arch::Program program;
  program.steps.push_back({0, arch::StepStage{0, flits}});
  program.steps.push_back({0, arch::StepCredit{credit}});
  program.steps.push_back({0, arch::StepKick{to, 0, static_cast<std::uint32_t>(flits.size())}});
  return program;
}

}  // namespace ktpu::check
