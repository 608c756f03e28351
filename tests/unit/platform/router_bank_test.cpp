// SPDX-License-Identifier: Apache-2.0
// Routers that run together are the same machine as routers that run one by one (fabric.md sections 5 to 7):
// every wire of every cycle, every counter, whether somebody looks or not.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "tlm/observe/digest.h"
#include "tlm/platform/system.h"
#include "topologies/reader.h"

namespace ktpu::platform::test {
namespace {

std::unique_ptr<System> machine(bool bank, const char* rate, unsigned seed, const char* depth = "4") {
  Registry registry;
  register_models(registry);
  registry.set_bank_model_routers(bank);
  // Sinks that refuse half the time fill the FIFOs, so that outputs hold and inputs are busy.
  return std::make_unique<System>(
      topo::read_file("noc3x3",
                      {"meshes.0.units.t.pattern=uniform", fmt::format("meshes.0.units.t.rate={}", rate),
                       fmt::format("meshes.0.units.t.seed={}", seed), "meshes.0.units.t.busy.period=7",
                       "meshes.0.units.t.busy.duty=4", fmt::format("meshes.0.router.fifo_depth={}", depth)}),
      registry);
}

// What is on a link, as a number: valid, busy, and the flit where there is one.
std::uint64_t wires(const sim::LinkBase& base) {
  const auto& link = dynamic_cast<const sim::FlitLink&>(base);
  std::uint64_t word = static_cast<std::uint64_t>(link.valid()) | static_cast<std::uint64_t>(link.busy())
                                                                      << 1;
  if (link.valid())
    for (const std::uint64_t w : link.data().w) word = (word ^ w) * 0x9E3779B97F4A7C15ull + 1;
  return word;
}

std::vector<std::uint64_t> all_wires(System& system) {
  std::vector<std::uint64_t> all;
  for (const sim::LinkBase* link : system.engine().links()) all.push_back(wires(*link));
  return all;
}

std::vector<std::uint64_t> all_counts(System& system) {
  std::vector<std::uint64_t> all;
  for (sim::LinkBase* link : system.engine().links()) {
    all.push_back(link->transferred());
    all.push_back(link->stalled_cycles());
  }
  return all;
}

class Recorder final : public sim::Observer {
 public:
  explicit Recorder(System& system) : system_(system) { system.engine().add(*this); }
  ~Recorder() override { system_.engine().remove(*this); }
  void on_cycle(sim::Cycle) override { cycles.push_back(all_wires(system_)); }
  std::vector<std::vector<std::uint64_t>> cycles;

 private:
  System& system_;
};

struct Load {
  const char* rate;
  unsigned seed;
  friend void PrintTo(const Load& load, std::ostream* out) { *out << load.rate; }
};

class RouterBank : public testing::TestWithParam<Load> {};

TEST_P(RouterBank, WatchedWiresOfEveryCycleEqualThoseOfSeparateRouters) {
  const auto bank = machine(true, GetParam().rate, GetParam().seed);
  const auto separate = machine(false, GetParam().rate, GetParam().seed);
  bank->engine().set_idle_skip(false);
  separate->engine().set_idle_skip(false);
  Recorder of_bank(*bank), of_separate(*separate);
  bank->engine().run_until(1500);
  separate->engine().run_until(1500);
  ASSERT_EQ(of_bank.cycles.size(), of_separate.cycles.size());
  for (std::size_t c = 0; c < of_bank.cycles.size(); ++c)
    ASSERT_EQ(of_bank.cycles[c], of_separate.cycles[c]) << "cycle " << c;
}

TEST_P(RouterBank, WiresAndCountersAfterAnUnwatchedRunAreThoseOfTheLastCycle) {
  const auto bank = machine(true, GetParam().rate, GetParam().seed);
  const auto separate = machine(false, GetParam().rate, GetParam().seed);
  for (sim::Cycle end = 1; end < 1500; end += 1 + end % 17) {
    bank->engine().run_until(end);
    separate->engine().run_until(end);
    bank->engine().sync();
    separate->engine().sync();
    ASSERT_EQ(all_wires(*bank), all_wires(*separate)) << "after cycle " << end - 1;
    ASSERT_EQ(all_counts(*bank), all_counts(*separate)) << "after cycle " << end - 1;
    ASSERT_EQ(bank->progress(), separate->progress()) << "after cycle " << end - 1;
  }
}

TEST_P(RouterBank, LookingChangesNothing) {
  const auto watched = machine(true, GetParam().rate, GetParam().seed);
  const auto unwatched = machine(true, GetParam().rate, GetParam().seed);
  {
    const Recorder recorder(*watched);
    watched->engine().run_until(400);
  }
  watched->engine().run_until(900);  // nobody looks any more
  {
    const Recorder recorder(*watched);
    watched->engine().run_until(1000);
  }
  unwatched->engine().run_until(1000);
  EXPECT_EQ(observe::digest(watched->engine()), observe::digest(unwatched->engine()));
  EXPECT_EQ(all_counts(*watched), all_counts(*unwatched));
}

TEST_P(RouterBank, CountersGoOnOverAReset) {
  const auto bank = machine(true, GetParam().rate, GetParam().seed);
  const auto separate = machine(false, GetParam().rate, GetParam().seed);
  for (System* system : {bank.get(), separate.get()}) {
    system->engine().run_until(300);
    system->engine().reset();
    system->engine().run_until(700);
    system->engine().sync();
  }
  EXPECT_EQ(all_counts(*bank), all_counts(*separate));
  EXPECT_EQ(all_wires(*bank), all_wires(*separate));
}

INSTANTIATE_TEST_SUITE_P(Loads, RouterBank, testing::Values(Load{"0.02", 1}, Load{"0.3", 2}, Load{"1", 3}),
                         [](const auto& load) { return fmt::format("Seed{}", load.param.seed); });

}  // namespace
}  // namespace ktpu::platform::test
