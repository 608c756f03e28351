// SPDX-License-Identifier: Apache-2.0
// Random calls of the kernel library, compiled with policy best for random machines and executed: the results
// are those of the mathematics, as far as the number formats allow.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

#include "apps/check_formats/hex.h"
#include "apps/common/interpreted_machine.h"
#include "apps/ktpu-check/float64_kernels.h"
#include "apps/ktpu-check/live_machine.h"
#include "compiler/base/refusal.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/program_file.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/kernels/kernels.h"
#include "tests/support/half.h"

namespace ktpu::driver {
namespace {

using nlohmann::json;

struct Call {
  std::string kernel;
  std::map<std::string, kernel::Shape> inputs;
  kernel::Knobs knobs;
  double tolerance = 0.04;  // of the largest value
  bool positive = false;
};

class Calls {
 public:
  explicit Calls(std::uint64_t seed) : random_(seed) {}

  std::uint32_t one_of(std::initializer_list<std::uint32_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  std::string one_of(std::initializer_list<const char*> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  bool sometimes() { return random_() % 2 == 0; }

  Call elementwise() {
    Call call;
    const bool two = sometimes();
    call.kernel = two ? one_of({"ops.sub", "ops.mul", "ops.residual", "ops.maximum", "ops.minimum"})
                      : one_of({"ops.neg", "ops.absolute", "ops.exp2", "ops.recip", "ops.silu", "ops.relu"});
    call.positive = call.kernel == "ops.recip";
    const kernel::Shape shape =
        sometimes() ? kernel::Shape{between(1, 9000)} : kernel::Shape{between(1, 90), between(1, 100)};
    if (two)
      call.inputs = {{"a", shape}, {"b", shape}};
    else
      call.inputs = {{"x", shape}};
    if (sometimes()) part(call, one_of({16, 64, 128, 160, 256, 400, 512, 1024, 2048, 4096}));
    return call;
  }
  Call rows() {
    Call call;
    call.kernel = one_of({"kernels.softmax", "kernels.rmsnorm", "kernels.layernorm", "ops.row_sum",
                          "ops.row_max", "ops.rmsnorm"});
    const kernel::Shape shape{between(1, 200), 16 * between(1, 8)};
    call.inputs = {{"x", shape}};
    if (call.kernel.starts_with("kernels.") && call.kernel != "kernels.softmax") call.inputs["w"] = shape;
    if (call.kernel == "kernels.layernorm") call.inputs["b"] = shape;
    if (!call.kernel.starts_with("ops.row") && sometimes()) part(call, shape[1] * one_of({1, 2, 3, 5, 20}));
    return call;
  }
  Call wide_rows() {
    Call call;
    call.kernel = one_of({"kernels.softmax_wide", "kernels.layernorm_wide", "kernels.rmsnorm_wide"});
    const std::uint32_t rows = one_of({2, 4, 8, 16});
    const kernel::Shape shape{between(1, 6), rows * 128};
    call.inputs = {{"x", shape}};
    if (call.kernel != "kernels.softmax_wide") call.inputs["w"] = shape;
    if (call.kernel == "kernels.layernorm_wide") call.inputs["b"] = shape;
    call.knobs["rows"] = std::int64_t{rows};
    call.tolerance = 0.05;
    return call;
  }
  Call product() {
    Call call;
    call.kernel = one_of({"ops.matmul", "kernels.linear_silu", "kernels.linear_relu", "kernels.linear_gelu",
                          "kernels.linear_bias", "kernels.linear_add", "kernels.linear_gate_add",
                          "kernels.geglu", "kernels.swiglu"});
    // Sums over one row and few terms are no larger than their error.
    const std::uint32_t m = one_of({16, 32, 50, 100}), n = one_of({7, 16, 32, 40, 96}),
                        k = one_of({32, 33, 64, 128, 192});
    kernel::Shape left{m, k}, result{m, n};
    if (const std::uint32_t batch = one_of({1, 1, 2, 3}); batch > 1)
      for (kernel::Shape* shape : {&left, &result}) shape->insert(shape->begin(), batch);
    call.inputs = {{call.kernel == "ops.matmul" ? "a" : "x", left}};
    const bool gated = call.kernel == "kernels.geglu" || call.kernel == "kernels.swiglu";
    call.inputs[gated ? "wg" : call.kernel == "ops.matmul" ? "b" : "w"] = {n, k};
    if (gated) call.inputs["wu"] = {n, k};
    if (gated && sometimes()) part(call, one_of({64, 160, 512, 1024}));
    if (call.kernel == "kernels.linear_bias") call.inputs["b"] = {n};
    if (call.kernel == "kernels.linear_add") call.inputs["b"] = result;
    if (call.kernel == "kernels.linear_gate_add") call.inputs["g"] = call.inputs["r"] = result;
    call.knobs["gm"] = std::int64_t{one_of({1, 2, 3, 4, 8, 16})};
    call.knobs["gn"] = std::int64_t{one_of({1, 2, 4, 5, 8, 12, 16})};
    call.knobs["nk"] = std::int64_t{one_of({1, 2, 3, 4})};
    call.tolerance = 0.08;
    return call;
  }
  Call convolution() {
    Call call;
    call.kernel = "ops.conv2d";
    const std::uint32_t c = one_of({32, 64});
    call.inputs = {{"a", {between(3, 8), between(3, 8), c}}, {"b", {one_of({8, 16, 24}), 9 * c}}};
    call.knobs["gm"] = std::int64_t{one_of({2, 4, 8, 16})};
    call.knobs["gn"] = std::int64_t{one_of({2, 4, 8})};
    call.tolerance = 0.08;
    return call;
  }
  json machine() {
    const json clusters = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}};
    const json cores = {{1, 0}, {1, 4}, {2, 0}, {2, 4}};
    json machine = {{"MG", json::array()}, {"VC", json::array()}, {"agent", {0, 1}}};
    for (std::uint32_t i = 0, n = one_of({1, 2, 6}); i < n; ++i) machine["MG"].push_back(clusters[i]);
    for (std::uint32_t i = 0, n = one_of({1, 2, 4}); i < n; ++i) machine["VC"].push_back(cores[i]);
    machine["stage_flits"] = one_of({32, 64, 128, 128});
    machine["ncmd"] = 128;
    machine["inst_depth"] = 512;
    return machine;
  }
  // Magnitudes from 1/16 to 1.
  std::vector<std::uint16_t> values(std::size_t count, bool positive) {
    std::vector<std::uint16_t> halves(count);
    for (std::uint16_t& half : halves)
      half = static_cast<std::uint16_t>((positive ? 0 : between(0, 1) << 15) | between(11, 14) << 10 |
                                        between(0, 1023));
    return halves;
  }

 private:
  static void part(Call& call, std::uint32_t elements) { call.knobs["part"] = std::int64_t{elements}; }

  std::mt19937_64 random_;
};

std::vector<arch::Coord> coords(const json& list) {
  std::vector<arch::Coord> all;
  for (const json& at : list) all.push_back({at.at(0), at.at(1)});
  return all;
}

std::string print(const Call& call, const json& machine) {
  std::string text = call.kernel;
  for (const auto& [name, shape] : call.inputs) text += fmt::format(" {}:{}", name, kernel::print(shape));
  for (const auto& [name, knob] : call.knobs) text += fmt::format(" {}={}", name, kernel::print(knob));
  return text + " on " + machine.dump();
}

// Whether it compiled; a refusal is no error here.
bool try_call(Calls& calls, const Call& call) {
  const json recorded = calls.machine();
  SCOPED_TRACE(print(call, recorded));
  const topo::Machine machine = check::live_machine({{"machine", recorded}});
  UnitList units{coords(recorded["MG"]), coords(recorded["VC"]), machine.meshes.front().ports.front()};
  const Machine target = make_machine(machine.name, units, {}, {recorded["stage_flits"], 128, 512});
  Inputs inputs;
  check::Reals reals;
  for (const auto& [name, shape] : call.inputs) {
    inputs[name] = calls.values(kernel::elements(shape), call.positive);
    reals[name].shape = shape;
    for (const std::uint16_t half : inputs[name]) reals[name].v.push_back(test::value_of_half(half));
  }
  std::optional<Compiled> compiled;
  try {
    compiled = compile(*kernels::find(call.kernel), call.inputs, call.knobs, target);
  } catch (const base::Refusal&) {
    return false;
  }
  const arch::Program program = program_file(*compiled, target, inputs);
  interpret::MachineFacts facts = apps::interpreted_machine(machine);
  for (interpret::MeshFacts& mesh : facts.meshes)
    for (interpret::UnitFacts& unit : mesh.units) unit.quirks = false;
  interpret::Interpreter interpreter(program, facts);
  interpreter.run();
  json knobs = json::object();
  for (const auto& [name, knob] : compiled->kernel.knobs)
    if (const auto* number = std::get_if<std::int64_t>(&knob)) knobs[name] = *number;
  const auto expected = check::evaluate_float64(call.kernel, reals, knobs);
  if (!expected) {
    ADD_FAILURE() << "no reference";
    return true;
  }
  for (const auto& [name, wanted] : *expected) {
    std::string port = name;
    for (const schedule::Buffer& buffer : compiled->schedule.buffers)
      if (port.empty() && buffer.role == schedule::Role::kOut) port = buffer.name;
    const std::vector<std::uint8_t> bytes = interpreter.output(port);
    double largest = 1e-3, error = 0;
    for (std::size_t i = 0; i < wanted.v.size(); ++i) {
      if (std::isnan(wanted.v[i])) continue;  // left to chance
      if (2 * i >= bytes.size()) {
        ADD_FAILURE() << "element " << i << " is missing";
        break;
      }
      const double made =
          test::value_of_half(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8));
      largest = std::max(largest, std::abs(wanted.v[i]));
      error = std::max(error, std::isnan(made) ? INFINITY : std::abs(made - wanted.v[i]));
    }
    EXPECT_LT(error, call.tolerance * largest);
  }
  return true;
}

void try_calls(std::uint64_t seed, int count, Call (Calls::*make)()) {
  std::cout << "seed " << seed << "\n";
  Calls calls(seed);
  int compiled = 0;
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i)
    compiled += try_call(calls, (calls.*make)()) ? 1 : 0;
  EXPECT_GT(compiled, count * 3 / 4);
}

TEST(CompiledNumbers, Elementwise) { try_calls(201, 80, &Calls::elementwise); }
TEST(CompiledNumbers, Rows) { try_calls(202, 60, &Calls::rows); }
TEST(CompiledNumbers, WideRows) { try_calls(203, 30, &Calls::wide_rows); }
TEST(CompiledNumbers, Products) { try_calls(204, 100, &Calls::product); }
TEST(CompiledNumbers, Convolutions) { try_calls(205, 60, &Calls::convolution); }

}  // namespace
}  // namespace ktpu::driver
