// SPDX-License-Identifier: Apache-2.0
// The vector endpoint: envelopes of vector.md sections 2 and 12.6.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

#include "arch/encoding/payloads.h"
#include "arch/encoding/vector_inst.h"
#include "tlm/sim/engine.h"
#include "tlm/vector/vector_core.h"

namespace ktpu::test {
namespace {

using arch::Coord;
using arch::Flit;
using arch::FlitType;
using sim::Cycle;

constexpr Coord kVector{2, 0}, kAgent{0, 1};

// Offers flits from a cycle on and takes everything.
class FarEnd final : public sim::Unit {
 public:
  explicit FarEnd(sim::FlitPort links) : Unit("far"), links_(links) {
    links.in->bind_sender(*this);
    links.out->bind_receiver(*this);
  }
  std::vector<std::pair<Cycle, Flit>> script, seen;
  std::size_t sent = 0;

  void reset(Cycle) override {}
  void drive(Cycle now) override {
    if (sent < script.size() && script[sent].first <= now)
      links_.in->offer(script[sent].second);
    else
      links_.in->withdraw();
  }
  Cycle clock(Cycle now) override {
    if (links_.in->valid() && links_.in->sample_sent()) ++sent;
    if (links_.out->transfers()) seen.push_back({now, links_.out->data()});
    return now + 1;
  }

 private:
  sim::FlitPort links_;
};

class Vector : public ::testing::Test {
 protected:
  static constexpr Cycle kOrigin = 20;
  Vector()
      : in_("in", 288),
        out_("out", 288),
        unit_("vector", {kVector, kAgent, 512, 512}, {&in_, &out_}),
        far_({&in_, &out_}) {
    engine_.add(in_);
    engine_.add(out_);
    engine_.add(unit_);
    engine_.add(far_);
    engine_.elaborate();
  }
  void send(Cycle from, const Flit& f) { far_.script.push_back({from + kOrigin, f}); }
  void run(Cycle cycles) { engine_.run_until(kOrigin + cycles); }
  static Flit envelope(const arch::VectorInst& i, unsigned txn = 7, bool last = false) {
    return arch::make_flit(arch::make_header(kVector, kAgent, FlitType::kCuInst, txn, last), i);
  }
  static arch::VectorInst op(unsigned code) {
    arch::VectorInst i;
    i.op = code;
    return i;
  }
  sim::Engine engine_;
  sim::FlitLink in_, out_;
  vector::VectorCore unit_;
  FarEnd far_;
};

TEST_F(Vector, Section12_6EnvelopeTimes) {
  for (unsigned i = 0; i < 4; ++i) send(0, envelope(op(i == 3 ? 9 : 1 + i % 2), i, i == 3));
  run(60);
  ASSERT_EQ(far_.seen.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(far_.seen[i].first, kOrigin + 9 + 3 * i);
    const Flit& f = far_.seen[i].second;
    EXPECT_EQ(f.type(), FlitType::kCuSignal);
    EXPECT_EQ(f.bits(248, 8), i == 3 ? 1u : 0u);
    EXPECT_EQ(f.bits(216, 32), i == 3 ? 3u : 0u);
    EXPECT_EQ(f.txn(), i);
  }
}

TEST_F(Vector, Section2_5CountsEachEnvelopeOnce) {
  for (const unsigned code : {1u, 2u, 9u}) send(0, envelope(op(code)));
  Flit request = arch::make_flit(kVector, {0, 0}, FlitType::kCuCtrl, 3, true);
  request.set(arch::Layout<arch::Ctrl>::fields[1].field, 2);
  send(40, request);
  run(60);
  EXPECT_EQ(far_.seen.back().second.bits(208, 32), 3u);
}

TEST_F(Vector, Section2_1StoresWordsAndDescriptors) {
  arch::VectorInst word = op(1);
  word.addr = 511;
  word.word = 0xDEADBEEF;
  arch::VectorInst desc = op(2);
  desc.ad = 5;
  desc.fld = 0;
  desc.value = 0xFF12345678;
  send(0, envelope(word));
  send(0, envelope(desc));
  run(40);
  EXPECT_EQ(unit_.instruction_word(511), 0xDEADBEEFu);
  EXPECT_EQ(unit_.descriptor(5).base, 0xFF12345678u);
  EXPECT_EQ(unit_.misuse().total(), 0u);
}

// The shortest kernel reports 5 and its signal leaves at t+15 (section 12.6).
TEST_F(Vector, Section12_6TheShortestKernel) {
  arch::VectorInst halt = op(1);
  halt.addr = 12;
  halt.word = 0xF8000000;
  arch::VectorInst run_at = op(3);
  run_at.addr = 12;
  send(0, envelope(halt));
  send(40, envelope(run_at));
  run(80);
  ASSERT_EQ(far_.seen.size(), 2u);
  EXPECT_EQ(far_.seen[1].first, kOrigin + 40 + 15);
  EXPECT_EQ(far_.seen[1].second.bits(216, 32), 5u);
  EXPECT_EQ(unit_.misuse().total(), 0u);
}

// A fault raised in kernel cycle x: its signal is on the link at t+x+12 (section 12.6).
TEST_F(Vector, Section12_6AFaultAndItsReport) {
  arch::VectorInst load = op(1);
  load.word = 0xA0200000;  // VLD of type 0
  send(0, envelope(load));
  send(40, envelope(op(3)));
  run(80);
  ASSERT_EQ(far_.seen.size(), 2u);
  EXPECT_EQ(far_.seen[1].first, kOrigin + 40 + 2 + 12) << "raised in the first execute cycle, 2";
  EXPECT_EQ(far_.seen[1].second.bits(248, 8), 4u);
  EXPECT_EQ(far_.seen[1].second.bits(216, 32), 1u);
  ASSERT_EQ(unit_.misuse().total(), 1u);
  EXPECT_EQ(unit_.misuse().kept()[0].kind, "vector-fault");
}

// A burst that the core cannot take: dropped, reported, and fault 9 at the next RUN, once (section 2.4).
TEST_F(Vector, Section2_4ARejectedBurstFaultsTheNextRun) {
  arch::VectorInst halt = op(1);
  halt.word = 0xF8000000;
  send(0, envelope(halt));
  arch::CuDataDesc desc;
  desc.offset = 511;
  desc.len = 1;
  send(10, arch::make_flit(arch::make_header(kVector, kAgent, FlitType::kCuData, 0, false), desc));
  send(11, arch::make_flit(kVector, kAgent, FlitType::kCuData, 0, false));
  send(12, arch::make_flit(kVector, kAgent, FlitType::kCuData, 0, true));
  send(40, envelope(op(3)));
  send(80, envelope(op(3)));
  run(140);
  ASSERT_EQ(far_.seen.size(), 3u);
  EXPECT_EQ(far_.seen[1].second.bits(248, 8), 4u);
  EXPECT_EQ(far_.seen[1].second.bits(216, 32), 9u);
  EXPECT_EQ(far_.seen[1].first, kOrigin + 40 - 1 + 12) << "found at the RUN, kernel cycle -1";
  EXPECT_EQ(far_.seen[2].second.bits(248, 8), 0u);
  EXPECT_EQ(unit_.misuse().kept()[0].kind, "vector-burst");
}

// The flag that a RUN has cleared rises again when the burst, still open, gets another foreign flit.
TEST_F(Vector, Section2_4EveryForeignFlitRaisesTheFlag) {
  arch::VectorInst halt = op(1);
  halt.word = 0xF8000000;
  send(0, envelope(halt));
  arch::CuDataDesc desc;
  desc.len = 3;
  const auto data = [](Coord from) { return arch::make_flit(kVector, from, FlitType::kCuData, 0, false); };
  send(10, arch::make_flit(arch::make_header(kVector, kAgent, FlitType::kCuData, 0, false), desc));
  send(11, data({3, 3}));
  send(40, envelope(op(3)));
  send(80, data({3, 3}));
  send(81, data(kAgent));
  send(82, data(kAgent));
  send(120, envelope(op(3)));
  send(160, envelope(op(3)));
  run(200);
  ASSERT_EQ(far_.seen.size(), 4u);
  EXPECT_EQ(far_.seen[1].second.bits(216, 32), 9u);
  EXPECT_EQ(far_.seen[2].second.bits(216, 32), 9u);
  EXPECT_EQ(far_.seen[3].second.bits(216, 32), 5u);
  EXPECT_TRUE(unit_.idle());
}

// A response that no fill asked for makes the count wrap: VBAR waits for ever, and says why (section 2.3).
TEST_F(Vector, Section2_3ASurplusResponseIsNamed) {
  arch::VectorInst bar = op(1);
  bar.word = 0xE0000000;
  send(0, envelope(bar));
  send(10, arch::make_flit(kVector, kAgent, FlitType::kMemRdResp, 0, true));
  send(40, envelope(op(3)));
  run(140);
  const auto waits = unit_.waits(kOrigin + 140);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(
      waits[0].what,
      "VBAR at word 0: its count of read responses, which wrapped: 1 came that no VFILL had asked (0,1) "
      "for");
}

// A kernel without VHALT goes on for ever: who asks is told so.
TEST_F(Vector, AKernelWithoutAnEndIsNamed) {
  arch::VectorInst set_mode = op(1);
  for (set_mode.addr = 0; set_mode.addr < 512; ++set_mode.addr) {
    set_mode.word = 0xC8000000;
    send(0, envelope(set_mode));
  }
  send(2000, envelope(op(3)));
  run(6000);
  const auto waits = unit_.waits(kOrigin + 6000);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].what, "VSETMODE at word 486: no VHALT lies ahead of it");
  EXPECT_TRUE(unit_.never_halts());
  EXPECT_EQ(unit_.kernel_start(), 2025u);
}

// Register 3 reads t in kernel cycle t, up to the `cycles` of the completion (sections 2.5 and 12.1).
TEST_F(Vector, Section2_5CycleCounterOfEveryCycle) {
  arch::VectorInst halt = op(1);
  halt.word = 0xF8000000;
  send(0, envelope(halt));
  arch::Ctrl ctrl;
  ctrl.index = 3;
  // From kernel cycle -2 on, each of another RUN; before cycle 0 it is the count of the RUN before.
  constexpr std::array<std::uint64_t, 11> kReads{0, 5, 0, 1, 2, 3, 4, 5, 5, 5, 5};
  for (unsigned i = 0; i < kReads.size(); ++i) {
    const Cycle run_at = 40 + 60 * i;
    send(run_at, envelope(op(3)));
    send(run_at + 5 - 2 + i,
         arch::make_flit(arch::make_header(kVector, kAgent, FlitType::kCuCtrl, i, true), ctrl));
  }
  run(40 + 60 * kReads.size());
  std::size_t replies = 0;
  for (const auto& [cycle, flit] : far_.seen) {
    if (flit.type() != FlitType::kCuCtrl) continue;
    ASSERT_LT(replies, kReads.size());
    EXPECT_EQ(flit.bits(176, 64), kReads[replies]) << "kernel cycle " << static_cast<int>(replies) - 2;
    ++replies;
  }
  EXPECT_EQ(replies, kReads.size());
}

TEST_F(Vector, Section2_5CapsAndDroppedFlits) {
  Flit request = arch::make_flit(kVector, {0, 0}, FlitType::kCuCtrl, 3, true);
  for (const unsigned type : {2u, 3u, 8u, 8u, 0u})
    send(0, arch::make_flit(kVector, kAgent, static_cast<FlitType>(type), 0, false));
  send(10, request);
  send(10, envelope(op(1)));
  run(60);
  ASSERT_EQ(far_.seen.size(), 2u);
  EXPECT_EQ(far_.seen[0].first, kOrigin + 12);
  EXPECT_EQ(far_.seen[0].second.bits(176, 64), 0x5643042020000000u);
  EXPECT_TRUE(unit_.idle());
}

// Waves and histories keep the addresses of the first visit: none may be of a value that is gone after it.
class Addresses final : public sim::Archive {
 public:
  std::vector<const std::byte*> seen;

 private:
  void on_value(std::string_view, void* value, std::size_t, const sim::ValueInfo&) override { keep(value); }
  void on_memory(std::string_view, void* data, std::size_t, std::size_t) override { keep(data); }
  void on_enter(std::string_view) override {}
  void on_leave() override {}
  void keep(const void* at) { seen.push_back(static_cast<const std::byte*>(at)); }
};

TEST_F(Vector, EveryVisitedValueStaysWhereItIs) {
  Addresses visited;
  unit_.visit(visited);
  EXPECT_GT(visited.seen.size(), 50u);
  std::byte here{};  // what lies near it is on the stack
  for (const std::byte* at : visited.seen) {
    const auto far = reinterpret_cast<std::intptr_t>(at) - reinterpret_cast<std::intptr_t>(&here);
    EXPECT_GT(std::abs(far), 1 << 16);
  }
}

}  // namespace
}  // namespace ktpu::test
