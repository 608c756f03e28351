// SPDX-License-Identifier: Apache-2.0
// What stands on the bench: one router or endpoint in lock-step, with the parameters of one episode.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/noc/router.h"
#include "tlm/platform/registry.h"
#include "topologies/description.h"

namespace ktpu::cosim {

struct Block {
  std::string word;          // as in node ids: "router", "cluster", "vector"
  topo::Mesh mesh;           // what an endpoint knows of its surroundings
  topo::Node node;           // meaningful unless a router
  arch::Coord memory;        // where its memory requests go
  noc::RouterParams router;  // meaningful iff a router
  std::vector<std::string> ports;

  bool is_router() const { return word == "router"; }
  std::string text() const;  // the parameters, one line
};

// The words make_block() knows.
std::vector<std::string> block_words();

// Sizes, place and quirks follow from the seed. Throws UserError for a word that is none of block_words().
Block make_block(std::string_view word, std::uint64_t seed);

// Model and twin in lock-step on `ports` (one for an endpoint, five for a router). Throws UserError when
// `registry` has no lock-step implementation.
std::unique_ptr<sim::Unit> build(const Block& block, const platform::Registry& registry,
                                 const std::vector<sim::FlitPort>& ports);

}  // namespace ktpu::cosim
