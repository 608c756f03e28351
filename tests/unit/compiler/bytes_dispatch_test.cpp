// SPDX-License-Identifier: Apache-2.0
// compiler.md section 12: dealing instances to units and cutting rounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/error.h"
#include "compiler/bytes/dispatch.h"

namespace ktpu::bytes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Units& two() {
  static const Units kTwo({{1, 1}, {2, 1}});
  return kTwo;
}

// Instances (0), (1), ... with so many words each; word w of instance i has w[0] = 1000 i + w.
std::vector<Instance> instances(const std::vector<std::size_t>& lengths) {
  std::vector<Instance> list;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Instance instance;
    instance.key = {static_cast<std::int32_t>(i)};
    for (std::size_t w = 0; w < lengths[i]; ++w) {
      arch::Flit word;
      word.w[0] = 1000 * i + w;
      instance.words.push_back(word);
    }
    list.push_back(std::move(instance));
  }
  return list;
}

std::vector<std::size_t> kicks_per_round(const Plan& plan) {
  std::vector<std::size_t> counts;
  for (const Round& round : plan.rounds) {
    counts.push_back(0);
    for (const RoundStep& step : round.artifact.steps) counts.back() += std::holds_alternative<Kick>(step);
  }
  return counts;
}

std::vector<Bound> bounds(const Plan& plan) {
  std::vector<Bound> list;
  for (const Round& round : plan.rounds) list.push_back(round.bound);
  return list;
}

TEST(Compiler12, InstancesAreDealtInTheOrderOfTheirKeys) {
  std::vector<Instance> list = instances({1, 1, 1});
  list[0].key = {2, 0};
  list[1].key = {1, 10};
  list[2].key = {1, 9};
  const Plan plan = plan_dispatch(list, two(), {});
  ASSERT_EQ(plan.rounds.size(), 1u);
  const Artifact& round = plan.rounds[0].artifact;
  EXPECT_EQ(round.words[0].w[0], 2000u);  // (1,9)
  EXPECT_EQ(round.words[1].w[0], 1000u);
  EXPECT_EQ(round.words[2].w[0], 0u);
  EXPECT_EQ(print(round),
            "round 0 of 1: 3 words\n  seed 512\n  kick (1,1) slots 0+1\n  kick (2,1) slots 1+1\n"
            "  kick (1,1) slots 2+1\n  await (1,1) 2\n  await (2,1) 1\n");
}

TEST(Compiler12, ALongInstanceIsCutIntoStagingLoads) {
  const Plan plan = plan_dispatch(instances({300}), two(), {});
  EXPECT_THAT(kicks_per_round(plan), ElementsAre(1, 1, 1));
  EXPECT_THAT(bounds(plan), ElementsAre(Bound::kStaging, Bound::kStaging, Bound::kEnd));
  EXPECT_EQ(plan.rounds[2].artifact.words.size(), 44u);
  EXPECT_EQ(plan.rounds[2].artifact.words[0].w[0], 256u);
  EXPECT_EQ(plan.rounds[2].artifact.round, 2u);
  EXPECT_EQ(plan.rounds[2].artifact.of, 3u);
}

TEST(Compiler12, AnAcknowledgementIsDueWithTheLastLoad) {
  const Units peers({{3, 0}});
  std::vector<Instance> list = instances({130, 2});
  list[0].ack = Ack{peers[0], 5};
  list[1].ack = Ack{two()[0], 3};  // owed by the unit that is awaited anyway
  const Plan plan = plan_dispatch(list, two(), {});
  ASSERT_EQ(plan.rounds.size(), 2u);
  EXPECT_THAT(print(plan.rounds[0].artifact), HasSubstr("slots 0+128\n  await (1,1) 128\n"));
  EXPECT_THAT(print(plan.rounds[1].artifact), HasSubstr("await (1,1) 5\n  await (3,0) 5\n  await (2,1) 2\n"));
}

TEST(Compiler12, KicksStayBelowTheCredit) {
  const Limits shallow{128, 128, 4};
  const Plan plan = plan_dispatch(instances({1, 1, 1, 1}), two(), shallow);
  EXPECT_THAT(kicks_per_round(plan), ElementsAre(3, 1));
  EXPECT_THAT(bounds(plan), ElementsAre(Bound::kCredit, Bound::kEnd));
  EXPECT_EQ(std::get<Seed>(plan.rounds[0].artifact.steps[0]).credit, 4u);
}

TEST(Compiler12, TooManyCommandsAreToldAndCutOnlyOnRequest) {
  const std::vector<std::size_t> many(40, 3);
  const Plan reported = plan_dispatch(instances(many), two(), {});
  EXPECT_THAT(kicks_per_round(reported), ElementsAre(40));
  // Seed, three writes of the first kick, 40 times poll, destination, base and kick, two awaits, DONE.
  EXPECT_EQ(reported.rounds[0].commands, 1u + 1u + 40u * 4u + 2u + 1u);
  EXPECT_THAT(print(reported), HasSubstr("165 commands of 128, to be cut at a kick"));

  const Plan cut = plan_dispatch(instances(many), two(), {}, CommandLimit::kCut);
  EXPECT_THAT(kicks_per_round(cut), ElementsAre(30, 10));
  EXPECT_THAT(bounds(cut), ElementsAre(Bound::kCommands, Bound::kEnd));
  EXPECT_EQ(cut.rounds[0].commands, 125u);
  EXPECT_THAT(print(cut), HasSubstr("ended by: commands; 125 commands of 128\n"));
}

TEST(Compiler12, WhatCannotBeDispatchedIsRefused) {
  EXPECT_THROW(plan_dispatch(instances({1}), Units({}), {}), arch::UserError);
  EXPECT_THROW(plan_dispatch(instances({1}), two(), {0, 128, 512}), arch::UserError);
  EXPECT_THROW(plan_dispatch(instances({1}), two(), {128, 128, 1}), arch::UserError);
  std::vector<Instance> twice = instances({1, 1});
  twice[1].key = twice[0].key;
  EXPECT_THROW(plan_dispatch(twice, two(), {}), arch::UserError);
  std::vector<Instance> silent = instances({0});
  silent[0].ack = Ack{two()[0], 1};
  EXPECT_THROW(plan_dispatch(silent, two(), {}), arch::UserError);
  EXPECT_THROW(Units({{16, 0}}), arch::UserError);
  EXPECT_TRUE(plan_dispatch(instances({0}), two(), {}).rounds.empty());
}

TEST(Compiler7, BlocksAreContiguousAndKeepEveryUnitBusy) {
  EXPECT_THAT(deal_in_blocks(5, 4), ElementsAre(0, 0, 1, 2, 3));
  EXPECT_THAT(deal_in_blocks(3, 8), ElementsAre(0, 1, 2));
  EXPECT_THAT(deal_in_turn(5, 4), ElementsAre(0, 1, 2, 3, 0));
  EXPECT_THROW(deal_in_blocks(1, 0), arch::UserError);
}

}  // namespace
}  // namespace ktpu::bytes
