// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/router.h"

#include "tlm/sim/engine.h"

namespace ktpu::noc {

namespace {

sim::Cycle present(const sim::Unit& unit) { return unit.engine() == nullptr ? 0 : unit.engine()->now(); }

}  // namespace

Router::Router(std::string name, const RouterParams& params, const Ports& ports) : Unit(std::move(name)) {
  core_.add(*this, this->name(), params, ports);
  core_.connect();
}

void Router::visit(sim::Archive& archive) {
  core_.visit(0, archive, present(*this));
  core_.keep(archive);
}

std::unique_ptr<RouterBank::View> RouterBank::add(std::string name, const RouterParams& params,
                                                  const RouterPorts& ports) {
  core_.add(*this, name, params, ports);
  return std::make_unique<View>(std::move(name), *this, routers_++, ports);
}

sim::Unit::Faces RouterBank::View::faces() const {
  Faces faces;
  for (const sim::FlitPort& port : ports_) {
    if (port.in != nullptr) faces.in.push_back(port.in);
    if (port.out != nullptr) faces.out.push_back(port.out);
  }
  return faces;
}

void RouterBank::drive(sim::Cycle now) { core_.drive(now, engine() == nullptr || engine()->observed()); }

std::uint64_t RouterBank::progress() const { return core_.uncounted(present(*this)); }

void RouterBank::View::visit(sim::Archive& archive) { bank_.core_.visit(number_, archive, present(*this)); }

}  // namespace ktpu::noc
