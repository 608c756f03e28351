// SPDX-License-Identifier: Apache-2.0
// The rules on this repository (design.md section 1).
#include <gtest/gtest.h>

#include "tests/layering/rules.h"

namespace ktpu::layering {
namespace {

const SourceTree& repository() {
  static const SourceTree kTree = read_tree(KTPU_SOURCE_DIR);
  return kTree;
}

void expect_none(const Violations& violations) {
  for (const std::string& violation : violations) ADD_FAILURE() << violation;
}

TEST(Layering, TheTreeIsRead) {
  EXPECT_TRUE(repository().contains("tlm/sim/engine.h"));
  EXPECT_GT(repository().size(), 50u);
}
TEST(Layering, OnlyAllowedEdges) { expect_none(check_edges(repository())); }
TEST(Layering, ForeignHeadersStayInTheirPlaces) { expect_none(check_foreign_headers(repository())); }
TEST(Layering, IncludesShowTheirWholePath) { expect_none(check_include_paths(repository())); }
TEST(Layering, CMakeNamesExactlyTheFilesThatExist) { expect_none(check_cmake(repository())); }
TEST(Layering, LicenceLineAndPragmaOnce) { expect_none(check_headers(repository())); }
TEST(Layering, FilesStayShort) { expect_none(check_length(repository(), 600)); }
TEST(Layering, NoPathsOfOneMachine) { expect_none(check_no_machine_paths(repository())); }

}  // namespace
}  // namespace ktpu::layering
