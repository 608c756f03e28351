// SPDX-License-Identifier: Apache-2.0
// One kernel of one shape on one machine, scheduled in several ways: what a search over schedules would ask
// the cost model to tell apart.
#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "apps/ktpu-check/rig.h"
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/program_file.h"
#include "compiler/kernels/kernels.h"
#include "tests/cost/measured.h"

namespace ktpu::cost_test {
namespace {

using Shapes = std::map<std::string, kernel::Shape>;

// What the ports of a kernel look like for M x K times N x K, or M rows of K.
struct Pattern {
  const char* kernel;
  Shapes (*shapes)(std::uint32_t m, std::uint32_t k, std::uint32_t n);
};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{
      {"ops.matmul",
       [](auto m, auto k, auto n) {
         return Shapes{{"a", {m, k}}, {"b", {n, k}}};
       }},
      {"kernels.linear_relu",
       [](auto m, auto k, auto n) {
         return Shapes{{"x", {m, k}}, {"w", {n, k}}};
       }},
      {"kernels.linear_gelu",
       [](auto m, auto k, auto n) {
         return Shapes{{"x", {m, k}}, {"w", {n, k}}};
       }},
      {"kernels.linear_add",
       [](auto m, auto k, auto n) {
         return Shapes{{"x", {m, k}}, {"w", {n, k}}, {"b", {m, n}}};
       }},
      {"kernels.swiglu",
       [](auto m, auto k, auto n) {
         return Shapes{{"x", {m, k}}, {"wg", {n, k}}, {"wu", {n, k}}};
       }},
      {"kernels.mlp",
       [](auto m, auto k, auto n) {
         return Shapes{{"x", {m, k}}, {"up", {n, k}}, {"down", {k, n}}};
       }},
      {"ops.residual",
       [](auto m, auto k, auto) {
         return Shapes{{"a", {m, k}}, {"b", {m, k}}};
       }},
      {"ops.silu",
       [](auto m, auto k, auto) {
         return Shapes{{"x", {m, k}}};
       }},
      {"kernels.softmax",
       [](auto m, auto, auto n) {
         return Shapes{{"x", {m, n}}};
       }},
  };
  return all;
}

// Shipped machines, and two whose memory is another one.
struct Target {
  const char* name;
  const char* shipped;
  void (*change)(topo::Dram&);
};
const std::array<Target, 8>& targets() {
  static const std::array<Target, 8> all{{
      {"reference_6c4v", "reference_6c4v", [](topo::Dram&) {}},
      {"reference_mesh8", "reference_mesh8", [](topo::Dram&) {}},
      {"mesh8", "mesh8", [](topo::Dram&) {}},
      {"reference_small", "reference_small", [](topo::Dram&) {}},
      {"cdc", "cdc", [](topo::Dram&) {}},
      {"staged", "staged", [](topo::Dram&) {}},
      {"6c4v with slow memory", "reference_6c4v",
       [](topo::Dram& dram) {
         dram.simple.first_read_beat = 40;
         dram.simple.read_gaps = {0, 3};
         dram.simple.first_write_beat = 12;
         dram.simple.write_gaps = {2};
         dram.simple.write_response = 20;
         dram.bus_bits = 256;
       }},
      {"6c4v with banked memory", "reference_6c4v",
       [](topo::Dram& dram) { dram.model = topo::DramModel::kBanked; }},
  }};
  return all;
}

kernel::Knobs draw_knobs(const kernel::Definition& definition, std::mt19937_64& random) {
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  kernel::Knobs knobs;
  for (const char* name : {"gm", "gn"})
    if (definition.knobs.contains(name)) knobs[name] = one_of({1, 2, 4, 8, 16});
  if (definition.knobs.contains("nk")) knobs["nk"] = one_of({1, 2, 4});
  if (definition.knobs.contains("part")) knobs["part"] = one_of({256, 512, 1024, 2048, 4096, 8192});
  knobs["fuse"] = random() % 2 == 0;
  return knobs;
}

std::string text(const kernel::Knobs& knobs, const driver::Options& options) {
  std::string out;
  for (const auto& [name, value] : knobs) out += fmt::format(" {}={}", name, kernel::print(value));
  return out + (options.regrid ? " regrid" : "");
}

std::string text(const Shapes& shapes) {
  std::string out;
  for (const auto& [name, shape] : shapes)
    out += fmt::format("{}{}", out.empty() ? "" : ",", kernel::print(shape));
  return out;
}

}  // namespace

std::vector<Case> schedule_cases(std::size_t families, std::size_t schedules, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto extent = [&](std::uint32_t low, std::uint32_t high, std::uint32_t step) {
    return low + static_cast<std::uint32_t>(random() % ((high - low) / step + 1)) * step;
  };
  std::vector<Case> cases;
  for (std::size_t f = 0; f < families; ++f) {
    const Target& place = targets()[f / patterns().size() % targets().size()];
    topo::Machine machine = check::shipped_machine(place.shipped);
    place.change(*machine.meshes.front().dram);
    const driver::Machine target = driver::machine_of(machine);
    const Pattern& pattern = patterns()[f % patterns().size()];
    const kernel::Definition& definition = *kernels::find(pattern.kernel);
    const std::uint32_t m = extent(16, 128, 4), k = extent(32, 128, 32), n = extent(16, 128, 16);
    const Shapes shapes = pattern.shapes(m, k, n);
    const std::string family = fmt::format("{} {} on {}", pattern.kernel, text(shapes), place.name);
    std::set<std::string> seen;
    for (std::size_t tries = 0; tries < 3 * schedules && seen.size() < schedules; ++tries) {
      const kernel::Knobs knobs = draw_knobs(definition, random);
      driver::Options options;
      options.regrid = random() % 2 == 0;
      try {
        const driver::Compiled compiled = driver::compile(definition, shapes, knobs, target, options);
        if (!seen.insert(text(knobs, options)).second) continue;
        cases.push_back({"schedules", family, fmt::format("{}{}", family, text(knobs, options)), machine,
                         driver::program_file(compiled, target), std::nullopt});
      } catch (const base::Refusal&) {
        // not every setting is taken
      } catch (const arch::UserError& error) {
        fmt::print("not compiled: {}{}: {}\n", family, text(knobs, options), error.what());
      }
    }
  }
  return cases;
}

}  // namespace ktpu::cost_test
