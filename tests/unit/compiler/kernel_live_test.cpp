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
#include "tests/support/vectors.h"

namespace ktpu::kernels {
namespace {

using kernel::Knob;
using kernel::Knobs;
using kernel::Shape;
using nlohmann::json;

std::filesystem::path live_folder() { return test::vectors_folder() / "compiler" / "live"; }

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

// The statements of one tiling's first instance, and which unit runs them.
struct Stage {
  std::string unit;
  std::vector<std::int64_t> grid;
  std::vector<std::string> statements;
  bool operator==(const Stage&) const = default;
};
void PrintTo(const Stage& stage, std::ostream* out) {
  *out << stage.unit << " " << json(stage.grid) << " " << json(stage.statements);
}

// As far as the graph alone says: without formed tilings, which may be put together, and without epilogues.
class Unroll {
 public:
  std::vector<Stage> run(const graph::Graph& g) {
    walk(g.body);
    return stages_;
  }
  bool plain = true;

 private:
  void walk(const graph::Body& body) {
    for (const graph::Node& node : body) {
      if (const auto* loop = std::get_if<graph::Loop>(&node.it)) {
        for (std::int64_t i = 0; i < loop->axis.extent.at(at_); ++i) {
          at_[loop->axis.name] = i;
          walk(*loop->body);
        }
        at_.erase(loop->axis.name);
      } else if (const auto* tiling = std::get_if<graph::Tiling>(&node.it)) {
        plain = plain && !tiling->formed;
        Stage& stage = stages_.emplace_back();
        for (const graph::Axis& axis : tiling->axes) {
          stage.grid.push_back(axis.extent.at(at_));
          at_[axis.name] = 0;
        }
        walk(*tiling->body);
      } else if (const auto* tile = std::get_if<graph::OpenTile>(&node.it)) {
        plain = plain && tile->land.empty();
      } else {
        const auto* apply = std::get_if<graph::Apply>(&node.it);
        stages_.back().unit = apply ? "VC" : "MG";
        stages_.back().statements.emplace_back(apply ? (apply->reduce ? "reduce" : "apply")
                                               : std::holds_alternative<graph::Fill>(node.it) ? "fill"
                                               : std::holds_alternative<graph::Gemm>(node.it) ? "gemm"
                                                                                              : "drain");
      }
    }
  }
  std::vector<Stage> stages_;
  base::Bindings at_;
};

// Refusals of a later level: the traced kernel is good.
bool refused_later(const std::string& code) {
  static const std::set<std::string> kCodes{"HAZARD", "UNIT_ABSENT", "SIDE_OPERAND_CANNOT_STAGE"};
  return kCodes.contains(code);
}

unsigned plain_graphs = 0;

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
  const std::string text = print(traced);
  EXPECT_EQ(print(kernel::parse(text, "printed")), text);
  EXPECT_EQ(print(kernel_to_graph::lower(kernel::parse(text, "printed"))),
            print(kernel_to_graph::lower(traced)));
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
  Unroll unroll;
  const std::vector<Stage> stages = unroll.run(lowered);
  if (!unroll.plain || file.at("machine").at("regrid").get<bool>()) return;
  std::vector<Stage> recorded;
  for (const json& stage : file.at("stages"))
    recorded.push_back({stage.at("unit"), stage.at("body_grid"), stage.at("stmts")});
  EXPECT_EQ(stages, recorded);
  ++plain_graphs;
}

TEST(KernelLive, ExtentsKnobsBuffersRefusals) {
  KTPU_NEEDS_VECTORS("compiler/live");
  unsigned files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(live_folder())) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    std::ifstream stream(entry.path());
    check(json::parse(stream));
    ++files;
  }
  EXPECT_EQ(files, 158U);
  EXPECT_EQ(plain_graphs, 89U);
}

}  // namespace
}  // namespace ktpu::kernels
