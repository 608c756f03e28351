// SPDX-License-Identifier: Apache-2.0
// The memory agent in lock-step under random load: every kind of request from many sources, flits for the
// control agent among them, stalls at every port, and a DRAM with random gaps.
#pragma once

#include <algorithm>
#include <vector>

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

// What one port is sent: complete messages of sources that take turns flit by flit. A source's own flits stay
// in order, and it has one incomplete write.
class RandomRequests {
 public:
  RandomRequests(sim::Random& random, arch::Coord port, std::uint8_t row, bool staged, unsigned mesh)
      : random_(random), port_(port), staged_(staged), mesh_(mesh) {
    for (std::uint8_t x = 1; x <= 5; ++x) sources_.push_back({{x, row}, {}});
  }
  arch::Flit next() {
    Source& source = sources_[random_.below(static_cast<std::uint32_t>(sources_.size()))];
    if (source.left.empty()) start(source);
    const arch::Flit flit = source.left.back();
    source.left.pop_back();
    return flit;
  }
  // Completes one open message; false: there is none.
  bool finish(arch::Flit& flit) {
    for (Source& source : sources_)
      if (!source.left.empty()) {
        flit = source.left.back();
        source.left.pop_back();
        return true;
      }
    return false;
  }

 private:
  struct Source {
    arch::Coord at;
    std::vector<arch::Flit> left;  // last first
  };
  std::uint64_t address() {
    std::uint64_t at = random_.below(1u << 15) * 32ull;
    const std::uint32_t kind = random_.below(24);
    if (kind >= 5 && kind < 9 && staged_)  // mostly a few words, so that reads find what was written
      return at % (1u << (random_.below(8) == 0 ? 21 : 11)) | 1ull << 39 | std::uint64_t{mesh_} << 36;
    if (kind == 0) at |= 1ull << 39;                                          // an aperture
    if (kind == 1) at |= static_cast<std::uint64_t>(random_.below(4)) << 36;  // a mesh
    if (kind == 2) at += random_.below(32);                                   // not aligned
    if (kind == 3) at |= 3ull << 38;
    if (kind == 4) at = (1ull << 40) - 32 * (1 + random_.below(16));  // wraps
    return at;
  }
  void start(Source& source) {
    const unsigned txn = random_.below(256);
    const std::uint32_t kind = random_.below(20);
    if (kind < 9) {
      const unsigned beats = 1 + random_.below(8);
      for (unsigned n = beats; n-- > 0;) {
        arch::Flit data = mt::write_data(0, n + 1 == beats, source.at, port_);
        for (unsigned w = 0; w < 4; ++w) data.w[w] = random_.next();
        source.left.push_back(data);
      }
      source.left.push_back(mt::write_request(address(), beats, source.at, txn, port_));
    } else if (kind < 17) {
      arch::MemReq request;
      request.addr = address();
      request.len = kind < 11 ? random_.below(random_.below(8) == 0 ? 256 : 4) : random_.below(256);
      if (kind >= 11) request.flags = (1 + random_.below(7)) << 4;  // any of QUANT, B layout, STREAM
      request.count = random_.below(6);
      request.entry_words = random_.below(7);
      request.n_peer = random_.below(3) == 0 ? random_.below(4) : 0;
      request.peer0 = random_.below(256);
      request.peer1 = random_.below(256);
      request.peer2 = random_.below(256);
      source.left.push_back(mt::read_request(request, source.at, txn, port_));
    } else {
      arch::Flit flit;
      for (std::uint64_t& word : flit.w) word = random_.next();
      flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
      flit.set_dst(port_);
      source.left.push_back(flit);
      if (flit.type() == arch::FlitType::kMemWrData || flit.type() == arch::FlitType::kMemWrReq ||
          flit.type() == arch::FlitType::kMemRdReq)
        source.left.clear();
      if (source.left.empty()) start(source);
    }
  }

  sim::Random& random_;
  arch::Coord port_;
  bool staged_;
  unsigned mesh_;
  std::vector<Source> sources_;
};

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
  load.values = pair.pair->compared_values() + pair.compared->compared();
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
