// SPDX-License-Identifier: Apache-2.0
// run(0..N) = run(0..k) + save + restore + run(k..N), at random k.
#include <fstream>
#include <random>

#include "tests/system/checkpoint_run.h"
#include "tests/system/process.h"

namespace ktpu::test {
namespace {

using sim::Cycle;

struct Case {
  const char* name;
  Subject subject;
  unsigned points;  // random k
};

const Case kCases[] = {
    {"mesh8_fused", {"mesh8", "matmul_256x256x256_fused"}, 20},
    {"reference_small", {"reference_small", "matmul_32x32x128_small"}, 20},
    {"reference_small_moves", {"reference_small", "move_small"}, 20},
    {"mesh1_ksplit", {"mesh1", "matmul_ksplit"}, 20},
    {"noc3x3",
     {"noc3x3", "", {"meshes.0.units.t={kind: traffic, pattern: uniform, rate: 0.3, seed: 3, flits: 300}"}},
     20},
    {"mesh8_banked",
     {"mesh8",
      "matmul_256x256x256",
      {"meshes.0.dram={model: banked, bus_bits: 512, base: 0x80000000, size_mib: 1024}",
       "meshes.0.agent.reads_in_flight=16"}},
     5},
    {"cdc", {"cdc", "matmul_256x256x256"}, 5},
    {"reference_mesh8", {"reference_mesh8", "matmul_256x256x256"}, 5},
    {"noc8x8", {"noc8x8", "", {}, 3000}, 5},
    {"staged", {"staged", "matmul_32x32x128_staged"}, 20},
    {"mesh1_round", {"mesh1", "matmul_32x32x128_round"}, 5},
    {"quad", {"quad", "matmul_peer_sum_quad"}, 20},
};

std::uint64_t seed_of(const Case& c) {
  if (const char* text = std::getenv("KTPU_SEED")) return std::stoull(text);
  (void)c;
  return std::random_device{}();
}

class Checkpoint : public Workshop, public testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    const std::uint64_t seed = seed_of(GetParam());
    std::printf("seed %llu (KTPU_SEED)\n", static_cast<unsigned long long>(seed));
    random_.seed(seed);
    CheckpointRun whole(GetParam().subject);
    report_ = whole.finish();
    end_ = whole.now();
    ASSERT_GT(end_, 100u);
  }
  Cycle any() { return std::uniform_int_distribution<Cycle>(0, end_ - 1)(random_); }

  std::mt19937_64 random_;
  std::string report_;  // of the run in one piece
  Cycle end_ = 0;
};

// The end of the run: statistics, verdict, notes, memory.
TEST_P(Checkpoint, TheRestIsTheSame) {
  CheckpointRun first(GetParam().subject);
  std::vector<Cycle> points;
  for (unsigned n = 0; n < GetParam().points; ++n) points.push_back(any());
  std::sort(points.begin(), points.end());
  for (const Cycle k : points) {
    ASSERT_FALSE(first.run_until(k));
    CheckpointRun second(GetParam().subject);
    second.restore(first.save());
    EXPECT_EQ(second.now(), k);
    ASSERT_EQ(second.finish(), report_) << "restored at " << k;
  }
  EXPECT_EQ(first.finish(), report_) << "saving changed the run";
}

// Values that visit() forgets survive a restore into a machine that has been elsewhere, and show.
TEST_P(Checkpoint, NothingOfTheMachineBeforeSurvives) {
  for (unsigned n = 0; n < 4; ++n) {
    const Cycle k = any(), other = any(), steps = 40;
    CheckpointRun first(GetParam().subject), second(GetParam().subject);
    first.run_until(k);
    second.run_until(other);
    const std::string state = first.save();
    second.restore(state);
    const std::string again = second.save();
    const auto differs = std::mismatch(state.begin(), state.end(), again.begin(), again.end()).first;
    ASSERT_TRUE(again == state) << "saved at " << k << ", restored over " << other
                                << "; first difference at byte " << differs - state.begin() << ", after \""
                                << std::string(
                                       std::max(state.begin(), differs - std::min<std::ptrdiff_t>(
                                                                             400, differs - state.begin())),
                                       differs)
                                << "\"";
    for (Cycle c = k; c < std::min(k + steps, end_); ++c) {
      ASSERT_EQ(first.digest(), second.digest())
          << "restored at " << k << " over " << other << ", cycle " << c;
      first.run_until(c + 1);
      second.run_until(c + 1);
    }
    ASSERT_TRUE(first.save() == second.save()) << "restored at " << k << " over " << other;
    ASSERT_EQ(second.finish(), report_) << "restored at " << k << " over " << other;
  }
}

TEST_P(Checkpoint, WavesFromThereOnAreTheSame) {
  for (unsigned n = 0; n < GetParam().points; ++n) {
    const Cycle k = any(), to = k + 150;
    CheckpointRun first(GetParam().subject);
    first.watch(folder / "whole.vcd", k, to);
    first.run_until(to + 1);
    first.finish_waves();

    CheckpointRun second(GetParam().subject), third(GetParam().subject);
    second.run_until(k);
    third.restore(second.save());
    third.watch(folder / "rest.vcd", k, to);
    third.run_until(to + 1);
    third.finish_waves();
    const std::string whole = slurp(folder / "whole.vcd");
    ASSERT_GT(whole.size(), 500u);
    ASSERT_TRUE(whole == slurp(folder / "rest.vcd")) << "restored at " << k;
  }
}

// With a watcher there before the restore, as the command line has it.
TEST_P(Checkpoint, AWatcherMayBeThereBefore) {
  const Cycle k = any(), to = k + 150;
  CheckpointRun first(GetParam().subject), second(GetParam().subject);
  first.watch(folder / "whole.vcd", k, to);
  first.run_until(k);
  second.watch(folder / "rest.vcd", k, to);
  second.restore(first.save());
  for (CheckpointRun* run : {&first, &second}) {
    run->run_until(to + 1);
    run->finish_waves();
  }
  ASSERT_TRUE(slurp(folder / "whole.vcd") == slurp(folder / "rest.vcd")) << "restored at " << k;
}

// How the rest is run makes no difference.
TEST_P(Checkpoint, IdleSkipMayChange) {
  const Cycle k = any();
  CheckpointRun first(GetParam().subject), second(GetParam().subject), third(GetParam().subject);
  first.run_until(k);
  second.system().engine().set_idle_skip(false);
  second.restore(first.save());
  second.run_until(std::min(end_, k + 300));
  third.restore(second.save());
  EXPECT_EQ(third.finish(), report_) << "restored at " << k;
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Machines, Checkpoint, testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace ktpu::test
