// SPDX-License-Identifier: Apache-2.0
// compiler.md section 13.
#include <gtest/gtest.h>

#include "compiler/framework/builders.h"
#include "compiler/framework/passes.h"
#include "tests/unit/compiler/helpers.h"

namespace ktpu::framework {
namespace {

using schedule::refusal;

Machine one_mesh() {
  Machine machine;
  machine.meshes.push_back({0, {{"U", {{1, 1}, {1, 2}, {2, 1}}}, {"V", {{3, 3}}}}, {{0, 1}}});
  return machine;
}
Machine two_meshes() {
  Machine machine = one_mesh();
  machine.meshes.push_back({1, {{"U", {{1, 1}}}}, {}});
  return machine;
}

Task task(std::vector<Region> reads = {}, std::vector<Region> writes = {}) {
  Task made;
  made.unit_type = "U";
  made.reads = std::move(reads);
  made.writes = std::move(writes);
  return made;
}
Task plain(std::uint32_t) { return task(); }

std::vector<arch::Flit> words(TaskId id, const Task& t, const Place&) {
  std::vector<arch::Flit> flits(t.flits);
  for (arch::Flit& flit : flits) flit.w[0] = id;
  return flits;
}

TEST(CompilerSec13, EdgesFollowFromWrites) {
  const Region low{0, 100, 0}, high{100, 100, 0}, across{50, 100, 0}, far{0, 100, 1};
  using Edges = std::set<Edge>;
  EXPECT_EQ(infer_edges({task({}, {low}), task({across}), task({high}), task({far})}), (Edges{{0, 1}}));
  EXPECT_EQ(infer_edges({task({}, {low}), task({}, {low})}), (Edges{{0, 1}}));
  EXPECT_EQ(infer_edges({task({low}), task({}, {low})}), (Edges{}));
  EXPECT_EQ(infer_edges({task({}, {low}), task({high})}), (Edges{}));
}

TEST(CompilerSec13, TheOrderIsOfTheFirstReady) {
  TaskGraph graph;
  spread(graph, 5, plain);
  graph.edges = {{3, 0}, {1, 4}};
  EXPECT_EQ(topological_order(graph), (std::vector<TaskId>{1, 2, 3, 4, 0}));
  graph.edges.insert({0, 3});
  EXPECT_NE(refusal([&] { topological_order(graph); }), "");
  graph.edges = {{0, 9}};
  EXPECT_NE(refusal([&] { verify(graph); }), "");
}

TEST(CompilerSec13, Builders) {
  TaskGraph graph;
  const Ids all = spread(graph, 2, plain);
  EXPECT_TRUE(graph.edges.empty());
  EXPECT_EQ(gather(graph, all, task()), 2u);
  EXPECT_EQ(graph.edges, (std::set<Edge>{{0, 2}, {1, 2}}));
  EXPECT_EQ(chain(graph, 3, plain), (Ids{3, 4, 5}));
  EXPECT_TRUE(graph.edges.contains({3, 4}) && graph.edges.contains({4, 5}));
  TaskGraph loops;
  EXPECT_EQ(iterate(loops, 2, [](TaskGraph& g, std::uint32_t) { return spread(g, 2, plain); }), (Ids{2, 3}));
  EXPECT_EQ(loops.edges, (std::set<Edge>{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  // A time that adds nothing still keeps the times apart.
  TaskGraph gaps;
  iterate(gaps, 3, [](TaskGraph& g, std::uint32_t i) { return spread(g, i == 1 ? 0 : 1, plain); });
  EXPECT_EQ(gaps.edges, (std::set<Edge>{{0, 1}}));
}

TEST(CompilerSec13, WhereTasksRun) {
  TaskGraph graph;
  spread(graph, 4, plain);
  graph.tasks[0].cost = 5;
  const auto at = [](const std::vector<Place>& places) {
    std::vector<arch::Coord> coords;
    for (const Place& p : places) coords.push_back(p.at);
    return coords;
  };
  using Coords = std::vector<arch::Coord>;
  EXPECT_EQ(at(place(graph, one_mesh())), (Coords{{1, 1}, {1, 2}, {2, 1}, {1, 2}}));
  for (Task& t : graph.tasks) t.policy = Policy::kAffine;
  EXPECT_EQ(at(place(graph, one_mesh())),
            (Coords{{1, 1}, {1, 1}, {1, 1}, {1, 1}}));  // one hop, the others two
  graph.tasks[3].policy = Policy::kPinned;
  graph.tasks[3].coord = arch::Coord{2, 1};
  EXPECT_EQ(place(graph, one_mesh())[3].at, (arch::Coord{2, 1}));
  graph.tasks[3].coord = arch::Coord{3, 3};  // a unit, of another type
  EXPECT_NE(refusal([&] { place(graph, one_mesh()); }), "");
  graph.tasks[3] = plain(0);
  graph.tasks[3].unit_type = "W";
  EXPECT_NE(refusal([&] { place(graph, one_mesh()); }), "");
}

TEST(CompilerSec13, OnWhichMesh) {
  const auto mesh = [](Task t) {
    TaskGraph graph;
    graph.tasks.push_back(std::move(t));
    return place(graph, two_meshes())[0].mesh;
  };
  const Region here{0, 8, 0}, there{0, 8, 1};
  EXPECT_EQ(mesh(task()), 0u);
  EXPECT_EQ(mesh(task({there}, {here})), 1u);
  EXPECT_EQ(mesh(task({}, {there})), 1u);
  EXPECT_NE(refusal([&] { mesh(task({here, there})); }), "");
  Task said = task({here, there});
  said.mesh = 1;
  EXPECT_EQ(mesh(said), 1u);
  Task absent = task();
  absent.unit_type = "V";
  absent.mesh = 1;
  EXPECT_NE(refusal([&] { mesh(absent); }).find("meshes that have: 0"), std::string::npos);
}

TEST(CompilerSec13, EachLimitOpensARound) {
  TaskGraph graph;
  spread(graph, 6, plain);
  const auto rounds = [&](Machine machine) {
    const auto places = place(graph, machine);
    const Rounds made = pack(graph, places, machine);
    verify(made, graph, places, machine);
    return made;
  };
  Machine machine = one_mesh();
  EXPECT_EQ(rounds(machine), (Rounds{{0, 1, 2, 3, 4, 5}}));
  machine.stage_flits = 4;
  EXPECT_EQ(rounds(machine), (Rounds{{0, 1, 2, 3}, {4, 5}}));
  machine.stage_flits = 128;
  machine.ncmd = 2 + 6 * 2;
  EXPECT_EQ(rounds(machine), (Rounds{{0, 1}, {2, 3}, {4, 5}}));
  machine.ncmd = 128;
  machine.inst_depth = 1;
  EXPECT_EQ(rounds(machine), (Rounds{{0, 1, 2}, {3, 4, 5}}));
  machine.ncmd = 7;
  EXPECT_NE(refusal([&] { rounds(machine); }), "");
  // What does not fit is passed over, what waits goes to a later round.
  machine = one_mesh();
  machine.stage_flits = 4;
  graph.tasks[1].flits = 4;
  graph.edges = {{0, 2}};
  EXPECT_EQ(rounds(machine), (Rounds{{0, 3, 4, 5}, {1}, {2}}));
}

TEST(CompilerSec13, WhoCouldShareAFetch) {
  const Region shared{0, 64, 0}, own{64, 64, 0};
  TaskGraph graph;
  for (int i = 0; i < 4; ++i) graph.tasks.push_back(task({shared}));
  graph.tasks.push_back(task({own}));
  const Machine machine = one_mesh();
  const auto places = place(graph, machine);  // the fourth runs where the first does
  const Sharing sharing = coalesce(graph, places, pack(graph, places, machine));
  EXPECT_EQ(sharing.leads, (std::vector<bool>{true, false, false, true, true}));
  EXPECT_EQ(sharing.peers.at(0), (std::vector<arch::Coord>{{1, 2}, {2, 1}}));
  EXPECT_EQ(sharing.bytes_saved, 128u);
  verify(sharing, graph, places);
  // Not over the border of a round.
  EXPECT_TRUE(coalesce(graph, places, {{0}, {1}, {2}, {3}, {4}}).peers.empty());
}

TEST(CompilerSec13, AllPassesGiveAnArtifact) {
  TaskGraph graph;
  const Ids first = spread(graph, 2, plain);
  gather(graph, first, task());
  const Compiled compiled = compile(graph, one_mesh(), words);
  EXPECT_EQ(print(compiled),
            "round 0 task 0 on 0:(1,1)\nround 0 task 1 on 0:(1,2)\nround 1 task 2 on 0:(2,1)\n"
            "artifact for generic: 3 flits, 2 rounds, 3 tasks\n"
            "  seed 32\n  kick 0:(1,1) slots 0+1\n  kick 0:(1,2) slots 1+1\n  await 0:(1,1) 1\n"
            "  await 0:(1,2) 1\n  barrier\n"
            "  seed 32\n  kick 0:(2,1) slots 2+1\n  await 0:(2,1) 1\n");
  EXPECT_NE(refusal([&] {
              compile(graph, one_mesh(),
                      [](TaskId, const Task&, const Place&) { return std::vector<arch::Flit>(2); });
            }).find("2 words were encoded, 1 were planned"),
            std::string::npos);
}

TEST(CompilerSec13, EveryPassIsVerified) {
  TaskGraph graph;
  const Ids first = spread(graph, 2, plain);
  gather(graph, first, task());
  const Machine machine = one_mesh();
  const Compiled good = compile(graph, machine, words);
  auto places = good.places;
  places[1].at = {3, 3};
  EXPECT_NE(refusal([&] { verify(places, graph, machine); }), "");
  for (const Rounds& bad : {Rounds{{0, 1, 2}}, Rounds{{0, 1}}, Rounds{{0, 1}, {1, 2}}})
    EXPECT_NE(refusal([&] { verify(bad, graph, good.places, machine); }), "");
  Sharing sharing = good.sharing;
  sharing.peers[0] = {good.places[0].at};
  EXPECT_NE(refusal([&] { verify(sharing, graph, good.places); }), "");
  Artifact artifact = good.artifact;
  artifact.steps.pop_back();
  EXPECT_NE(refusal([&] { verify(artifact, graph, machine); }), "");
  artifact = good.artifact;
  artifact.steps.erase(artifact.steps.begin());
  EXPECT_NE(refusal([&] { verify(artifact, graph, machine); }), "");
  Machine odd = machine;
  odd.meshes.push_back(odd.meshes[0]);
  EXPECT_NE(refusal([&] { verify(odd); }), "");
}

}  // namespace
}  // namespace ktpu::framework
