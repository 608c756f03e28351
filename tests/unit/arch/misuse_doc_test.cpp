// SPDX-License-Identifier: Apache-2.0
// The table of docs/detector.md is the one of arch/misuse.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "arch/misuse.h"

namespace ktpu::arch {
namespace {

std::string row(const MisuseRule& r) {
  const char* before = r.before == StaticCheck::kError     ? "error"
                       : r.before == StaticCheck::kWarning ? "warning"
                                                           : "";
  const char* during = r.during == RunCheck::kNote          ? "note"
                       : r.during == RunCheck::kFault       ? "exit 3"
                       : r.during == RunCheck::kUnsupported ? "exit 2"
                                                            : "";
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", r.id, r.what, r.effect, r.fix, before,
                     during, r.where);
}

TEST(MisuseDoc, TableAndDocumentAgree) {
  std::ifstream file(KTPU_SOURCE_DIR "/docs/detector.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string table;
  for (const MisuseRule& rule : misuse_rules()) table += row(rule);
  const std::size_t begin = text.find("| `fill-count` |");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(text.substr(begin, text.find("\n\n", begin) + 1 - begin), table)
      << "docs/detector.md has to hold:\n"
      << table;
}

}  // namespace
}  // namespace ktpu::arch
