// SPDX-License-Identifier: Apache-2.0
// Memory agents in a chain, joined by their interlinks, each in lock-step: bursts and words from mesh to
// mesh, doorbells, ordinary requests beside them, stalls everywhere.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "arch/encoding/interlink.h"
#include "tests/support/random_remote_burst.h"
#include "tests/twin/memory_load.h"

namespace ktpu::test {

namespace il = arch::interlink;

struct ChainLoad {
  std::uint64_t cycles = 0, beats = 0, injected = 0, doorbells = 0, words = 0, credits = 0;
};

struct ChainOptions {
  std::vector<unsigned> ids{0, 1, 3, 2};  // neighbours, in the order of the chain
  unsigned ports = 1;
  bool quirks = true;
  // Bursts that break the rules of memory.md section 11.7: of one flit, interleaved, with the interlink
  // switched off and on, to a mesh that is not there. The chain need not come to rest then.
  bool wild = false;
  unsigned bursts = 60;
};

template <class Twin = rtl::MemoryTwin>
ChainLoad run_chain(std::uint64_t seed, const ChainOptions& options) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  sim::Random random(seed);
  struct Mesh {
    std::unique_ptr<RandomClient> client;
    std::unique_ptr<MemoryNode<Twin>> node;
    std::vector<std::size_t> looped;  // flits of each port that were looked at
  };
  sim::Engine engine;
  std::vector<std::unique_ptr<memory::BeatLink>> wires;
  std::vector<Mesh> meshes(options.ids.size());
  std::vector<MemoryAround> around(meshes.size());
  for (std::size_t m = 0; m + 1 < meshes.size(); ++m) {
    for (const char* name : {"up", "down"}) {
      wires.push_back(std::make_unique<memory::BeatLink>(name, memory::kBeatWireBits));
      engine.add(*wires.back());
    }
    around[m].links[1] = {wires[2 * m].get(), wires[2 * m + 1].get()};
    around[m + 1].links[0] = {wires[2 * m + 1].get(), wires[2 * m].get()};
  }
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    mt::BenchConfig config = on_bus(256u << random.below(3));
    config.agent.mesh_id = options.ids[m];
    config.agent.interlink = true;
    config.agent.interlink_idle = false;
    config.agent.quirks = options.quirks;
    config.agent.ports.clear();
    for (unsigned p = 0; p < options.ports; ++p)
      config.agent.ports.push_back({0, static_cast<std::uint8_t>(1 + p)});
    config.dram.first_read_beat = 1 + random.below(12);
    config.dram.write_response = 1 + random.below(seed % 2 == 0 ? 4 : 60);
    if (seed % 3 == 0) config.dram.write_gaps = random_gaps(random, 6);
    Mesh& mesh = meshes[m];
    mesh.client = std::make_unique<RandomClient>(seed + 10 * m, 0.02);
    mesh.client->one_move_at_a_time = true;
    around[m].client = mesh.client.get();
    mesh.node =
        std::make_unique<MemoryNode<Twin>>(engine, fmt::format("m{}", options.ids[m]), config, around[m]);
    mesh.looped.assign(options.ports, 0);
    const auto other = [&] {
      if (options.wild && random.below(12) == 0) return random.below(4);
      return options
          .ids[(m + 1 + random.below(static_cast<std::uint32_t>(meshes.size()) - 1)) % meshes.size()];
    };
    // One port sends bursts at a time, so that they are not interleaved (X1); wild ones come at all ports.
    sim::Cycle at = 5;
    const auto source = [&](unsigned p) {
      return arch::Coord{static_cast<std::uint8_t>(8 + options.ids[m]), static_cast<std::uint8_t>(1 + p)};
    };
    for (unsigned n = 0; n < options.bursts; ++n) {
      const unsigned p = options.wild ? random.below(options.ports) : 0;
      unsigned flits = 2 + random.below(random.below(6) == 0 ? 60 : 14);
      if (flits % 32 == 1) ++flits;  // X2
      if (options.wild && random.below(4) == 0) flits = 1;
      std::vector<arch::Flit> burst =
          random_remote_burst(random, other(), {0, static_cast<std::uint8_t>(1 + p)}, source(p), flits);
      for (const arch::Flit& flit : burst) {
        if (random.below(3) == 0) at += random.below(6);
        if (options.wild && random.below(40) == 0) continue;  // loses one
        mesh.node->senders[p]->send(at, flit);
        if (options.wild && random.below(30) == 0)
          mesh.node->senders[p]->send(
              at, random_remote_burst(random, other(), {0, static_cast<std::uint8_t>(1 + p)}, {7, 7}, 1)[0]);
      }
      at += random.below(40);
      // An ordinary request; of one that names another mesh nothing is known but a fault.
      if (random.below(3) == 0)
        mesh.node->senders[options.ports - 1]->send(
            at, mt::read_request(
                    mt::raw_entries(random.below(1u << 10) * 128ull |
                                        std::uint64_t{random.below(8) == 0 ? 3u : options.ids[m]} << 36,
                                    1 + random.below(4), 4),
                    {5, 5}, random.below(200)));
    }
    for (unsigned p = 0; p < options.ports; ++p)
      mesh.node->receivers[p]->busy = random_stall(seed * 10 + 4 * m + p, random.below(60));
    // Moves, some of them into other meshes, doorbells behind them, and whatever else the registers do.
    for (unsigned n = 0; n < 12; ++n) {
      const unsigned far = random.below(3) == 0 ? options.ids[m] : other();
      const unsigned words = 1 + random.below(30);
      mt::Writes move = mt::copy_of(std::uint64_t{options.ids[m]} << 36 | random.below(1u << 10) * 32ull,
                                    std::uint64_t{far} << 36 | random.below(1u << 12) * 32ull, words);
      move.push_back({arch::mover::kControl, std::uint64_t{random.below(2)} << 11 | 1ull << 16});
      for (const auto& [offset, data] : move) mesh.client->writes.push_back({10, offset, data});
      mesh.client->writes.push_back({10, il::kDoorbell, other() | std::uint64_t{random.below(256)} << 8});
      if (random.below(4) == 0) mesh.client->writes.push_back({10, il::kControl, 1 | random.below(4) << 1});
      if (random.below(8) == 0)
        mesh.client->writes.push_back({10, 0x98 + 8 * random.below(8), random.next()});
      if (options.wild && random.below(4) == 0)
        mesh.client->writes.push_back({10, il::kControl, random.below(2)});
      if (random.below(12) == 0) mesh.client->writes.push_back({10, il::kMeshId, options.ids[m]});
    }
  }
  engine.elaborate();
  ChainLoad load;
  const auto done = [&] {
    return std::all_of(meshes.begin(), meshes.end(),
                       [](const Mesh& mesh) { return mesh.client->writes.empty() && mesh.node->at_rest(); });
  };
  const sim::Cycle most = options.wild ? 6000 : 60000;
  while (load.cycles < most && (load.cycles % 64 != 0 || !done()) && !testing::Test::HasFatalFailure()) {
    engine.run_until(++load.cycles);
    for (std::size_t m = 0; m < meshes.size(); ++m) {
      Mesh& mesh = meshes[m];
      mesh.node->compare_registers();
      // What is for the mesh's own memory comes back, as from its router.
      for (unsigned p = 0; p < options.ports; ++p)
        for (const auto& taken = mesh.node->receivers[p]->taken; mesh.looped[p] < taken.size();
             ++mesh.looped[p]) {
          const arch::Flit& flit = taken[mesh.looped[p]].flit;
          if (flit.dst() == arch::Coord{0, static_cast<std::uint8_t>(1 + p)} && flit.src_x() >= 8 &&
              flit.txn() == 0 && flit.rsvd() == 0 &&
              (flit.type() == arch::FlitType::kMemWrReq || flit.type() == arch::FlitType::kMemWrData))
            mesh.node->senders[p]->send(load.cycles + 3, flit);
        }
    }
  }
  EXPECT_TRUE(options.wild || done());
  for (Mesh& mesh : meshes) {
    mesh.node->pair->require_compared();
    const mt::CounterArchive counters(*mesh.node->agent);
    for (unsigned l = 0; l < il::kLinks; ++l) {
      load.beats += counters.at(fmt::format("interlink.link{}.beats_sent", l));
      load.credits += counters.at(fmt::format("interlink.link{}.credits_sent", l));
    }
    load.injected += counters.at("interlink.ingress.injected");
    load.doorbells += counters.at("interlink.ingress.doorbells");
    load.words += counters.at("interlink.ingress.words_written");
  }
  std::printf(
      "seed %llu: %zu meshes, %llu cycles, %llu beats and %llu credits on links, %llu flits, %llu words and "
      "%llu doorbells in, 0 mismatches\n",
      static_cast<unsigned long long>(seed), meshes.size(), static_cast<unsigned long long>(load.cycles),
      static_cast<unsigned long long>(load.beats), static_cast<unsigned long long>(load.credits),
      static_cast<unsigned long long>(load.injected), static_cast<unsigned long long>(load.words),
      static_cast<unsigned long long>(load.doorbells));
  return load;
}

}  // namespace ktpu::test
