// SPDX-License-Identifier: Apache-2.0
// compiler.md section 21.
#include <gtest/gtest.h>

#include "compiler/program/remote_drain.h"
#include "compiler/schedule/address.h"
#include "compiler/schedule/fabric.h"
#include "compiler/schedule/pairing.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::schedule {
namespace {

using Meshes = std::vector<unsigned>;

TEST(CompilerSec21, MatmulPairings) {
  const Spread copied = Spread::copied(), partial = Spread::partial();
  EXPECT_EQ(pair_matmul(copied, copied), copied);
  EXPECT_EQ(pair_matmul(copied, Spread::split(0)), Spread::split(1));
  EXPECT_EQ(pair_matmul(Spread::split(0), copied), Spread::split(0));
  EXPECT_EQ(pair_matmul(Spread::split(1), Spread::split(1)), partial);
  const Spread all[] = {copied, Spread::split(0), Spread::split(1), partial};
  unsigned refused = 0;
  for (const Spread a : all)
    for (const Spread b : all) refused += !refusal([&] { pair_matmul(a, b); }).empty();
  EXPECT_EQ(refused, 12u);
  EXPECT_EQ(Spread::split(1).print(), "split on axis 1");
}

TEST(CompilerSec21, SplitsAreEven) {
  EXPECT_EQ(share(12, 4), 3u);
  EXPECT_NE(refusal([] { share(10, 4); }), "");
  EXPECT_NE(refusal([] { share(10, 0); }), "");
}

TEST(CompilerSec21, TheFabricIsAPath) {
  const Fabric fabric;
  EXPECT_EQ(fabric.print(), "0-1 1-3 3-2");
  EXPECT_EQ(fabric.neighbours(1), (Meshes{0, 3}));
  EXPECT_EQ(fabric.hops(0, 2), 3u);
  EXPECT_EQ(fabric.hops(3, 3), 0u);
  EXPECT_NE(refusal([&] { fabric.hops(0, 4); }), "");
  EXPECT_EQ(fabric.path(Meshes{0, 1, 2, 3}), (Meshes{0, 1, 3, 2}));
  EXPECT_EQ(fabric.path(Meshes{3, 2, 1}), (Meshes{2, 3, 1}));
  EXPECT_EQ(fabric.path(Meshes{2}), (Meshes{2}));
  for (const Meshes& none : {Meshes{}, Meshes{0, 3}, Meshes{0, 1, 2}, Meshes{1, 1}})
    EXPECT_NE(refusal([&] { fabric.path(none); }), "");
}

TEST(CompilerSec21, ForksAndRingsAreNoPath) {
  const Fabric star({{0, 1}, {0, 2}, {0, 3}});
  EXPECT_NE(refusal([&] { star.path(Meshes{1, 0, 2, 3}); }).find("forks at 0"), std::string::npos);
  EXPECT_EQ(star.path(Meshes{1, 0, 2}), (Meshes{1, 0, 2}));
  EXPECT_NE(refusal([] {
              Fabric({{0, 1}, {1, 2}, {2, 0}}).path(Meshes{0, 1, 2});
            }).find("ring"),
            std::string::npos);
  EXPECT_NE(refusal([] { Fabric({{0, 1}, {1, 0}}); }), "");
  EXPECT_NE(refusal([] { Fabric({{1, 1}}); }), "");
}

TEST(CompilerSec21, TheArmsRunInwardsTheFirstOneFirst) {
  const Meshes walk{0, 1, 3, 2};
  EXPECT_EQ(converge(walk, 3), (std::vector<Hop>{{0, 1}, {1, 3}, {2, 3}}));
  EXPECT_EQ(hops_to(walk, 3), 2u);
  EXPECT_EQ(hops_to(walk, 2), 3u);
  EXPECT_EQ(hops_to(walk, 1), 2u);  // the arm behind it is the longer one
  EXPECT_TRUE(converge(Meshes{1}, 1).empty());
  EXPECT_NE(refusal([&] { converge(walk, 4); }), "");
}

// compiler.md section 2.
TEST(CompilerSec2, GlobalAddresses) {
  EXPECT_EQ(global_address(3, 0xFFFFFFFFF).value(), 0x3FFFFFFFFFu);
  EXPECT_NE(refusal([] { global_address(4, 0); }), "");
  EXPECT_NE(refusal([] { global_address(0, std::uint64_t{1} << 36); }), "");
}

TEST(CompilerSec21, ARemoteDrainKeepsOnlyItsCount) {
  arch::ClusterInst drain;
  drain.op = static_cast<std::uint32_t>(arch::ClusterOp::kDrain);
  drain.addr = 0xFF12345678;
  drain.n = 64;
  const auto far = program::remote_drain(drain, {{1, 2}, 3, {4, 5}});
  arch::ClusterInst expected = drain;
  expected.addr = 0;
  expected.dnode = 1;
  expected.dst_x = expected.dack_x = 1;
  expected.dst_y = expected.dack_y = 2;
  expected.dbuf = 2;
  expected.dflags = 1;
  expected.dmesh = 3;
  expected.dfin = 0x54;
  EXPECT_EQ(far, expected);
  EXPECT_NE(refusal([&] { program::remote_drain(drain, {{1, 2}, 4, {4, 5}}); }), "");
  EXPECT_NE(refusal([&] { program::remote_drain(drain, {{1, 2}, 3, {0, 0}}); }), "");
  drain.op = static_cast<std::uint32_t>(arch::ClusterOp::kGemm);
  EXPECT_NE(refusal([&] { program::remote_drain(drain, {{1, 2}, 3, {4, 5}}); }), "");
}

}  // namespace
}  // namespace ktpu::schedule
