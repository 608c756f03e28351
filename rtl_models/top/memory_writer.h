// SPDX-License-Identifier: Apache-2.0
// What of a top stands at the memory ports of a mesh: memory agent, control agent, command engine, and their
// ports towards the host and the DRAM. Internal to rtl_models/top.
#pragma once

#include <string>

#include "rtl_models/top/mesh_writer.h"

namespace ktpu::rtl {

class MemoryWriter {
 public:
  MemoryWriter(const topo::Machine& machine, const topo::Mesh& mesh, std::string prefix, TopParts& parts,
               const MeshWriter& links)
      : machine_(machine), mesh_(mesh), prefix_(std::move(prefix)), parts_(parts), links_(links) {}
  // Nothing for a mesh without memory ports.
  void write();

 private:
  std::string net(std::string_view what) const { return fmt::format("{}{}", prefix_, what); }
  bool linked(unsigned link) const;  // with the interlink in use: there is a mesh at the other end
  void host_ports();
  void window_ports();
  void dram_ports();
  void memory();
  void mesh_nets();
  void agent();
  void engine();

  const topo::Machine& machine_;
  const topo::Mesh& mesh_;
  std::string prefix_;
  TopParts& parts_;
  const MeshWriter& links_;
  bool engine_ = false;  // there is a command engine
  bool quirks_ = true;   // of both agents
  unsigned bus_bits_ = 512;
};

}  // namespace ktpu::rtl
