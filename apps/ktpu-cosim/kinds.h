// SPDX-License-Identifier: Apache-2.0
// The blocks that can stand on the bench, one line each.
#pragma once

#include <span>

#include "apps/ktpu-cosim/bench.h"

namespace ktpu::cosim {

struct BlockKind {
  std::string_view word;
  Block (*make)(sim::Random& random);  // ports and shape
  Stimulus (*stimulus)(const Block& block, Style style, sim::Random& random, sim::Cycle cycles);
  std::unique_ptr<Bench> (*bench)(const Setup& setup);
};

std::span<const BlockKind> block_kinds();
// Throws UserError for a word that is none of theirs.
const BlockKind& kind_of(std::string_view word);

}  // namespace ktpu::cosim
