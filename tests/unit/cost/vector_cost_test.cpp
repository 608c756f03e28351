// SPDX-License-Identifier: Apache-2.0
// Kernels of the vector core: the recorded programs' cycles, and the rules of vector.md section 12 one by
// one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/cost/vector_core.h"
#include "tests/support/vectors.h"
#include "tests/unit/cost/stub_mesh.h"

namespace ktpu::cost {
namespace {

using nlohmann::json;

struct Rig {
  Ledger ledger;
  StubMesh mesh;
  UnitCost cost;
  std::unique_ptr<VectorCore> unit;
  Cycles t = 0;

  Rig() { cost.kind = UnitKind::kVectorCore; }
  void envelope(const arch::VectorInst& inst) {
    if (!unit) unit = std::make_unique<VectorCore>(0, cost, ledger, mesh);
    arch::Flit flit;
    arch::pack(flit, inst);
    unit->instruction(ledger.after({}, t, Cause::kHost), flit);
    t += 200;
  }
  void word(unsigned at, std::uint32_t word) {
    arch::VectorInst i;
    i.op = static_cast<std::uint32_t>(arch::VectorOp::kImem);
    i.addr = at;
    i.word = word;
    envelope(i);
  }
  void describe(unsigned ad, unsigned fld, std::uint64_t value) {
    arch::VectorInst i;
    i.op = static_cast<std::uint32_t>(arch::VectorOp::kDesc);
    i.ad = ad;
    i.fld = fld;
    i.value = value;
    envelope(i);
  }
  // `cycles` of a run; memory answers four cycles after the request is on the link.
  Cycles run(unsigned pc = 0) {
    const Cycles begin = t;
    arch::VectorInst i;
    i.op = static_cast<std::uint32_t>(arch::VectorOp::kRun);
    i.addr = pc;
    const std::size_t signals = mesh.signals.size();
    std::size_t answered = mesh.requests.size();
    envelope(i);
    while (mesh.signals.size() == signals && answered < mesh.requests.size()) {
      const std::vector<StubMesh::Sent> asked = mesh.requests;
      for (; answered < asked.size(); ++answered)
        if (asked[answered].message.answer)
          unit->data(ledger.after({}, asked[answered].t + 4, Cause::kPort), 1);
    }
    if (mesh.signals.size() == signals) return -1;
    return mesh.signals.back() - begin - 10;
  }
  Cycles run(std::initializer_list<std::uint32_t> words) {
    unsigned at = 0;
    for (const std::uint32_t w : words) word(at++, w);
    return run(0u);
  }
};

TEST(VectorCost, ShortestKernelReportsFive) {
  Rig r;
  EXPECT_EQ(r.run({0xF8000000}), 5);
  EXPECT_EQ(r.mesh.signals.front(), 9);  // an envelope's completion
}

TEST(VectorCost, RecordedKernels) {
  KTPU_NEEDS_VECTORS("vector/program.jsonl");
  std::ifstream in(test::vectors_folder() / "vector/program.jsonl");
  std::string line;
  unsigned checked = 0;
  while (std::getline(in, line)) {
    const json row = json::parse(line);
    if (!row.contains("cycles")) continue;  // faults
    Rig r;
    unsigned at = 0;
    for (const json& w : row["imem"])
      r.word(at++, static_cast<std::uint32_t>(std::stoul(w.get<std::string>(), nullptr, 16)));
    for (const json& d : row["desc"])
      r.describe(d[0], d[1], std::stoull(d[2].get<std::string>(), nullptr, 16));
    EXPECT_EQ(r.run(row["pc"].get<unsigned>()), row["cycles"].get<Cycles>()) << row["name"];
    ++checked;
  }
  EXPECT_GE(checked, 70u);
}

// VL 64, VADD, VADD on its result, VHALT. Twice the lanes: two beats fewer each.
TEST(VectorCost, MoreLanesTakeFewerBeats) {
  const std::initializer_list<std::uint32_t> words{0xD0000000, 64,         0xC0000000, 0xC8000000,
                                                   0x18040220, 0x18080440, 0xF8000000};
  Rig r;
  const Cycles reference = r.run(words);
  EXPECT_EQ(r.unit->books().compute, 8);
  Rig wide;
  wide.cost.vector.lanes = 32;
  EXPECT_EQ(reference - wide.run(words), 4);
  EXPECT_EQ(wide.unit->books().compute, 4);
}

TEST(VectorCost, ClockOfItsOwn) {
  const std::initializer_list<std::uint32_t> words{0xD0000000, 128,        0xC0000000,
                                                   0xC8006000, 0x98020000, 0xF8000000};
  Rig r;
  const Cycles reference = r.run(words);
  Rig slow;
  slow.cost.fabric_per_cycle = 2;
  // The frame around `cycles` counts twice as well.
  EXPECT_EQ(slow.run(words) + 10, 2 * (reference + 10));
}

TEST(VectorCost, WordsOfADrainAreThreeCyclesApart) {
  Rig r;
  r.describe(3, 0, 0x80002000);
  r.describe(3, 1, 0x200004);  // stride 32, bound 4
  r.run({0xF0600004, 0xF8000000});
  ASSERT_EQ(r.mesh.writes.size(), 4u);
  for (unsigned k = 0; k < 4; ++k) {
    EXPECT_EQ(r.mesh.writes[k].addr, 0x80002000u + 32 * k);
    EXPECT_EQ(r.mesh.writes[k].last_flit - r.mesh.writes[0].last_flit, 3 * k);
  }
}

// Two rows of two words, 0x400 apart: dimension 0 is innermost and starts over.
TEST(VectorCost, WalksCarryIntoTheNextDimension) {
  Rig r;
  r.describe(3, 0, 0x1000);
  r.describe(3, 1, 0x200002);
  r.describe(3, 2, 0x4000002);
  r.run({0xF0600004, 0xF8000000});
  std::vector<std::uint64_t> addresses;
  for (const auto& w : r.mesh.writes) addresses.push_back(w.addr);
  EXPECT_EQ(addresses, (std::vector<std::uint64_t>{0x1000, 0x1020, 0x1400, 0x1420}));
}

TEST(VectorCost, AKernelWithoutEndIsTold) {
  Rig r;
  EXPECT_THROW(r.run({0xC0000000}), std::exception);  // imem of VMOV all around
}

}  // namespace
}  // namespace ktpu::cost
