// SPDX-License-Identifier: Apache-2.0
#include "bench/cases.h"

#include "arch/error.h"
#include "bench/programs.h"
#include "bench/vector_programs.h"

namespace ktpu::bench {

namespace {

std::function<arch::Program(const topo::Machine&, bool)> matmul_of(Matmul shape, Matmul quick) {
  return [shape, quick](const topo::Machine& machine, bool small) {
    return matmul(machine, small ? quick : shape);
  };
}

std::function<arch::Program(const topo::Machine&, bool)> resident_of(std::uint32_t rounds) {
  return [rounds](const topo::Machine& machine, bool small) {
    Resident shape;
    shape.rounds = rounds;
    if (small) shape = {4, 4, 4, 6, 2};
    return resident(machine, shape);
  };
}

void add_matmuls(std::vector<Case>& list) {
  const Matmul quick{30, 50, 96, 4, 4, 2, false, 1};
  Matmul quick_fused = quick;
  quick_fused.fused = true;
  list.push_back({.name = "cluster/compute",
                  .what = "one cluster sweeping resident operands, a command in over 95 % of its cycles",
                  .topology = "mesh1",
                  .program = resident_of(4),
                  .must = 5,
                  .goal = 10,
                  .reference = 0.21});
  list.push_back({.name = "cluster/matmul",
                  .what = "one cluster, matmul 32x32x128: fill, sweep, drain in turn",
                  .topology = "mesh1",
                  .program = matmul_of({32, 32, 128, 8, 8, 4, false, 400}, quick)});
  list.push_back(
      {.name = "small/matmul",
       .what = "small system with its script host, matmul 128x128x128 compiled as gm 8, gn 8, nk 2",
       .topology = "reference_small",
       .program = matmul_of({128, 128, 128, 8, 8, 2, false, 50}, quick),
       .must = 3,
       .goal = 8,
       .reference = 0.08});
  list.push_back({.name = "mesh8/memory",
                  .what = "8 clusters, matmul 256x256x256, bound by one read at a time",
                  .topology = "reference_mesh8",
                  .program = matmul_of({256, 256, 256, 16, 32, 8, false, 20}, quick),
                  .must = 0.8,
                  .goal = 2,
                  .reference = 0.01});
  list.push_back({.name = "mesh8/memory-small",
                  .what = "8 clusters, 32x32x128 each: fills, short sweeps and drains of all at once",
                  .topology = "reference_mesh8",
                  .program = matmul_of({256, 32, 128, 8, 8, 4, false, 100}, quick),
                  .must = 0.8,
                  .goal = 2,
                  .reference = 0.01});
  list.push_back({.name = "mesh8/compute",
                  .what = "8 clusters sweeping resident operands, all arrays busy in 95 % of the cycles",
                  .topology = "reference_mesh8",
                  .program = resident_of(4),
                  .must = 0.4,
                  .goal = 1,
                  .reference = 0.01});
  list.push_back({.name = "mesh8/reads16",
                  .what = "8 clusters, matmul 256x256x1024 with fused drains and 16 reads in flight",
                  .topology = "mesh8",
                  .sets = {"meshes.0.agent.reads_in_flight=16"},
                  .program = matmul_of({256, 256, 1024, 16, 32, 8, true, 8}, quick_fused),
                  .reference = 0.01});
}

void add_vectors(std::vector<Case>& list) {
  const auto loop_of = [](std::uint32_t iterations) {
    return [iterations](const topo::Machine& machine, bool small) {
      return vector_loop(machine, small ? 3 : iterations);
    };
  };
  list.push_back({.name = "small/vector",
                  .what = "small system, one vector core with a beat in eight of 13 cycles",
                  .topology = "reference_small",
                  .program = loop_of(20'000)});
  list.push_back(
      {.name = "core/vector",
       .what = "the same core with a host that polls every 1000 cycles: hardly anything but the core",
       .topology = "reference_small",
       .sets = {"host.script.read_cycles=1000"},
       .program = loop_of(20'000),
       .must = 4});
  list.push_back({.name = "mesh8/vector",
                  .what = "two vector cores busy like that, eight clusters idle",
                  .topology = "reference_mesh8",
                  .program = loop_of(20'000)});
}

void add_routers(std::vector<Case>& list) {
  struct Load {
    const char* name;
    const char* rate;
    const char* what;
  };
  const Load loads[] = {{"0", "0", "no traffic"},
                        {"0.01", "0.01", "0.01 flits a node and cycle"},
                        {"0.1", "0.1", "0.1 flits a node and cycle"},
                        {"full", "1", "every source always has a flit"}};
  struct Grid {
    const char* topology;
    const char* what;
    sim::Cycle cycles[4];  // by load
  };
  const Grid grids[] = {
      {"noc3x3", "3x3 routers, all 21 ports used", {1'000'000'000'000, 2'000'000, 1'000'000, 500'000}},
      {"noc8x8", "8x8 routers", {1'000'000'000'000, 1'000'000, 300'000, 50'000}},
      {"noc14x14", "14x14 routers", {1'000'000'000'000, 300'000, 100'000, 20'000}}};
  for (const Grid& grid : grids) {
    for (std::size_t i = 0; i < std::size(loads); ++i) {
      Case c;
      c.name = fmt::format("{}/{}", grid.topology, loads[i].name);
      c.what = fmt::format("{}, uniform random traffic: {}", grid.what, loads[i].what);
      c.topology = grid.topology;
      c.sets = {"meshes.0.units.t.pattern=uniform", fmt::format("meshes.0.units.t.rate={}", loads[i].rate),
                "meshes.0.units.t.seed=1"};
      c.cycles = grid.cycles[i];
      c.quick_cycles = 2'000;
      if (c.name == "noc8x8/0.1") {
        c.must = 0.4;
        c.goal = 1;
      }
      list.push_back(std::move(c));
    }
  }
}

#ifdef KTPU_HAVE_RTL
// The same two programs with more and more RTL in the machine.
void add_twins(std::vector<Case>& list) {
  struct Work {
    const char* name;
    const char* what;
    topo::Overrides sets;
    std::function<arch::Program(const topo::Machine&, bool)> program;
    double must_times;
  };
  const auto memory = matmul_of({256, 256, 256, 16, 32, 8, false, 1}, {30, 50, 96, 4, 4, 2, false, 1});
  const Work works[] = {
      {"memory", "matmul 256x256x256, one read at a time, DRAM answers after 1 cycle", {}, memory, 100},
      {"latency",
       "the same, DRAM answers after 80 cycles",
       {"meshes.0.dram.first_read_beat=80"},
       memory,
       100},
      {"compute", "8 clusters sweeping resident operands", {}, resident_of(1), 0}};
  struct Sockets {
    const char* name;
    const char* what;
    std::vector<std::string> impls;
    double must;  // Mcycle/s
  };
  const Sockets sockets[] = {{"models", "all models", {}, 0},
                             {"router", "one router RTL", {"router@1,1=rtl"}, 0},
                             {"cluster", "one cluster RTL", {"cluster@1,0=rtl"}, 0},
                             {"all", "all RTL", {"*=rtl"}, 0.005},
                             {"lockstep", "all in lock-step", {"*=lockstep"}, 0}};
  for (const Work& work : works) {
    const std::string group = fmt::format("rtl/{}/", work.name);
    for (const Sockets& s : sockets) {
      const bool all = s.must != 0;
      list.push_back({.name = group + s.name,
                      .what = fmt::format("mesh8, {}: {}", work.what, s.what),
                      .topology = "mesh8",
                      .sets = work.sets,
                      .impls = s.impls,
                      .program = work.program,
                      .must = s.must,
                      .models = s.impls.empty() ? "" : group + "models",
                      .must_times = all ? work.must_times : 0});
    }
  }
}
#endif

}  // namespace

bool has_lockstep(const Case& c) {
  for (const std::string& impl : c.impls)
    if (impl.ends_with("=lockstep")) return true;
  return false;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = [] {
    std::vector<Case> list;
    add_matmuls(list);
    add_vectors(list);
    add_routers(list);
#ifdef KTPU_HAVE_RTL
    add_twins(list);
#endif
    return list;
  }();
  return kCases;
}

}  // namespace ktpu::bench
