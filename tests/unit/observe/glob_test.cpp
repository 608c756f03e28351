// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/glob.h"

#include <gtest/gtest.h>

namespace ktpu::observe {
namespace {

TEST(ObserveGlob, StarCrossesDotsAndMayBeEmpty) {
  EXPECT_TRUE(glob_match("cluster@*", "cluster@2,1"));
  EXPECT_TRUE(glob_match("cluster@*.credit", "cluster@2,1.dispatch.credit"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a*b*c", "abc"));
  EXPECT_TRUE(glob_match("a*b*c", "a.b.b.c"));
  EXPECT_TRUE(glob_match("router@?,1", "router@3,1"));
  EXPECT_FALSE(glob_match("router@?,1", "router@13,1"));
  EXPECT_FALSE(glob_match("a*b", "a.b.c"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("*ab", "aab"));
  EXPECT_TRUE(glob_match("a*?c", "abc"));
  EXPECT_FALSE(glob_match("ab*ab", "ab")) << "the end must not use what the beginning has";
  EXPECT_FALSE(glob_match("ab*?", "ab"));
  EXPECT_FALSE(glob_match("*abc", "bc"));
  EXPECT_FALSE(glob_match("bc", "abc"));
}

TEST(ObserveGlob, ANodeSelectsAllBelowItButNotItsNeighbours) {
  EXPECT_TRUE(selects("cluster@2,1", "cluster@2,1.dispatch.credit"));
  EXPECT_TRUE(selects("cluster@2,1.dispatch", "cluster@2,1.dispatch.credit"));
  EXPECT_TRUE(selects("cluster@2,*", "cluster@2,1.dispatch.credit"));
  EXPECT_FALSE(selects("cluster@2,1", "cluster@2,11.dispatch"));
  EXPECT_FALSE(selects("dispatch", "cluster@2,1.dispatch.credit"));
}

TEST(ObserveGlob, DidYouMeanNamesTheNearestFirstAndNothingFarAway) {
  const std::vector<std::string_view> known{"router@1,1.granted", "router@1,2.granted", "cluster@1,1.busy"};
  EXPECT_EQ(did_you_mean("router@1,2.grantde", known),
            " Did you mean 'router@1,2.granted', 'router@1,1.granted'?");
  EXPECT_EQ(did_you_mean("completely different", known), "");
}

}  // namespace
}  // namespace ktpu::observe
