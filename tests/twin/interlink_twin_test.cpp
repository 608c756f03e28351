// SPDX-License-Identifier: Apache-2.0
// The interlink in lock-step, as a part of memory agents in a chain (memory.md section 11).
#include "tests/twin/interlink_chain.h"

namespace ktpu::test {
namespace {

TEST(InterlinkTwin, ChainsUnderRandomLoad) {
  ChainLoad all;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    ChainOptions options;
    options.quirks = seed % 2 == 0;
    options.ports = 1 + static_cast<unsigned>(seed % 4);
    if (seed % 4 == 1) options.ids = {0, 1};
    if (seed % 4 == 2) options.ids = {1, 3, 2};
    const ChainLoad load = run_chain(seed, options);
    all.injected += load.injected;
    all.words += load.words;
    all.doorbells += load.doorbells;
  }
  EXPECT_GT(all.injected, 5000u);
  EXPECT_GT(all.words, 1000u);
  EXPECT_GT(all.doorbells, 200u);
}

// Bursts that no machine should send: single flits (I1), interleaved ones (I2), lost flits, no way to a mesh,
// and an interlink that is switched off.
TEST(InterlinkTwin, WildBurstsWithAndWithoutQuirks) {
  std::uint64_t beats = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    ChainOptions options;
    options.wild = true;
    options.quirks = seed % 2 == 0;
    options.ports = 1 + static_cast<unsigned>(seed % 3);
    options.bursts = 20;
    if (seed % 3 == 1) options.ids = {0, 1, 3};
    beats += run_chain(seed, options).beats;
  }
  EXPECT_GT(beats, 3000u);
}

}  // namespace
}  // namespace ktpu::test
