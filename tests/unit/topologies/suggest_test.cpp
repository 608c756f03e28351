// SPDX-License-Identifier: Apache-2.0
#include "topologies/suggest.h"

#include <gtest/gtest.h>

namespace ktpu::topo {
namespace {

TEST(Suggest, OnlyWhatIsNear) {
  const std::vector<std::string> words{"first_read_beat", "read_gaps", "base"};
  EXPECT_EQ(did_you_mean("first_read_baet", words), "; did you mean 'first_read_beat'?");
  EXPECT_EQ(did_you_mean("Base", words), "; did you mean 'base'?");
  EXPECT_EQ(did_you_mean("first", words), "; did you mean 'first_read_beat'?");
  EXPECT_EQ(did_you_mean("zzz", words), "");
  EXPECT_EQ(did_you_mean("", words), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'a'), words), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(Suggest, ShownTextIsTame) {
  EXPECT_EQ(show_text("a\nb\tc\x01"), "'a\\nb\\tc\\x01'");
  EXPECT_EQ(show_text(std::string(100, 'a')), "'" + std::string(60, 'a') + "...'");
  EXPECT_EQ(show_text(std::string(59, 'a') + "\u00e9x"),
            "'" + std::string(59, 'a') + "...'");  // never half a letter
}

}  // namespace
}  // namespace ktpu::topo
