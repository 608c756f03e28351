// SPDX-License-Identifier: Apache-2.0
// The rules of remote bursts and what breaks without them (memory.md section 11.7), registers and faults
// (11.5), and what no program may notice: idle skip.
#include <gmock/gmock.h>

#include <random>

#include "tests/unit/memory/interlink_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

BenchConfig two_ports(bool quirks) {
  BenchConfig config = Chain::default_config();
  config.agent.ports = {{0, 1}, {0, 2}};
  config.agent.quirks = quirks;
  return config;
}
std::vector<std::uint64_t> payloads(Chain& chain, unsigned mesh, unsigned port = 0) {
  std::vector<std::uint64_t> list;
  for (const Seen& seen : chain.receiver(mesh, port).taken) list.push_back(seen.flit.w[0]);
  return list;
}
// Data flits with the payloads of `burst` in their first word.
std::vector<Flit> numbered(std::vector<Flit> burst, std::uint64_t first) {
  for (Flit& flit : burst) flit.w[0] = first++;
  return burst;
}

// X1, same port: the foreign flit waits for the open packet to close, whose next flit waits behind it.
TEST(Interlink, Rule11_7X1SamePort) {
  for (const bool quirks : {true, false}) {
    BenchConfig config = Chain::default_config();
    config.agent.quirks = quirks;
    Chain chain({0, 1}, config);
    const auto a = cu_data_burst(1, {2, 1}, 6, {1, 1}), b = cu_data_burst(1, {2, 2}, 6, {2, 1});
    for (unsigned i = 0; i < 6; ++i) {
      chain.sender(0).send(0, a[i]);
      chain.sender(0).send(0, b[i]);
    }
    chain.run(2000);
    if (quirks) {
      EXPECT_THAT(chain.accepted(0), SizeIs(1)) << "stuck for good";
      ASSERT_THAT(chain.mesh(0).agent.quirk_hits(), SizeIs(1));
      EXPECT_EQ(chain.mesh(0).agent.quirk_hits()[0].id, arch::QuirkId::kI2);
      EXPECT_EQ(chain.mesh(0).agent.quirk_hits()[0].count, 1u);
      std::string waits;
      for (const sim::Wait& wait : chain.mesh(0).agent.waits(2000)) waits += wait.what + "\n";
      EXPECT_THAT(waits, HasSubstr("burst of (1,1) to mesh 1 is open after 1 flits"));
      EXPECT_THAT(waits, HasSubstr("(2,1) came into the open burst of (1,1)"));
    } else {
      EXPECT_THAT(chain.receiver(1).taken, SizeIs(12));
      EXPECT_THAT(chain.mesh(0).agent.quirk_hits(), IsEmpty());
    }
  }
}

// X1, two ports: the round robin stays on the flit that cannot be taken.
TEST(Interlink, Rule11_7X1OtherPort) {
  for (const bool quirks : {true, false}) {
    Chain chain({0, 1}, two_ports(quirks));
    send_all(chain.sender(0, 0), 0, cu_data_burst(1, {2, 1}, 8, {1, 1}));
    send_all(chain.sender(0, 1), 2, cu_data_burst(1, {2, 2}, 8, {1, 2}));
    chain.run(2000);
    const std::size_t taken = chain.accepted(0, 0).size() + chain.accepted(0, 1).size();
    if (quirks) {
      EXPECT_LT(taken, 16u);
      EXPECT_THAT(chain.receiver(1).taken, IsEmpty());
      EXPECT_THAT(chain.mesh(0).agent.quirk_hits(), SizeIs(1));
    } else {
      EXPECT_EQ(taken, 16u);
      EXPECT_EQ(chain.injected(1, 0).size() + chain.injected(1, 1).size(), 16u);
      EXPECT_EQ(chain.accepted(0, 0), count_from(0, 8)) << "the open burst is not held up";
    }
  }
}

// Bursts one after the other, from two ports, are no interleaving.
TEST(Interlink, BurstsInTurnFromTwoPorts) {
  Chain chain({0, 1}, two_ports(true));
  send_all(chain.sender(0, 0), 0, cu_data_burst(1, {2, 1}, 8, {1, 1}));
  send_all(chain.sender(0, 1), 40, cu_data_burst(1, {2, 2}, 8, {1, 2}));
  chain.run(500);
  EXPECT_THAT(chain.receiver(1, 0).taken, SizeIs(8)) << "row 1";
  EXPECT_THAT(chain.receiver(1, 1).taken, SizeIs(8)) << "row 2";
  EXPECT_THAT(chain.mesh(0).agent.quirk_hits(), IsEmpty());
}

// X2: a packet of one flit sends the word before it again, its own leads the next packet, and so on for good.
TEST(Interlink, Rule11_7X2) {
  for (const bool quirks : {true, false}) {
    BenchConfig config = Chain::default_config();
    config.agent.quirks = quirks;
    Chain chain({0, 1}, config);
    send_all(chain.sender(0), 0, numbered(cu_data_burst(1, {2, 1}, 3), 10));
    send_all(chain.sender(0), 100, numbered(cu_data_burst(1, {2, 1}, 33), 20));
    send_all(chain.sender(0), 400, numbered(cu_data_burst(1, {2, 1}, 2), 60));
    send_all(chain.sender(0), 500, numbered(cu_data_burst(1, {2, 1}, 2), 70));
    chain.run(1000);
    std::vector<std::uint64_t> right{10, 11, 12};
    for (unsigned i = 20; i < 52; ++i) right.push_back(i);
    if (quirks)
      right.insert(right.end(), {51, 52, 60, 61, 70});
    else
      right.insert(right.end(), {52, 60, 61, 70, 71});
    EXPECT_EQ(payloads(chain, 1), right);
    const auto hits = chain.mesh(0).agent.quirk_hits();
    ASSERT_EQ(hits.size(), quirks ? 1u : 0u);
    if (quirks) {
      EXPECT_EQ(hits[0].id, arch::QuirkId::kI1);
    }
  }
}

// X3: another txn, another source or another mesh is another burst.
TEST(Interlink, Rule11_7X3) {
  for (const int what : {0, 1, 2}) {
    Chain chain({0, 1, 3});
    auto burst = cu_data_burst(1, {2, 1}, 4);
    if (what == 0) burst[2].set(arch::header::kTxn, 0x22);
    if (what == 1) burst[2].set_src({2, 1});
    if (what == 2) burst[2].set(arch::header::kRsvd, arch::kRsvdRemote | 3);
    send_all(chain.sender(0), 0, burst);
    chain.run(500);
    EXPECT_THAT(chain.accepted(0), SizeIs(2)) << what;
    ASSERT_THAT(chain.mesh(0).agent.quirk_hits(), SizeIs(1)) << what;
  }
}

// X4: no acknowledge node: fault 1, and a report.
TEST(Interlink, Rule11_7X4) {
  Chain chain;
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, 4, kNode, {0, 0}));
  send_all(chain.sender(0), 50, cu_data_burst(1, {2, 1}, 41, kNode, {0, 1}));
  chain.run(500);
  EXPECT_EQ(chain.status(0, il::kFaults), 1u << il::kNoAck);
  ASSERT_THAT(chain.mesh(0).agent.misuse().kept(), SizeIs(1));
  EXPECT_EQ(chain.mesh(0).agent.misuse().kept()[0].kind, MisuseKind::kRemoteWithoutAck);
  Chain fine;
  send_all(fine.sender(0), 0, cu_data_burst(1, {2, 1}, 41));
  fine.run(500);
  EXPECT_EQ(fine.status(0, il::kFaults), 0u) << "the second packet of a burst starts with data";
}

// X5 and X6: the far port knows writes by their source only, and acknowledges to the far node with the
// sender's place.
TEST(Interlink, Rule11_7X5AndX6) {
  Chain chain;
  chain.sender(1);
  const auto remote = remote_write(0x1000001000, 4);
  send_all(chain.sender(0), 0, remote);
  chain.run(100);
  for (const Seen& seen : chain.receiver(1).taken) chain.sender(1).send(chain.engine.now(), seen.flit);
  chain.run(200);
  ASSERT_THAT(chain.receiver(1).taken, SizeIs(6));
  const Flit& ack = chain.receiver(1).taken.back().flit;
  EXPECT_EQ(ack.type(), FlitType::kMemWrAck);
  EXPECT_EQ(ack.dst(), kNode);
  EXPECT_THAT(chain.receiver(0).taken, IsEmpty()) << "the sender gets no answer";
  std::array<std::uint64_t, 4> word{};
  chain.mesh(1).memory.read(0x1020, {reinterpret_cast<std::uint8_t*>(word.data()), 32});
  EXPECT_EQ(word[0], 101u * 4);
}

// Section 11.8: a memory write from mesh 0 to mesh 1, literal flits; the far router is left out, so its flits
// go back into the port five cycles later.
TEST(Interlink, Worked11_8MemoryWrite) {
  for (const auto& [words, address, response, ack] :
       {std::tuple{4u, 41u, 49u, 59u}, {8u, 49u, 61u, 71u}, {1u, 35u, 40u, 50u}}) {
    Chain chain;
    const auto burst = remote_write(0x1000001000, words);
    if (words == 4) {
      EXPECT_EQ(arch::to_hex(burst[0]),
                "011111051000001000030000000000000000000000000000000000000000000000000000");
      EXPECT_EQ(arch::to_hex(burst[4]).substr(0, 8), "0111410d");
    }
    send_all(chain.sender(0), 0, burst);
    const Cycle first = words + 11;  // injected at a + 11
    chain.run(first);
    for (unsigned i = 0; i <= words; ++i) {
      chain.run(1);
      ASSERT_THAT(chain.receiver(1).taken, SizeIs(i + 1));
      chain.sender(1).send(first + i + 5, chain.receiver(1).taken[i].flit);
    }
    chain.run(200);
    EXPECT_EQ(chain.accepted(1), count_from(first + 5, words + 1));
    if (words == 4) {
      EXPECT_EQ(arch::to_hex(chain.receiver(1).taken[0].flit),
                "011110001000001000030000000000000000000000000000000000000000000000000000");
      EXPECT_EQ(arch::to_hex(chain.receiver(1).taken[4].flit).substr(0, 8), "01114008");
    }
    EXPECT_THAT(cycles_of(chain.mesh(1).bus.aw), ElementsAre(address));
    EXPECT_THAT(cycles_of(chain.mesh(1).bus.b), ElementsAre(response));
    EXPECT_EQ(chain.injected(1).back(), ack);
    EXPECT_THAT(chain.mesh(1).agent.misuse().kept(), IsEmpty());
  }
}

// Section 11.5: disabled, flits are accepted, dropped and fault 4 is set; word 0 reads 0.
TEST(Interlink, Disabled) {
  Chain chain;
  chain.mesh(0).aux.writes.push_back({1, il::kControl, 0});
  send_all(chain.sender(0), 10, cu_data_burst(1, {2, 1}, 5));
  chain.run(200);
  EXPECT_EQ(chain.accepted(0), count_from(10, 5));
  EXPECT_THAT(chain.receiver(1).taken, IsEmpty());
  EXPECT_EQ(chain.status(0, il::kCapability), 0u);
  EXPECT_EQ(chain.status(0, il::kFaults), 1u << il::kFlitDropped);
  ASSERT_THAT(chain.mesh(0).agent.misuse().kept(), SizeIs(1));
  // Enabled again, with the faults cleared: as if nothing had been.
  chain.mesh(0).aux.writes.push_back({200, il::kControl, 5});
  send_all(chain.sender(0), 210, cu_data_burst(1, {2, 1}, 5));
  chain.run(200);
  EXPECT_THAT(chain.receiver(1).taken, SizeIs(5));
  EXPECT_EQ(chain.status(0, il::kFaults), 0u);
}

TEST(Interlink, StatusWords) {
  Chain chain;
  send_all(chain.sender(0), 0, cu_data_burst(3, {2, 1}, 9));
  chain.mesh(0).aux.writes.push_back({60, il::kDoorbell, 1 | 0x4200});
  chain.mesh(1).aux.writes.push_back({210, il::kControl, 3});
  chain.run(200);
  EXPECT_EQ(chain.status(0, 0), 0x0104'0002'494Cull) << "capability: magic, links, mesh, meshes, on";
  EXPECT_EQ(chain.status(1, 0), 0x0104'0102'494Cull);
  EXPECT_EQ(chain.status(0, il::kSentBy + 2), 10ull << 32 | 2) << "beats and packets sent on link 1";
  EXPECT_EQ(chain.status(1, il::kSentBy + 1), 10ull << 32 | 2) << "received from link 0";
  EXPECT_EQ(chain.status(1, il::kSentBy + 2), 9ull << 32 | 1);
  EXPECT_EQ(chain.status(3, il::kSentBy + 1), 9ull << 32 | 1);
  EXPECT_EQ(chain.status(1, il::kBlockedForwarded) & 0xFFFFFFFF, 1u);
  EXPECT_EQ(chain.status(1, il::kReceived), 0x42ull << 32 | 1);
  EXPECT_EQ(chain.status(0, il::kCredit), 0x4040'0000'4040'0000ull);
  chain.run(100);
  EXPECT_EQ(chain.status(1, il::kReceived), 0u) << "cleared by bit 1 of the control register";
}

// A request that names another mesh unmarked: fault 0. Plain reads are not looked at.
// Read by the control agent in cycle c, the registers stand as at the start of c: c cycles are over.
TEST(Interlink, IdleCyclesAsTheControlAgentReadsThem) {
  Chain chain;
  Cycle reads = 0;
  chain.mesh(0).aux.look = [&](Cycle now) {
    ++reads;
    for (const unsigned link : {0u, 1u})
      EXPECT_EQ(chain.status(0, il::kIdleStalled + link) >> 32, now) << "link " << link << ", cycle " << now;
  };
  chain.run(20);
  EXPECT_EQ(reads, 20u);
  EXPECT_EQ(chain.status(0, il::kIdleStalled) >> 32, 20u);
}

TEST(Interlink, UnmarkedRequests) {
  Chain chain;
  chain.sender(0).send(0, read_request(plain_read(0x1000000000, 1)));
  chain.run(200);
  EXPECT_EQ(chain.status(0, il::kFaults), 0u);
  chain.sender(0).send(200, read_request(raw_entries(0x1000000000, 1, 1)));
  chain.run(200);
  EXPECT_EQ(chain.status(0, il::kFaults), 1u << il::kUnmarked);
}

// A packet for a mesh behind the end of the chain, or for the own one: fault 2, dropped, the next one goes.
TEST(Interlink, NoWay) {
  for (const unsigned mesh : {0u, 2u}) {
    Chain chain({0, 1});
    send_all(chain.sender(0), 0, cu_data_burst(mesh, {2, 1}, 5));
    send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, 5));
    chain.run(400);
    EXPECT_THAT(chain.receiver(1).taken, SizeIs(5)) << mesh;
    EXPECT_EQ(chain.status(mesh == 0 ? 0 : 1, il::kFaults), 1u << il::kSwitch) << mesh;
    EXPECT_TRUE(chain.mesh(0).agent.idle() && chain.mesh(1).agent.idle());
  }
}

// Traffic of all meshes at once: everything arrives once and in order, and units that sleep change nothing.
TEST(Interlink, RandomTrafficArrivesOnceWithAndWithoutIdleSkip) {
  std::random_device entropy;
  const unsigned seed = entropy();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const std::vector<unsigned> ids{0, 1, 3, 2};
  std::vector<std::vector<Seen>> runs[2];
  for (const bool skip : {true, false}) {
    std::mt19937 random(seed);
    Chain chain(ids);
    chain.engine.set_idle_skip(skip);
    std::map<unsigned, unsigned> expected;
    for (const unsigned from : ids) {
      Cycle at = 0;
      for (unsigned b = 0; b < 12; ++b) {
        unsigned to = from;
        while (to == from) to = random() % 4;
        unsigned flits = 2 + random() % 40;
        if (flits % 32 == 1) ++flits;
        at += random() % 120;
        // The source says which mesh it was, the first word which burst.
        send_all(
            chain.sender(from), at,
            numbered(cu_data_burst(to, {2, 1}, flits, {static_cast<std::uint8_t>(from + 1), 1}), 1000 * b));
        expected[to] += flits;
      }
    }
    for (const unsigned id : ids) {
      const unsigned period = 2 + random() % 5;
      chain.receiver(id).busy = [period](Cycle now) { return now < 6000 && now / 16 % period == 0; };
    }
    chain.run(12'000);
    for (const unsigned id : ids) {
      EXPECT_THAT(chain.receiver(id).taken, SizeIs(expected[id])) << "mesh " << id;
      std::map<unsigned, std::uint64_t> last;
      for (const Seen& seen : chain.receiver(id).taken) {
        std::uint64_t& before = last[seen.flit.src_x()];
        EXPECT_GE(seen.flit.w[0] + 1, before);
        before = seen.flit.w[0] + 1;
      }
      EXPECT_TRUE(chain.mesh(id).agent.idle()) << id;
      EXPECT_EQ(chain.status(id, il::kCredit), 0x4040'0000'4040'0000ull) << "all credits are back";
      runs[skip].push_back(chain.receiver(id).taken);
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
}

}  // namespace
}  // namespace ktpu::memory::test
