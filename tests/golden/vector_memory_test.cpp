// SPDX-License-Identifier: Apache-2.0
// vector.md section 12.8: fills and drains behind a router and the real memory agent.
#include <gtest/gtest.h>

#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/rig.h"
#include "arch/encoding/vector_inst.h"
#include "tests/unit/vector/kernel_bench.h"

namespace ktpu::test {
namespace {

constexpr Cycle kRouters = 1, kL = 3;

struct KernelRun {
  KernelRun(const Kernel& kernel, unsigned words, unsigned d) {
    topo::Machine machine = check::shipped_machine("reference_small");
    machine.meshes.front().dram->simple.first_read_beat = d;
    for (const topo::Node& node : machine.meshes.front().nodes) {
      if (node.kind() == topo::Kind::kVectorCore) at = node.at;
      if (node.kind() == topo::Kind::kMemoryPort) port = node.at;
    }
    std::vector<arch::Flit> flits;
    const auto add = [&](const arch::VectorInst& i) {
      flits.push_back(arch::make_flit(arch::make_header(at, port, arch::FlitType::kCuInst, 0x40, false), i));
    };
    for (std::uint32_t a = 0; a < kernel.words.size(); ++a)
      add({.op = 1, .addr = a, .word = kernel.words[a]});
    add({.op = 2, .ad = 0, .fld = 0, .value = 0x1000});
    add({.op = 2, .ad = 0, .fld = 1, .value = 32u << 16 | words});
    add({.op = 3});
    program = check::dispatch_program(flits, at, 512);
    rig = std::make_unique<check::Rig>(std::move(machine), &program);
    rig->run();
    EXPECT_EQ(rig->vector(at).runs.size(), 1u);
  }
  Cycle executed(std::size_t i) const { return rig->vector(at).runs.at(0).executed.at(i).cycle; }

  arch::Coord at, port;
  arch::Program program;
  std::unique_ptr<check::Rig> rig;
};

TEST(Vector_S12_8, ABarrierBehindAFill) {
  for (const unsigned d : {1u, 6u})
    for (const unsigned n : {1u, 2u, 16u}) {
      const KernelRun run(Kernel().fill(0, 0).bar().seti(1, 0).halt(), n, d);
      const Cycle expected = 10 * kRouters + kL + 31 + d + Cycle{21 + d} * (n - 1) - 3 * n;
      EXPECT_EQ(run.executed(2) - run.executed(1), expected) << n << " words, D " << d;
      if (d == 1) {
        EXPECT_EQ(expected, 23 + 19 * n);
      }
    }
}

TEST(Vector_S12_8, RequestsAndResponses) {
  constexpr unsigned kWords = 4;
  const KernelRun run(Kernel().fill(0, 0).bar().halt(), kWords, 1);
  const Cycle w = run.executed(0), t0 = w + 9 + 5 * kRouters;
  const check::Cycles requests =
      check::cycles_of(run.rig->out_of_mesh(run.port).flits, arch::FlitType::kMemRdReq);
  const check::Cycles responses = check::cycles_of(run.rig->in(run.at).flits, arch::FlitType::kMemRdResp);
  ASSERT_EQ(requests.size(), kWords);
  ASSERT_EQ(responses.size(), kWords);
  for (unsigned k = 0; k < kWords; ++k) {
    EXPECT_EQ(requests[k], t0 + 3 * k);
    EXPECT_EQ(responses[k], t0 + 24 + 1 + 5 * kRouters + (21 + 1) * k);
  }
}

TEST(Vector_S12_8, DrainedWords) {
  constexpr unsigned kWords = 3;
  const KernelRun run(Kernel().drain(0, 0).halt(), kWords, 1);
  const Cycle e = run.executed(0);
  const check::Cycles data =
      check::cycles_of(run.rig->out_of_mesh(run.port).flits, arch::FlitType::kMemWrData);
  ASSERT_EQ(data.size(), kWords);
  ASSERT_EQ(run.rig->dram.write_beats.size(), kWords);
  for (unsigned k = 0; k < kWords; ++k) {
    EXPECT_EQ(data[k], e + 12 + 5 * kRouters + 3 * k);
    EXPECT_EQ(run.rig->dram.write_beats[k], e + 33 + 5 * kRouters + (25 + 1) * k) << "Dw = 1";
  }
}

}  // namespace
}  // namespace ktpu::test
