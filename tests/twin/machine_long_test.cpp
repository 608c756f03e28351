// SPDX-License-Identifier: Apache-2.0
// The long form of machine_test.cpp: compiled kernels on eight clusters and two vector cores, both quirk
// modes.
#include "tests/compiler/case.h"
#include "tests/twin/machine_runs.h"

namespace ktpu::test {
namespace {

void expect_alike(const Case& c) {
  const Target target = shipped("mesh8");
  const arch::Program program =
      driver::program_file(compiled(c, target), driver::machine_of(target.machine, target.mesh), operands(c));
  for (const topo::Quirks quirks : {topo::Quirks::kReference, topo::Quirks::kNone})
    expect_three_alike(print(c), program, target.machine, quirks);
}

TEST(MachineTwinLong, Matmul) {
  expect_alike({"ops.matmul", {{"a", {256, 256}}, {"b", {256, 256}}}, {}, false, false, 1});
}
TEST(MachineTwinLong, Softmax) {
  expect_alike({"kernels.softmax", {{"x", {256, 128}}}, {}, false, false, 2});
}
TEST(MachineTwinLong, Attention) {
  expect_alike({"kernels.flash_attention",
                {{"q", {128, 64}}, {"k", {128, 64}}, {"v", {64, 128}}},
                {},
                false,
                false,
                3});
}
TEST(MachineTwinLong, FusedEpilogue) {
  expect_alike({"kernels.linear_gelu",
                {{"x", {128, 256}}, {"w", {64, 256}}},
                {{"gm", 16}, {"gn", 16}},
                false,
                false,
                4});
}

}  // namespace
}  // namespace ktpu::test
