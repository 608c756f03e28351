// SPDX-License-Identifier: Apache-2.0
// Mutants of machines and of programs, from their bytes to the end of a bounded run. Each must end with an
// exit status of 0..5 and a message that says what is wrong where; never with a crash, a hang or an internal
// error. The short form runs 1000 of each; KTPU_LONG_CAMPAIGN (label nightly) makes it 10000 of each.
#include "tests/fuzz/campaign.h"

#include <gtest/gtest.h>

#include "arch/program/program_file.h"
#include "tests/fuzz/program_mutator.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/yaml_mutator.h"

namespace ktpu::fuzz {
namespace {

#ifdef KTPU_LONG_CAMPAIGN
constexpr std::uint64_t kMutants = 10'000;
#define FUZZ_SUITE FuzzLong
#else
constexpr std::uint64_t kMutants = 1000;
#define FUZZ_SUITE Fuzz
#endif
constexpr unsigned kShards = 4;

// Mostly the one the program names. Else one of those that are quick to build, seldom a large one.
const topo::Machine& machine_for(const arch::Program& program, Random& random) {
  if (!random.one_in(3))
    for (const SeedMachine& machine : machines())
      if (machine.name == program.needs.machine) return machine.machine;
  return machines()[random.one_in(8) ? random.below(machines().size()) : random.below(4)].machine;
}

class FUZZ_SUITE : public testing::TestWithParam<unsigned> {};

TEST_P(FUZZ_SUITE, Topologies) {
  Campaign campaign("topologies", kMutants, GetParam(), kShards);
  while (campaign.next()) {
    Random random = campaign.random();
    const std::string text = mutate_yaml(random.pick(topology_texts()).text, random);
    arch::Program program = random.pick(programs()).program;
    const bool with_program = !random.one_in(3);
    if (!random.one_in(3)) {  // run it where it does not belong, too
      program.needs.units.clear();
      program.needs.memory.clear();
      program.needs.staging_flits = 0;
    }
    campaign.keep_topology(text);
    campaign.keep_program(write_unchecked(program));
    topo::Machine machine;
    Outcome outcome = read_topology(text, machine);
    if (outcome.status == arch::ExitStatus::kOk)
      outcome = run(machine, with_program ? &program : nullptr, limits_for(machine));
    campaign.judge(outcome);
  }
}

TEST_P(FUZZ_SUITE, Programs) {
  Campaign campaign("programs", kMutants, GetParam(), kShards);
  while (campaign.next()) {
    Random random = campaign.random();
    const arch::Program& seed = random.pick(programs()).program;
    const arch::Program& other = random.pick(programs()).program;
    // Half of them get a right hash for their wrong contents.
    const bool rehashed = campaign.index() / kShards % 2 == 0;
    std::vector<std::uint8_t> bytes;
    if (rehashed && !random.one_in(4))
      bytes = write_unchecked(mutate_program(seed, other, random));
    else
      bytes = mutate_bytes(write_unchecked(seed), write_unchecked(other), random);
    if (rehashed) bytes = arch::rehash(std::move(bytes));
    campaign.keep_program(bytes);
    arch::Program program;
    Outcome outcome = read_program(bytes, program);
    if (outcome.status == arch::ExitStatus::kOk) {
      const topo::Machine& machine = machine_for(program, random);
      outcome = run(machine, &program, limits_for(machine));
    }
    campaign.judge(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, FUZZ_SUITE, testing::Range(0u, kShards));

}  // namespace
}  // namespace ktpu::fuzz
