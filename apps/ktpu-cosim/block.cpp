// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/block.h"

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

noc::RouterParams random_router(sim::Random& random) {
  noc::RouterParams params;
  params.grid.x_hi = 1 + random.below(4);
  params.grid.y_hi = 1 + random.below(4);
  params.position = {static_cast<std::uint8_t>(1 + random.below(params.grid.x_hi)),
                     static_cast<std::uint8_t>(1 + random.below(params.grid.y_hi))};
  params.fifo = sim::FifoShape::sync(1u << random.below(10));
  return params;
}

}  // namespace

std::vector<std::string> block_words() { return {"router", "cluster", "vector"}; }

Block make_block(std::string_view word, std::uint64_t seed) {
  sim::Random random(seed ^ 0xB10C);
  Block block;
  block.word = word;
  if (word == "router") {
    block.router = random_router(random);
    block.ports.assign(noc::kPortNames.begin(), noc::kPortNames.end());
    return block;
  }
  block.ports = {"mesh"};
  block.memory = {0, 1};
  block.mesh.hi = {3, 3};
  block.mesh.ports = {block.memory};
  block.node.symbol = word;
  block.node.at = block.node.router = {2, 1};
  block.node.port = 0;
  block.node.quirks = random.below(2) == 0 ? topo::Quirks::kReference : topo::Quirks::kNone;
  if (word == "cluster")
    block.node.params = random_cluster(random);
  else if (word == "vector")
    block.node.params = random_vector(random);
  else
    throw arch::UserError::make("{}: is no block that can stand on the bench; those that can: {}", word,
                                fmt::join(block_words(), ", "));
  return block;
}

std::string Block::text() const {
  if (is_router())
    return fmt::format("router@{},{} of {} x {}, FIFO depth {}", router.position.x, router.position.y,
                       router.grid.x_hi, router.grid.y_hi, router.fifo.depth);
  const std::string_view quirks = topo::quirks_name(node.quirks);
  if (const auto* c = node.get<topo::MatmulCluster>())
    return fmt::format("cluster: tiles {}, L1 {} and {}, FIFOs {} and {}, quirks {}", c->tiles, c->l1_a,
                       c->l1_b, c->inst_depth, c->recv_depth, quirks);
  const auto& v = *node.get<topo::VectorCore>();
  return fmt::format("vector: FIFOs {} and {}, quirks {}", v.inst_depth, v.recv_depth, quirks);
}

std::unique_ptr<sim::Unit> build(const Block& block, const platform::Registry& registry,
                                 const std::vector<sim::FlitPort>& ports) {
  if (!block.is_router())
    return registry.endpoint(block.node.kind(), topo::Impl::kLockstep,
                             block.word)({block.word, block.mesh, block.node, ports.at(0), block.memory});
  noc::Router::Ports five;
  for (unsigned p = 0; p < noc::kPorts; ++p) five[p] = ports.at(p);
  return registry.router(topo::Impl::kLockstep, block.word)(block.word, block.router, five);
}

}  // namespace ktpu::cosim
