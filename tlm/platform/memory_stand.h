// SPDX-License-Identifier: Apache-2.0
// What stands in the socket of a mesh's memory agent in place of the model alone: the model and its RTL in
// lock-step. The model goes on to answer for the machine: reports, findings, back doors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tlm/memory/agent_client.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::platform {

class MemoryStand {
 public:
  virtual ~MemoryStand() = default;

  virtual memory::MemoryAgent& model() = 0;
  // What the control agent reads and writes of the memory agent.
  virtual memory::AuxWindow& window() = 0;
  // Elaboration, as of memory::MemoryAgent.
  virtual void set_client(memory::AgentClient& client) = 0;
  virtual void bind_port(unsigned port, sim::FlitPort links) = 0;
  virtual void bind_window(memory::WindowBus& bus) = 0;  // after unit(), too
  // What the back door wrote into the staging memory of model().
  virtual void staging_written(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;
  // The unit for the engine; once, after everything is bound. The stand must outlive it.
  virtual std::unique_ptr<sim::Unit> unit() = 0;
};

}  // namespace ktpu::platform
