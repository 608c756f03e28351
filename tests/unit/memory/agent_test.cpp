// SPDX-License-Identifier: Apache-2.0
// memory.md section 2: what sits at a memory-port coordinate; and sections 4.2, 5 and 9 with two ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "arch/error.h"
#include "tests/unit/memory/bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;

class FakeClient final : public AgentClient {
 public:
  explicit FakeClient(std::function<bool(Cycle)> full_in = {}) : full(std::move(full_in)) {}
  void send(Cycle from, const Flit& flit) { queue_.push_back({from, flit}); }
  std::vector<Seen> got, refused;
  std::vector<Cycle> left;
  std::function<bool(Cycle)> full;

  void reset(Cycle start) override { now_ = start; }
  const Flit* out() const override {
    return queue_.empty() || queue_.front().cycle > now_ ? nullptr : &queue_.front().flit;
  }
  void drive(Cycle) override {}
  bool offer(Cycle now, const Flit& flit) override {
    if (full && full(now)) {
      refused.push_back({now, flit});
      return false;
    }
    got.push_back({now, flit});
    return true;
  }
  Cycle clock(Cycle now, bool out_taken) override {
    if (out_taken) {
      left.push_back(now);
      queue_.pop_front();
    }
    now_ = now + 1;
    return queue_.empty() ? sim::kNever : now + 1;
  }
  void visit(sim::Archive&) override {}
  std::vector<sim::Wait> waits(Cycle) const override { return {}; }

 private:
  std::deque<Seen> queue_;
  Cycle now_ = 0;
};

BenchConfig two_ports() {
  BenchConfig config;
  config.bus_bits = 512;
  config.agent = {{{0, 1}, {0, 2}}, 0, true, 1};
  return config;
}
Flit of_type(FlitType type, unsigned txn, Coord dst = kPort, Coord src = kNode) {
  return arch::make_flit(dst, src, type, txn, true);
}

TEST(Memory_2, TypesAreToldApart) {
  Bench bench;
  FakeClient client;
  bench.agent.set_client(&client);
  for (unsigned type = 0; type < 16; ++type) {
    if (type == 1 || type == 4) continue;  // a write pair is sent below
    bench.sender().send(type, of_type(static_cast<FlitType>(type), type));
  }
  bench.sender().send(20, write_request(0, 1));
  bench.sender().send(21, write_data(0, true));
  bench.run(200);
  std::set<unsigned> types;
  for (const Seen& seen : client.got) {
    types.insert(seen.flit.type_code());
    EXPECT_EQ(seen.cycle, seen.flit.txn());  // no cycle lost
  }
  EXPECT_EQ(types, (std::set<unsigned>{2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(bench.out().size(), 2u);  // the read's word and the write's acknowledgement
}

TEST(Memory_2, ClientTakesOneFlitACycleRoundRobin) {
  Bench bench(two_ports());
  FakeClient client;
  bench.agent.set_client(&client);
  for (unsigned i = 0; i < 4; ++i) {
    bench.sender(0).send(10, of_type(FlitType::kCuSignal, i));
    bench.sender(1).send(10, of_type(FlitType::kCuSignal, 16 + i));
  }
  bench.run(50);
  std::vector<unsigned> order;
  for (const Seen& seen : client.got) order.push_back(seen.flit.txn());
  EXPECT_THAT(order, ElementsAre(0, 16, 1, 17, 2, 18, 3, 19));
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(client.got[i].cycle, 10 + i);
}

// A full client: the selected flit is accepted and lost, and the pointer stays.
TEST(Memory_2, FullClientLosesFlits) {
  Bench bench(two_ports());
  FakeClient client([](Cycle now) { return now < 12; });
  bench.agent.set_client(&client);
  for (unsigned i = 0; i < 4; ++i) bench.sender(0).send(10, of_type(FlitType::kCuSignal, i));
  bench.sender(1).send(10, of_type(FlitType::kCuSignal, 16));
  bench.run(50);
  ASSERT_EQ(client.refused.size(), 2u);
  EXPECT_EQ(client.refused[0].flit.txn(), 0u);
  EXPECT_EQ(client.refused[1].flit.txn(), 1u);
  std::vector<unsigned> order;
  for (const Seen& seen : client.got) order.push_back(seen.flit.txn());
  EXPECT_THAT(order, ElementsAre(2, 16, 3));
}

// busy is that of the flit's own consumer: a wedged engine does not stop the client's flits behind it.
TEST(Memory_2, BusyFollowsTheType) {
  Bench bench;
  FakeClient client;
  bench.agent.set_client(&client);
  bench.receiver().busy = [](Cycle) { return true; };
  for (unsigned i = 0; i < 62; ++i) bench.sender().send(0, read_request(plain_read(0, 1)));
  bench.run(200);
  EXPECT_EQ(bench.sender().accepted.size(), 62u);
  bench.sender().send(200, of_type(FlitType::kCuCtrl, 1));
  bench.sender().send(201, read_request(plain_read(0, 1)));
  bench.run(50);
  EXPECT_EQ(client.got.size(), 1u);
  EXPECT_EQ(bench.sender().unsent(), 1u);
}

TEST(Memory_2, ClientFlitsLeaveByTheirRow) {
  Bench bench(two_ports());
  FakeClient client;
  bench.agent.set_client(&client);
  client.send(10, of_type(FlitType::kCuInst, 1, {2, 1}));
  client.send(10, of_type(FlitType::kCuInst, 2, {2, 2}));
  client.send(10, of_type(FlitType::kCuInst, 3, {1, 3}));  // no port in that row: port 0
  bench.run(50);
  ASSERT_EQ(bench.out(0).size(), 2u);
  EXPECT_EQ(bench.out(0)[0].flit.txn(), 1u);
  EXPECT_EQ(bench.out(0)[1].flit.txn(), 3u);
  ASSERT_EQ(bench.out(1).size(), 1u);
  EXPECT_EQ(bench.out(1)[0].cycle, 11u);
}

TEST(Memory_2, ClientLeavesByTheHighestPortOfARow) {
  BenchConfig config = two_ports();
  config.agent.ports = {{0, 1}, {3, 1}};
  Bench bench(config);
  FakeClient client;
  bench.agent.set_client(&client);
  client.send(10, of_type(FlitType::kCuInst, 1, {2, 1}));
  bench.run(50);
  EXPECT_TRUE(bench.out(0).empty());
  EXPECT_EQ(bench.out(1).size(), 1u);
}

// The client owns the wire over an engine flit that is already offered; the engine just waits.
TEST(Memory_2, ClientBeforeEngine) {
  Bench bench;
  FakeClient client;
  bench.agent.set_client(&client);
  bench.sender().send(20, read_request(raw_entries(0, 1, 4)));  // words would leave in 50..53
  client.send(51, of_type(FlitType::kCuInst, 1, {1, 1}));
  client.send(51, of_type(FlitType::kCuInst, 2, {1, 1}));
  bench.run(100);
  std::vector<std::pair<Cycle, unsigned>> seen;
  for (const Seen& s : bench.out()) seen.push_back({s.cycle, s.flit.type_code()});
  using P = std::pair<Cycle, unsigned>;
  EXPECT_THAT(seen, ElementsAre(P{50, 2}, P{51, 5}, P{52, 5}, P{53, 2}, P{54, 2}, P{55, 2}));
  for (unsigned i = 3; i < 6; ++i) EXPECT_EQ(bench.out()[i].flit.rsvd(), i - 2);
}

TEST(Memory_2, ClientOvertakesAStalledEngineFlit) {
  Bench bench;
  FakeClient client;
  bench.agent.set_client(&client);
  bench.receiver().busy = [](Cycle now) { return now < 60; };
  bench.sender().send(20, read_request(raw_entries(0, 1, 1)));
  client.send(55, of_type(FlitType::kCuInst, 1, {1, 1}));
  bench.run(100);
  ASSERT_EQ(bench.out().size(), 2u);
  EXPECT_EQ(bench.out()[0].flit.type(), FlitType::kCuInst);
  EXPECT_EQ(bench.out()[0].cycle, 60u);
  EXPECT_EQ(bench.out()[1].cycle, 61u);
}

TEST(Memory_2, WithoutClientFlitsAreLostAndRecorded) {
  Bench bench;
  bench.sender().send(10, of_type(FlitType::kCuSignal, 1));
  bench.run(50);
  EXPECT_EQ(bench.sender().accepted.size(), 1u);
  ASSERT_EQ(bench.agent.misuse().total(), 1u);
  EXPECT_EQ(bench.agent.misuse().kept()[0].kind, MisuseKind::kUnclaimedFlit);
}

// Two ports read at once: one read in flight in the DRAM, so the entries alternate; both are slowed alike.
TEST(Memory_7_3, TwoPortsAlternate) {
  Bench bench(two_ports());
  for (unsigned p : {0u, 1u})
    bench.sender(p).send(
        10, read_request(quant_entries(0x1000 * p, 4), kNode, 0, {0, static_cast<std::uint8_t>(1 + p)}));
  bench.run(400);
  // Addresses valid in 14 at both; granted 15 and 16; on the bus 24 and, behind four beats, 29.
  ASSERT_EQ(bench.bus.ar.size(), 8u);
  EXPECT_EQ(bench.bus.ar[0].cycle, 24u);
  EXPECT_EQ(bench.bus.ar[1].cycle, 29u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(bench.bus.ar[i].id, i % 2);
  // Port 0 never waits for port 1: it is back after its own 28 cycles. Port 1's data follow port 0's last
  // word.
  EXPECT_EQ(bench.out(0)[4].cycle - bench.out(0)[0].cycle, 28u);
  EXPECT_EQ(bench.out(0).size(), 16u);
  EXPECT_EQ(bench.out(1).size(), 16u);
}

// Ports are not ordered against each other, a port's own write acknowledgements and reads are served by
// turns.
TEST(Memory_9, OneSourceWritesIssueInOrder) {
  Bench bench(two_ports());
  Sender& s = bench.sender(0);
  for (unsigned i = 0; i < 20; ++i) {
    s.send(0, write_request(0x40, 1, kNode, i));
    s.send(0, write_data(i, true));
  }
  bench.run(2000);
  ASSERT_EQ(bench.out(0).size(), 20u);
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(bench.out(0)[i].flit.txn(), i);
  std::uint64_t word = 0;
  bench.memory.read(0x40, {reinterpret_cast<std::uint8_t*>(&word), 8});
  EXPECT_EQ(word, 4u * 19);
}

TEST(MemoryAgent, BadNumbersAreRefused) {
  SparseMemory memory{{}};
  SimpleDram dram(memory, {}, 256), narrow(memory, {}, 128);
  EXPECT_THROW(MemoryAgent("m", {{}, 0, false, 1}, dram), arch::UserError);
  EXPECT_THROW(MemoryAgent("m", {std::vector<Coord>(5), 0, false, 1}, dram), arch::UserError);
  EXPECT_THROW(MemoryAgent("m", {{{0, 1}}, 0, false, 0}, dram), arch::UserError);
  EXPECT_THROW(MemoryAgent("m", {{{0, 1}}, 0, false, 65}, dram), arch::UserError);
  EXPECT_THROW(MemoryAgent("m", {{{0, 1}}, 0, false, 1}, narrow), arch::UserError);
}

}  // namespace
}  // namespace ktpu::memory::test
