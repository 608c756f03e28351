// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog router in the socket of noc::Router: same parameters, same ports, same cycles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "arch/flit.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

class Vktpu_router;

namespace ktpu::rtl {

template <class V>
class Twin;

// What the twin needs of noc::RouterParams. One Verilated module serves every position, grid and depth.
struct RouterPlace {
  arch::Coord position;
  unsigned x_lo = 1, x_hi = 1, y_lo = 1, y_hi = 1;
  sim::FifoShape fifo;
};

template <class V>
class RouterTwinOf final : public sim::Unit {
 public:
  static constexpr unsigned kPorts = 5;  // N E S W L
  using Ports = std::array<sim::FlitPort, kPorts>;

  // `params`: a noc::RouterParams (taken by shape, so that this folder does not depend on the models). Throws
  // UserError for a FIFO shape the RTL is not built for.
  template <class Params>
  RouterTwinOf(std::string name, const Params& params, const Ports& ports)
      : RouterTwinOf(std::move(name),
                     RouterPlace{params.position, params.grid.x_lo, params.grid.x_hi, params.grid.y_lo,
                                 params.grid.y_hi, params.fifo},
                     ports) {}
  RouterTwinOf(std::string name, const RouterPlace& place, const Ports& ports);
  ~RouterTwinOf() override;

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  // The pointer of the arbiters runs in every cycle, so the twin never sleeps.
  sim::Cycle clock(sim::Cycle now) override;
  bool free_running() const override { return true; }
  // Every flit that came in has left.
  bool resting() const override { return inside_ == 0 && in_valid_ == 0; }
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  // Waves of the inside of the RTL (rtl_models/twin.h).
  void open_waves(const std::string& path);

  // Flits sent into empty slots (fabric.md section 6.1).
  std::uint64_t lost() const { return lost_; }

 private:
  RouterPlace place_;
  Ports ports_;
  std::uint32_t in_valid_ = 0;  // mirror of the input links' valid
  std::uint64_t inside_ = 0;    // flits accepted and not yet sent on
  std::uint64_t lost_ = 0;
  std::unique_ptr<Twin<V>> twin_;
};

using RouterTwin = RouterTwinOf<Vktpu_router>;
extern template class RouterTwinOf<Vktpu_router>;

}  // namespace ktpu::rtl
