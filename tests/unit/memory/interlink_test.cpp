// SPDX-License-Identifier: Apache-2.0
// The interlink's cycle tables and rules, memory.md section 11.
#include <gmock/gmock.h>

#include "arch/flit.h"
#include "tests/unit/memory/interlink_bench.h"

namespace ktpu::memory::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Section 11.6, first table: a burst of p flits accepted in 0..p-1, a = p-1.
class Interlink11_6 : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Flits, Interlink11_6, testing::Values(2u, 3u, 5u, 9u, 17u, 31u, 32u));

TEST_P(Interlink11_6, ABurstToTheNeighbour) {
  const unsigned p = GetParam();
  Chain chain;
  std::vector<std::pair<Cycle, unsigned>> credit;
  chain.mesh(0).aux.look = [&](Cycle now) {
    const unsigned value = chain.status(0, il::kCredit) >> 48 & 255;
    if (credit.empty() || credit.back().second != value) credit.push_back({now, value});
  };
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, p));
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, 2));
  chain.run(400);
  const Cycle a = p - 1;
  std::vector<Cycle> accepted = count_from(0, p);
  accepted.push_back(a + 4 + p);
  accepted.push_back(a + 5 + p);
  EXPECT_EQ(chain.accepted(0), accepted) << "the next flit is taken at a + 4 + p";
  std::vector<Cycle> beats = chain.data_beats(0, 1), injected = chain.injected(1);
  beats.resize(p);
  injected.resize(p);
  EXPECT_EQ(beats, count_from(a + 5, p));
  EXPECT_EQ(injected, count_from(a + 11, p));
  ASSERT_GE(credit.size(), 2u);
  EXPECT_EQ(credit[1], (std::pair<Cycle, unsigned>{a + 4, 64 - p})) << "spent at the grant in a + 3";
  EXPECT_THAT(chain.mesh(1).agent.misuse().kept(), IsEmpty());
  EXPECT_TRUE(chain.mesh(0).agent.idle() && chain.mesh(1).agent.idle());
}

TEST_P(Interlink11_6, SevenMoreCyclesAHop) {
  const unsigned p = GetParam();
  Chain chain({0, 1, 3, 2});
  send_all(chain.sender(0), 0, cu_data_burst(2, {2, 1}, p));
  chain.run(400);
  const Cycle a = p - 1;
  EXPECT_EQ(chain.data_beats(0, 1), count_from(a + 5, p));
  EXPECT_EQ(chain.data_beats(1, 1), count_from(a + 12, p));
  EXPECT_EQ(chain.data_beats(3, 1), count_from(a + 19, p));
  EXPECT_EQ(chain.injected(2), count_from(a + 25, p));
  EXPECT_THAT(chain.injected(1), IsEmpty());
  EXPECT_THAT(chain.injected(3), IsEmpty());
}

TEST_P(Interlink11_6, DownTheChainAsUp) {
  const unsigned p = GetParam();
  Chain chain({0, 1, 3, 2});
  send_all(chain.sender(2), 0, cu_data_burst(0, {2, 1}, p));
  chain.run(400);
  const Cycle a = p - 1;
  EXPECT_EQ(chain.data_beats(2, 0), count_from(a + 5, p));
  EXPECT_EQ(chain.data_beats(3, 0), count_from(a + 12, p));
  EXPECT_EQ(chain.data_beats(1, 0), count_from(a + 19, p));
  EXPECT_EQ(chain.injected(0), count_from(a + 25, p));
}

// Where the cycles of that burst go: p beats, and one cycle each for choosing it, its header and its grant.
TEST_P(Interlink11_6, TheCyclesOfABurst) {
  const unsigned p = GetParam();
  Chain chain;
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, p));
  chain.run(400);
  chain.engine.sync();
  CounterArchive sent(chain.mesh(0).agent), came(chain.mesh(1).agent);
  EXPECT_EQ(sent.at("interlink.sender.cycles.sending"), p);
  EXPECT_EQ(sent.at("interlink.sender.cycles.step"), 3u);
  EXPECT_EQ(sent.at("interlink.sender.cycles.link"), 0u);
  EXPECT_EQ(sent.at("interlink.sender.cycles.idle"), 400u - p - 3);
  EXPECT_EQ(sent.at("interlink.link1.cycles.moving"), p);
  EXPECT_EQ(sent.at("interlink.link1.cycles.granting"), 1u);
  EXPECT_EQ(sent.at("interlink.link1.flits_sent"), p);
  EXPECT_EQ(came.at("interlink.link0.flits_received"), p);
  EXPECT_EQ(came.at("interlink.ingress.cycles.taking"), p);
  EXPECT_EQ(came.at("interlink.ingress.cycles.step"), 1u);
  EXPECT_GT(came.at("interlink.link0.cycles.credit"), 0u);
}

// Section 11.6: a packet of p flits takes 2p + 3 cycles per source mesh, at best 0.48 flits a cycle.
TEST(Interlink, PacketsTake2pPlus3) {
  for (const auto& [p, cycles] : {std::pair{2u, 7u}, {5u, 13u}, {9u, 21u}, {17u, 37u}, {32u, 67u}}) {
    Chain chain;
    for (unsigned b = 0; b < 6; ++b) send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, p));
    chain.run(600);
    const std::vector<Cycle> accepted = chain.accepted(0);
    ASSERT_EQ(accepted.size(), 6 * p);
    for (unsigned b = 0; b < 6; ++b) EXPECT_EQ(accepted[b * p], b * cycles) << p;
  }
}

// A burst longer than 32 flits is cut into packets of 32 and a rest; the 33rd flit is accepted at 67.
TEST(Interlink, LongBurstsAreCut) {
  Chain chain;
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, 41));
  chain.run(400);
  EXPECT_EQ(chain.accepted(0)[32], 67u);
  EXPECT_EQ(chain.data_beats(0, 1)[32], 80u);
  EXPECT_EQ(chain.injected(1)[40], 94u);
}

// Section 11.6, Credit: packets every 2 cycles while the reverse link is idle, each of 1 or 2 beats.
TEST(Interlink, CreditsComeBack) {
  Chain chain;
  std::vector<std::pair<Cycle, unsigned>> credit;
  chain.mesh(0).aux.look = [&](Cycle now) {
    const unsigned value = chain.status(0, il::kCredit) >> 48 & 255;
    if (credit.empty() || credit.back().second != value) credit.push_back({now, value});
  };
  send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, 9));
  chain.run(100);
  EXPECT_THAT(chain.credit_beats(1, 0), ElementsAre(21, 23, 25, 27, 29));
  EXPECT_EQ(credit, (std::vector<std::pair<Cycle, unsigned>>{
                        {0, 64}, {12, 55}, {23, 56}, {25, 58}, {27, 60}, {29, 62}, {31, 64}}));
}

// Section 11.6, Backpressure: floor(65 / p) + 1 packets, then the port is busy to remote flits.
TEST(Interlink, Backpressure) {
  for (unsigned p = 2; p <= 32; ++p) {
    Chain chain;
    chain.receiver(1).busy = [](Cycle now) { return now < 2000; };
    const unsigned packets = 65 / p + 6;
    for (unsigned b = 0; b < packets; ++b) send_all(chain.sender(0), 0, cu_data_burst(1, {2, 1}, p));
    chain.run(2000);
    EXPECT_EQ(chain.accepted(0).size(), (65 / p + 1) * p) << p;
    chain.run(4000);
    EXPECT_EQ(chain.injected(1).size(), packets * p) << "nothing is dropped and everything resumes";
    EXPECT_TRUE(chain.mesh(0).agent.idle());
  }
}

TEST(Interlink, DoorbellRings) {
  for (const unsigned far : {1u, 3u, 2u}) {
    Chain chain({0, 1, 3, 2});
    chain.mesh(0).aux.writes.push_back({10, il::kDoorbell, far | 0x5A00});
    Cycle seen = 0;
    chain.mesh(far).aux.look = [&](Cycle now) {
      if (seen == 0 && chain.status(far, il::kReceived + 0) != 0) seen = now;
    };
    chain.run(100);
    const Cycle hops = il::position(far) - 1;
    EXPECT_THAT(chain.data_beats(0, 1), ElementsAre(15));
    EXPECT_EQ(seen, 10 + 11 + 7 * hops);
    EXPECT_EQ(chain.status(far, il::kReceived + 0), 0x5A00000001u);
    EXPECT_EQ(chain.status(0, il::kDoorbellsSent), 1u);
  }
}

// Section 11.8: CU_DATA from (1,1) of mesh 0 to (2,1) of mesh 1, literal flits.
TEST(Interlink, Worked11_8CuData) {
  Chain chain;
  const std::vector<Flit> burst = cu_data_burst(1, {2, 1}, 5, {1, 1}, {0, 1}, 0, 64);
  EXPECT_EQ(arch::to_hex(burst[0]),
            "011181250000400301100000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(arch::to_hex(burst[4]),
            "0111812d0000000000000000000000000000000000000000000000000000000000000004");
  send_all(chain.sender(0), 0, burst);
  chain.run(100);
  EXPECT_EQ(chain.accepted(0), count_from(0, 5));
  EXPECT_EQ(chain.data_beats(0, 1), count_from(9, 5));
  EXPECT_EQ(chain.injected(1), count_from(15, 5));
  EXPECT_EQ(arch::to_hex(chain.receiver(1).taken[0].flit),
            "211180000000400301100000000000000000000000000000000000000000000000000000");
  EXPECT_EQ(arch::to_hex(chain.receiver(1).taken[4].flit),
            "211180080000000000000000000000000000000000000000000000000000000000000004");
  EXPECT_THAT(chain.credit_beats(1, 0), ElementsAre(17, 19, 21));
  std::vector<unsigned> returned;
  for (const SeenBeat& seen : chain.mesh(1).beats[0]) returned.push_back(il::unpack(seen.beat.header).txn);
  EXPECT_THAT(returned, ElementsAre(1, 2, 2));
}

}  // namespace
}  // namespace ktpu::memory::test
