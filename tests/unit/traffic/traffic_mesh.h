// SPDX-License-Identifier: Apache-2.0
// A rectangle of routers with a traffic node in every slot (local ports and the whole ring), for tests. The
// routers come from a factory, so that models, RTL twins and lock-step pairs stand in the same mesh.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tlm/noc/router.h"
#include "tlm/sim/engine.h"
#include "tlm/traffic/link_checker.h"
#include "tlm/traffic/node.h"

namespace ktpu::test {

using RouterFactory = std::function<std::unique_ptr<sim::Unit>(const std::string&, const noc::RouterParams&,
                                                               const noc::Router::Ports&)>;
inline std::unique_ptr<sim::Unit> model_router(const std::string& name, const noc::RouterParams& params,
                                               const noc::Router::Ports& ports) {
  return std::make_unique<noc::Router>(name, params, ports);
}

// All slots of a grid: local ports row by row, then the north, south, west and east border (the numbering of
// vectors/rtl/README.md, noc.jsonl).
inline std::vector<arch::Coord> all_slots(const noc::Grid& g) {
  std::vector<arch::Coord> slots;
  const auto add = [&](unsigned x, unsigned y) {
    slots.push_back({static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)});
  };
  for (unsigned y = g.y_lo; y <= g.y_hi; ++y)
    for (unsigned x = g.x_lo; x <= g.x_hi; ++x) add(x, y);
  for (unsigned x = g.x_lo; x <= g.x_hi; ++x) add(x, g.y_lo - 1);
  for (unsigned x = g.x_lo; x <= g.x_hi; ++x) add(x, g.y_hi + 1);
  for (unsigned y = g.y_lo; y <= g.y_hi; ++y) add(g.x_lo - 1, y);
  for (unsigned y = g.y_lo; y <= g.y_hi; ++y) add(g.x_hi + 1, y);
  return slots;
}

class TrafficMesh {
 public:
  // `node_params(slot number, coordinate)`; the position is filled in here.
  using NodeParamsOf = std::function<traffic::NodeParams(std::size_t, arch::Coord)>;

  // `bank`: what the factory adds its routers to, if they run together; it must outlive the mesh.
  TrafficMesh(const noc::Grid& grid, std::uint32_t fifo_depth, const NodeParamsOf& node_params,
              const RouterFactory& factory = model_router, noc::RouterBank* bank = nullptr) {
    const auto key = [](unsigned x, unsigned y) { return x << 8 | y; };
    std::map<unsigned, noc::Router::Ports> ports;
    const auto connect = [&](sim::FlitPort& a, sim::FlitPort& b, const std::string& name_a,
                             const std::string& name_b) {
      a.out = b.in = &link(fmt::format("{}>{}", name_a, name_b));
      b.out = a.in = &link(fmt::format("{}>{}", name_b, name_a));
    };
    const auto r = [](unsigned x, unsigned y) { return fmt::format("r{},{}", x, y); };
    const auto n = [](unsigned x, unsigned y) { return fmt::format("n{},{}", x, y); };
    for (unsigned y = grid.y_lo; y <= grid.y_hi; ++y)
      for (unsigned x = grid.x_lo; x <= grid.x_hi; ++x) {
        if (x < grid.x_hi)
          connect(ports[key(x, y)][noc::kEast], ports[key(x + 1, y)][noc::kWest], r(x, y), r(x + 1, y));
        if (y < grid.y_hi)
          connect(ports[key(x, y)][noc::kSouth], ports[key(x, y + 1)][noc::kNorth], r(x, y), r(x, y + 1));
      }
    slots_ = all_slots(grid);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const unsigned x = slots_[s].x, y = slots_[s].y;
      const unsigned rx = std::clamp(x, grid.x_lo, grid.x_hi), ry = std::clamp(y, grid.y_lo, grid.y_hi);
      const noc::Direction side = y < grid.y_lo   ? noc::kNorth
                                  : x > grid.x_hi ? noc::kEast
                                  : y > grid.y_hi ? noc::kSouth
                                  : x < grid.x_lo ? noc::kWest
                                                  : noc::kLocal;
      sim::FlitPort node;
      connect(ports[key(rx, ry)][side], node, r(rx, ry), n(x, y));
      traffic::NodeParams params = node_params(s, slots_[s]);
      params.position = slots_[s];
      nodes_.push_back(std::make_unique<traffic::Node>(fmt::format("node@{},{}", x, y), params, node));
    }
    for (unsigned y = grid.y_lo; y <= grid.y_hi; ++y)
      for (unsigned x = grid.x_lo; x <= grid.x_hi; ++x) {
        const noc::RouterParams params{{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)},
                                       grid,
                                       sim::FifoShape::sync(fifo_depth)};
        routers_.push_back(factory(fmt::format("router@{},{}", x, y), params, ports[key(x, y)]));
      }
    for (auto& router : routers_) engine.add(*router);
    if (bank != nullptr) {
      bank->connect();
      engine.add(*bank);
    }
    for (auto& node : nodes_) engine.add(*node);
    for (auto& l : links_) {
      engine.add(l);
      checker.watch(l);
    }
    engine.add(checker);
    engine.elaborate();
  }

  // Where in slots() the endpoint at `at` is.
  std::size_t slot(arch::Coord at) const {
    for (std::size_t s = 0; s < slots_.size(); ++s)
      if (slots_[s] == at) return s;
    throw std::out_of_range("no slot there");
  }
  traffic::Node& node(arch::Coord at) { return *nodes_[slot(at)]; }
  std::vector<std::unique_ptr<traffic::Node>>& nodes() { return nodes_; }
  std::vector<std::unique_ptr<sim::Unit>>& routers() { return routers_; }
  std::deque<sim::FlitLink>& links() { return links_; }
  const std::vector<arch::Coord>& slots() const { return slots_; }

  std::uint64_t injected() const {
    std::uint64_t n = 0;
    for (const auto& node : nodes_) n += node->injected();
    return n;
  }
  std::uint64_t delivered() const {
    std::uint64_t n = 0;
    for (const auto& node : nodes_) n += node->delivered();
    return n;
  }

  sim::Engine engine;
  traffic::LinkChecker checker;

 private:
  sim::FlitLink& link(const std::string& name) { return links_.emplace_back(name, arch::kFlitBits); }

  std::deque<sim::FlitLink> links_;
  std::vector<arch::Coord> slots_;
  std::vector<std::unique_ptr<sim::Unit>> routers_;
  std::vector<std::unique_ptr<traffic::Node>> nodes_;
};

}  // namespace ktpu::test
