// SPDX-License-Identifier: Apache-2.0
// Whole programs (vectors/programs): every kernel compiled again for the recorded machine, next to the rounds
// that were measured: kicks, awaits, and every flit as it is staged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/check_formats/hex.h"
#include "arch/error.h"
#include "compiler/driver/compile.h"
#include "compiler/kernels/kernels.h"
#include "tests/support/vectors.h"

namespace ktpu::driver {
namespace {

using nlohmann::json;

std::filesystem::path programs_folder() { return test::vectors_folder() / "programs"; }

// The README's units, in the order the recorded compiler was given.
Machine machine(const std::string& name) {
  UnitList units;
  units.agent = arch::Coord{0, 1};
  if (name == "mesh8") {
    units.clusters = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
    units.vector_cores = {{3, 1}, {3, 2}};
  } else {
    units.clusters = {{2, 1}};
    units.vector_cores = {{1, 0}};
  }
  return make_machine(name, units, {}, {128, 128, 512});
}

kernel::Knob knob(const json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}
kernel::Knobs knobs_of(const json& object) {
  kernel::Knobs knobs;
  for (const auto& [name, value] : object.items()) knobs[name] = knob(value);
  return knobs;
}

// A round as the file writes it.
struct Recorded {
  std::string unit;
  json kicks = json::array(), awaits = json::array();
  std::vector<arch::Flit> flits;
};
Recorded of(const std::string& unit, const bytes::Round& round) {
  Recorded made{unit, json::array(), json::array(), staged_flits(round.artifact)};
  for (const bytes::RoundStep& step : round.artifact.steps) {
    if (const auto* kick = std::get_if<bytes::Kick>(&step))
      made.kicks.push_back({kick->to.x, kick->to.y, kick->base.index(), kick->count});
    if (const auto* await = std::get_if<bytes::Await>(&step))
      made.awaits.push_back({await->node.x, await->node.y, await->count});
  }
  return made;
}

// The reference prunes a fill that its sweep still needs (compiler.md section 27, 0): more than two chunks of
// K in each of two sweeps that share x.
bool known_wrong(const json& file) {
  const std::string name = file.at("kernel").get<std::string>();
  if (name != "kernels.geglu" && name != "kernels.swiglu") return false;
  const std::int64_t k = file.at("inputs").at("x").at("shape").back(),
                     nk = file.at("effective_knobs").at("nk");
  return (k + 31) / 32 > 2 * nk;
}

void check(const json& file) {
  const kernel::Definition* definition = kernels::find(file.at("kernel").get<std::string>());
  ASSERT_NE(definition, nullptr) << file.at("kernel");
  std::map<std::string, kernel::Shape> inputs;
  for (const auto& [name, tensor] : file.at("inputs").items())
    inputs[name] = tensor.at("shape").get<kernel::Shape>();
  Options options;
  options.policy = schedule::Policy::kCompat;
  const Compiled compiled = compile(*definition, inputs, knobs_of(file.at("knobs")),
                                    machine(file.at("machine").get<std::string>()), options);
  EXPECT_EQ(compiled.kernel.knobs, knobs_of(file.at("effective_knobs")));
  // Not where the caller wanted it staged.
  if (!file.at("knobs").contains("fuse")) {
    EXPECT_EQ(compiled.relaxed, file.at("fused_form_refused").get<bool>());
  }
  std::vector<Recorded> got;
  for (const bytes::ExecStep& step : compiled.executable.steps)
    if (const auto* dispatch = std::get_if<bytes::Dispatch>(&step))
      for (const bytes::Round& round : dispatch->plan.rounds) got.push_back(of(dispatch->unit, round));
  std::size_t at = 0;
  for (const json& step : file.at("steps")) {
    if (step.at("op") != "round") continue;
    ASSERT_LT(at, got.size());
    const Recorded& round = got[at++];
    EXPECT_EQ(round.unit, step.at("unit"));
    EXPECT_EQ(round.kicks, step.at("kicks"));
    EXPECT_EQ(round.awaits, step.at("awaits"));
    ASSERT_EQ(round.flits.size(), step.at("slots").size());
    for (std::size_t slot = 0; slot < round.flits.size(); ++slot) {
      arch::Flit want;
      check::hex_words(file.at("flit_words").at(step.at("slots")[slot].get<std::size_t>()), "flit_words",
                       arch::kFlitBits, want.w.data());
      ASSERT_EQ(round.flits[slot].w, want.w) << "round " << at - 1 << " slot " << slot;
    }
  }
  EXPECT_EQ(at, got.size());
}

TEST(DriverPrograms, CompiledAgainTheyAreTheMeasuredRounds) {
  KTPU_NEEDS_VECTORS("programs");
  unsigned files = 0;
  for (const char* folder : {"small", "mesh8"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(programs_folder() / folder)) {
      if (entry.path().extension() != ".json") continue;
      SCOPED_TRACE(entry.path().string());
      std::ifstream stream(entry.path());
      const json file = json::parse(stream);
      if (known_wrong(file)) continue;
      try {
        check(file);
      } catch (const arch::UserError& error) {
        ADD_FAILURE() << error.what();
      }
      ++files;
    }
  EXPECT_EQ(files, 107U);
}

}  // namespace
}  // namespace ktpu::driver
