// SPDX-License-Identifier: Apache-2.0
#include "compiler/interpret/traffic.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "arch/error.h"

namespace ktpu::interpret {
namespace {

TEST(Traffic, RangesOfTheProgram) {
  arch::Program program;
  program.debug.push_back({"buffers", "t1 0x1000 64\n\n t2 0x1020 64 1\n"});
  program.inputs.push_back({"a", 0, 0x1020, arch::DType::kFp16, {64}, "flat"});
  const auto ranges = buffers_of(program);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].end, 0x1040u);
  EXPECT_EQ(ranges[1].mesh, 1);
  // What t1 has named stays its own.
  EXPECT_EQ(ranges[2].name, "a");
  EXPECT_EQ(ranges[2].begin, 0x1040u);
  EXPECT_EQ(ranges[2].end, 0x10A0u);
}

TEST(Traffic, ALineOfAnotherForm) {
  for (const char* text : {"t1 0x1000\n", "t1 0x10zz 4\n", "t1 0x1000 64 0 more\n"}) {
    arch::Program program;
    program.debug.push_back({"buffers", text});
    EXPECT_THROW(buffers_of(program), arch::UserError) << text;
  }
}

TEST(Traffic, AnAccessIsSplitAtTheEdgesOfBuffers) {
  Traffic traffic({{"b", 0, 0x200, 0x300}, {"a", 0, 0x100, 0x180}, {"far", 1, 0x100, 0x180}});
  traffic.begin_round("r");
  traffic.read(0, {1, 1}, 0xF0, 0x200);  // 16 before a, a, 128 between, 240 of b
  traffic.write(0, {2, 1}, 0x2F0, 0x20);
  traffic.write(1, {2, 1}, 0x100, 0x20);
  traffic.send(0, {1, 1}, 64);
  const auto at = [&](unsigned mesh, arch::Coord unit, const std::string& buffer) {
    Bytes sum;
    for (const auto& [key, bytes] : traffic.rows())
      if (key.mesh == mesh && key.unit == unit && traffic.buffers()[key.buffer] == buffer) sum += bytes;
    return sum;
  };
  EXPECT_EQ(at(0, {1, 1}, "a"), (Bytes{0x80, 0, 0}));
  EXPECT_EQ(at(0, {1, 1}, "b"), (Bytes{0xF0, 0, 0}));
  EXPECT_EQ(at(0, {1, 1}, "other"), (Bytes{0x90, 0, 0}));
  EXPECT_EQ(at(0, {1, 1}, "units"), (Bytes{0, 0, 64}));
  EXPECT_EQ(at(0, {2, 1}, "b"), (Bytes{0, 0x10, 0}));
  EXPECT_EQ(at(0, {2, 1}, "other"), (Bytes{0, 0x10, 0}));
  EXPECT_EQ(at(1, {2, 1}, "far"), (Bytes{0, 0x20, 0}));
  EXPECT_EQ(traffic.total(), (Bytes{0x200, 0x40, 64}));

  const auto json = nlohmann::json::parse(traffic.json());
  EXPECT_EQ(json["total"]["read"], 0x200);
  EXPECT_EQ(json["rows"].size(), traffic.rows().size());
  EXPECT_EQ(json["rows"][0]["round"], "1 r");
  const std::string table = traffic.table();
  EXPECT_NE(table.find("mesh 0 (1,1)"), std::string::npos);
  EXPECT_NE(table.find("1 r"), std::string::npos);
}

}  // namespace
}  // namespace ktpu::interpret
