// SPDX-License-Identifier: Apache-2.0
// What stands in the socket of a mesh's memory agent in place of the model alone: its RTL, or the model and
// its RTL in lock-step. Where there is a model it goes on to answer for the machine (reports, findings); of
// RTL alone the machine knows what its wires and its DRAM tell.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tlm/memory/agent_client.h"
#include "tlm/memory/memory_agent.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::platform {

class MemoryStand {
 public:
  virtual ~MemoryStand() = default;

  virtual memory::MemoryAgent* model() = 0;  // null: RTL alone
  // Elaboration: who wires that end at the memory agent are bound to. Part of unit().
  virtual sim::Unit& receiver() = 0;
  // What the control agent reads and writes of the memory agent.
  virtual memory::AuxWindow& window() = 0;
  // Elaboration, as of memory::MemoryAgent.
  virtual void set_client(memory::AgentClient& client) = 0;
  virtual void bind_port(unsigned port, sim::FlitPort links) = 0;
  virtual void bind_window(memory::WindowBus& bus) = 0;  // after unit(), too
  virtual std::vector<std::unique_ptr<sim::Unit>> put_dram_on(const sim::ClockRatio& to_dram) = 0;
  virtual void bind_interlink(unsigned link, memory::BeatLink* out, memory::BeatLink* in) = 0;
  // The back door into staging memory. With a model, the platform reads and writes the model's, and tells
  // here what it wrote.
  virtual bool has_staging() const = 0;
  virtual void staging_read(std::uint64_t address, std::span<std::uint8_t> bytes) const = 0;
  virtual void staging_written(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;
  // As of memory::MemoryAgent.
  virtual void set_probe(memory::MemoryProbe* probe) = 0;
  virtual const memory::MisuseLog& misuse() const = 0;
  virtual sim::Cycle last_dram_handshake() const = 0;
  // The unit for the engine; once, after everything is bound. The stand must outlive it.
  virtual std::unique_ptr<sim::Unit> unit() = 0;
};

}  // namespace ktpu::platform
