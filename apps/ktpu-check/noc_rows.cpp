// SPDX-License-Identifier: Apache-2.0
// noc.jsonl: single flits and traces on the 3x3 mesh of traffic nodes.
#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kOffer = 60;  // of a latency row's only flit: any cycle past reset
constexpr std::int64_t kMaxCycle = 1 << 30;

arch::Coord coord(const json& x, const json& y) {
  return {static_cast<std::uint8_t>(integer(x, "x", 0, 15)),
          static_cast<std::uint8_t>(integer(y, "y", 0, 15))};
}

// The numbering of sinks: local ports row by row, then the north, south, west and east border.
std::vector<arch::Coord> sinks_in_order(const topo::Mesh& mesh) {
  std::vector<arch::Coord> sinks;
  const auto add_side = [&](topo::Side side) {
    std::vector<arch::Coord> found;
    for (const topo::Node& node : mesh.nodes)
      if (node.side == side) found.push_back(node.at);
    std::sort(found.begin(), found.end(),
              [](arch::Coord a, arch::Coord b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
    sinks.insert(sinks.end(), found.begin(), found.end());
  };
  for (const topo::Side side :
       {topo::Side::kLocal, topo::Side::kNorth, topo::Side::kSouth, topo::Side::kWest, topo::Side::kEast})
    add_side(side);
  return sinks;
}

topo::SinkBusy sink_busy(const json& row, std::size_t number, arch::Coord at) {
  topo::SinkBusy busy;
  if (row.contains("sink_busy_runs")) {
    const json& all = row["sink_busy_runs"];
    const std::string keys[] = {std::to_string(number), fmt::format("{},{}", at.x, at.y)};
    const json* runs = nullptr;
    if (all.is_array() && number < all.size()) runs = &all[number];
    for (const std::string& key : keys)
      if (all.is_object() && all.contains(key)) runs = &all[key];
    if (!all.is_array() && !all.is_object())
      throw arch::UserError::make("field \"sink_busy_runs\" is {}: it lists the runs of each endpoint",
                                  all.dump());
    if (runs == nullptr) return busy;
    for (const json& length : *runs)
      busy.runs.push_back(static_cast<std::uint32_t>(integer(length, "sink_busy_runs", 0, kMaxCycle)));
    return busy;
  }
  const auto field = [&](const char* name) {
    return row.contains(name) ? static_cast<std::uint32_t>(integer(row[name], name, 0, kMaxCycle)) : 0u;
  };
  busy.period = field("sink_busy_period");
  busy.duty = field("sink_busy_duty");
  busy.offset = static_cast<std::uint32_t>(3 * number);  // vectors/rtl/README.md: (c + 3e) mod period < duty
  return busy;
}

topo::Machine noc_machine(const json& row) {
  topo::Machine machine = shipped_machine("noc3x3");
  topo::Mesh& mesh = machine.meshes.front();
  if (row.contains("fifo_depth"))
    mesh.router.fifo_depth = static_cast<unsigned>(integer(row["fifo_depth"], "fifo_depth", 1, 1 << 20));
  const auto sinks = sinks_in_order(mesh);
  for (topo::Node& node : mesh.nodes) {
    auto& traffic = std::get<topo::Traffic>(node.params);
    const auto number =
        static_cast<std::size_t>(std::find(sinks.begin(), sinks.end(), node.at) - sinks.begin());
    traffic.busy = sink_busy(row, number, node.at);
  }
  return machine;
}

arch::Flit numbered(arch::Coord from, arch::Coord to, std::uint64_t number) {
  arch::Flit flit = arch::make_flit(to, from, arch::FlitType::kCuData, 0, false);
  flit.w[0] = number;
  return flit;
}

// A flit ends at the node it names; where it names none, the mesh decides.
bool may_end_at(const topo::Mesh& mesh, arch::Coord destination, arch::Coord at) {
  return destination == at || mesh.node_at(destination) == nullptr;
}

void check_latency(const json& row, Differences& differences) {
  const json &src = list(row, "src", 2), &dst = list(row, "dst", 2);
  const arch::Coord from = coord(src[0], src[1]), to = coord(dst[0], dst[1]);
  Rig rig(noc_machine(row));
  rig.inject(from, numbered(from, to, 0), kOffer);
  rig.run_until_delivered(topo::Kind::kTraffic, 1);
  json got = json::object();
  got["routers"] = rig.hops(arch::FlitType::kCuData) + 1;
  for (const topo::Node& node : rig.mesh().nodes)
    if (!rig.in(node.at).flits.empty() && may_end_at(rig.mesh(), to, node.at))
      got["accept_to_deliver"] = rig.in(node.at).flits.front().cycle - rig.out(from).flits.front().cycle;
  compare_fields(
      row, got,
      {"kind", "src", "dst", "name", "fifo_depth", "sink_busy_period", "sink_busy_duty", "sink_busy_runs"},
      {}, differences);
}

struct Columns {
  std::size_t sx = 0, sy = 1, dx = 2, dy = 3, offer = 4, accept = 5, deliver = 6;
};
Columns columns_of(const json& row) {
  Columns c;
  if (!row.contains("fields")) return c;
  const json& fields = row["fields"];
  const auto find = [&](const char* name) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i] == name) return i;
    throw arch::UserError::make("\"fields\" has no \"{}\"", name);
  };
  return {find("sx"), find("sy"), find("dx"), find("dy"), find("offer"), find("accept"), find("deliver")};
}

void check_trace(const json& row, Differences& differences) {
  const Columns column = columns_of(row);
  const json& flits = member(row, "flits");
  Rig rig(noc_machine(row));
  for (std::size_t k = 0; k < flits.size(); ++k) {
    const json& f = flits[k];
    const arch::Coord from = coord(f.at(column.sx), f.at(column.sy)),
                      to = coord(f.at(column.dx), f.at(column.dy));
    rig.inject(from, numbered(from, to, k),
               static_cast<Cycle>(integer(f.at(column.offer), "offer", 0, kMaxCycle)));
  }
  rig.run_until_delivered(topo::Kind::kTraffic, flits.size());
  json got = json(flits.size(), json());
  for (std::size_t k = 0; k < flits.size(); ++k) {
    got[k] = flits[k];
    got[k][column.accept] = got[k][column.deliver] = nullptr;
  }
  for (const topo::Node& node : rig.mesh().nodes) {
    for (const FlitEvent& e : rig.out(node.at).flits) got[e.flit.w[0]][column.accept] = e.cycle;
    // A flit that ends elsewhere shows its place instead of a cycle.
    for (const FlitEvent& e : rig.in(node.at).flits) {
      json& deliver = got[e.flit.w[0]][column.deliver];
      const json& f = flits[e.flit.w[0]];
      if (may_end_at(rig.mesh(), coord(f[column.dx], f[column.dy]), node.at) && deliver.is_null())
        deliver = e.cycle;
      else
        deliver = fmt::format("at ({},{}) in {}", node.at.x, node.at.y, e.cycle);
    }
  }
  json measured = json::object();
  measured["flits"] = got;
  compare_fields(
      row, measured,
      {"kind", "name", "fields", "fifo_depth", "sink_busy_period", "sink_busy_duty", "sink_busy_runs"}, {},
      differences);
}

}  // namespace

void check_noc(const json& row, Differences& differences) {
  const std::string kind = row.contains("kind")    ? text(row["kind"], "kind")
                           : row.contains("flits") ? "trace"
                                                   : "latency";
  if (kind == "trace") return check_trace(row, differences);
  if (kind == "latency") return check_latency(row, differences);
  throw arch::UserError::make("kind \"{}\" is neither latency nor trace", kind);
}

}  // namespace ktpu::check
