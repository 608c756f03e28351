// SPDX-License-Identifier: Apache-2.0
// The memory agent in lock-step under random load: every kind of request from many sources, flits for the
// control agent among them, stalls at every port, and a DRAM with random gaps.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/support/random_memory_requests.h"
#include "tests/twin/memory_host.h"
#include "tests/twin/memory_moves.h"

namespace ktpu::test {

struct MemoryLoad {
  std::uint64_t responses = 0, acks = 0, client_flits = 0, cycles = 0, values = 0;
};

struct MemoryLoadOptions {
  // Of seeds with staging memory.
  memory::StagingPlacement staging = memory::StagingPlacement::kConverged;
  unsigned reads_in_flight = 1;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> dram_clock = std::nullopt;  // MemoryAround
};

// Busy in runs, different ones for each `salt`.
inline std::function<bool(sim::Cycle)> random_stall(std::uint64_t salt, unsigned percent) {
  return [=](sim::Cycle now) {
    const std::uint64_t slow = sim::Random::nth(salt, now / 16);
    const unsigned duty = slow % 4 == 0 ? 100 - percent / 2 : percent / 2;
    return sim::Random::nth(salt + 1, now) % 100 < duty;
  };
}

inline std::vector<std::uint32_t> random_gaps(sim::Random& random, std::uint32_t most) {
  std::vector<std::uint32_t> gaps(random.below(8));
  for (std::uint32_t& gap : gaps) gap = random.below(most + 1);
  return gaps;
}

// Runs until all is done. `flits`: a port is sent about that many.
template <class Twin = rtl::MemoryTwin>
MemoryLoad run_memory_load(std::uint64_t seed, unsigned flits, const MemoryLoadOptions& options = {}) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  sim::Random random(seed);
  mt::BenchConfig config;
  config.bus_bits = 256u << seed % 3;
  const unsigned ports = 1 + static_cast<unsigned>(seed / 3 % 4);
  config.agent.ports.clear();
  for (unsigned p = 0; p < ports; ++p)
    config.agent.ports.push_back({static_cast<std::uint8_t>(p % 2 * 3), static_cast<std::uint8_t>(1 + p)});
  config.agent.mesh_id = random.below(4);
  if (seed % 4 != 0)
    config.dram = {1 + random.below(20), random_gaps(random, 6), 1 + random.below(8), random_gaps(random, 6),
                   1 + random.below(30)};
  const bool staged = seed % 2 == 1;
  if (staged) config.agent.staging = options.staging;
  config.agent.reads_in_flight = options.reads_in_flight;
  RandomClient client(seed + 100, seed % 2 == 0 ? 0.02 : 0.2);
  memory::WindowBus window("window");
  RandomHost host(window, seed + 200, seed % 3 == 1 ? 12 : 0, staged, config.agent.mesh_id);
  MemoryAround around;
  if (seed % 5 != 0) around.client = &client;
  around.window = &window;
  around.host = &host;
  around.dram_clock = options.dram_clock;
  if (options.reads_in_flight != 1 && seed % 2 == 0) around.banked = memory::BankedDramParams{};
  MemoryPair<Twin> pair(config, around);
  for (unsigned n = 0; n < 1u << 15; ++n) {
    std::uint64_t w[4];
    for (std::uint64_t& word : w) word = random.next();
    pair.memory.write(32ull * n, {reinterpret_cast<const std::uint8_t*>(w), 32});
  }
  for (unsigned p = 0; p < ports; ++p) {
    RandomRequests requests(random, config.agent.ports[p], static_cast<std::uint8_t>(p + 1), staged,
                            config.agent.mesh_id);
    sim::Cycle at = 0;
    const unsigned gap = 1 + random.below(seed % 3 == 0 ? 2 : 12);
    for (unsigned n = 0; n < flits; ++n) {
      pair.senders[p]->send(at, requests.next());
      at += random.below(gap);
    }
    arch::Flit flit;
    while (requests.finish(flit)) pair.senders[p]->send(at, flit);
    pair.receivers[p]->busy = random_stall(seed * 10 + p, random.below(80));
  }
  // And moves beside all that.
  if (seed % 4 == 1 && seed % 5 != 0)
    for (unsigned n = 0; n < 6; ++n)
      for (const auto& [offset, data] : random_move(random, 0))
        client.writes.push_back({100 + 400 * n, offset, data});
  MemoryLoad load;
  while ((!client.writes.empty() || !host.done() || !pair.at_rest()) && load.cycles < 400000 &&
         !testing::Test::HasFatalFailure()) {
    pair.run(100);
    load.cycles += 100;
  }
  EXPECT_TRUE(pair.at_rest());
  for (auto& receiver : pair.receivers)
    for (const mt::Seen& seen : receiver->taken) {
      load.responses += seen.flit.type() == arch::FlitType::kMemRdResp;
      load.acks += seen.flit.type() == arch::FlitType::kMemWrAck;
    }
  load.client_flits = client.taken + client.sent;
  load.values = pair.pair->compared_values() + pair.compared_handovers();
  std::printf(
      "seed %llu: %u ports, %u bits, %llu cycles, %llu responses, %llu acks, %llu agent flits, %llu values "
      "compared, 0 mismatches\n",
      static_cast<unsigned long long>(seed), ports, config.bus_bits,
      static_cast<unsigned long long>(load.cycles), static_cast<unsigned long long>(load.responses),
      static_cast<unsigned long long>(load.acks), static_cast<unsigned long long>(load.client_flits),
      static_cast<unsigned long long>(load.values));
  return load;
}

}  // namespace ktpu::test
