// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog command engine against the model, every output of every cycle (orchestrator.md section
// 8).
#include <gtest/gtest.h>

#include "arch/error.h"
#include "tests/twin/engine_lockstep.h"

namespace ktpu::test {
namespace {

TEST(CommandEngineTwin, RandomPrograms) {
  for (const unsigned commands : {128u, 100u, 16u, 3u, 1u})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("{} commands, seed {}", commands, seed));
      EnginePair pair(commands, seed);
      pair.run(30000);
      pair.pair->require_compared();
      EXPECT_GT(pair.slave.reads, 50u);
      EXPECT_GT(pair.slave.writes, 20u);
    }
}

TEST(CommandEngineTwin, Resets) {
  EnginePair pair(16, 7);
  for (unsigned n = 0; n < 10; ++n) {
    pair.run(777);
    pair.engine.reset();
  }
}

TEST(CommandEngineTwin, RefusesASizeItHasNot) {
  EXPECT_THROW(rtl::CommandEngineTwin("engine", 0), arch::UserError);
  EXPECT_THROW(rtl::CommandEngineTwin("engine", 256), arch::UserError);
}

}  // namespace
}  // namespace ktpu::test
