// SPDX-License-Identifier: Apache-2.0
// Makes the units and links of a System from its description, mesh by mesh.
#pragma once

#include "tlm/platform/system.h"

namespace ktpu::platform {

class SystemBuilder {
 public:
  SystemBuilder(System& system, const Registry& registry, const System::DramFactory& dram)
      : system_(system), registry_(registry), dram_(dram) {}

  void build();

 private:
  void build_mesh(const topo::Mesh& mesh, MeshSystem& out);
  void build_memory(const topo::Mesh& mesh, MeshSystem& out);
  void build_agent(const topo::Mesh& mesh, MeshSystem& out);
  void build_engine(const topo::Mesh& mesh, MeshSystem& out);
  void join_meshes();
  void build_host();
  // `clock`: index into the machine's clocks; both ends of a link are on the same one.
  sim::FlitLink* flit_link(const std::string& name, unsigned clock = 0);
  template <typename T>
  T* add(std::unique_ptr<T> unit, std::string_view source = "model", unsigned clock = 0);
  // The unit's links, and those that the fabric sees instead of them.
  sim::FlitPort cross(const std::string& name, const topo::Node& node, sim::FlitPort unit);
  std::string prefix(const topo::Mesh& mesh) const;

  System& system_;
  const Registry& registry_;
  const System::DramFactory& dram_;
};

}  // namespace ktpu::platform
