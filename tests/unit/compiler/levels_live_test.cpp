// SPDX-License-Identifier: Apache-2.0
// Every recorded kernel through all levels: what each lowering makes keeps the rules of its level, and its
// text says all of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/base/refusal.h"
#include "compiler/graph_to_schedule/lower.h"
#include "compiler/kernel_to_graph/lower.h"
#include "compiler/kernels/kernels.h"
#include "compiler/program_to_bytes/lower.h"
#include "compiler/schedule_to_program/lower.h"
#include "tests/support/vectors.h"

namespace ktpu {
namespace {

using nlohmann::json;

std::filesystem::path live_folder() { return test::vectors_folder() / "compiler" / "live"; }

kernel::Knobs knobs_of(const json& object) {
  kernel::Knobs knobs;
  for (const auto& [name, value] : object.items()) {
    if (value.is_boolean())
      knobs[name] = value.get<bool>();
    else if (value.is_number_integer())
      knobs[name] = value.get<std::int64_t>();
    else if (value.is_number())
      knobs[name] = value.get<double>();
    else if (value.is_string())
      knobs[name] = value.get<std::string>();
    else
      knobs[name] = {};
  }
  return knobs;
}

std::vector<arch::Coord> coords(const json& list) {
  std::vector<arch::Coord> found;
  for (const json& at : list) found.push_back({at.at(0).get<std::uint8_t>(), at.at(1).get<std::uint8_t>()});
  return found;
}

template <typename Level, typename Parse>
void expect_whole(std::string_view level, const Level& made, Parse&& parse) {
  SCOPED_TRACE(level);
  const std::string text = print(made);
  EXPECT_EQ(print(parse(text, "text")), text);
  try {
    verify(made);
  } catch (const base::Refusal&) {
    throw;
  } catch (const arch::UserError& error) {
    ADD_FAILURE() << error.what();
  }
}

// True when the kernel came through.
bool check(const json& file, schedule::Policy policy) {
  const kernel::Definition* definition = kernels::find(file.at("kernel").get<std::string>());
  if (definition == nullptr) return false;
  std::map<std::string, kernel::Shape> inputs;
  for (const auto& [name, tensor] : file.at("inputs").items())
    inputs[name] = tensor.at("shape").get<kernel::Shape>();
  const json& machine = file.at("machine");
  schedule::Resources resources;
  resources.clusters = static_cast<std::uint32_t>(machine.at("MG").size());
  resources.vector_cores = static_cast<std::uint32_t>(machine.at("VC").size());
  resources.agent = !machine.at("agent").is_null();
  const graph_to_schedule::Options options{policy, machine.value("regrid", false),
                                           machine.value("reuse_temps", false)};
  try {
    const graph::Graph graph = kernel_to_graph::lower(trace(*definition, inputs, knobs_of(file.at("knobs"))));
    schedule::Schedule schedule;
    try {
      schedule = graph_to_schedule::lower(graph, resources, options);
    } catch (const base::CannotFuse&) {
      schedule = graph_to_schedule::lower(graph_to_schedule::stage_epilogues(graph), resources, options);
    }
    expect_whole("schedule", schedule, schedule::parse);
    program::Program program;
    try {
      program = schedule_to_program::lower(schedule);
    } catch (const base::CannotFuse&) {
      schedule = graph_to_schedule::lower(graph_to_schedule::stage_epilogues(graph), resources, options);
      expect_whole("schedule", schedule, schedule::parse);
      program = schedule_to_program::lower(schedule);
    }
    expect_whole("program", program, program::parse);
    bytes::Machine units{
        "sim", bytes::Units(coords(machine.at("MG"))), bytes::Units(coords(machine.at("VC"))), {}, {}, 0};
    if (resources.agent) units.agent = bytes::Units(coords(json::array({machine.at("agent")})))[0];
    expect_whole("executable", program_to_bytes::lower(program, units, bytes::CommandLimit::kReport),
                 bytes::parse);
    return true;
  } catch (const base::Refusal& refusal) {
    // What the reference takes and the lowerings do not, is for the tests of the lowerings to say.
    return false;
  }
}

TEST(LevelsLive, KeepTheirRulesAndSayAllInTheirTexts) {
  KTPU_NEEDS_VECTORS("compiler/live");
  unsigned through = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(live_folder())) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().string());
    std::ifstream stream(entry.path());
    const json file = json::parse(stream);
    for (const schedule::Policy policy : {schedule::Policy::kCompat, schedule::Policy::kBest})
      through += check(file, policy) ? 1 : 0;
  }
  EXPECT_GE(through, 2 * 125u);
}

}  // namespace
}  // namespace ktpu
