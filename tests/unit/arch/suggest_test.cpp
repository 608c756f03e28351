// SPDX-License-Identifier: Apache-2.0
#include "arch/suggest.h"

#include <gtest/gtest.h>

namespace ktpu::arch {
namespace {

TEST(Suggest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("knid", "kind"), 1u);  // a swap is one slip
  EXPECT_EQ(edit_distance("credit", "credits"), 1u);
  EXPECT_EQ(edit_distance("credit", "edit"), 2u);
  EXPECT_EQ(edit_distance("RTL", "rtl"), 0u);
}

TEST(Suggest, NearestFirstAndNothingFarAway) {
  const std::vector<std::string_view> words{"first_read_beat", "read_gaps", "base", "first_write_beat",
                                            "base"};
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(nearest("first_read_baet", words, 3), (Words{"first_read_beat"}));
  EXPECT_EQ(nearest("first_rite_beat", words, 3), (Words{"first_write_beat"}));
  const std::vector<std::string_view> alike{"router@1,1.granted", "router@1,2.granted", "cluster@1,1.busy"};
  EXPECT_EQ(nearest("router@1,2.grantde", alike, 3), (Words{"router@1,2.granted", "router@1,1.granted"}));
  EXPECT_EQ(nearest("router@1,2.grantde", alike, 1), (Words{"router@1,2.granted"}));
  EXPECT_EQ(nearest("base", words, 3), (Words{"base"}));
  EXPECT_EQ(nearest("zzz", words, 3), Words{});
  EXPECT_EQ(nearest("", words, 3), Words{});
  EXPECT_EQ(nearest(std::string(100000, 'a'), words, 3), Words{});
  EXPECT_EQ(did_you_mean("bse", words), "; did you mean \"base\"?");
  EXPECT_EQ(did_you_mean("first", words, '\''), "; did you mean 'first_read_beat'?");
}

}  // namespace
}  // namespace ktpu::arch
