// SPDX-License-Identifier: Apache-2.0
// Whole programs with the window of a staging adapter on (fabric.md section 12): the host opens it through
// the mailbox, a cluster drains into it and fills from it again.
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "tests/system/run.h"
#include "tlm/observe/report.h"
#include "tlm/platform/checkpoint.h"
#include "tlm/platform/findings.h"
#include "tlm/platform/wait_graph.h"

namespace ktpu::test {
namespace {

using sim::Cycle;

constexpr std::uint64_t kA = 0x80010000, kB = 0x80020000, kWindow = 0x80040000, kC = 0x80000000;

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{:02x}", i % 32 == 0 ? "\n" : "", bytes[i]);
  return "{" + text + "\n}\n";
}

// One CU_CTRL flit to a unit (cluster (1,1)) through the mailbox, and its reply out of it.
std::string control(unsigned op, unsigned index, std::uint64_t value, std::uint64_t mask, std::uint64_t reply,
                    arch::Coord unit = {1, 1}) {
  arch::Ctrl ctrl;
  ctrl.op = op;
  ctrl.index = index;
  ctrl.value = value;
  const arch::Flit flit =
      arch::make_flit(arch::make_header(unit, {0, 1}, arch::FlitType::kCuCtrl, 7, true), ctrl);
  std::string text;
  for (unsigned w = 0; w < 5; ++w) text += fmt::format("write TX_FLIT[{}] = {:#x}\n", w, flit.w[w]);
  text += "write TX_KICK = 1\npoll RX_STATUS & 0x10000 == 0\n";
  text += fmt::format("poll RX_FLIT[4] & 0xffffffff == {:#x}\n",
                      arch::make_header({0, 1}, unit, arch::FlitType::kCuCtrl, 7, true));
  // The value is bits [239:176]: the upper 48 are in word 3.
  text += fmt::format("poll RX_FLIT[3] & {:#x} == {:#x}\n", mask >> 16, reply >> 16);
  text += fmt::format("poll RX_FLIT[2] & {:#x} == {:#x}\n", mask << 48, reply << 48);
  return text + "write RX_POP = 1\n";
}

const Example& kExample = example("matmul_32x32x128_staged");

// `bits`: of the window's capability register.
std::string program(bool window, unsigned bits = 18, unsigned lines = 8192) {
  std::string text = "program \"t\"\nmachine \"staged\" staging=8\n";
  text += fmt::format("load {:#x} bytes ", kA) + hex(plain::to_entries(operand_a(kExample), 32, 128, 8, 4));
  text += fmt::format("load {:#x} bytes ", kB) + hex(plain::to_entries(operand_b(kExample), 32, 128, 8, 4));
  if (window) {
    text += control(0, 0xE0, 0, ~0ull, 0x0002'0100'0000'0000ull | std::uint64_t{bits} << 32 | lines);
    text += control(1, 0xE1, kWindow, ~0ull, kWindow);
    text += control(1, 0xE2, 1, ~0ull, 1);
  }
  text += fmt::format(
      "round \"into the window\"\nbaseline (1,1)\nstage 0 {{\n fill a from={:#x} n=32 txn=0x40\n fill b "
      "from={:#x} n=32 txn=0x40\n gemm gm=8 gn=8 nk=4 txn=0x40\n drain to={:#x} n=64 txn=0x40 last\n}}\n"
      "credit 32\nkick (1,1) slots=0..3\nawait (1,1) 4\nquiet 256\n",
      kA, kB, kWindow);
  // The FP16 words are taken for finished entries: what they mean is nobody's business here.
  text += fmt::format(
      "round \"out of it\"\nbaseline (1,1)\nstage 4 {{\n fill a from={:#x} n=16 preq txn=0x41\n fill b "
      "from={:#x} n=32 txn=0x41\n gemm gm=4 gn=8 nk=4 txn=0x41\n drain to={:#x} n=32 txn=0x41 last\n}}\n"
      "credit 32\nkick (1,1) slots=4..7\nawait (1,1) 4\nquiet 256\n",
      kWindow, kB, kC);
  if (window) text += control(0, 0xE3, 0, ~0ull << 32, std::uint64_t{9} << 32);
  return text;
}

struct Machine {
  Machine(const std::string& text, const topo::Overrides& sets, const char* machine = "staged")
      : program(arch::assemble(text, "test")) {
    platform::Registry models;
    platform::register_models(models);
    system = std::make_unique<platform::System>(topo::read_file(machine, sets), models);
    registry.add(system->timeline());
    observe::add_standard(statistics);
    runner = std::make_unique<platform::Runner>(*system, &program, platform::RunLimits{500'000, 20'000});
  }
  std::string finish() {
    const platform::RunResult& result = runner->run();
    EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = 300;
    facts.machine_cycles = result.machine_cycles();
    statistics.set_facts(facts);
    for (const observe::Violation& v : statistics.check()) ADD_FAILURE() << v.text();
    return fmt::format("{}memory {:016x}\n", observe::json_report(statistics),
                       system->mesh().memory->digest());
  }
  std::vector<std::uint8_t> bytes(std::uint64_t at, std::uint64_t size) const {
    return platform::read_memory(system->mesh(), at, size);
  }
  std::uint64_t counter(const std::string& name) const { return registry.at(name).read(); }

  arch::Program program;
  std::unique_ptr<platform::System> system;
  observe::Registry registry;
  observe::Statistics statistics{registry};
  std::unique_ptr<platform::Runner> runner;
};

struct Variant {
  const char* name;
  topo::Overrides sets;
  unsigned bits, lines;
};
class AdapterWindow : public testing::TestWithParam<Variant> {};

TEST_P(AdapterWindow, ResultsGoThroughTheStoreAndComeBack) {
  const Variant& v = GetParam();
  Machine plain(program(false), v.sets), window(program(true, v.bits, v.lines), v.sets);
  plain.finish();
  window.finish();
  EXPECT_EQ(window.bytes(kC, 1024), plain.bytes(kC, 1024));
  EXPECT_NE(plain.bytes(kC, 1024), std::vector<std::uint8_t>(1024));
  // The intermediate never was in DRAM.
  EXPECT_EQ(window.bytes(kWindow, 2048), std::vector<std::uint8_t>(2048));
  EXPECT_NE(plain.bytes(kWindow, 2048), std::vector<std::uint8_t>(2048));
  EXPECT_EQ(window.counter("memory.dram_path.words_written") + 64,
            plain.counter("memory.dram_path.words_written"));
  EXPECT_EQ(window.counter("memory.dram_path.words_read") + 64, plain.counter("memory.dram_path.words_read"));
  EXPECT_EQ(window.counter("adapter@1,1.served"), 9u);  // 8 writes of 8 beats, 1 stream
  EXPECT_EQ(window.counter("adapter@1,1.words_written"), 64u);
  EXPECT_EQ(window.counter("adapter@1,1.reads.words_read"), 64u);
  EXPECT_EQ(plain.counter("adapter@1,1.served"), 0u);
  EXPECT_EQ(plain.counter("adapter@1,1.forwarded"), window.counter("adapter@1,1.forwarded") + 9);
  EXPECT_TRUE(platform::findings(*window.system).empty());
  // Nobody waits for a write that ended in the adapter to land.
  EXPECT_EQ(window.system->mesh().memory_agent->landing().count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, AdapterWindow,
    testing::Values(Variant{"staged", {}, 18, 8192},
                    Variant{"small_store", {"meshes.0.units.mat.adapter={lines: 128}"}, 12, 128},
                    Variant{"behind_a_crossing", {"meshes.0.units.mat.crossing={depth: 16}"}, 18, 8192}),
    [](const auto& variant) { return variant.param.name; });

// A vector core's words: single writes and plain reads, one every three cycles each way.
std::string vector_program(bool window) {
  constexpr arch::Coord kCore{3, 1};
  std::vector<arch::VectorInst> insts;
  const auto add = [&insts](arch::VectorOp op) -> arch::VectorInst& {
    insts.emplace_back().op = static_cast<std::uint32_t>(op);
    return insts.back();
  };
  // VFILL, VBAR, VDRAIN, VHALT: A0 to A1 by way of L1 word 0, at 8 A1 to A2 by way of word 100.
  constexpr std::uint32_t kHere = 0xE8000000, kAway = 0xF0000000, kBar = 0xE0000000, kHalt = 0xF8000000;
  constexpr std::uint32_t kA1 = 1u << 21, kA2 = 2u << 21;
  const std::uint32_t kernels[2][4] = {{kHere, kBar, kAway | kA1, kHalt},
                                       {kHere | kA1 | 100, kBar, kAway | kA2 | 100, kHalt}};
  for (unsigned k = 0; k < 2; ++k)
    for (unsigned w = 0; w < 4; ++w) {
      auto& inst = add(arch::VectorOp::kImem);
      inst.addr = 8 * k + w;
      inst.word = kernels[k][w];
    }
  const std::uint64_t bases[] = {kA, kWindow, kC};
  for (unsigned d = 0; d < 3; ++d) {
    auto* desc = &add(arch::VectorOp::kDesc);
    desc->ad = d;
    desc->value = bases[d];
    desc = &add(arch::VectorOp::kDesc);
    desc->ad = d;
    desc->fld = 1;
    desc->value = 32u << 16 | 16u;
  }
  add(arch::VectorOp::kRun);
  add(arch::VectorOp::kRun).addr = 8;

  auto source = plain::to_entries(operand_a(kExample), 32, 128, 8, 4);
  source.resize(512);
  std::string text = "program \"t\"\nmachine \"staged\" staging=17\n";
  text += fmt::format("load {:#x} bytes ", kA) + hex(source);
  if (window) {
    text += control(1, 0xE1, kWindow, ~0ull, kWindow, kCore);
    text += control(1, 0xE2, 1, ~0ull, 1, kCore);
  }
  const auto round = [&](std::size_t first, std::size_t end) {
    text += fmt::format("round \"r{}\"\nbaseline (3,1)\nstage {} {{\n", first, first);
    for (std::size_t i = first; i < end; ++i)
      text += " flit " +
              arch::to_hex(arch::make_flit(
                  arch::make_header(kCore, {0, 1}, arch::FlitType::kCuInst, 0x40, i + 1 == end), insts[i])) +
              "\n";
    text += fmt::format("}}\ncredit 32\nkick (3,1) slots={}..{}\nawait (3,1) {}\nquiet 256\n", first, end - 1,
                        end - first);
  };
  round(0, insts.size() - 1);
  round(insts.size() - 1, insts.size());
  return text;
}

TEST(AdapterWindowRun, AVectorCoreDrainsIntoItAndFillsFromIt) {
  Machine plain(vector_program(false), {}), window(vector_program(true), {});
  plain.finish();
  window.finish();
  EXPECT_EQ(window.bytes(kC, 512), window.bytes(kA, 512));
  EXPECT_EQ(plain.bytes(kC, 512), plain.bytes(kA, 512));
  EXPECT_NE(plain.bytes(kC, 512), std::vector<std::uint8_t>(512));
  EXPECT_EQ(window.bytes(kWindow, 512), std::vector<std::uint8_t>(512));
  EXPECT_EQ(window.counter("adapter@3,1.served"), 32u);
  EXPECT_EQ(window.counter("memory.dram_path.words_written") + 16,
            plain.counter("memory.dram_path.words_written"));
  EXPECT_EQ(window.counter("memory.dram_path.words_read") + 16, plain.counter("memory.dram_path.words_read"));
  EXPECT_TRUE(platform::findings(*window.system).empty());
  EXPECT_EQ(window.system->mesh().memory_agent->landing().count(), 0u);
}

TEST(AdapterWindowRun, AReadOfTheWindowNeedsNoWaitForTheWriteToLand) {
  std::string text = program(true);
  for (std::size_t at; (at = text.find("quiet 256\n")) != std::string::npos;) text.erase(at, 10);
  Machine hasty(text, {}), patient(program(true), {});
  hasty.finish();
  patient.finish();
  EXPECT_EQ(hasty.counter("adapter@1,1.reads.words_read"), 64u);
  EXPECT_TRUE(platform::findings(*hasty.system).empty());
}

TEST(AdapterWindowRun, WhatItCannotServeIsTold) {
  std::string text = program(true);
  const std::string preq = "n=16 preq";
  text.replace(text.find(preq), preq.size(), "n=16");
  Machine m(text.substr(0, text.find("write TX_FLIT", text.find("out of it"))), {});
  m.finish();
  const auto findings = platform::findings(*m.system);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "window-forwarded");
  EXPECT_EQ(findings[0].where, "adapter@1,1");
  EXPECT_THAT(findings[0].advice(), testing::HasSubstr("0x80040000"));
}

// Twelve FILLs that nobody answers, for an instruction FIFO of four: the diagnosis sees through the adapter.
TEST(AdapterWindowRun, ABlockedAdapterIsALinkOfTheChain) {
  std::string text = "program \"t\"\nmachine \"staged\" staging=12\nround \"r\"\nbaseline (1,1)\nstage 0 {\n";
  for (unsigned i = 0; i < 12; ++i) text += "fill a from=0x8100000000 n=1 preq txn=0x40\n";
  text += "}\ncredit 32\nkick (1,1) slots=0..11\nawait (1,1) 12\n";
  Machine m(text, {"meshes.0.units.mat.inst_depth=2"});
  EXPECT_EQ(m.runner->run().status, arch::ExitStatus::kNoProgress);
  m.system->timeline().sync();
  const std::string graph = platform::WaitGraph(*m.system).text(50);
  EXPECT_THAT(graph, testing::HasSubstr("router@1,1 out local -> adapter@1,1 down"));
  EXPECT_THAT(graph,
              testing::HasSubstr(
                  "adapter@1,1 down -> cluster@1,1 input: a CU_INST flit from the router to be taken"));
}

TEST(AdapterWindowRun, RestoredAnywhereTheRestIsTheSame) {
  std::uint64_t seed = std::random_device{}();
  if (const char* text = std::getenv("KTPU_SEED")) seed = std::stoull(text);
  SCOPED_TRACE(testing::Message() << "KTPU_SEED=" << seed);
  const std::string text = program(true);
  Machine whole(text, {});
  const std::string report = whole.finish();
  std::mt19937_64 random(seed);
  std::set<Cycle> points;
  while (points.size() < 20)
    points.insert(std::uniform_int_distribution<Cycle>(0, whole.system->engine().now() - 1)(random));
  Machine first(text, {});
  for (const Cycle k : points) {
    ASSERT_FALSE(first.runner->run_until(k));
    const std::string state = platform::save_state(*first.system, *first.runner);
    Machine second(text, {});
    platform::restore_state(*second.system, *second.runner, state);
    ASSERT_EQ(platform::save_state(*second.system, *second.runner), state) << "restored at " << k;
    ASSERT_EQ(second.finish(), report) << "restored at " << k;
  }
  EXPECT_EQ(first.finish(), report);
}

TEST(AdapterWindowRun, SleepingChangesNothing) {
  Machine asleep(program(true), {}), awake(program(true), {});
  awake.system->engine().set_idle_skip(false);
  asleep.finish();
  awake.finish();
  EXPECT_EQ(asleep.bytes(kC, 1024), awake.bytes(kC, 1024));
  EXPECT_EQ(asleep.system->engine().now(), awake.system->engine().now());
  for (const char* name : {"adapter@1,1.served", "adapter@1,1.answers", "cluster@1,1.compute_cycles"})
    EXPECT_EQ(asleep.counter(name), awake.counter(name)) << name;
}

// Settling once in order is enough: what reads a wire comes after what writes it, adapters included.
TEST(AdapterWindowRun, TheSettlingOrderHasNoCircle) {
  for (const char* machine : {"staged", "reference_mesh8"}) {
    Machine m(program(false), {}, machine);
    std::vector<sim::Unit*> pending;
    for (sim::Unit* unit : m.system->engine().units()) {
      if (unit->is_mealy()) pending.push_back(unit);
      if (unit->parts_settle_apart())
        for (sim::Unit* part : unit->parts()) pending.push_back(part);
    }
    ASSERT_GE(pending.size(), 8u * 2 + 8);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t u = 0; u < pending.size(); ++u) {
        const auto waits_for = [&](const sim::LinkBase* link) {
          for (sim::Unit* other : pending) {
            const auto writes = other->settle_writes();
            if (other != pending[u] && std::find(writes.begin(), writes.end(), link) != writes.end())
              return true;
          }
          return false;
        };
        const auto reads = pending[u]->settle_reads();
        if (std::any_of(reads.begin(), reads.end(), waits_for)) continue;
        pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(u));
        moved = true;
        break;
      }
    }
    EXPECT_TRUE(pending.empty()) << machine << ": " << pending.front()->name();
  }
}

}  // namespace
}  // namespace ktpu::test
