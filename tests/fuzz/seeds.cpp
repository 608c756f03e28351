// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/seeds.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "arch/program/text.h"
#include "tests/unit/arch/program_support.h"
#include "topologies/reader.h"
#include "topologies/writer.h"

namespace ktpu::fuzz {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be opened");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every capacity so small that it binds.
constexpr const char* kTiny = R"(version: 1
name: tiny
clock_mhz: 300
meshes:
  - grid:
      - [ .,   vec, .,   . ]
      - [ mem, mat, mat, sink ]
      - [ .,   .,   .,   . ]
    router: {fifo_depth: 2}
    units:
      mat: {kind: matmul_cluster, tiles: 16, l1_a: 8, l1_b: 8, inst_depth: 2, recv_depth: 4}
      vec: {kind: vector_core, l1_words: 4, inst_depth: 2, recv_depth: 2}
      sink: {kind: traffic, pattern: script, busy: {period: 7, duty: 3, offset: 1}}
      mem: {kind: memory_port}
    agent: {staging_flits: 16, commands: 4, reads_in_flight: 3}
    dram: {model: banked, bus_bits: 256, base: 0, size_mib: 1, wrap: true}
host: {kind: command_engine}
)";

}  // namespace

const std::vector<SeedText>& topology_texts() {
  static const std::vector<SeedText> kTexts = [] {
    std::vector<SeedText> texts;
    for (const std::string& name : topo::shipped_names()) {
      texts.push_back({name, read_text(topo::find_topology(name).string())});
      if (name.starts_with("noc14") || name.starts_with("noc8")) continue;  // slow to run: once is enough
      texts.push_back({name + " resolved", topo::print_resolved(topo::read_file(name))});
    }
    texts.push_back({"tiny", kTiny});
    texts.push_back({"tiny resolved", topo::print_resolved(topo::read_string(kTiny))});
    return texts;
  }();
  return kTexts;
}

const std::vector<SeedMachine>& machines() {
  static const std::vector<SeedMachine> kMachines{
      {"mesh1", topo::read_file("mesh1")},
      {"mesh1 small", topo::read_file("mesh1", {"meshes.0.units.mat.tiles=64", "meshes.0.units.mat.l1_a=64",
                                                "meshes.0.units.mat.l1_b=64", "meshes.0.dram.size_mib=1",
                                                "meshes.0.agent.reads_in_flight=16"})},
      {"tiny", topo::read_string(kTiny)},
      {"reference_small", topo::read_file("reference_small")},
      {"mesh8", topo::read_file("mesh8")},
      {"reference_mesh8", topo::read_file("reference_mesh8")}};
  return kMachines;
}

arch::Program tour() {
  using namespace arch;
  Program p = assemble(R"(program "tour"
machine "mesh1" staging=16
unit matmul_cluster (1,1) tiles=16 l1_a=8 l1_b=8 inst_depth=2
memory 0x0..0x10000
image 0x0 tensor [8,32] layout=entry:2x1 seed=139 shift=10
image 0x1000 tensor [8,32] layout=entry:2x1 seed=151 shift=10
input a fp16 [8,32] at=0x0 layout=entry:2x1
input b fp16 [8,32] at=0x1000 layout=entry:2x1
output c fp16 [8,8] at=0x2000 layout=tile:1x1:2x2
round "one"
baseline (1,1)
stage 0 {
  fill a n=2 from=0x0 txn=0x40
  fill b n=2 from=0x1000 txn=0x40
  gemm gm=2 gn=2 nk=1 txn=0x40
  drain n=4 to=0x2000 txn=0x40 last
}
credit 32
kick (1,1) slots=0..3
await (1,1) 4
quiet 64
round "two"
baseline (1,1)
stage 4 {
  fill a n=2 from=0x0 fbank=1 txn=0x10
  fill b n=2 from=0x1000 fbank=1 txn=0x10
  gemm acc emit gm=2 gn=2 nk=1 abank=1 bbank=1 to=0x3000 txn=0x10
  drain fuse n=4 to=0x3000 txn=0x10 last
}
write SIG_DONE = 0
credit 8
kick (1,1) slots=4..7
poll PROG_STAT & 0x1 == 0
poll SIG_DONE & 0xffff == 4
write TX_FLIT[4] = 0x11017018
write TX_KICK = 1
poll RX_STATUS & 0x10000 == 0
write RX_POP = 1
)",
                       "tour.kasm");
  p.steps.push_back({0, StepLoad{{0x4000, ImageBytes{{1, 2, 3, 4}, 256}}}});
  p.steps.push_back({0, StepRelayout{0x2000, 32, {{0, 4, 1, 8, 8}, {-1, 8, 1, 2, 0}}, "flat", "flat"}});
  p.steps.push_back(
      {0, StepCommands{
              {{1, 0x10000060, 8, 0}, {2, 0x10000060, 8, 0xFFFF}, {1, 0x10000000, 5, 0}, {3, 0, 0, 0}}}});
  p.steps.push_back({0, StepRound{"three"}});
  p.steps.push_back({0, StepBaseline{{{1, 1}}}});
  p.steps.push_back({0, StepKick{{1, 1}, 0, 4}});
  p.steps.push_back({0, StepAwait{{1, 1}, 4}});
  return p;
}

const std::vector<SeedProgram>& programs() {
  static const std::vector<SeedProgram> kPrograms = [] {
    std::vector<SeedProgram> list;
    for (const char* name : {"matmul_32x32x128", "matmul_32x32x128_round", "matmul_32x32x128_small",
                             "matmul_fused_drain", "matmul_ksplit", "matmul_256x256x256_fused"}) {
      const std::string path = std::string(KTPU_SOURCE_DIR "/examples/") + name + ".kasm";
      list.push_back({name, arch::assemble(read_text(path), path)});
    }
    list.push_back({"tour", tour()});
    // Every kind of step, those of later versions included; for one mesh, without the needs nobody meets.
    arch::Program all = arch::everything();
    list.push_back({"everything", all});
    all.needs.meshes = 1;
    all.needs.fingerprint = 0;
    all.needs.units.clear();
    all.needs.memory.clear();
    for (auto& image : all.images) image.first = 0;
    for (auto& tensor : all.inputs) tensor.mesh = 0;
    for (auto& tensor : all.outputs) tensor.mesh = 0;
    std::erase_if(all.steps, [](arch::Step& step) {
      step.mesh = 0;
      return std::holds_alternative<arch::StepReset>(step.action) ||
             std::holds_alternative<arch::StepWindow>(step.action) ||
             std::holds_alternative<arch::StepPeStream>(step.action) ||
             std::holds_alternative<arch::StepFirmware>(step.action);
    });
    list.push_back({"everything that runs", all});
    return list;
  }();
  return kPrograms;
}

}  // namespace ktpu::fuzz
