// SPDX-License-Identifier: Apache-2.0
// What a program needs against what a machine has, and what this version cannot build: always by name.
#include "topologies/needs.h"

#include <gmock/gmock.h>

#include "arch/program/text.h"
#include "tests/unit/platform/bench.h"

namespace ktpu::platform::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& topology, const std::string& text, const topo::Overrides& sets = {}) {
  const arch::Program program = arch::assemble(text, "test.kasm");
  try {
    topo::check_needs(program, topo::read_file(topology, sets));
  } catch (const arch::UserError& e) {
    EXPECT_EQ(e.status(), arch::ExitStatus::kUserError);
    return e.what();
  }
  return "fits";
}

TEST(Needs, WhatFits) {
  EXPECT_EQ(refusal("mesh1",
                    "machine \"m\" staging=128 commands=128\n"
                    "unit matmul_cluster (1,1) tiles=4096 l1_a=512 l1_b=512 inst_depth=512\n"
                    "memory 0x0..0x100000000\n"),
            "fits");
}

TEST(Needs, EveryCapacityIsNamedWithPlaceAndMachine) {
  const std::string unit = "unit matmul_cluster (1,1) ";
  for (const auto& [need, set] :
       {std::pair<std::string, std::string>{"tiles=64", "meshes.0.units.mat.tiles=32"},
        {"l1_a=64", "meshes.0.units.mat.l1_a=32"},
        {"l1_b=64", "meshes.0.units.mat.l1_b=32"},
        {"inst_depth=64", "meshes.0.units.mat.inst_depth=32"}}) {
    const std::string name = need.substr(0, need.find('='));
    EXPECT_THAT(
        refusal("mesh1", unit + need + "\n", {set}),
        AllOf(HasSubstr(name), HasSubstr("64"), HasSubstr("32"), HasSubstr("(1,1)"), HasSubstr("mesh1")));
  }
  EXPECT_THAT(refusal("mesh1", "machine \"m\" staging=128\n", {"meshes.0.agent.staging_flits=64"}),
              AllOf(HasSubstr("staging"), HasSubstr("128"), HasSubstr("64")));
  EXPECT_THAT(refusal("mesh1", "machine \"m\" meshes=2\n"), AllOf(HasSubstr("2 meshes"), HasSubstr("mesh1")));
  EXPECT_THAT(refusal("mesh1", "memory 0x0..0x100000001\n"),
              AllOf(HasSubstr("0x100000000"), HasSubstr("mesh1")));
  EXPECT_THAT(refusal("mesh8", "memory 0x0..0x1000\n"), HasSubstr("0x80000000"));
}

TEST(Needs, OfOneMeshOfSeveral) {
  EXPECT_EQ(refusal("quad",
                    "machine \"m\" meshes=4 staging=128\nunit vector_core (1,0) mesh=3\n"
                    "memory 0x3000000000..0x3100000000 mesh=3\n"),
            "fits");
  EXPECT_THAT(refusal("quad", "machine \"m\" meshes=4\nunit matmul_cluster (2,1) mesh=2\n"),
              AllOf(HasSubstr("(2,1) of mesh 2"), HasSubstr("nothing")));
  EXPECT_THAT(refusal("quad", "machine \"m\" meshes=4\nmemory 0x1000000000..0x1100000001 mesh=1\n"),
              AllOf(HasSubstr("0x1100000000"), HasSubstr("mesh 1")));
}

TEST(Needs, UnitsThatAreNotThere) {
  EXPECT_THAT(refusal("mesh1", "unit matmul_cluster (2,1) tiles=1\n"),
              AllOf(HasSubstr("(2,1)"), HasSubstr("nothing")));
  EXPECT_THAT(refusal("mesh8", "unit matmul_cluster (3,1) tiles=1\n"),
              AllOf(HasSubstr("(3,1)"), HasSubstr("vector_core")));
}

TEST(Needs, SlotsBeyondTheStagingRam) {
  const std::string stage = "stage 127 {\n fill a n=1\n fill a n=1\n }\n";
  EXPECT_THAT(
      refusal("mesh1", "stage 63 {\n fill a n=1\n fill a n=1\n }\n", {"meshes.0.agent.staging_flits=64"}),
      AllOf(HasSubstr("63..64"), HasSubstr("64")));
  EXPECT_THAT(refusal("mesh1", "kick (1,1) slots=60..70\n", {"meshes.0.agent.staging_flits=64"}),
              HasSubstr("60..70"));
}

TEST(Needs, AWrappedDramHoldsAnyAddressOfItsSize) {
  EXPECT_EQ(refusal("reference_small", "memory 0x80100000..0x80200000\n"), "fits");
  EXPECT_THAT(refusal("reference_small", "memory 0x80000000..0x80900000\n"), HasSubstr("DRAM"));
}

std::string build_error(const std::string& topology, const topo::Overrides& sets) {
  try {
    make_system(topology, sets);
  } catch (const arch::UserError& e) {
    return e.what();
  }
  return "built";
}

TEST(Build, WhatThisVersionCannotBuildIsNamed) {
  for (const std::string kind : {"pe", "controller"})
    EXPECT_THAT(build_error("mesh1", {"meshes.0.units.mat={kind: " + kind + "}"}),
                AllOf(HasSubstr("'" + kind + "'"), HasSubstr("not supported by this version")));
  EXPECT_THAT(build_error("mesh1", {"host.kind=firmware"}), HasSubstr("firmware"));
  EXPECT_THAT(build_error("mesh1", {"meshes.0.interlink=built"}),
              HasSubstr("no neighbour with an interlink"));
}

// User report 8: what was not built in is refused with the build option's name.
TEST(Build, R8TwinsThatAreNotBuiltIn) {
  topo::Machine machine = topo::read_file("mesh1");
  topo::apply_impl(machine, "router=rtl");
  try {
    System system(machine, models());
    FAIL();
  } catch (const arch::UserError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("router@1,1"), HasSubstr("rtl"), HasSubstr("KTPU_RTL")));
  }
}

TEST(Backdoor, AccessesOutsideTheDramNameAddressAndRange) {
  const auto system = make_system("mesh8");
  try {
    read_memory(system->mesh(), 0x7FFFFFFF, 2);
    FAIL();
  } catch (const arch::UserError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("0x7fffffff"), HasSubstr("0x80000000..0xbfffffff")));
  }
  const std::uint8_t byte[] = {1};
  EXPECT_THROW(write_memory(system->mesh(), 0xC0000000, byte), arch::UserError);
  EXPECT_THROW(load_image(system->mesh(), {0xBFFFFFFF, arch::ImageBytes{{}, 2}}), arch::UserError);
  const auto traffic = make_system("noc3x3");
  EXPECT_THROW(read_memory(traffic->mesh(), 0, 1), arch::UserError);
}

// vectors/programs/README.md, Steps: runs in destination order, all read before any is written.
TEST(Backdoor, RelayoutGathersHalfwords) {
  const auto system = make_system("mesh1");
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 16; ++i) bytes.insert(bytes.end(), {static_cast<std::uint8_t>(i), 0xA0});
  write_memory(system->mesh(), 0x100, bytes);
  arch::StepRelayout step;
  step.address = 0x100;
  step.gather = {{8, 2, -3, 1, 0}, {-1, 2, 1, 2, 0}, {0, 2, 4, 3, 1}};
  relayout(system->mesh(), step);
  const auto out = read_memory(system->mesh(), 0x100, 26);
  std::vector<int> got;
  for (unsigned i = 0; i < 13; ++i) got.push_back(out[2 * i + 1] == 0 ? -1 : out[2 * i]);
  EXPECT_EQ(got, (std::vector<int>{8, 5, -1, -1, -1, -1, 0, 4, 1, 5, 2, 6, 12}));
  step.gather = {{1, 3, -1, 1, 0}};
  EXPECT_THROW(relayout(system->mesh(), step), arch::UserError);
}

}  // namespace
}  // namespace ktpu::platform::test
