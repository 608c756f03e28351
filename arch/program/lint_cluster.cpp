// SPDX-License-Identifier: Apache-2.0
#include "arch/program/lint_cluster.h"

#include <fmt/format.h>

namespace ktpu::arch {
namespace {

constexpr std::uint32_t kBank = 256;      // entries of an L1 bank, cluster.md section 2
constexpr std::uint32_t kAnchor = 40;     // the only anchor the arithmetic is specified for
constexpr std::uint32_t kTileBuffer = 2;  // CU_DATA buffer of the resident tile

bool same_destination(const ClusterInst& a, const ClusterInst& b) {
  return a.addr == b.addr && a.dnode == b.dnode && a.dst_x == b.dst_x && a.dst_y == b.dst_y &&
         a.dbuf == b.dbuf && a.dflags == b.dflags && a.dack_x == b.dack_x && a.dack_y == b.dack_y &&
         a.dmesh == b.dmesh && a.dfin == b.dfin;
}

}  // namespace

void ClusterLint::instruction(const ClusterInst& inst, const Report& report) {
  if (inst.is(ClusterOp::kFill))
    fill(inst, report);
  else if (inst.is(ClusterOp::kGemm))
    gemm(inst, report);
  else if (inst.is(ClusterOp::kDrain))
    drain(inst, report);
  else
    report("cluster-opcode", fmt::format("opcode {} does nothing at a cluster", inst.op));
}

void ClusterLint::end(const Report& report) const {
  if (emitting_) report("emit-order", "an emitting GEMM is never followed by its fused DRAIN");
}

void ClusterLint::fill(const ClusterInst& i, const Report& report) {
  const std::uint32_t n = i.eff_n();
  if (n > 255)
    report("fill-count",
           fmt::format("n={}: the unit counts entries in 8 bits, more than 255 never complete", n));
  else if (i.eoff + n > kBank)
    report("fill-bank", fmt::format("entries {}..{} run past the bank of {}", i.eoff, i.eoff + n - 1, kBank));
  const std::uint32_t entries = i.sel ? sizes_.l1_b : sizes_.l1_a;
  if (entries && i.fbank * kBank + i.eoff + n > entries)
    report("l1-capacity",
           fmt::format("fills up to entry {} of an L1 with {}", i.fbank * kBank + i.eoff + n - 1, entries));
  if (i.npeer)
    report("fill-peers",
           "a shared FILL needs all clusters of the group to be in the same FILL; nothing checks that");
  const auto& sweep = i.sel ? sweep_b_ : sweep_a_;
  if (sweep && sweep->bank == i.fbank && i.eoff < sweep->first + sweep->count && sweep->first < i.eoff + n)
    report(
        "fill-race",
        fmt::format(
            "overwrites entries {}..{} of bank {}, which the sweep started just before may still read",
            std::max(i.eoff, sweep->first), std::min(i.eoff + n, sweep->first + sweep->count) - 1, i.fbank));
}

void ClusterLint::gemm(const ClusterInst& i, const Report& report) {
  const std::uint32_t gm = i.eff_gm(), gn = i.eff_gn(), nk = i.eff_nk();
  auto side = [&](char name, std::uint32_t bank, std::uint32_t offset, std::uint32_t count,
                  std::uint32_t entries) {
    if (offset + count > kBank)
      report("gemm-bank", fmt::format("{} entries {}..{} wrap inside the bank of {}", name, offset,
                                      offset + count - 1, kBank));
    else if (entries && bank * kBank + offset + count > entries)
      report("l1-capacity", fmt::format("{} reads up to entry {} of an L1 with {}", name,
                                        bank * kBank + offset + count - 1, entries));
  };
  side('A', i.abank, i.aoff, gm * nk, sizes_.l1_a);
  side('B', i.bbank, i.boff, gn * nk, sizes_.l1_b);
  if (sizes_.tiles && gm * gn > sizes_.tiles)
    report("tile-capacity", fmt::format("{}x{} sub-tiles, the unit holds {}", gm, gn, sizes_.tiles));
  if (i.anchor != kAnchor)
    report("gemm-anchor", fmt::format("anchor {}; the machine is defined for {}", i.anchor, kAnchor));
  if (i.emit && !i.acc && nk == 1)
    report("emit-load",
           "emit with acc=0 and nk=1: the load wins, nothing is emitted and the unit waits for ever");
  if (i.emit && i.dnode && i.dbuf == kTileBuffer)
    report("emit-buffer", "emit sends FP16 results, but buffer 2 takes raw tiles");
  if (i.acc && loaded_tiles_ == 0)
    report("tile-unloaded", "adds to tiles that no GEMM has loaded");
  else if (i.acc && (gm != open_gm_ || gn != open_gn_))
    report("acc-shape",
           fmt::format("adds {}x{} sub-tiles to a result opened as {}x{}", gm, gn, open_gm_, open_gn_));
  if (i.emit) {
    if (emitting_) report("emit-order", "a second emitting GEMM before the first one's fused DRAIN");
    emitting_ = i;
  }
  if (!i.acc) {
    open_gm_ = gm;
    open_gn_ = gn;
    loaded_tiles_ = std::max(loaded_tiles_, gm * gn);
  }
  last_emits_ = i.emit;
  sweep_a_ = Range{i.abank, i.aoff, gm * nk};
  sweep_b_ = Range{i.bbank, i.boff, gn * nk};
}

void ClusterLint::drain(const ClusterInst& i, const Report& report) {
  const std::uint32_t n = i.eff_n();
  if (sizes_.tiles && n > sizes_.tiles)
    report("tile-capacity", fmt::format("drains {} sub-tiles, the unit holds {}", n, sizes_.tiles));
  if (i.fuse) {
    if (!emitting_) {
      report("fuse-alone", "a fused DRAIN without an emitting GEMM before it");
    } else {
      const std::uint32_t results = emitting_->eff_gm() * emitting_->eff_gn();
      if (n != results)
        report("fuse-count", fmt::format("waits for {} results, the emitting GEMM sends {}", n, results));
      if (!same_destination(i, *emitting_))
        report("fuse-destination",
               "destination differs from the emitting GEMM's, which redirects queued results");
    }
    emitting_.reset();
  } else {
    if (emitting_) report("emit-order", "an explicit DRAIN before the fused DRAIN of the emitting GEMM");
    emitting_.reset();
    if (n > loaded_tiles_)
      report("tile-unloaded", fmt::format("drains {} sub-tiles, {} were loaded", n, loaded_tiles_));
    if (i.dnode && i.dbuf == kTileBuffer) {
      if (!i.dfin && i.dst_x == at_.x && i.dst_y == at_.y)
        report("peer-self", "sends raw tiles to itself: drain and receiver wait for each other");
      if (i.addr >> 5 & 1)
        report("peer-odd", "a raw tile must start on an even granule; the receiver rejects the burst");
    }
  }
  if (!i.dnode && i.addr % 32)
    report("drain-align", fmt::format("address {:#x} is not on a 32-byte word", i.addr));
  // An explicit DRAIN waits for the sweep, a fused one for the results of the emitting GEMM only.
  if (i.fuse && !last_emits_) return;
  sweep_a_.reset();
  sweep_b_.reset();
}

}  // namespace ktpu::arch
