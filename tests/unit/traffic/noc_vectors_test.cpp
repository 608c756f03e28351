// SPDX-License-Identifier: Apache-2.0
// The recorded mesh traces on the router model: every acceptance and every delivery in its cycle.
#include "tests/unit/traffic/noc_vectors.h"

#include <gtest/gtest.h>

namespace ktpu::test {
namespace {

TEST(NocVectors, LatencyRows) {
  std::size_t rows = 0;
  for (const auto& row : noc_rows()) {
    if (row.at("kind") != "latency") continue;
    ++rows;
    const arch::Coord from = coord(row["src"][0], row["src"][1]), to = coord(row["dst"][0], row["dst"][1]);
    TrafficMesh mesh(kNocGrid, 32, [&](std::size_t, arch::Coord at) {
      traffic::NodeParams params;
      params.record = true;
      if (at == from) params.script = {{60, arch::make_flit(to, from, arch::FlitType::kCuData, 0, false)}};
      return params;
    });
    mesh.engine.run_until(200);
    ASSERT_EQ(mesh.node(from).accepted().size(), 1u);
    ASSERT_EQ(mesh.node(to).deliveries().size(), 1u) << row;
    EXPECT_EQ(mesh.node(to).deliveries()[0].cycle - mesh.node(from).accepted()[0],
              row["accept_to_deliver"].get<sim::Cycle>())
        << row;
  }
  std::printf("%zu latency rows\n", rows);
}

TEST(NocVectors, TraceRows) {
  std::size_t flits = 0;
  for (const auto& row : noc_rows()) {
    if (row.at("kind") != "trace") continue;
    const NocReplay replay = replay_noc_trace(row);
    for (std::size_t k = 0; k < replay.expected.size(); ++k) {
      ++flits;
      ASSERT_EQ(replay.got[k].accept, replay.expected[k].accept) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].deliver, replay.expected[k].deliver) << row["name"] << " flit " << k;
      ASSERT_EQ(replay.got[k].sink, replay.expected[k].sink) << row["name"] << " flit " << k;
    }
  }
  std::printf("%zu flits\n", flits);
}

// The end of vectors/programs/README.md: traces may carry another FIFO depth and lists of busy runs. No such
// row is recorded here, so the reading is checked against the periodic form of a row that is.
TEST(NocVectors, BusyRunsMeanTheSameAsThePeriodicForm) {
  for (auto row : noc_rows()) {
    if (row.value("name", "") != "random_sink_busy") continue;
    const NocReplay periodic = replay_noc_trace(row);
    const unsigned period = row["sink_busy_period"], duty = row["sink_busy_duty"];
    nlohmann::json all = nlohmann::json::array();
    for (unsigned e = 0; e < all_slots(kNocGrid).size(); ++e) {
      nlohmann::json runs = nlohmann::json::array();
      for (unsigned c = 0; c < period; ++c) {  // runs of length one; zeros keep free and busy in turn
        const bool busy = (c + 3 * e) % period < duty;
        runs.push_back(busy ? 0 : 1);
        runs.push_back(busy ? 1 : 0);
      }
      all.push_back(runs);
    }
    row["sink_busy_runs"] = all;
    const NocReplay runs = replay_noc_trace(row);
    for (std::size_t k = 0; k < runs.got.size(); ++k) {
      ASSERT_EQ(runs.got[k].accept, periodic.got[k].accept) << k;
      ASSERT_EQ(runs.got[k].deliver, periodic.got[k].deliver) << k;
    }
  }
}

}  // namespace
}  // namespace ktpu::test
