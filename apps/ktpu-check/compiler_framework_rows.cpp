// SPDX-License-Identifier: Apache-2.0
// misc/framework: tasks through the generic passes (vectors/compiler/README.md). The recorded encoder gave
// word j of task i the value 1000 i + j.
#include <variant>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"
#include "compiler/framework/passes.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMany = 1 << 20;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;

std::uint32_t number(const json& row, const char* field, std::int64_t low = 0) {
  return static_cast<std::uint32_t>(integer(member(row, field), field, low, kMany));
}
arch::Coord coord(const json& at) {
  return {static_cast<std::uint8_t>(integer(at.at(0), "x", 0, 15)),
          static_cast<std::uint8_t>(integer(at.at(1), "y", 0, 15))};
}

framework::Machine machine_of(const json& row) {
  framework::Machine machine;
  framework::Mesh mesh;
  for (const auto& [type, coords] : member(row, "units").items())
    for (const json& at : coords) mesh.units[type].push_back(coord(at));
  for (const json& at : member(row, "mem_ports")) mesh.memory_ports.push_back(coord(at));
  machine.meshes.push_back(std::move(mesh));
  machine.stage_flits = number(row, "stage_flits");
  machine.ncmd = number(row, "ncmd");
  machine.inst_depth = number(row, "inst_depth");
  return machine;
}

std::vector<framework::Region> regions_of(const json& list) {
  std::vector<framework::Region> regions;
  for (const json& r : list)
    regions.push_back({static_cast<std::uint64_t>(integer(r.at(0), "base", 0, kMaxBytes)),
                       static_cast<std::uint64_t>(integer(r.at(1), "nbytes", 0, kMaxBytes)),
                       static_cast<unsigned>(integer(r.at(2), "mesh", 0, 255))});
  return regions;
}

framework::Task task_of(const json& row) {
  framework::Task task;
  task.unit_type = text(member(row, "unit"), "unit");
  task.flits = number(row, "flits");
  task.signals = number(row, "signals");
  const std::string& policy = text(member(row, "policy"), "policy");
  if (policy != "free" && policy != "pinned" && policy != "affine")
    throw UserError::make("policy \"{}\" is none of free, pinned, affine", policy);
  task.policy = policy == "free"     ? framework::Policy::kFree
                : policy == "pinned" ? framework::Policy::kPinned
                                     : framework::Policy::kAffine;
  if (!member(row, "coord").is_null()) task.coord = coord(row["coord"]);
  if (row.contains("mesh") && !row["mesh"].is_null()) task.mesh = number(row, "mesh");
  if (!member(row, "cost").is_number()) throw UserError("cost: not a number");
  task.cost = row["cost"].get<double>();
  task.reads = regions_of(member(row, "reads"));
  task.writes = regions_of(member(row, "writes"));
  return task;
}

std::vector<arch::Flit> encode(framework::TaskId id, const framework::Task& task, const framework::Place&) {
  std::vector<arch::Flit> words(task.flits);
  for (std::uint32_t j = 0; j < task.flits; ++j) words[j].w[0] = std::uint64_t{id} * 1000 + j;
  return words;
}

json at_json(arch::Coord at) { return {at.x, at.y}; }

json step_json(const framework::ArtifactStep& step) {
  if (const auto* seed = std::get_if<framework::Seed>(&step)) return {"seed", seed->credit};
  if (const auto* kick = std::get_if<framework::Kick>(&step))
    return {"kick", kick->to.at.x, kick->to.at.y, kick->base, kick->count};
  if (const auto* await = std::get_if<framework::Await>(&step))
    return {"await", await->node.at.x, await->node.at.y, await->count};
  return json::array({"barrier"});
}

json result_of(const framework::Compiled& compiled) {
  json edges = json::array(), placement = json::array(), peers = json::object();
  for (const framework::Edge& edge : compiled.graph.edges) edges.push_back({edge.first, edge.second});
  for (const framework::Place& place : compiled.places) placement.push_back(at_json(place.at));
  for (const auto& [leader, others] : compiled.sharing.peers)
    for (const arch::Coord at : others) peers[std::to_string(leader)].push_back(at_json(at));
  const framework::Artifact& artifact = compiled.artifact;
  json flits = json::array(), steps = json::array();
  for (const arch::Flit& flit : artifact.flits) flits.push_back(flit.w[0]);
  for (const framework::ArtifactStep& step : artifact.steps) steps.push_back(step_json(step));
  return {
      {"edges", edges},
      {"placement", placement},
      {"rounds", compiled.rounds},
      {"coalesce",
       {{"peers", peers}, {"leads", compiled.sharing.leads}, {"bytes_saved", compiled.sharing.bytes_saved}}},
      {"artifact",
       {{"machine", artifact.machine},
        {"flits", flits},
        {"steps", steps},
        {"meta",
         {{"rounds", artifact.rounds},
          {"tasks", artifact.tasks},
          {"coalesced_bytes", artifact.coalesced_bytes}}}}}};
}

struct Attempt {
  framework::Machine machine;
  framework::TaskGraph graph;
};

// A refused row holds only the name of what was tried: something of that kind is tried here.
Attempt attempt(const std::string& what) {
  Attempt made;
  made.machine.meshes.push_back({0, {{"U", {{1, 1}}}}, {}});
  framework::Task task;
  task.unit_type = "U";
  const auto tells = [&](std::string_view word) { return what.find(word) != std::string::npos; };
  if (tells("staging")) {
    task.flits = made.machine.stage_flits + 1;
    made.machine.inst_depth = task.flits;
  } else if (tells("credit") || tells("depth")) {
    task.flits = made.machine.inst_depth + 1;
  } else if (tells("command") || tells("ncmd")) {
    made.machine.ncmd = 7;
  } else if (tells("pinned")) {
    task.policy = framework::Policy::kPinned;
    task.coord = arch::Coord{5, 5};
  } else if (tells("unit") || tells("type")) {
    task.unit_type = "V";
  } else {
    throw UserError::make("row \"{}\" records no tasks, and its name tells none", what);
  }
  made.graph.tasks.push_back(task);
  return made;
}

}  // namespace

void check_framework(const json& row, Differences& differences) {
  Attempt tried;
  if (row.contains("tasks")) {
    tried.machine = machine_of(member(row, "machine"));
    for (const json& task : row["tasks"]) tried.graph.tasks.push_back(task_of(task));
  } else {
    tried = attempt(text(member(row, "name"), "name"));
  }
  json got = {{"status", "refused"}};
  try {
    got = result_of(framework::compile(tried.graph, tried.machine, encode));
    got["status"] = "ok";
  } catch (const UserError&) {
    if (!row.contains("status")) throw;
  }
  compare_fields(row, got, {"name", "machine", "tasks", "exception"}, "", differences);
}

}  // namespace ktpu::check
