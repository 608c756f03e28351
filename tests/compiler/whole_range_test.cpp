// SPDX-License-Identifier: Apache-2.0
// Kernels with powers of two in them over all FP16 values: as shipped, the machine wraps arguments of 128 to
// 256 in magnitude (vector.md section 6.5, quirk V7). Results are held against FP64 magnitude by magnitude,
// so that a large result's ulp hides no small one's error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "apps/ktpu-check/format_arithmetic.h"
#include "arch/error.h"
#include "arch/program/image.h"
#include "compiler/kernel/definition.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernels/activations.h"
#include "tests/compiler/case.h"
#include "tests/fuzz/random.h"

namespace ktpu::test {
namespace {

constexpr std::uint16_t kInfinity = 0x7C00, kSign = 0x8000, kOne = 0x3C00;
constexpr std::uint32_t kEach = 1024;  // values of one sign and exponent

// What both quirk modes leave, equal on the simulator and in the interpreter.
std::vector<Outputs> results(const driver::Compiled& all, Target target, const driver::Inputs& inputs) {
  EXPECT_EQ(check_levels(all), "");
  const arch::Program program =
      driver::program_file(all, driver::machine_of(target.machine, target.mesh), inputs);
  std::vector<Outputs> both;
  for (const topo::Quirks quirks : {topo::Quirks::kNone, topo::Quirks::kReference}) {
    set_quirks(target, quirks);
    const Run got = interpreted(program, target), machine = simulated(program, target);
    EXPECT_EQ(got.problem, "");
    EXPECT_EQ(machine.problem, "");
    EXPECT_EQ(got.outputs, machine.outputs);
    both.push_back(machine.outputs);
  }
  return both;
}

void expect_bound(const Case& c, const driver::Compiled& all, const driver::Inputs& inputs,
                  const Outputs& outputs) {
  const auto bound = bound_of(c, all, inputs, outputs);
  ASSERT_TRUE(bound.has_value());
  EXPECT_TRUE(bound->holds()) << print(c) << ": error " << bound->error << ", allowed " << bound->allowed
                              << ", the formats alone " << bound->formats;
}

void expect_right(const Case& c, const driver::Inputs& inputs) {
  SCOPED_TRACE(print(c));
  const Target target = shipped("reference_6c4v");
  const driver::Compiled all = compiled(c, target);
  for (const Outputs& outputs : results(all, target, inputs)) expect_bound(c, all, inputs, outputs);
}

// All finite values: 1024 of each sign and exponent, one group behind the other.
std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> values;
  for (const std::uint16_t sign : {std::uint16_t{0}, kSign})
    for (std::uint16_t v = 0; v < kInfinity; ++v) values.push_back(static_cast<std::uint16_t>(sign | v));
  return values;
}

void expect_right_for_all(const std::string& kernel) {
  SCOPED_TRACE(kernel);
  const std::vector<std::uint16_t> x = all_halves();
  const Case c{kernel, {{"x", {static_cast<std::uint32_t>(x.size())}}}, {}};
  const Target target = shipped("reference_6c4v");
  const driver::Compiled all = compiled(c, target);
  const Case slice{kernel, {{"x", {kEach}}}, {}};
  for (const Outputs& outputs : results(all, target, {{"x", x}})) {
    const std::vector<std::uint16_t>& y = outputs.begin()->second;
    ASSERT_EQ(y.size(), x.size());
    for (std::size_t at = 0; at < x.size(); at += kEach) {
      const auto from = static_cast<std::ptrdiff_t>(at), to = from + kEach;
      SCOPED_TRACE(fmt::format("from {}", arch::fp16_to_double(x[at])));
      expect_bound(slice, all, {{"x", {x.begin() + from, x.begin() + to}}},
                   {{outputs.begin()->first, {y.begin() + from, y.begin() + to}}});
    }
  }
}

// Magnitudes from 2^low to 2^high, evenly on a logarithmic scale, either sign.
std::vector<std::uint16_t> spread(std::size_t count, double low, double high, std::uint64_t seed) {
  fuzz::Random random(seed, 0);
  std::vector<std::uint16_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = static_cast<double>(random.below(1u << 20)) / (1u << 20);
    const double magnitude = std::exp2(low + (high - low) * u);
    values.push_back(arch::double_to_fp16(std::min(magnitude, 65504.0) * (random.one_in(2) ? -1 : 1)));
  }
  return values;
}

TEST(WholeRange, ActivationsOfEveryFiniteValue) {
  for (const char* kernel : {"ops.gelu", "ops.silu"}) expect_right_for_all(kernel);
}

// A power beyond FP16 stops at its largest value.
TEST(WholeRange, PowersOfTwoOfEveryFiniteValue) {
  const std::vector<std::uint16_t> x = all_halves();
  const Target target = shipped("reference_6c4v");
  const driver::Compiled all =
      compiled({"ops.exp2", {{"x", {static_cast<std::uint32_t>(x.size())}}}, {}}, target);
  for (const Outputs& outputs : results(all, target, {{"x", x}}))
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::min(std::exp2(arch::fp16_to_double(x[i])), 65504.0);
      const double got = arch::fp16_to_double(outputs.begin()->second[i]);
      ASSERT_LE(std::fabs(got - exact), std::max(std::ldexp(exact, -10), std::ldexp(1, -24)))
          << "2^" << arch::fp16_to_double(x[i]);
    }
}

TEST(WholeRange, SigmoidOfEveryValue) {
  const kernel::Definition sigmoid{
      "test.sigmoid", {kernel::in("x", {"..."}), kernel::out("y", {"..."})}, {}, [](kernel::Trace& L) {
        L.port("y") <<= kernels::sigmoid(L.port("x"));
      }};
  std::vector<std::uint16_t> x = all_halves();
  x.insert(x.end(), {kInfinity, kInfinity | kSign});
  const Target target = shipped("reference_6c4v");
  const driver::Compiled all = driver::compile(sigmoid, {{"x", {static_cast<std::uint32_t>(x.size())}}}, {},
                                               driver::machine_of(target.machine, 0));
  constexpr double kLog2E = 1.4426950408889634;
  using Formats = check::FormatArithmetic;
  for (const Outputs& outputs : results(all, target, {{"x", x}})) {
    const std::vector<std::uint16_t>& y = outputs.at("y");
    ASSERT_EQ(y.size(), x.size());
    EXPECT_EQ(y[x.size() - 2], kOne);
    EXPECT_EQ(y[x.size() - 1], 0);
    for (std::size_t at = 0; at + kEach <= x.size(); at += kEach) {
      double formats = 0, error = 0, largest = 0;
      for (std::size_t i = at; i < at + kEach; ++i) {
        const double exact = 1 / (1 + std::exp(-arch::fp16_to_double(x[i])));
        largest = std::max(largest, exact);
        error = std::max(error, std::fabs(arch::fp16_to_double(y[i]) - exact));
        for (const auto constants : {Formats::Constants::kHalf, Formats::Constants::kTruncated}) {
          const Formats with(constants);
          const std::uint16_t rounded =
              Formats::store(recip(exp2(Formats::lane(x[i]) * with.constant(-kLog2E)) + with.constant(1)));
          formats = std::max(formats, std::fabs(arch::fp16_to_double(rounded) - exact));
        }
      }
      EXPECT_LE(error, 1.25 * formats + std::max(std::ldexp(largest, -10), std::ldexp(1, -24)))
          << "from " << arch::fp16_to_double(x[at]);
    }
  }
}

// Infinite where the limit is: x times 1 above, never a NaN from a power that wrapped.
TEST(WholeRange, InfinitiesWhereTheMathematicsHasAValue) {
  const Target target = shipped("reference_6c4v");
  for (const char* kernel : {"ops.gelu", "ops.silu"}) {
    const driver::Compiled all = compiled({kernel, {{"x", {16}}}, {}}, target);
    for (const Outputs& outputs : results(all, target, {{"x", std::vector<std::uint16_t>(16, kInfinity)}}))
      EXPECT_EQ(outputs.begin()->second[0], kInfinity) << kernel;
  }
  const driver::Compiled all = compiled({"kernels.softmax", {{"x", {1, 16}}}, {}}, target);
  std::vector<std::uint16_t> row(16, kInfinity | kSign);
  row[3] = row[7] = kOne;
  for (const Outputs& outputs : results(all, target, {{"x", row}}))
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_EQ(outputs.begin()->second[i], i == 3 || i == 7 ? 0x3800 : 0) << i;
}

TEST(WholeRange, SoftmaxOfRowsOfAnyMagnitude) {
  for (const char* kernel : {"kernels.softmax", "kernels.softmax_wide"})
    for (const double high : {4.0, 7.0, 8.0, 12.0, 16.0}) {
      const bool wide = std::string(kernel).ends_with("_wide");
      const std::uint32_t rows = 12, columns = wide ? 256 : 112;
      expect_right({kernel, {{"x", {rows, columns}}}, {}},
                   {{"x", spread(std::size_t{rows} * columns, high - 3, high, 1)}});
    }
  // A row that is no whole number of vectors.
  expect_right({"kernels.softmax", {{"x", {5, 300}}}, {}}, {{"x", spread(1500, 0, 9, 2)}});
}

TEST(WholeRange, EpiloguesOnProductsOfAnyMagnitude) {
  for (const bool fuse : {true, false})
    for (const char* kernel :
         {"kernels.linear_gelu", "kernels.linear_silu", "kernels.linear_add_silu", "kernels.swiglu"})
      for (const double high : {4.0, 7.0, 8.0, 12.0, 15.0}) {
        const bool add = std::string(kernel).find("add") != std::string::npos;
        const bool gated = std::string(kernel) == "kernels.swiglu";
        Case c{kernel, {{"x", {40, 32}}}, {{"fuse", fuse}}};
        driver::Inputs inputs{{"x", spread(40 * 32, -3, high, 3)}};
        // One factor a column counts, and the others are nothing beside it.
        std::vector<std::uint16_t> w(24 * 32, 0);
        for (std::size_t n = 0; n < 24; ++n) w[n * 32 + n] = n % 2 == 0 ? kOne : kOne | kSign;
        for (const char* name : gated ? std::vector{"wg", "wu"} : std::vector{"w"}) {
          c.inputs[name] = {24, 32};
          inputs[name] = w;
        }
        if (add) {
          c.inputs["b"] = {40, 24};
          inputs["b"] = spread(40 * 24, -3, high, 4);
        }
        if (gated && high > 7) continue;  // products of two such values are beyond FP16
        expect_right(c, inputs);
      }
}

TEST(WholeRange, AttentionWithScoresOfAnyMagnitude) {
  for (const double high : {1.0, 3.0, 5.0}) {
    const std::size_t elements = 64 * 32;
    expect_right({"kernels.flash_attention", {{"q", {64, 32}}, {"k", {64, 32}}, {"v", {32, 64}}}, {}},
                 {{"q", spread(elements, high - 2, high, 5)},
                  {"k", spread(elements, high - 2, high, 6)},
                  {"v", spread(elements, -2, 1, 7)}});
  }
}

}  // namespace
}  // namespace ktpu::test
