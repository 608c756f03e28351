// SPDX-License-Identifier: Apache-2.0
// Random kernel calls on random machines: each compiles or is refused with a reason; what compiles keeps the
// rules of every level, and comes out right. KTPU_LONG=1: 2000 of them, 500 on the simulator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "compiler/base/refusal.h"
#include "tests/compiler/random_case.h"
#include "tests/support/vectors.h"

namespace ktpu::test {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

TEST(CompilerRandom, CompilesOrIsRefusedAndComesOutRight) {
  const std::uint64_t seed = environment("KTPU_TEST_SEED", 1), first = environment("KTPU_TEST_FIRST", 0);
  const std::uint64_t count = environment("KTPU_TEST_SEEDS", long_run() ? 2000 : 150);
  std::cout << "KTPU_TEST_SEED=" << seed << "\n";
  struct Met {
    std::size_t count = 0;
    std::string example;
  };
  std::map<std::string, Met> refused;
  std::size_t ran = 0, simulations = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Case c = random_case(seed, number);
    const Target target = random_target(seed, number);
    SCOPED_TRACE(fmt::format("number {}: {} on {}", number, print(c), target.name));
    const bool simulate = number % 3 == 0;
    try {
      const std::string problem = problem_with(c, target, simulate);
      EXPECT_EQ(problem, "");
      ++ran;
      simulations += simulate;
    } catch (const base::Refusal& refusal) {
      Met& met = refused[refusal.code()];
      if (met.count++ == 0)
        met.example = fmt::format("{}: {} on {}: {}", number, print(c), target.name, refusal.what());
      if (std::getenv("KTPU_TEST_VERBOSE") != nullptr)
        std::cout << "refused " << refusal.code() << " " << number << ": " << print(c) << " on "
                  << target.name << ": " << refusal.what() << "\n";
    } catch (const std::exception& error) {
      ADD_FAILURE() << "no refusal: " << error.what();
    }
  }
  std::cout << ran << " ran, " << simulations << " on the simulator too\n";
  for (const auto& [code, met] : refused)
    std::cout << "refused " << code << " " << met.count << " times, first " << met.example << "\n";
}

}  // namespace
}  // namespace ktpu::test
