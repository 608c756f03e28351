// SPDX-License-Identifier: Apache-2.0
// Reads rows of noc.jsonl (vectors/rtl/README.md) and replays them on a mesh.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/traffic/traffic_mesh.h"

namespace ktpu::test {

// The recorded rows; empty, with one line of text, where the vectors are not installed.
inline std::vector<nlohmann::json> noc_rows() {
  const char* env = std::getenv("KTPU_VECTORS");
  const std::filesystem::path root = env != nullptr ? env : KTPU_SOURCE_DIR "/../shared/vectors";
  const auto file = root / "rtl" / "noc.jsonl";
  std::vector<nlohmann::json> rows;
  std::ifstream in(file);
  if (!in) std::printf("vectors not found: %s\n", file.c_str());
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

inline constexpr noc::Grid kNocGrid{1, 3, 1, 3};

inline arch::Coord coord(const nlohmann::json& x, const nlohmann::json& y) {
  return {x.get<std::uint8_t>(), y.get<std::uint8_t>()};
}

struct NocFlit {
  sim::Cycle offer = 0, accept = 0, deliver = 0;
  std::size_t source = 0, sink = 0;  // slots
};

// Runs one trace row; returns per flit [accept, deliver] in file order, deliveries matched by the number in
// the payload. `slots_of_row`: as recorded.
struct NocReplay {
  std::vector<NocFlit> expected, got;
};
inline NocReplay replay_noc_trace(const nlohmann::json& row, const RouterFactory& factory = model_router) {
  const auto slots = all_slots(kNocGrid);
  const auto slot_of = [&](arch::Coord c) {
    return static_cast<std::size_t>(std::find(slots.begin(), slots.end(), c) - slots.begin());
  };
  NocReplay replay;
  std::vector<std::vector<traffic::Injection>> scripts(slots.size());
  std::vector<std::vector<std::size_t>> order(slots.size());
  for (const auto& f : row.at("flits")) {
    const arch::Coord from = coord(f[0], f[1]), to = coord(f[2], f[3]);
    const std::size_t number = replay.expected.size();
    replay.expected.push_back({f[4], f[5], f[6], slot_of(from), slot_of(to)});
    arch::Flit flit = arch::make_flit(to, from, arch::FlitType::kCuData, 0, false);
    flit.w[0] = number;
    scripts[slot_of(from)].push_back({f[4].get<sim::Cycle>(), flit});
    order[slot_of(from)].push_back(number);
  }
  replay.got.resize(replay.expected.size());
  TrafficMesh mesh(
      kNocGrid, row.value("fifo_depth", 32u),
      [&](std::size_t s, arch::Coord) {
        traffic::NodeParams params;
        params.script = scripts[s];
        params.record = true;
        if (row.contains("sink_busy_runs"))
          params.busy =
              traffic::BusyPattern::runs(row["sink_busy_runs"][s].get<std::vector<std::uint32_t>>());
        else
          params.busy = traffic::BusyPattern::periodic(row.value("sink_busy_period", 0u),
                                                       row.value("sink_busy_duty", 0u), 3 * s);
        return params;
      },
      factory);
  const sim::Cycle limit = 200000;
  while (mesh.engine.now() < limit && mesh.delivered() < replay.expected.size())
    mesh.engine.run_until(mesh.engine.now() + 100);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const traffic::Node& node = *mesh.nodes()[s];
    for (std::size_t k = 0; k < node.accepted().size(); ++k) {
      NocFlit& flit = replay.got[order[s][k]];
      flit.source = s;
      flit.offer = replay.expected[order[s][k]].offer;
      flit.accept = node.accepted()[k];
    }
    for (const traffic::Delivery& d : node.deliveries()) {
      replay.got[d.flit.w[0]].deliver = d.cycle;
      replay.got[d.flit.w[0]].sink = s;
    }
  }
  return replay;
}

}  // namespace ktpu::test
