// SPDX-License-Identifier: Apache-2.0
// What stands on the bench in lock-step, with the parameters of one episode.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tlm/memory/banked_dram.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/noc/router.h"
#include "tlm/orchestrator/control_agent.h"
#include "topologies/description.h"

namespace ktpu::cosim {

// What transfers are counted on, in the directions it has: as the block sees them.
struct Port {
  std::string name;
  bool in = true, out = true;
};

struct Endpoint {
  topo::Mesh mesh;  // what it knows of its surroundings
  topo::Node node;
  arch::Coord memory;  // where its memory requests go
};
struct MemoryShape {
  memory::MemoryAgentConfig agent;
  memory::SimpleDramParams dram;
  std::optional<memory::BankedDramParams> banked;  // in its place
  unsigned bus_bits = 512;
};
// Memory agents of three meshes in a chain, joined by their interlinks.
struct ChainShape {
  std::vector<MemoryShape> meshes;
};
struct EngineShape {
  unsigned commands = 128;
};
struct QuantiserShape {};

struct Block {
  std::string word;  // as in node ids: "router", "cluster", ...
  std::vector<Port> ports;
  std::variant<noc::RouterParams, Endpoint, MemoryShape, ChainShape, orchestrator::ControlAgentParams,
               EngineShape, QuantiserShape>
      shape;

  std::string text() const;  // the parameters, one line
  // Index into ports. Throws InternalError for a name that is none of them.
  unsigned port(std::string_view name) const;
};

// The words make_block() knows.
std::vector<std::string> block_words();

// Sizes, place and quirks follow from the seed. Throws UserError for a word that is none of block_words().
Block make_block(std::string_view word, std::uint64_t seed);

}  // namespace ktpu::cosim
