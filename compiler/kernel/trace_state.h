// SPDX-License-Identifier: Apache-2.0
// What all values of one trace share. Private to this level.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/kernel/value.h"

namespace ktpu::kernel {

struct TraceState : std::enable_shared_from_this<TraceState> {
  Kernel kernel;
  bool open = true;
  std::vector<std::shared_ptr<Body>> bodies;  // the innermost last
  // One counter names temps, tables, tiles, loops, and the landing buffers of staged epilogues. While
  // epilogues may fuse, no landing buffer is made; `unused_lands` counts those there would be.
  std::uint64_t counter = 0, unused_lands = 0;
  std::uint64_t axes = 0;                      // tilings' axes have numbers of their own
  std::map<std::string, std::uint64_t> parts;  // elements of a part, of the axes that parts() made
  std::map<TileId, std::string> lands;
  std::uint32_t regions = 0;

  void add(Node node);
  void store(const Access& target, const Value& value, bool reduce);
};

// The two belong together and live. Throws base::Refusal.
void require_open(const std::shared_ptr<TraceState>& trace);
void require_same(const std::shared_ptr<TraceState>& a, const std::shared_ptr<TraceState>& b);

}  // namespace ktpu::kernel
