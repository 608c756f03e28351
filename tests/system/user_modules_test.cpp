// SPDX-License-Identifier: Apache-2.0
// Modules from outside in a machine: RTL and SystemC modules in their plugins, alone and in lock-step.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/system/process.h"

namespace ktpu::test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class UserModules : public Workshop {
 protected:
  const std::string rtl = std::string(KTPU_EXAMPLES_DIR) + "/my_router.so";
  const std::string pins = std::string(KTPU_EXAMPLES_DIR) + "/PinsRouter.so";
  const std::string broken = std::string(KTPU_MODULES_DIR) + "/broken_router.so";
  const std::string echo = std::string(KTPU_MODULES_DIR) + "/EchoNode.so";
  const std::string source = std::string(KTPU_SOURCE_DIR) + "/examples/user_router/my_router.sv";

  struct Run {
    Finished finished;
    nlohmann::json statistics;  // by name
    double value(const std::string& name) const { return statistics.value(name, -1.0); }
  };
  Run measured(Words arguments, const Words& more = {}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"-q", "--stats", "s.json"});
    Run run{sim(arguments), {}};
    EXPECT_EQ(run.finished.status, 0) << run.finished.err;
    const auto report = nlohmann::json::parse(slurp(folder / "s.json"));
    for (const auto& [name, one] : report.at("statistics").items()) run.statistics[name] = one.at("value");
    return run;
  }
  // Memory after the run and cycles of model and module are the same; in lock-step something was compared.
  void expect_same(const Words& run, const std::string& range, const std::string& module,
                   const std::string& impl) {
    const Run model = measured(run, {"--dump", range + ":model.bin"});
    const Run alone = measured(run, {"--dump", range + ":alone.bin", "--impl", impl + module});
    EXPECT_EQ(slurp(folder / "model.bin"), slurp(folder / "alone.bin"));
    EXPECT_FALSE(slurp(folder / "model.bin").empty());
    EXPECT_EQ(model.value("run.machine_cycles"), alone.value("run.machine_cycles"));
    const Run pair = measured(run, {"--impl", "router=lockstep:" + module});
    EXPECT_EQ(model.value("run.machine_cycles"), pair.value("run.machine_cycles"));
    EXPECT_GT(pair.value("router@1,1.lockstep.values"), 1000);
  }
  void expect_refused(const std::string& impl, const Words& words) {
    const Finished f = sim({"-t", "mesh8", "--elaborate-only", "--impl", impl});
    EXPECT_EQ(f.status, 2) << impl << "\n" << f.err;
    for (const std::string& word : words) EXPECT_THAT(f.err, HasSubstr(word)) << impl;
  }
};

TEST_F(UserModules, RtlRunsAProgramLikeTheModel) {
  expect_same({example("matmul_32x32x128"), "-t", "mesh1"}, "0:65536", rtl, "router=rtl:");
}

TEST_F(UserModules, RtlInLockstepOnAMeshOfRouters) {
  const Run run = measured({example("vector_relu"), "-t", "mesh8", "--impl", "router=lockstep:" + rtl});
  for (const char* at : {"1,1", "2,1", "1,2", "2,2"})
    EXPECT_GT(run.value(std::string("router@") + at + ".lockstep.values"), 1000) << at;
}

TEST_F(UserModules, PinsRunAProgramLikeTheModel) {
  expect_same({example("matmul_32x32x128"), "-t", "mesh1"}, "0:65536", pins, "router=pins:");
}

TEST_F(UserModules, PinsRunAVectorKernelOnAMesh) {
  const Words run{example("vector_relu"), "-t", "mesh8"};
  EXPECT_EQ(measured(run).value("run.machine_cycles"),
            measured(run, {"--impl", "router=pins:" + pins}).value("run.machine_cycles"));
}

// Random traffic with stalls at every node of a mesh with nine routers, which compares every output of each.
class Traffic : public UserModules, public testing::WithParamInterface<const char*> {};
TEST_P(Traffic, InLockstep) {
  const Run run = measured(
      {"-t", "noc3x3", "--impl", "router=lockstep:" + (GetParam()[0] == 'r' ? rtl : pins), "--set",
       "meshes.0.units.t.pattern=uniform", "--set", "meshes.0.units.t.rate=0.4", "--set",
       "meshes.0.units.t.flits=200", "--set", "meshes.0.units.t.busy={period: 7, duty: 3, offset: 1}",
       "--set", "meshes.0.router.fifo_depth=4"});
  for (int x = 1; x <= 3; ++x)
    for (int y = 1; y <= 3; ++y) {
      const std::string name = "router@" + std::to_string(x) + "," + std::to_string(y) + ".lockstep.values";
      EXPECT_GT(run.value(name), 5000) << name;
    }
}
INSTANTIATE_TEST_SUITE_P(UserModules, Traffic, testing::Values("rtl", "pins"));

// An endpoint of pins: what it gets comes back to those who sent it.
TEST_F(UserModules, AnEndpointOfPinsTakesPartInTraffic) {
  const Run run = measured({"-t", "noc3x3", "--impl", "traffic@0,2=pins:" + echo + ":echo::EchoNode", "--set",
                            "meshes.0.units.t.pattern=uniform", "--set", "meshes.0.units.t.rate=0.1", "--set",
                            "meshes.0.units.t.flits=100"});
  const double in = run.value("traffic@0,2.in.transferred"), out = run.value("traffic@0,2.out.transferred");
  EXPECT_GT(in, 20);
  EXPECT_EQ(in, out);
}

TEST_F(UserModules, AMismatchNamesPortAndFieldAndEndsWithStatusSix) {
  const std::string waves = (folder / "mismatch.vcd").string();
  const Finished f = sim({example("matmul_32x32x128"), "-t", "mesh1", "-q", "--impl",
                          "router=lockstep:" + broken, "--mismatch-vcd", waves});
  EXPECT_EQ(f.status, 6) << f.err;
  EXPECT_THAT(f.err, testing::ContainsRegex(
                         "cycle [0-9]+: lock-step mismatch at router@1,1, [a-z]+.out.payload.63:0.: expected "
                         "0x[0-9a-f]+ .model., got 0x[0-9a-f]+ .twin."));
  // In words, the two sides apart where they differ; then the wires, and a file of them.
  EXPECT_THAT(f.err, testing::ContainsRegex("Its last transfers:\n +[0-9]+ [a-z]+.(in|out) "));
  EXPECT_THAT(f.err, testing::ContainsRegex("out +model: MEM_RD_RESP .*\n +twin:  MEM_RD_RESP"));
  EXPECT_THAT(f.err, HasSubstr("The last cycles of its ports:"));
  EXPECT_THAT(f.err, HasSubstr("Waves of both sides: " + waves));
  EXPECT_THAT(slurp(waves),
              testing::AllOf(HasSubstr("$scope module router@1,1"), HasSubstr("$scope module twin")));
}

TEST_F(UserModules, ATopologyNamesTheSourceAndThePluginIsFound) {
  const fs::path there = folder / "project";
  fs::create_directories(there / "build");
  fs::copy_file(rtl, there / "build" / "my_router.so");
  std::string machine = slurp(fs::path(KTPU_SOURCE_DIR) / "examples/user_router/machine.yaml");
  const std::size_t at = machine.find("my_router.sv");
  ASSERT_NE(at, std::string::npos);
  machine.replace(at, std::string("my_router.sv").size(), source);
  spill(there / "machine.yaml", machine);
  EXPECT_EQ(sim({example("matmul_32x32x128"), "-t", "machine.yaml", "-q"}, there).status, 0);
  // From elsewhere, by the search path alone.
  setenv("KTPU_PLUGIN_PATH", ("/nowhere:" + (there / "build").string()).c_str(), 1);
  EXPECT_EQ(sim({example("matmul_32x32x128"), "-t", "project/machine.yaml", "-q"}).status, 0);
  unsetenv("KTPU_PLUGIN_PATH");
  const Finished lost = sim({"-t", "project/machine.yaml", "--elaborate-only"});
  EXPECT_EQ(lost.status, 2);
  for (const std::string& word :
       {std::string("router@1,1: impl lockstep: ") + source + " is not built: there is no plugin",
        (folder / "build/my_router.so").string(), std::string("ktpu_add_user_rtl() of find_package(ktpu)")})
    EXPECT_THAT(lost.err, HasSubstr(word));
}

TEST_F(UserModules, WhatDoesNotFitIsRefusedInWords) {
  expect_refused("router@1,1=rtl:nowhere.sv", {"router@1,1: impl rtl: there is no file", "nowhere.sv"});
  expect_refused("router@1,1=rtl:" + pins, {"holds a SystemC module: write pins for rtl"});
  expect_refused("router@1,1=pins:" + rtl, {"holds RTL: write rtl for pins"});
  expect_refused("router@1,1=rtl:" + rtl + ":your_router",
                 {"holds the module my_router, not your_router: write top: my_router"});
  expect_refused("cluster@1,1=rtl:" + rtl,
                 {"is for nodes of the kind router, and this is of the kind cluster"});
  expect_refused("router@1,1=pins:" + echo + ":echo::EchoNode",
                 {"is for nodes of the kind endpoint, and this is of the kind router"});
  expect_refused("memory=rtl:" + rtl, {"is for nodes of the kind router, and this is of the kind memory"});
  expect_refused("agent=lockstep:" + rtl,
                 {"agent: ", "is for nodes of the kind router, and this is of the kind agent"});
  expect_refused("engine=rtl:" + rtl,
                 {"is for nodes of the kind router, and this is of the kind command_engine"});
  expect_refused("memory@0,1=rtl:" + rtl, {"all memory ports of a mesh are one unit and take the same"});
  expect_refused("router@1,1=pins", {"impl pins needs a SystemC module", "{pins: FILE, top: CLASS}"});
  expect_refused("vector@3,1=rtl:" + std::string(KTPU_MODULES_DIR) + "/other_version.so",
                 {"was built for another version of this simulator (interface 0;", "Build it again"});
  spill(folder / "text.so", "not a shared object");
  expect_refused("router@1,1=rtl:text.so", {"cannot load"});
  // The router's limits are those of the twin that it was made into.
  const Finished deep = sim({"-t", "mesh8", "--elaborate-only", "--set", "meshes.0.router.fifo_depth=1024",
                             "--impl", "router@1,1=rtl:" + rtl});
  EXPECT_EQ(deep.status, 2);
  EXPECT_THAT(deep.err, HasSubstr("built for FIFOs of depth 1..512"));
}

TEST_F(UserModules, AStalePluginIsRefused) {
  fs::copy_file(rtl, folder / "my_router.so");
  fs::last_write_time(folder / "my_router.so", fs::last_write_time(source) - std::chrono::hours(1));
  expect_refused("router@1,1=rtl:my_router.so", {"has changed since", "build it again"});
}

TEST_F(UserModules, StandsOnTheBenchOfItsBlock) {
  const Finished good = run("ktpu-cosim", {"router", "--cycles", "4000", "--seed", "3", "--module", rtl});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("0 differences"));
  EXPECT_EQ(run("ktpu-cosim", {"router", "--cycles", "20000", "--seed", "3", "--module", broken}).status, 6);
  const Finished wrong = run("ktpu-cosim", {"cluster", "--module", rtl});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("is for nodes of the kind router, and this is of the kind cluster"));
}

TEST_F(UserModules, WhatAModuleReportsIsAFault) {
  const Finished f = sim({"-t", "noc3x3", "-q", "--impl",
                          "traffic@0,2=pins:" + std::string(KTPU_MODULES_DIR) + "/Complainer.so", "--set",
                          "meshes.0.units.t.pattern=uniform", "--set", "meshes.0.units.t.rate=0.1", "--set",
                          "meshes.0.units.t.flits=100"});
  EXPECT_EQ(f.status, 3) << f.err;
  EXPECT_THAT(f.err, HasSubstr("ktpu-sim: Error: complainer: this is not for me"));
  EXPECT_THAT(f.err, HasSubstr("traffic_0_2"));
}

TEST_F(UserModules, PinsNeedTheKernel) {
  const Finished f = run("ktpu-cosim", {"-t", "noc3x3", "--cycles", "100", "--impl", "router=pins:" + pins});
  EXPECT_EQ(f.status, 2) << f.err;
  EXPECT_THAT(f.err, HasSubstr("is a SystemC module, and this program does not run SystemC's kernel"));
}

TEST_F(UserModules, PinsRunAtTheClockOfTheFabric) {
  for (const std::string node : {"cluster", "vector", "cluster@2,3"}) {
    const Finished f =
        sim({"-t", "cdc", "--elaborate-only", "--impl", node + "=pins:" + echo + ":echo::EchoNode"});
    EXPECT_EQ(f.status, 2) << f.err;
    EXPECT_THAT(f.err,
                testing::ContainsRegex(
                    "cdc.yaml:[0-9]+:[0-9]+: (cluster|vector)@[0-9],[0-9]: a SystemC module runs at the "
                    "clock 'fabric', and this node has the clock '(cluster|vector)'. Leave `clock` out"));
  }
}

// On a machine with several clocks what stands at the fabric's runs as the model does.
TEST_F(UserModules, PinsRunBesideOtherClocks) {
  const Words run{example("vector_relu"), "-t", "cdc"};
  EXPECT_EQ(measured(run).value("run.machine_cycles"),
            measured(run, {"--impl", "router=pins:" + pins}).value("run.machine_cycles"));
  EXPECT_GT(measured(run, {"--impl", "router=lockstep:" + pins}).value("router@1,1.lockstep.values"), 1000);
}

TEST_F(UserModules, PartsWithoutPinsAreRefusedByName) {
  for (const std::string of : {"", ":anything.cpp:Class"}) {
    expect_refused("memory=pins" + of,
                   {"memory@0,1: a SystemC module with pins can stand for a router or a node "
                    "with one link pair, not for a memory agent: choose model, rtl"});
    expect_refused("agent=pins" + of, {"not for a control agent"});
    expect_refused("engine=pins" + of, {"not for a command engine"});
  }
}

TEST_F(UserModules, PinsAreInNoCheckpoint) {
  const Finished f = sim({example("vector_relu"), "-t", "mesh8", "-q", "--impl", "router=pins:" + pins,
                          "--checkpoint", "c.ckpt", "--checkpoint-at", "1000"});
  EXPECT_EQ(f.status, 2) << f.err;
  EXPECT_THAT(f.err, HasSubstr("router@1,1"));
}

}  // namespace
}  // namespace ktpu::test
