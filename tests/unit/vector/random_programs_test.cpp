// SPDX-License-Identifier: Apache-2.0
// Random kernels on the model against a straight-line interpreter: all of them with `quirks: none`, with the
// reference's quirks those that meet none. KTPU_LONG=1 runs 10^5 of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "apps/ktpu-check/vector_rig.h"
#include "tests/support/random_vector_kernel.h"
#include "tests/support/vector_isa.h"

namespace ktpu::test {
namespace {

struct Outcome {
  bool compared = false;
  std::string difference;
};

Outcome run(const RandomVectorKernel& g, bool quirks) {
  VectorIsa isa;
  std::copy(g.words.begin(), g.words.end(), isa.imem.begin());
  isa.walks = g.walks;
  isa.memory = g.memory;
  const int expected = isa.run(0, 10'000);

  vector::VectorParams params = check::VectorRig::recorded_params();
  params.quirks = quirks;
  check::VectorRig rig(params);
  rig.memory = g.memory;
  rig.write_imem(0, g.words);
  for (unsigned d = 0; d < 8; ++d) {
    rig.write_descriptor(d, 0, g.walks[d].base);
    for (unsigned i = 0; i < 4; ++i)
      rig.write_descriptor(
          d, 1 + i, (static_cast<std::uint64_t>(g.walks[d].stride[i]) & 0x3FFFF) << 16 | g.walks[d].bound[i]);
  }
  const auto result = rig.run(0, 200'000);
  Outcome outcome;
  if (quirks && !rig.core().quirk_hits().empty()) return outcome;
  outcome.compared = true;
  const auto differ = [&](std::string text) {
    if (outcome.difference.empty()) outcome.difference = std::move(text);
  };
  if (!result.completed) {
    differ("the kernel does not end");
    return outcome;
  }
  const int code = result.code == 4 ? static_cast<int>(result.arg) : 0;
  if (code != expected) differ(fmt::format("fault {} instead of {}", code, expected));
  for (unsigned r = 0; r < 16; ++r) {
    if (rig.core().scalar(r) != isa.s[r])
      differ(fmt::format("S{}: {:06x} instead of {:06x}", r, rig.core().scalar(r), isa.s[r]));
    for (unsigned e = 0; e < 128; ++e)
      if (rig.core().element(r, e) != isa.v[r][e])
        differ(fmt::format("v{}[{}]: {:06x} instead of {:06x}", r, e, rig.core().element(r, e), isa.v[r][e]));
  }
  for (unsigned p = 0; p < 4; ++p)
    for (unsigned e = 0; e < 128; ++e)
      if (((rig.core().predicate(p).bits[e / 64] >> (e % 64)) & 1) != isa.p[p][e])
        differ(fmt::format("P{}[{}]", p, e));
  for (unsigned w = 0; w < 512; ++w)
    if (rig.core().l1(w) != isa.l1[w]) differ(fmt::format("L1 word {}", w));
  if (rig.memory != isa.memory) differ("memory");
  return outcome;
}

TEST(VectorRandomPrograms, EqualTheStraightLineInterpreter) {
  const char* given = std::getenv("KTPU_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 20261130;
  const bool is_long = std::getenv("KTPU_LONG") != nullptr;
  const unsigned programs = is_long ? 100'000 : 400;
  unsigned clean = 0;
  for (unsigned i = 0; i < programs; ++i) {
    RandomVectorKernel g(seed + i);
    g.make();
    ASSERT_LE(g.words.size(), 512u);
    const Outcome none = run(g, false);
    ASSERT_TRUE(none.compared);
    ASSERT_EQ(none.difference, "") << "quirks: none, seed " << seed + i;
    const Outcome reference = run(g, true);
    ASSERT_EQ(reference.difference, "") << "quirks: reference, seed " << seed + i;
    clean += reference.compared;
  }
  std::cout << "seed " << seed << ": " << programs << " programs equal with quirks: none; " << clean
            << " of them meet no quirk and are equal with quirks: reference\n";
  EXPECT_GT(clean, programs / 20);
}

}  // namespace
}  // namespace ktpu::test
