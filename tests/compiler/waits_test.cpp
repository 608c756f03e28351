// SPDX-License-Identifier: Apache-2.0
// A host that takes no time reads memory that earlier results have not reached (orchestrator.md section 9).
// Policy best waits where a stage reads, or writes again, what an earlier one wrote, and nowhere else.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/compiler/case.h"
#include "tests/support/vectors.h"

namespace ktpu::test {
namespace {

std::size_t waits(const Case& c) {
  const driver::Compiled all = compiled(c, shipped("reference_6c4v"));
  std::size_t found = 0;
  for (const bytes::ExecStep& step : all.executable.steps)
    found += std::holds_alternative<bytes::WaitMemory>(step);
  return found;
}

std::optional<Case> recorded(const nlohmann::json& file) {
  if (!file.contains("wrong") || !file.contains("kernel")) return std::nullopt;
  bool stale = false;
  const nlohmann::json& wrong = file.at("wrong");
  for (const nlohmann::json& each : wrong.is_array() ? wrong : nlohmann::json::array({wrong}))
    stale = stale || (each.contains("cause") && each["cause"].get<std::string>().starts_with("stale read"));
  if (!stale) return std::nullopt;
  Case c{file.at("kernel"), {}, {}};
  for (const auto& [name, tensor] : file.at("inputs").items())
    c.inputs[name] = tensor.at("shape").get<kernel::Shape>();
  for (const auto& [name, value] : file.at("knobs").items())
    if (value.is_number_integer()) c.knobs[name] = value.get<std::int64_t>();
  return c;
}

TEST(CompilerWaits, RecordedStaleReadsComeOutRight) {
  std::size_t found = 0;
  for (const auto& path : vector_files("programs")) {
    const std::optional<Case> c = recorded(read_json(path));
    if (!c) continue;
    SCOPED_TRACE(path.string());
    for (const char* machine : {"reference_mesh8", "reference_6c4v"})
      EXPECT_EQ(problem_with(*c, shipped(machine), true), "") << print(*c) << " on " << machine;
    EXPECT_GT(waits(*c), 0u);
    ++found;
  }
  std::cout << found << " recorded programs read what had not landed\n";
}

TEST(CompilerWaits, OneWaitBetweenAWriterAndItsReader) {
  const kernel::Shape square{64, 64};
  EXPECT_EQ(waits({"ops.matmul", {{"a", {300, 64}}, {"b", square}}, {}}), 0u);
  EXPECT_EQ(waits({"ops.neg", {{"x", {40000}}}, {}}), 0u);
  EXPECT_EQ(waits({"kernels.softmax", {{"x", {96, 64}}}, {}}), 0u);
  // A fused epilogue gets its tiles from the clusters, not from memory.
  EXPECT_EQ(waits({"kernels.linear_silu", {{"x", {32, 64}}, {"w", {32, 64}}}, {}}), 0u);
  EXPECT_EQ(waits({"kernels.linear_add", {{"x", square}, {"w", square}, {"b", square}}, {}}), 1u);
}

// Every wait is one that matters: without it the interpreter meets the read of what may not have landed.
TEST(CompilerWaits, AWaitLeftOutIsNoticed) {
  const kernel::Shape square{64, 64};
  const Target target = shipped("reference_6c4v");
  const std::vector<Case> cases{{"kernels.linear_add", {{"x", square}, {"w", square}, {"b", square}}, {}},
                                {"kernels.softmax_wide", {{"x", {4, 256}}}, {{"rows", std::int64_t{2}}}},
                                {"custom.k_hazard", {{"x", {40, 24}}}, {}},
                                {"kernels.flash_attention",
                                 {{"q", {64, 32}}, {"k", {128, 32}}, {"v", {64, 128}}},
                                 {{"block", std::int64_t{64}}}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(print(c));
    const driver::Compiled all = compiled(c, target);
    const arch::Program whole = driver::program_file(all, driver::machine_of(target.machine), operands(c));
    EXPECT_EQ(interpreted(whole, target).problem, "");
    std::size_t left_out = 0;
    for (std::size_t step = 0; step < whole.steps.size(); ++step) {
      if (!std::holds_alternative<arch::StepQuiet>(whole.steps[step].action)) continue;
      arch::Program without = whole;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(step));
      EXPECT_GT(interpreted(without, target).early_reads, 0u) << "step " << step;
      ++left_out;
    }
    EXPECT_GT(left_out, 0u);
  }
}

}  // namespace
}  // namespace ktpu::test
