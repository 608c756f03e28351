// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/block.h"

#include <fmt/ranges.h>

#include "apps/ktpu-cosim/kinds.h"
#include "arch/error.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

namespace {

topo::MatmulCluster random_cluster(sim::Random& random) {
  topo::MatmulCluster c;
  const auto power = [&](unsigned least, unsigned most) {
    return 1u << (least + random.below(most - least + 1));
  };
  if (random.below(2) == 0) c.tiles = power(0, 12);
  if (random.below(2) == 0) c.l1_a = power(0, 9);
  if (random.below(2) == 0) c.l1_b = power(0, 9);
  if (random.below(2) == 0) c.inst_depth = power(0, 9);
  if (random.below(2) == 0) c.recv_depth = power(0, 9);
  return c;
}

topo::VectorCore random_vector(sim::Random& random) {
  topo::VectorCore v;
  if (random.below(2) == 0) v.inst_depth = 1u << (4 + random.below(6));
  if (random.below(2) == 0) v.recv_depth = 1u << (4 + random.below(6));
  return v;
}

Block make_router(sim::Random& random) {
  noc::RouterParams params;
  params.grid.x_hi = 1 + random.below(4);
  params.grid.y_hi = 1 + random.below(4);
  params.position = {static_cast<std::uint8_t>(1 + random.below(params.grid.x_hi)),
                     static_cast<std::uint8_t>(1 + random.below(params.grid.y_hi))};
  params.fifo = sim::FifoShape::sync(1u << random.below(10));
  Block block;
  for (const std::string_view name : noc::kPortNames) block.ports.push_back({std::string(name)});
  block.shape = params;
  return block;
}

template <class Params>
Block make_endpoint(std::string_view word, sim::Random& random, Params (*params)(sim::Random&)) {
  Endpoint endpoint;
  endpoint.memory = {0, 1};
  endpoint.mesh.hi = {3, 3};
  endpoint.mesh.ports = {endpoint.memory};
  endpoint.node.symbol = word;
  endpoint.node.at = endpoint.node.router = {2, 1};
  endpoint.node.port = 0;
  endpoint.node.quirks = random.below(2) == 0 ? topo::Quirks::kReference : topo::Quirks::kNone;
  endpoint.node.params = params(random);
  Block block;
  block.ports = {{"mesh"}};
  block.shape = std::move(endpoint);
  return block;
}
Block make_cluster(sim::Random& random) { return make_endpoint("cluster", random, random_cluster); }
Block make_vector(sim::Random& random) { return make_endpoint("vector", random, random_vector); }

std::vector<std::uint32_t> random_gaps(sim::Random& random) {
  std::vector<std::uint32_t> gaps(random.below(8));
  for (std::uint32_t& gap : gaps) gap = random.below(4);
  return gaps;
}

void randomise_dram(sim::Random& random, MemoryShape& shape) {
  shape.bus_bits = 256u << random.below(3);
  if (random.below(2) == 0) return;
  shape.dram.first_read_beat = 1 + random.below(20);
  shape.dram.read_gaps = random_gaps(random);
  shape.dram.first_write_beat = 1 + random.below(8);
  shape.dram.write_gaps = random_gaps(random);
  shape.dram.write_response = 1 + random.below(30);
}

// Four ports most of the time, so that each of them gets its share.
Block make_memory(sim::Random& random) {
  MemoryShape shape;
  memory::MemoryAgentConfig& agent = shape.agent;
  agent.ports.clear();
  agent.quirks = random.below(2) == 0;
  agent.mesh_id = random.below(4);
  constexpr std::array kStaging{memory::StagingPlacement::kNone, memory::StagingPlacement::kConverged,
                                memory::StagingPlacement::kPort};
  agent.staging = kStaging[random.below(3)];
  agent.interlink = agent.interlink_idle = random.below(3) == 0;
  randomise_dram(random, shape);
  if (random.below(2) == 0) {
    agent.reads_in_flight = 1 + random.below(random.below(2) == 0 ? 4 : 64);
    if (random.below(2) == 0) shape.banked.emplace();
  }
  const unsigned ports = random.below(2) == 0 ? 4 : 1 + random.below(4);
  for (unsigned p = 0; p < ports; ++p)
    agent.ports.push_back({static_cast<std::uint8_t>(p % 2 * 3), static_cast<std::uint8_t>(1 + p)});
  Block block;
  for (unsigned p = 0; p < ports; ++p) block.ports.push_back({fmt::format("port{}", p)});
  for (const Port& port :
       {Port{"client"}, Port{"aux", true, false}, Port{"window.aw", true, false},
        Port{"window.w", true, false}, Port{"window.b", false, true}, Port{"window.ar", true, false},
        Port{"window.r", false, true}, Port{"dram.ar", false, true}, Port{"dram.r", true, false},
        Port{"dram.aw", false, true}, Port{"dram.w", false, true}, Port{"dram.b", true, false}})
    block.ports.push_back(port);
  block.shape = std::move(shape);
  return block;
}

Block make_chain(sim::Random& random) {
  // Neighbours as they follow each other in memory.md section 11: link 1 of one goes to link 0 of the next.
  constexpr std::array<std::array<unsigned, 3>, 2> kIds{{{0, 1, 3}, {1, 3, 2}}};
  const std::array<unsigned, 3>& ids = kIds[random.below(2)];
  const bool quirks = random.below(2) == 0;
  const unsigned ports = 1 + random.below(2);
  Block block;
  ChainShape chain;
  for (unsigned m = 0; m < ids.size(); ++m) {
    MemoryShape shape;
    shape.agent.mesh_id = ids[m];
    shape.agent.interlink = true;
    shape.agent.interlink_idle = false;
    shape.agent.quirks = quirks;
    shape.agent.ports.clear();
    for (unsigned p = 0; p < ports; ++p) {
      shape.agent.ports.push_back({0, static_cast<std::uint8_t>(1 + p)});
      block.ports.push_back({fmt::format("m{}.port{}", m, p)});
    }
    randomise_dram(random, shape);
    block.ports.push_back({fmt::format("m{}.client", m)});
    block.ports.push_back({fmt::format("m{}.aux", m), true, false});
    if (m != 0) block.ports.push_back({fmt::format("m{}.link0", m)});
    if (m + 1 != ids.size()) block.ports.push_back({fmt::format("m{}.link1", m)});
    chain.meshes.push_back(std::move(shape));
  }
  block.shape = std::move(chain);
  return block;
}

Block make_agent(sim::Random& random) {
  orchestrator::ControlAgentParams params;
  params.position = {static_cast<std::uint8_t>(random.below(4)), static_cast<std::uint8_t>(random.below(4))};
  params.grid_lo = 1 + random.below(2);
  params.grid_hi = params.grid_lo + random.below(4);
  params.staging_flits = random.below(3) == 0 ? 1 + random.below(128) : 128;
  params.quirks = random.below(2) == 0;
  Block block;
  block.ports = {{"bus0"}, {"bus1"}, {"mesh"}, {"aux", false, true}};
  block.shape = params;
  return block;
}

Block make_engine(sim::Random& random) {
  Block block;
  block.ports = {{"host_bus"}, {"agent_bus"}};
  block.shape = EngineShape{random.below(2) == 0 ? 128 : 1 + random.below(128)};
  return block;
}

Block make_quantiser(sim::Random&) {
  Block block;
  block.ports = {{"beats", true, false}, {"words", false, true}};
  block.shape = QuantiserShape{};
  return block;
}

}  // namespace

std::span<const BlockKind> block_kinds() {
  static constexpr std::array<BlockKind, 8> kKinds{{
      {"router", make_router, router_stimulus, flit_bench},
      {"cluster", make_cluster, cluster_stimulus, flit_bench},
      {"vector", make_vector, vector_stimulus, flit_bench},
      {"memory", make_memory, memory_stimulus, memory_bench},
      {"interlink", make_chain, chain_stimulus, chain_bench},
      {"agent", make_agent, agent_stimulus, agent_bench},
      {"engine", make_engine, engine_stimulus, engine_bench},
      {"quantiser", make_quantiser, quantiser_stimulus, quantiser_bench},
  }};
  return kKinds;
}

std::vector<std::string> block_words() {
  std::vector<std::string> words;
  for (const BlockKind& kind : block_kinds()) words.emplace_back(kind.word);
  return words;
}

const BlockKind& kind_of(std::string_view word) {
  for (const BlockKind& kind : block_kinds())
    if (kind.word == word) return kind;
  throw arch::UserError::make("{}: is no block that can stand on the bench; those that can: {}", word,
                              fmt::join(block_words(), ", "));
}

Block make_block(std::string_view word, std::uint64_t seed) {
  sim::Random random(seed ^ 0xB10C);
  Block block = kind_of(word).make(random);
  block.word = word;
  return block;
}

Stimulus make_stimulus(const Block& block, Style style, std::uint64_t seed, sim::Cycle cycles) {
  sim::Random random(seed);
  return kind_of(block.word).stimulus(block, style, random, cycles);
}

unsigned Block::port(std::string_view name) const {
  for (unsigned p = 0; p < ports.size(); ++p)
    if (ports[p].name == name) return p;
  throw arch::InternalError(fmt::format("{}: no port {}", word, name));
}

namespace {

std::string text_of(const noc::RouterParams& r) {
  return fmt::format("router@{},{} of {} x {}, FIFO depth {}", r.position.x, r.position.y, r.grid.x_hi,
                     r.grid.y_hi, r.fifo.depth);
}
std::string text_of(const Endpoint& endpoint) {
  const std::string_view quirks = topo::quirks_name(endpoint.node.quirks);
  if (const auto* c = endpoint.node.get<topo::MatmulCluster>())
    return fmt::format("cluster: tiles {}, L1 {} and {}, FIFOs {} and {}, quirks {}", c->tiles, c->l1_a,
                       c->l1_b, c->inst_depth, c->recv_depth, quirks);
  const auto& v = *endpoint.node.get<topo::VectorCore>();
  return fmt::format("vector: FIFOs {} and {}, quirks {}", v.inst_depth, v.recv_depth, quirks);
}
std::string text_of(const MemoryShape& m) {
  constexpr std::array<const char*, 3> kStaging{"none", "converged", "in the ports"};
  return fmt::format(
      "memory: {} ports, mesh {}, bus {}, DRAM {} {} {}, reads in flight {}, staging {}, interlink {}, "
      "quirks {}",
      m.agent.ports.size(), m.agent.mesh_id, m.bus_bits, m.dram.first_read_beat, m.dram.first_write_beat,
      m.dram.write_response, m.agent.reads_in_flight, kStaging[static_cast<unsigned>(m.agent.staging)],
      m.agent.interlink ? "idle" : "none", m.agent.quirks ? "reference" : "none");
}
std::string text_of(const ChainShape& chain) {
  std::string text = "interlink: meshes";
  for (const MemoryShape& mesh : chain.meshes) text += fmt::format(" {}", mesh.agent.mesh_id);
  return fmt::format("{} of {} ports, quirks {}", text, chain.meshes[0].agent.ports.size(),
                     chain.meshes[0].agent.quirks ? "reference" : "none");
}
std::string text_of(const orchestrator::ControlAgentParams& a) {
  return fmt::format("agent: at ({},{}), grid {}..{}, staging RAM {} flits, quirks {}", a.position.x,
                     a.position.y, a.grid_lo, a.grid_hi, a.staging_flits, a.quirks ? "reference" : "none");
}
std::string text_of(const EngineShape& e) { return fmt::format("engine: {} commands", e.commands); }
std::string text_of(const QuantiserShape&) { return "quantiser"; }

}  // namespace

std::string Block::text() const {
  return std::visit([](const auto& s) { return text_of(s); }, shape);
}

}  // namespace ktpu::cosim
