// SPDX-License-Identifier: Apache-2.0
// What a shared object offers that brings a module from outside into a machine (docs/rtl.md, "A module of
// your own"): one unit for one kind of node, made with what its model's constructor is given. The CMake
// functions of cmake/KtpuUserModules.cmake write the source file that uses this.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tlm/cluster/matmul_cluster.h"
#include "tlm/noc/router.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"
#include "tlm/vector/vector_core.h"

// Adapters of Verilated modules, each defined with the twin of its block (rtl_models).
namespace ktpu::rtl {
class AgentRtl;
struct AgentPlace;
class AuxSocket;
class CommandEngineRtl;
class DramSocket;
class MemoryRtl;
struct MemoryPlace;
}  // namespace ktpu::rtl

namespace ktpu::plugin {

inline constexpr unsigned kInterface =
    2;  // grows with every change of what passes between program and plugin

enum class Made : std::uint8_t { kRtl, kPins };  // of SystemVerilog by Verilator; a SystemC module

// What stands at the end of one link pair.
struct Endpoint {
  std::string_view kind;                            // the word of node ids: "cluster", "vector", "traffic"
  arch::Coord at;                                   // its coordinate
  arch::Coord memory_port;                          // where its memory requests go; {0,0} if it uses none
  const cluster::ClusterParams* cluster = nullptr;  // of a cluster
  const vector::VectorParams* vector = nullptr;     // of a vector core
};

using RouterMaker = std::unique_ptr<sim::Unit> (*)(std::string name, const noc::RouterParams& params,
                                                   const noc::RouterPorts& ports);
using EndpointMaker = std::unique_ptr<sim::Unit> (*)(std::string name, const Endpoint& place,
                                                     sim::FlitPort port);
// What is no node of its own is a part, or stands on wires, of what the program puts around it.
using MemoryMaker = std::unique_ptr<rtl::MemoryRtl> (*)(std::string name, const rtl::MemoryPlace& place,
                                                        rtl::DramSocket& dram);
using AgentMaker = std::unique_ptr<rtl::AgentRtl> (*)(std::string name, const rtl::AgentPlace& place,
                                                      rtl::AuxSocket* aux);
using CommandEngineMaker = std::unique_ptr<rtl::CommandEngineRtl> (*)(std::string name, unsigned commands);

struct Plugin {
  Made made = Made::kRtl;
  // "router", "cluster", "vector", "memory", "agent", "command_engine"; "endpoint": any node with one link
  // pair
  const char* kind = "";
  const char* top = "";              // of the module
  const char* sources = "";          // absolute, one a line
  RouterMaker router = nullptr;      // of a router
  EndpointMaker endpoint = nullptr;  // of what has one link pair
  MemoryMaker memory = nullptr;      // of a memory agent
  AgentMaker agent = nullptr;        // of a control agent
  CommandEngineMaker command_engine = nullptr;
};

template <class Unit>
std::unique_ptr<sim::Unit> make_router(std::string name, const noc::RouterParams& params,
                                       const noc::RouterPorts& ports) {
  return std::make_unique<Unit>(std::move(name), params, ports);
}
template <class Unit>
std::unique_ptr<sim::Unit> make_cluster(std::string name, const Endpoint& place, sim::FlitPort port) {
  return std::make_unique<Unit>(std::move(name), *place.cluster, port);
}
template <class Unit>
std::unique_ptr<sim::Unit> make_vector(std::string name, const Endpoint& place, sim::FlitPort port) {
  return std::make_unique<Unit>(std::move(name), *place.vector, port);
}
template <class Unit>
std::unique_ptr<rtl::MemoryRtl> make_memory(std::string name, const rtl::MemoryPlace& place,
                                            rtl::DramSocket& dram) {
  return std::make_unique<Unit>(std::move(name), place, dram);
}
template <class Part>
std::unique_ptr<rtl::AgentRtl> make_agent(std::string name, const rtl::AgentPlace& place,
                                          rtl::AuxSocket* aux) {
  return std::make_unique<Part>(std::move(name), place, aux);
}
template <class Part>
std::unique_ptr<rtl::CommandEngineRtl> make_command_engine(std::string name, unsigned commands) {
  return std::make_unique<Part>(std::move(name), commands);
}

// Of what both sides must have the same of, in words. C++ has no stable layout between two of anything here.
inline std::string abi() {
  std::uint64_t layout = 0xcbf29ce484222325;
  for (const std::size_t size :
       {sizeof(sim::Unit), sizeof(sim::Wait), sizeof(sim::FlitLink), sizeof(arch::Flit), sizeof(std::string),
        sizeof(noc::RouterParams), sizeof(cluster::ClusterParams), sizeof(vector::VectorParams),
        sizeof(Endpoint), sizeof(Plugin)})
    layout = (layout ^ size) * 0x100000001b3;
  return fmt::format("interface {}, compiler {}, layout {:016x}", kInterface, __VERSION__, layout);
}

}  // namespace ktpu::plugin

// Names under which a program finds the two functions of a plugin.
#define KTPU_PLUGIN_ABI_SYMBOL "ktpu_plugin_abi"
#define KTPU_PLUGIN_SYMBOL "ktpu_plugin"

// Once in a plugin, outside of namespaces: KTPU_PLUGIN(.made = ..., .kind = ...)
#define KTPU_PLUGIN(...)                                                                          \
  extern "C" __attribute__((visibility("default"))) const char* ktpu_plugin_abi() {               \
    static const std::string abi = ::ktpu::plugin::abi();                                         \
    return abi.c_str();                                                                           \
  }                                                                                               \
  extern "C" __attribute__((visibility("default"))) const ::ktpu::plugin::Plugin* ktpu_plugin() { \
    static const ::ktpu::plugin::Plugin plugin{__VA_ARGS__};                                      \
    return &plugin;                                                                               \
  }
