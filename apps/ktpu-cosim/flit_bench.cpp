// SPDX-License-Identifier: Apache-2.0
// Routers and endpoints: a neighbour at every mesh port.
#include <deque>

#include "apps/ktpu-cosim/neighbour.h"
#include "apps/ktpu-cosim/unit_bench.h"

namespace ktpu::cosim {

namespace {

class FlitBench final : public UnitBench {
 public:
  explicit FlitBench(const Setup& setup) {
    const auto* endpoint = std::get_if<Endpoint>(&setup.block.shape);
    const arch::Dialect dialect =
        setup.block.word == "vector" ? arch::Dialect::kVector : arch::Dialect::kCluster;
    std::vector<sim::FlitPort> ports;
    for (unsigned p = 0; p < setup.block.ports.size(); ++p) {
      sim::FlitPort port;
      port.in = &links_.emplace_back(setup.block.ports[p].name + ".in", arch::kFlitBits);
      port.out = &links_.emplace_back(setup.block.ports[p].name + ".out", arch::kFlitBits);
      ports.push_back(port);
      neighbours_.emplace_back(p, port, setup, endpoint != nullptr, dialect);
    }
    for (const Message& message : setup.stimulus) neighbours_.at(message.port).send(message);
    stand(endpoint != nullptr ? build(*endpoint, setup, ports.at(0))
                              : build(std::get<noc::RouterParams>(setup.block.shape), setup, ports));
    for (Neighbour& neighbour : neighbours_) engine_.add(neighbour);
    for (sim::FlitLink& link : links_) engine_.add(link);
    engine_.elaborate();
  }

 private:
  static std::unique_ptr<sim::Unit> build(const Endpoint& endpoint, const Setup& setup,
                                          const sim::FlitPort& port) {
    const std::string& word = setup.block.word;
    return setup.registry.endpoint(endpoint.node.kind(), topo::Impl::kLockstep,
                                   word)({word, endpoint.mesh, endpoint.node, port, endpoint.memory});
  }
  static std::unique_ptr<sim::Unit> build(const noc::RouterParams& params, const Setup& setup,
                                          const std::vector<sim::FlitPort>& ports) {
    noc::Router::Ports five;
    for (unsigned p = 0; p < noc::kPorts; ++p) five[p] = ports.at(p);
    return setup.registry.router(topo::Impl::kLockstep, setup.block.word)(setup.block.word, params, five);
  }

  std::deque<sim::FlitLink> links_;
  std::deque<Neighbour> neighbours_;
};

}  // namespace

std::unique_ptr<Bench> flit_bench(const Setup& setup) { return std::make_unique<FlitBench>(setup); }

}  // namespace ktpu::cosim
