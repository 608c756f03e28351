// SPDX-License-Identifier: Apache-2.0
// compiler.md section 14 on every recorded kernel: the solved extents and effective knobs, the buffers and
// their names, and which are refused when they are bound or traced.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/base/refusal.h"
#include "compiler/kernel_to_graph/lower.h"
#include "compiler/kernels/kernels.h"

namespace ktpu::kernels {
namespace {

using kernel::Knob;
using kernel::Knobs;
using kernel::Shape;
using nlohmann::json;

std::filesystem::path live_folder() {
  const char* from_environment = std::getenv("KTPU_VECTORS");
  const std::filesystem::path vectors =
      from_environment ? std::filesystem::path(from_environment)
                       : std::filesystem::path(KTPU_SOURCE_DIR).parent_path() / "shared" / "vectors";
  return vectors / "compiler" / "live";
}

Knob knob(const json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}
Knobs knobs_of(const json& object) {
  Knobs knobs;
  for (const auto& [name, value] : object.items()) knobs[name] = knob(value);
  return knobs;
}

json extents_of(const kernel::Kernel& k) {
  json extents = {{"__lead__", k.lead}, {"__flat__", k.flat}, {"__batch__", k.batch}};
  for (const auto& [name, value] : k.extents) extents[name] = value;
  return extents;
}

const char* const kRoles[] = {"in", "out", "temp", "const"};

// Refusals of a later level: the traced kernel is good.
bool refused_later(const std::string& code) {
  static const std::set<std::string> kCodes{"HAZARD", "UNIT_ABSENT", "SIDE_OPERAND_CANNOT_STAGE"};
  return kCodes.contains(code);
}

void check(const json& file) {
  const kernel::Definition* definition = find(file.at("kernel").get<std::string>());
  ASSERT_NE(definition, nullptr);
  std::map<std::string, Shape> inputs;
  for (const auto& [name, tensor] : file.at("inputs").items()) inputs[name] = tensor.at("shape").get<Shape>();
  // The recorded knobs are those after a fused form was staged; that `fuse` was not the caller's.
  Knobs given = knobs_of(file.at("knobs"));
  const bool relaxed = file.contains("relaxed") && file.at("relaxed").get<bool>();
  if (relaxed) given["fuse"] = false;
  const bool reached = file.contains("extents") && !file.at("extents").is_null();
  const std::string code = file.value("code", "");
  kernel::Kernel traced;
  try {
    traced = trace(*definition, inputs, given);
  } catch (const base::Refusal& refusal) {
    EXPECT_FALSE(reached) << refusal.what();
    EXPECT_EQ(refusal.code(), code) << refusal.what();
    return;
  }
  if (!reached) {
    EXPECT_TRUE(refused_later(code)) << "not refused: " << code;
    return;
  }
  EXPECT_EQ(extents_of(traced), file.at("extents"));
  EXPECT_EQ(traced.knobs, knobs_of(file.at("effective_knobs")));
  const graph::Graph lowered = kernel_to_graph::lower(traced);
  EXPECT_NO_THROW(verify(lowered));
  EXPECT_EQ(print(graph::parse(print(lowered), "printed")), print(lowered));
  if (std::getenv("KTPU_PRINT_GRAPHS")) std::printf("%s\n", print(lowered).c_str());
  if (!file.contains("buffers")) return;
  std::map<std::string, std::pair<std::string, Shape>> got, want;
  for (const graph::Buffer& buffer : lowered.buffers) {
    Shape shape = buffer.batched ? lowered.lead : Shape{};
    shape.insert(shape.end(), buffer.shape.begin(), buffer.shape.end());
    got[buffer.name] = {kRoles[static_cast<std::size_t>(buffer.role)], shape};
  }
  for (const auto& [name, buffer] : file.at("buffers").items()) {
    const std::string role = buffer.at("role").get<std::string>();
    // Landed buffers come into being when the epilogue is staged.
    if (name.starts_with("land")) continue;
    want[name] = {role == "table" ? "const" : role, buffer.at("shape").get<Shape>()};
  }
  EXPECT_EQ(got, want);
}

TEST(KernelLive, ExtentsKnobsBuffersRefusals) {
  if (!std::filesystem::exists(live_folder())) GTEST_SKIP() << live_folder();
  unsigned files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(live_folder())) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    std::ifstream stream(entry.path());
    check(json::parse(stream));
    ++files;
  }
  EXPECT_EQ(files, 158U);
}

}  // namespace
}  // namespace ktpu::kernels
