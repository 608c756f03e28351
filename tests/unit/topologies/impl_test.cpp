// SPDX-License-Identifier: Apache-2.0
// --impl and node ids (design.md section 3).
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/topologies/helpers.h"
#include "topologies/writer.h"

namespace ktpu::topo::testing {
namespace {

std::string impl_error(Machine& m, const std::string& spec) {
  try {
    apply_impl(m, spec);
  } catch (const arch::UserError& e) {
    return e.what();
  }
  return "no error";
}

unsigned count(const Machine& m, Impl impl) {
  unsigned n = 0;
  for (const Mesh& mesh : m.meshes) {
    for (const Node& node : mesh.nodes) n += node.impl == impl;
    for (const Router& router : mesh.routers) n += router.impl == impl;
  }
  return n;
}

TEST(Impl, OneNode) {
  Machine m = read_string(kGood);
  apply_impl(m, "cluster@2,1=rtl");
  EXPECT_EQ(m.meshes[0].node_at({2, 1})->impl, Impl::kRtl);
  EXPECT_EQ(count(m, Impl::kRtl), 1u);
  apply_impl(m, "router@2,1=lockstep");
  EXPECT_EQ(m.meshes[0].router_at({2, 1})->impl, Impl::kLockstep);
  EXPECT_EQ(count(m, Impl::kLockstep), 1u);
  apply_impl(m, "m0.cluster@2,1=model");
  EXPECT_EQ(count(m, Impl::kRtl), 0u);
}

TEST(Impl, Patterns) {
  Machine m = read_string(kGood);
  apply_impl(m, "router=rtl");
  EXPECT_EQ(count(m, Impl::kRtl), 4u);
  apply_impl(m, "cluster@*=lockstep");
  EXPECT_EQ(count(m, Impl::kLockstep), 3u);
  apply_impl(m, "*@1,1=pins");
  EXPECT_EQ(count(m, Impl::kPins), 2u);
  apply_impl(m, "*=model");
  EXPECT_EQ(count(m, Impl::kModel), 11u);
  apply_impl(m, "*=rtl");
  EXPECT_EQ(count(m, Impl::kRtl), 10u);
  EXPECT_EQ(m.meshes[0].node_at({3, 2})->impl, Impl::kModel) << "a traffic node is no hardware";
  EXPECT_EQ(m.meshes[0].agent->impl, Impl::kRtl);
  EXPECT_EQ(m.meshes[0].agent->engine_impl, Impl::kRtl);
}

TEST(Impl, OfAgentAndEngineInYaml) {
  const Machine m = read_string(with(kGood, "{staging_flits: 128, commands: 128}",
                                     "{control_agent: {impl: rtl}, command_engine: {impl: lockstep}}"));
  EXPECT_EQ(m.meshes[0].agent->impl, Impl::kRtl);
  EXPECT_EQ(m.meshes[0].agent->engine_impl, Impl::kLockstep);
  expect_error(with(with(kGood, "{kind: command_engine}", "{kind: script}"), "commands: 128}",
                    "@@command_engine: {impl: rtl}}"),
               "meshes.0.agent.command_engine: there is no command engine: it comes with host: {kind: "
               "command_engine}, and the host's kind is 'script'");
  expect_error(
      with(kGood, "commands: 128}", "control_agent: {impl: @@verilog}}"),
      "meshes.0.agent.control_agent.impl: 'verilog' is not allowed; allowed: model, rtl, lockstep, pins");
}

TEST(Impl, ModulesFromOutside) {
  Machine m = read_string(kGood);
  const std::string here = std::filesystem::current_path().string();
  apply_impl(m, "router=rtl:sub/../my_router.sv:other_router");
  apply_impl(m, "router@1,1=lockstep:/abs/my_router.so");
  apply_impl(m, "traffic=pins:gun.so");
  EXPECT_EQ(m.meshes[0].router_at({2, 1})->module, (UserModule{here + "/my_router.sv", "other_router"}));
  EXPECT_EQ(m.meshes[0].router_at({1, 1})->module, (UserModule{"/abs/my_router.so", "my_router"}));
  EXPECT_EQ(m.meshes[0].router_at({1, 1})->impl, Impl::kLockstep);
  EXPECT_EQ(m.meshes[0].node_at({3, 2})->module.top, "gun");
  EXPECT_EQ(count(m, Impl::kPins), 1u);
  EXPECT_EQ(read_string(print_resolved(m)), m);
  EXPECT_NE(fingerprint(m), fingerprint(read_string(kGood)));
  EXPECT_EQ(program_fingerprint(m), program_fingerprint(read_string(kGood)));
  apply_impl(m, "*=rtl");
  EXPECT_FALSE(m.meshes[0].router_at({2, 1})->module.given());
}

// A file stands beside the topology that names it.
TEST(Impl, ModulesInTheFile) {
  const std::string text =
      with(kGood, "router: {", "router: {impl: {lockstep: rtl/my_router.sv, top: my_top}, ");
  const Machine m = read_string(text, "/some/where/machine.yaml");
  EXPECT_EQ(m.meshes[0].routers[0].module, (UserModule{"/some/where/rtl/my_router.sv", "my_top"}));
  EXPECT_EQ(m.meshes[0].routers[3].impl, Impl::kLockstep);
  // On the command line, in the current folder; a later word takes the module away.
  const Machine set = read_string(kGood, "/some/where/machine.yaml", {"meshes.0.router.impl={pins: a/b.so}"});
  EXPECT_EQ(set.meshes[0].routers[0].module,
            (UserModule{std::filesystem::current_path().string() + "/a/b.so", "b"}));
  const Machine word = read_string(text, "/some/where/machine.yaml", {"meshes.0.router.impl=rtl"});
  EXPECT_FALSE(word.meshes[0].routers[0].module.given());
}

TEST(Impl, ModulesOfTheControlPlane) {
  Machine m =
      read_string(with(kGood, "commands: 128}",
                       "commands: 128, control_agent: {impl: {lockstep: /x/agent.sv}}, command_engine: "
                       "{impl: {rtl: /x/e.sv, top: engine}}}"));
  EXPECT_EQ(m.meshes[0].agent->impl, Impl::kLockstep);
  EXPECT_EQ(m.meshes[0].agent->module, (UserModule{"/x/agent.sv", "agent"}));
  EXPECT_EQ(m.meshes[0].agent->engine_impl, Impl::kRtl);
  EXPECT_EQ(m.meshes[0].agent->engine_module, (UserModule{"/x/e.sv", "engine"}));
  apply_impl(m, "engine=lockstep:/y/b.so:mine");
  EXPECT_EQ(m.meshes[0].agent->engine_module, (UserModule{"/y/b.so", "mine"}));
  apply_impl(m, "agent=rtl");
  EXPECT_FALSE(m.meshes[0].agent->module.given());
  apply_impl(m, "memory=rtl:/y/m.sv");
  EXPECT_EQ(m.meshes[0].node_at(m.meshes[0].ports.front())->module, (UserModule{"/y/m.sv", "m"}));
}

TEST(Impl, ModuleErrors) {
  Machine m = read_string(kGood);
  EXPECT_EQ(impl_error(m, "router=model:a.sv"),
            "--impl router=model:a.sv: a module of your own is rtl, lockstep or pins, not model");
  EXPECT_EQ(impl_error(m, "router=rtl::top"),
            "--impl router=rtl::top: which file? Write FILE or FILE:TOP there");
  const auto error = [](const std::string& impl) {
    return error_of(with(kGood, "router: {", "router: {impl: " + impl + ", "));
  };
  EXPECT_THAT(error("{rtl: a.sv, pins: b.so}"),
              ::testing::HasSubstr(
                  "meshes.0.router.impl.pins: there is 'rtl' already; give one of rtl, lockstep and pins"));
  EXPECT_THAT(error("{top: a}"),
              ::testing::HasSubstr("meshes.0.router.impl: which file? Write {rtl: FILE, top: MODULE}"));
  EXPECT_THAT(error("{rtl: a.sv, tpo: x}"), ::testing::HasSubstr("unknown key 'tpo'; did you mean 'top'?"));
  EXPECT_THAT(error("{rtl: a.sv, top: ''}"), ::testing::HasSubstr("the name of the module is empty"));
  EXPECT_THAT(error("rlt"), ::testing::HasSubstr("did you mean 'rtl'?"));
}

TEST(Impl, Errors) {
  Machine m = read_string(kGood);
  EXPECT_EQ(
      impl_error(m, "cluster@2,2=rtl"),
      "--impl cluster@2,2=rtl: there is no node 'cluster@2,2'; did you mean 'cluster@2,1'?; valid: "
      "vector@1,0, "
      "memory@0,1, cluster@1,1, cluster@2,1, memory@0,2, cluster@1,2, traffic@3,2, router@1,1, router@2,1, "
      "router@1,2, router@2,2");
  EXPECT_EQ(impl_error(m, "cluster@2,1=rlt"),
            "--impl cluster@2,1=rlt: 'rlt' is not allowed; allowed: model, rtl, lockstep, pins; did you mean "
            "'rtl'?");
  for (const char* bad : {"", "=", "=rtl", "cluster@2,1"})
    EXPECT_EQ(impl_error(m, bad),
              "--impl " + std::string(bad) + ": write it as NODE=IMPL, for instance cluster@2,1=rtl");
  EXPECT_EQ(impl_error(m, "m1.cluster@2,1=rtl").substr(0, 56),
            "--impl m1.cluster@2,1=rtl: there is no node 'm1.cluster@");
  EXPECT_EQ(m, read_string(kGood));
}

TEST(Impl, IdsOfSeveralMeshes) {
  Machine m = read_string(
      "version: 1\nname: x\nclock_mhz: 300\nmeshes:\n"
      "  - {units: {t: {kind: null}}, grid: [[., ., .], [., t, .], [., ., .]]}\n"
      "  - {units: {t: {kind: null}}, grid: [[., ., .], [., t, .], [., ., .]]}\n");
  EXPECT_EQ(node_ids(m),
            (std::vector<std::string>{"m0.null@1,1", "m0.router@1,1", "m1.null@1,1", "m1.router@1,1"}));
  apply_impl(m, "m1.router@1,1=rtl");
  EXPECT_EQ(m.meshes[0].routers[0].impl, Impl::kModel);
  EXPECT_EQ(m.meshes[1].routers[0].impl, Impl::kRtl);
}

}  // namespace
}  // namespace ktpu::topo::testing
