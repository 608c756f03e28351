// SPDX-License-Identifier: Apache-2.0
// Findings of a cluster that no program of the other tests meets (arch/misuse.h).
#include "tests/unit/cluster/bench.h"

namespace ktpu::test {
namespace {

std::map<std::string, std::uint64_t> found(Bench& b) {
  b.engine().sync();
  std::map<std::string, std::uint64_t> ids;
  for (const auto& tally : b.unit().misuse().tallies())
    ids[b.unit().misuse().first(tally).kind] += tally.count;
  return ids;
}
using Found = std::map<std::string, std::uint64_t>;

// A sweep over more sub-tiles than there are comes back to the first after four commands.
TEST(Misuse, ReuseDistance) {
  for (const unsigned tiles : {4u, 8u}) {
    cluster::ClusterParams params = default_params();
    params.tiles = tiles;
    Bench b(params);
    b.send(0, inst_flit(gemm(1, 5, 2)));
    b.run(300);
    EXPECT_EQ(found(b), tiles == 4 ? (Found{{"reuse-distance", 1}, {"tile-capacity", 1}}) : Found{});
  }
}

TEST(Misuse, ControlOverlap) {
  for (const Cycle gap : {1u, 2u}) {
    Bench b;
    const Flit request = arch::make_flit(kCluster, kAgent, FlitType::kCuCtrl, 1, true);
    b.send(0, request);
    b.send(gap, request);
    b.run(30);
    EXPECT_EQ(found(b), gap == 1 ? (Found{{"control-overlap", 1}}) : Found{});
  }
}

// Counted for ever, kept a few times, told once.
TEST(Misuse, IsCountedByKindAndKeptAFewTimes) {
  Bench b;
  for (unsigned i = 0; i < 7; ++i) b.send(0, inst_flit(gemm(1, 1, 1, false, false), i));
  arch::ClusterInst odd = gemm(2, 1, 1);
  odd.anchor = 41;
  for (unsigned i = 0; i < 7; ++i) b.send(0, inst_flit(odd, i));
  b.send(0, inst_flit(drain(1, true)));
  b.run(2000);
  EXPECT_EQ(found(b), (Found{{"gemm-anchor", 7}, {"fuse-alone", 1}}));
  EXPECT_EQ(b.unit().misuse().total(), 8u);
  EXPECT_EQ(b.unit().misuse().kept().size(), 5u);  // four times the anchor
}

}  // namespace
}  // namespace ktpu::test
