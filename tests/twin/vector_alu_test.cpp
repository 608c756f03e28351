// SPDX-License-Identifier: Apache-2.0
// One lane's ALU against the arithmetic of arch: random operands of every operation, and the seed functions
// over all operands (KTPU_LONG=1; every 61st otherwise).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "arch/encoding/vector_latencies.h"
#include "arch/formats/lane_alu.h"
#include "rtl_models/vector/alu_twin.h"

namespace ktpu::test {
namespace {

using arch::VectorOpcode;

class Alu {
 public:
  explicit Alu(bool wrap) : twin_(wrap), wrap_(wrap) {}

  // One operation; compares the result of the one that entered kLaneAlu cycles ago.
  void operation(VectorOpcode op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    expected_.push_back({op, a, b, c, arch::lane_op(op, a, b, c, wrap_)});
    const std::uint32_t result = twin_.clock(static_cast<unsigned>(op), a, b, c);
    if (expected_.size() < arch::latency::kLaneAlu.value) return;
    const Expected& e = expected_.front();
    ++compared_;
    if (result != e.result && ++wrong_ <= 5)
      ADD_FAILURE() << fmt::format("{} {:06x} {:06x} {:06x}: {:06x} instead of {:06x}",
                                   arch::kVectorOpcodes[static_cast<std::size_t>(e.op)].name, e.a, e.b, e.c,
                                   result, e.result);
    expected_.pop_front();
  }
  std::uint64_t compared() const { return compared_; }

 private:
  struct Expected {
    VectorOpcode op;
    std::uint32_t a, b, c, result;
  };
  rtl::AluTwin twin_;
  bool wrap_;
  std::deque<Expected> expected_;
  std::uint64_t compared_ = 0, wrong_ = 0;
};

bool is_long() { return std::getenv("KTPU_LONG") != nullptr; }

class Operands {
 public:
  explicit Operands(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::uint32_t any() {
    switch (below(10)) {
      case 0:
        return static_cast<std::uint32_t>(below(1 << 24));
      case 1: {
        constexpr std::array<std::uint32_t, 11> kSpecial{0,        0x800000, 0x3F8000, 0xBF8000,
                                                         0x7F8000, 0xFF8000, 0x7FC000, 0xFF8001,
                                                         0x000001, 0x7F7FFF, 0x008000};
        return kSpecial[below(kSpecial.size())];
      }
      case 2:  // few mantissa bits: ties
        return static_cast<std::uint32_t>(below(2) << 23 | (120 + below(14)) << 15 | (below(8) << 12));
      case 3:
        return static_cast<std::uint32_t>(below(2) << 23 | (below(2) ? below(20) : 235 + below(20)) << 15 |
                                          below(1 << 15));
      default:
        return static_cast<std::uint32_t>(below(2) << 23 | (115 + below(25)) << 15 | below(1 << 15));
    }
  }
  // Of about the magnitude of -a*b: cancellation.
  std::uint32_t against(std::uint32_t a, std::uint32_t b) {
    const int exponent = static_cast<int>((a >> 15) & 255) + static_cast<int>((b >> 15) & 255) - 127 +
                         static_cast<int>(below(40)) - 20;
    return static_cast<std::uint32_t>(
        below(2) << 23 | static_cast<unsigned>(std::clamp(exponent, 0, 255)) << 15 | below(1 << 15));
  }

 private:
  std::mt19937_64 random_;
};

TEST(VectorAlu, RandomOperations) {
  const char* given = std::getenv("KTPU_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 7;
  Operands operands(seed);
  std::uint64_t compared = 0;
  for (const bool wrap : {true, false}) {
    Alu alu(wrap);
    for (std::uint64_t i = 0; i < (is_long() ? 20'000'000u : 300'000u); ++i) {
      const auto op = static_cast<VectorOpcode>(operands.below(3) ? operands.below(8) : operands.below(32));
      const std::uint32_t a = operands.any(), b = operands.below(6) ? operands.any() : a;
      alu.operation(op, a, b, operands.below(2) ? operands.any() : operands.against(a, b));
    }
    compared += alu.compared();
  }
  std::printf("seed %llu: %llu results compared\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(compared));
}

TEST(VectorAlu, SeedFunctions) {
  std::uint64_t compared = 0;
  for (const bool wrap : {true, false}) {
    Alu alu(wrap);
    for (std::uint32_t a = 0; a < 1u << 24; a += is_long() ? 1 : 61)
      for (const VectorOpcode op :
           {VectorOpcode::kVexp2, VectorOpcode::kVlog2, VectorOpcode::kVinv, VectorOpcode::kVrsqrt})
        if (wrap || op == VectorOpcode::kVexp2) alu.operation(op, a, 0, 0);
    compared += alu.compared();
  }
  std::printf("%llu results compared\n", static_cast<unsigned long long>(compared));
}

}  // namespace
}  // namespace ktpu::test
