// SPDX-License-Identifier: Apache-2.0
// The machine that ktpu-rtlgen writes is the machine that the simulator runs: every output in every cycle.
#include <gtest/gtest.h>

#include <cstdio>

#include "arch/encoding/payloads.h"
#include "arch/encoding/registers.h"
#include "tests/system/run.h"
#include "tests/twin/top_lockstep.h"
#include "tlm/sim/random.h"
#include "tlm/traffic/node.h"
#include "top_small_all.inc"  // generated: the Verilated class

namespace ktpu::test {
namespace {

using Pair = TopLockstep<Vsmall_all_top>;
constexpr arch::Coord kOutside{2, 1}, kCluster{1, 1}, kVector{1, 0};

topo::Machine small_machine() {
  return topo::read_file(std::string(KTPU_SOURCE_DIR) + "/tests/twin/tops/small_all.yaml");
}

// The traffic node stands outside: what its model sends goes in, what comes out is compared.
auto traffic_link(Pair& pair) {
  return [&pair, link = pair.outside(kOutside)](sim::Cycle now, Vsmall_all_top& pins) {
    pair.compare_link(now, link, "traffic@2,1", pins.traffic_2_1_busy_o, pins.traffic_2_1_valid_o,
                      &pins.traffic_2_1_data_o[0]);
    pins.traffic_2_1_valid_i = link.into_mesh->valid();
    if (link.into_mesh->valid())
      std::memcpy(&pins.traffic_2_1_data_i[0], link.into_mesh->data().w.data(), arch::kFlitBits / 8);
    pins.traffic_2_1_busy_i = link.out_of_mesh->busy();
  };
}

// Flits to everybody, at random cycles: reads of memory and, unless a program needs them for itself,
// registers of units, mailbox flits and signals.
enum class Kinds { kReads, kAll };
void inject(Pair& pair, std::uint64_t seed, unsigned count, Kinds kinds = Kinds::kAll) {
  auto* node = dynamic_cast<traffic::Node*>(pair.mesh().endpoint_at(kOutside));
  ASSERT_NE(node, nullptr);
  sim::Random random(seed);
  sim::Cycle at = 0;
  for (unsigned n = 0; n < count; ++n) {
    at += random.below(3) == 0 ? random.below(60) : 1;
    const arch::Coord memory = random.below(2) == 0 ? arch::Coord{0, 1} : arch::Coord{3, 1};
    const arch::Coord unit = random.below(2) == 0 ? kCluster : kVector;
    switch (kinds == Kinds::kReads ? 0 : random.below(4)) {
      case 0: {
        arch::MemReq request;
        request.addr = std::uint64_t{random.below(0x4000)} * 32;
        request.len = random.below(8);
        node->inject({at, arch::make_flit(arch::make_header(memory, kOutside, arch::FlitType::kMemRdReq,
                                                            random.below(256), true),
                                          request)});
        break;
      }
      case 1: {
        arch::Ctrl ctrl;
        ctrl.index = random.below(6);
        node->inject({at, arch::make_flit(arch::make_header(unit, kOutside, arch::FlitType::kCuCtrl,
                                                            random.below(256), true),
                                          ctrl)});
        break;
      }
      default: {
        arch::Flit flit =
            arch::make_flit(random.below(3) == 0 ? arch::Coord{2, 0} : memory, kOutside,
                            random.below(3) == 0 ? arch::FlitType::kCuSignal : arch::FlitType::kCuData,
                            random.below(256), true);
        for (unsigned w = 0; w < 4; ++w) flit.w[w] = random.next();
        node->inject({at, flit});
      }
    }
  }
}

// Random accesses to both register buses and the memory window.
class RandomHost final : public orchestrator::HostScript {
 public:
  RandomHost(std::uint64_t seed, unsigned accesses) : random_(seed), left_(accesses) {}
  orchestrator::HostAction next(sim::Cycle now) override {
    using Kind = orchestrator::HostAction::Kind;
    orchestrator::HostAction action;
    if (left_ == 0) return action;
    --left_;
    const std::uint32_t kind = random_.below(8);
    if (kind == 0) {
      action.kind = Kind::kWait;
      action.until = now + random_.below(100);
    } else if (kind < 4) {
      action.kind = random_.below(2) == 0 ? Kind::kWindowWrite : Kind::kWindowRead;
      // Some through the aperture that quantises.
      action.address = std::uint64_t{random_.below(0x1000)} * 256;
      action.beats = 1 + random_.below(16);
    } else {
      action.kind = random_.below(2) == 0 ? Kind::kWrite : Kind::kRead;
      action.bus = static_cast<std::uint8_t>(random_.below(2));
      action.offset = action.bus == 0 ? agent_offset() : engine_offset();
      action.data = random_.below(3) == 0 ? random_.next() : random_.below(64);
    }
    return action;
  }
  void read_data(sim::Cycle, std::uint64_t) override {}
  memory::WindowWord window_word(std::uint32_t) override {
    return {random_.next(), random_.next(), random_.next(), random_.next()};
  }
  std::string waiting_for() const override { return left_ == 0 ? "" : "random accesses"; }
  bool done() const { return left_ == 0; }

 private:
  std::uint32_t agent_offset() {
    switch (random_.below(4)) {
      case 0:
        return arch::agent::kStage + 8 * random_.below(320);
      case 1:
        return 8 * random_.below(48);  // control, program, mailbox, AUX status
      case 2:
        return 0x1000 + 8 * random_.below(256);  // NODE_STATUS
      default:
        return 0x800 + 8 * random_.below(8);  // the mover
    }
  }
  std::uint32_t engine_offset() {
    return random_.below(3) == 0 ? 8 * random_.below(4) : 0x1000 + 8 * random_.below(90);
  }

  sim::Random random_;
  unsigned left_;
};

void report(const Pair& pair) {
  std::printf("%llu cycles, %llu values compared, %llu of them handovers on the DRAM bus, 0 differences\n",
              static_cast<unsigned long long>(pair.cycles()),
              static_cast<unsigned long long>(pair.compared()),
              static_cast<unsigned long long>(pair.dram_handovers()));
}

// The example, by the command engine, while memory is read from the side.
TEST(TopTwin, Matmul) {
  Pair pair(small_machine());
  inject(pair, 1, 400, Kinds::kReads);
  const arch::Program program = example_program("matmul_32x32x128");
  const platform::RunResult result = run_beside(pair, program, traffic_link(pair));
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  pair.expect_equal_memories();
  EXPECT_GT(pair.dram_handovers(), 400u);
  const Example& e = example("matmul_32x32x128");
  EXPECT_EQ(plain::from_tiles(platform::read_memory(pair.mesh(), e.c, std::uint64_t{e.m} * e.n * 2), e.rows,
                              e.columns, e.sub_rows, e.sub_columns),
            expected(e));
  report(pair);
}

TEST(TopTwin, VectorKernel) {
  Pair pair(small_machine());
  std::ifstream file(std::string(KTPU_SOURCE_DIR) + "/examples/vector_relu.kasm");
  std::stringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  for (std::size_t at = 0; (at = text.find("(3,1)", at)) != std::string::npos;) text.replace(at, 5, "(1,0)");
  const arch::Program program = arch::assemble(text, "vector_relu");
  const platform::RunResult result = run_beside(pair, program, traffic_link(pair));
  EXPECT_EQ(result.status, arch::ExitStatus::kOk) << result.message;
  pair.expect_equal_memories();
  EXPECT_GT(pair.dram_handovers(), 10u);
  report(pair);
}

TEST(TopTwin, RandomHostAndTraffic) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Pair pair(small_machine());
    inject(pair, seed, 500);
    RandomHost host(seed, 600);
    pair.system().host()->set_script(&host);
    pair.start();
    const auto links = traffic_link(pair);
    sim::Engine& engine = pair.system().engine();
    constexpr sim::Cycle kLongest = 60'000;
    for (sim::Cycle rest = 2000; engine.now() < kLongest && rest > 0; rest -= host.done()) {
      const sim::Cycle now = engine.now();
      engine.run_until(now + 1);
      pair.cycle(now, links);
    }
    EXPECT_TRUE(host.done());
    pair.expect_equal_memories();
    EXPECT_GT(pair.dram_handovers(), 1000u);
    report(pair);
  }
}

// The comparison is seen to find a difference: the top gets one register write that the models do not.
TEST(TopTwin, ADifferenceIsFound) {
  Pair pair(small_machine());
  RandomHost host(1, 100);
  pair.system().host()->set_script(&host);
  pair.start();
  const auto links = traffic_link(pair);
  sim::Engine& engine = pair.system().engine();
  EXPECT_THROW(
      for (sim::Cycle now = 0; now < 4000; ++now) {
        engine.run_until(now + 1);
        pair.cycle(now, [&](sim::Cycle at, Vsmall_all_top& pins) {
          links(at, pins);
          if (at == 200) pins.traffic_2_1_valid_i = !pins.traffic_2_1_valid_i;
        });
      },
      sim::LockstepError);
}

}  // namespace
}  // namespace ktpu::test
