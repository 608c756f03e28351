// SPDX-License-Identifier: Apache-2.0
// fabric.md section 12, Control and Control reply: the registers 0xE0 to 0xE3.
#include "tests/unit/noc/adapter_bench.h"

namespace ktpu::noc::test {
namespace {

using B = AdapterBench;

// The flit from 32 hex digits on the left.
Flit from_left(std::string hex) {
  hex.resize(72, '0');
  return arch::flit_from_hex(hex);
}

// What the router gets for one request at cycle 20, which must not reach the unit.
Flit reply_to(const Flit& request, std::uint32_t lines = 8192) {
  B b(lines);
  b.router.push(20, request);
  b.engine.run_until(40);
  EXPECT_TRUE(b.at_unit.offered.empty());
  EXPECT_EQ(b.at_router.taken.size(), 1u);
  EXPECT_EQ(b.at_router.taken.at(0).cycle, 21u);
  return b.at_router.taken.at(0).flit;
}

TEST(Fabric_S12_Control, Caps) {
  EXPECT_EQ(arch::to_hex(reply_to(B::control(0, 0xE0))), arch::to_hex(from_left("0111707802e0000201120000"
                                                                                "2000")));
  EXPECT_EQ(arch::to_hex(reply_to(B::control(0, 0xE0), 16)), arch::to_hex(from_left("0111707802e0000201090000"
                                                                                    "0010")));
}

// Row 20 of the worked encodings, byte for byte, and its answer.
TEST(Fabric_S15_Row20, BaseIsWrittenAndAnswered) {
  const Flit write = from_left("1101707801e100000000f0000000");
  EXPECT_EQ(write, B::control(arch::kCtrlWrite, 0xE1, 0xF000'0000));
  EXPECT_EQ(arch::to_hex(reply_to(write)), arch::to_hex(from_left("0111707802e100000000f0000000")));
}

TEST(Fabric_S12_Control, BaseKeepsFortyBits) {
  B b;
  b.router.push(10, B::control(arch::kCtrlWrite, 0xE1, ~0ull));
  b.router.push(20, B::control(0, 0xE1));
  b.engine.run_until(40);
  EXPECT_EQ(arch::to_hex(b.at_router.taken.at(1).flit),
            arch::to_hex(from_left("0111707802e1000000ffffffffff")));
}

TEST(Fabric_S12_Control, EnableIsBitZero) {
  B b;
  b.router.push(10, B::control(0, 0xE2));
  b.router.push(20, B::control(arch::kCtrlWrite, 0xE2, ~0ull));
  b.router.push(30, B::control(arch::kCtrlWrite, 0xE2, 2));
  b.engine.run_until(50);
  EXPECT_EQ(arch::to_hex(b.at_router.taken.at(0).flit), arch::to_hex(from_left("0111707802e2")));
  EXPECT_EQ(arch::to_hex(b.at_router.taken.at(1).flit),
            arch::to_hex(from_left("0111707802e20000000000000001")));
  EXPECT_EQ(arch::to_hex(b.at_router.taken.at(2).flit), arch::to_hex(from_left("0111707802e2")));
}

TEST(Fabric_S12_Control, ServedAndForwardedAreCounted) {
  B b;
  b.unit.push(2, B::read(0, 1));  // the window is off
  b.router.push(10, B::control(arch::kCtrlWrite, 0xE1, B::kBase));
  b.router.push(12, B::control(arch::kCtrlWrite, 0xE2, 1));
  b.fill(20, 0, 2, 1);
  b.unit.push(20, B::read(0, 1));
  b.unit.push(20, B::read(63, 1));
  b.unit.push(20, B::read(62, 1));
  b.router.push(50, B::control(0, 0xE3));
  b.engine.run_until(60);
  EXPECT_EQ(arch::to_hex(b.at_router.taken.back().flit),
            arch::to_hex(from_left("0111707802e30000000300000002")));
}

TEST(Fabric_S12_Control, ReadOnlyRegistersIgnoreWrites) {
  EXPECT_EQ(reply_to(B::control(1, 0xE0, ~0ull)), reply_to(B::control(0, 0xE0)));
  EXPECT_EQ(reply_to(B::control(1, 0xE3, ~0ull)), reply_to(B::control(0, 0xE3)));
}

TEST(Fabric_S12_Control, TheOtherRegistersOfTheLinkAddonReadZero) {  // section 10.1
  for (unsigned index = 0xE4; index <= 0xE7; ++index)
    EXPECT_EQ(reply_to(B::control(1, index, 5)),
              arch::unpack<arch::Ctrl>(reply_to(B::control(0, index))).value == 0
                  ? reply_to(B::control(0, index))
                  : Flit{});
}

// Section 10.4: a reply carries the coordinate of the node it comes from, whatever was asked for.
TEST(Fabric_S12_Control, TheReplyComesFromTheNodesOwnPlace) {
  Flit request = B::control(0, 0xE0);
  request.set_dst({0, 0});
  EXPECT_EQ(reply_to(request).src(), B::kUnit);
}

TEST(Fabric_S12_Control, ResetClosesTheWindowAndForgetsWhatIsUnderWay) {
  B b(64, never, [](Cycle c) { return c < 50; });
  b.enable();
  b.unit.push(20, B::read(0, 20));
  b.engine.run_until(40);
  b.at_router.taken.clear();
  b.engine.reset();
  b.router.push(60, B::control(0, 0xE2));
  b.router.push(62, B::control(0, 0xE1));
  b.router.push(64, B::control(0, 0xE3));
  b.engine.run_until(100);
  EXPECT_TRUE(b.at_unit.taken.empty());
  ASSERT_EQ(b.at_router.taken.size(), 3u);
  for (const Crossed& reply : b.at_router.taken) EXPECT_EQ(arch::unpack<arch::Ctrl>(reply.flit).value, 0u);
  b.forget();
}

TEST(Fabric_S12_Control, OtherIndicesAndRepliesPass) {
  for (const Flit& flit :
       {B::control(0, 0), B::control(1, 0xDF, 1), B::control(1, 0xE8, 1), B::control(2, 0xE0, 1)}) {
    B b;
    b.router.push(10, flit);
    b.engine.run_until(30);
    ASSERT_EQ(b.at_unit.taken.size(), 1u);
    EXPECT_EQ(b.at_unit.taken[0].cycle, 10u);
    EXPECT_EQ(b.at_unit.taken[0].flit, flit);
    EXPECT_TRUE(b.at_router.taken.empty());
  }
}

TEST(Fabric_S12_Control, AWriteShowsFromTheNextCycleOn) {
  B b;
  b.router.push(10, B::control(arch::kCtrlWrite, 0xE1, B::kBase));
  b.router.push(20, B::control(arch::kCtrlWrite, 0xE2, 1));
  b.unit.push(20, B::read(0, 1));
  b.unit.push(21, B::read(0, 1));
  b.engine.run_until(50);
  EXPECT_EQ(b.adapter.forwarded(), 1u);
  EXPECT_EQ(b.adapter.served(), 1u);
}

// The reply owns the router's side until it is taken; a flit of the endpoint that came in with the request
// waits behind it.
TEST(Fabric_S12_ControlReply, GoesBeforeTheFlitOfTheSameCycle) {
  B b(64, [](Cycle c) { return c >= 21 && c < 30; });
  b.router.push(20, B::control(0, 0xE0));
  b.unit.push(20, B::passing(1, FlitType::kCuSignal));
  b.unit.push(20, B::passing(2, FlitType::kCuSignal));
  b.engine.run_until(50);
  ASSERT_EQ(b.at_router.taken.size(), 3u);
  EXPECT_EQ(b.at_router.taken[0].flit.type(), FlitType::kCuCtrl);
  EXPECT_EQ(b.at_router.taken[0].cycle, 30u);
  EXPECT_EQ(b.at_router.taken[1].cycle, 31u);
  EXPECT_EQ(b.unit.accepted[1].cycle, 31u) << "busy while the reply owns the side";
}

// L1: a flit that stands refused on the wires stays there.
TEST(Fabric_S12_ControlReply, WaitsForAFlitThatStandsRefused) {
  B b(64, [](Cycle c) { return c < 30; });
  b.unit.push(10, B::passing(1, FlitType::kCuSignal));
  b.unit.push(10, B::passing(2, FlitType::kCuSignal));
  b.router.push(20, B::control(0, 0xE0));
  b.engine.run_until(50);
  ASSERT_EQ(b.at_router.taken.size(), 3u);
  EXPECT_EQ(b.at_router.taken[0].flit.w[0], 1u);
  EXPECT_EQ(b.at_router.taken[1].flit.type(), FlitType::kCuCtrl);
  EXPECT_EQ(b.at_router.taken[2].flit.w[0], 2u);
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(b.at_router.taken[i].cycle, 30u + i);
}

TEST(Fabric_S12_ControlReply, DoesNotHoldWhatPassesDown) {
  B b(64, [](Cycle c) { return c < 40; });
  b.router.push(20, B::control(0, 0xE0));
  for (unsigned i = 0; i < 4; ++i) b.router.push(21, B::passing(i));
  b.engine.run_until(50);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(b.at_unit.taken[i].cycle, 21u + i);
}

TEST(Fabric_S12_ControlReply, ASecondRequestWhileOneIsPendingIsLostAndReported) {
  B b(64, [](Cycle c) { return c < 30; });
  b.router.push(20, B::control(0, 0xE0, 0, 1));
  b.router.push(25, B::control(arch::kCtrlWrite, 0xE2, 1, 2));
  b.router.push(30, B::control(arch::kCtrlWrite, 0xE1, 5, 3));  // the cycle the reply leaves
  b.router.push(31, B::control(0, 0xE0, 0, 4));
  b.engine.run_until(50);
  ASSERT_EQ(b.at_router.taken.size(), 2u);
  EXPECT_EQ(b.at_router.taken[0].flit.txn(), 1u);
  EXPECT_EQ(b.at_router.taken[1].flit.txn(), 4u);
  EXPECT_FALSE(b.adapter.window().enabled) << "it has no effect";
  EXPECT_EQ(b.adapter.window().base, 0u);
  ASSERT_EQ(b.adapter.misuse().total(), 2u);
  EXPECT_EQ(b.adapter.misuse().kept()[0].kind, "control-overlap");
}

}  // namespace
}  // namespace ktpu::noc::test
