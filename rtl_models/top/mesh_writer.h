// SPDX-License-Identifier: Apache-2.0
// One mesh of a top: routers, links and endpoints here, what stands at the memory ports in memory_writer.h.
// Internal to rtl_models/top.
#pragma once

#include <map>
#include <set>
#include <string>

#include "rtl_models/top/text.h"
#include "topologies/description.h"

namespace ktpu::rtl {

// The nets of one direction of a mesh link.
struct LinkNets {
  std::string data, valid, busy;
};

// What all writers of a top add to.
struct TopParts {
  Ports ports;
  Lines body;
  std::set<std::string> blocks;
};

class MeshWriter {
 public:
  // `prefix`: of all names, "" or "m0_".
  MeshWriter(const topo::Machine& machine, const topo::Mesh& mesh, std::string prefix, TopParts& parts);
  void write();

  // The nets of a router's port, as the router names them.
  LinkNets into_router(const topo::Node& node) const;
  LinkNets out_of_router(const topo::Node& node) const;

 private:
  std::string net(const topo::Router& router, std::string_view what) const;
  std::string unit(std::string_view kind, arch::Coord at) const;
  void router(const topo::Router& router);
  void links(const topo::Router& router);
  void link(const topo::Router& router, topo::Side side);
  void endpoint(const topo::Node& node);
  void cluster(const topo::Node& node);
  void vector(const topo::Node& node);
  void traffic(const topo::Node& node);
  void null(const topo::Node& node);
  void mesh_pins(Instance& instance, const topo::Node& node) const;
  void place_pins(Instance& instance, const topo::Node& node) const;

  const topo::Machine& machine_;
  const topo::Mesh& mesh_;
  std::string prefix_;
  TopParts& parts_;
};

// "4'd3" of a coordinate, of the width of pos_t.
std::string position(unsigned value);

}  // namespace ktpu::rtl
