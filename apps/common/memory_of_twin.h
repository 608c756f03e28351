// SPDX-License-Identifier: Apache-2.0
// The memory agent's RTL alone in a machine, with the machine's DRAM, control agent and host around it.
#pragma once

#include <memory>
#include <string>

#include "apps/common/border_sockets.h"
#include "apps/common/interlink_sockets.h"
#include "apps/common/memory_sockets.h"
#include "rtl_models/memory/memory_twin.h"
#include "tlm/platform/memory_stand.h"
#include "tlm/plugin/plugin.h"

namespace ktpu::apps {

// Throws UserError: what a module of one's own cannot have beside it.
void require_one_clock(const std::string& name, const memory::MemoryAgentConfig& config);

class MemoryOfTwin final : public platform::MemoryStand {
 public:
  // `make`: of a module of one's own. Throws UserError for what the RTL has not (rtl::MemoryTwinOf), and for
  // such a module with a DRAM on a clock of its own.
  MemoryOfTwin(std::string name, const memory::MemoryAgentConfig& config, memory::DramDevice& dram,
               plugin::MemoryMaker make = nullptr);
  ~MemoryOfTwin() override;

  memory::MemoryAgent* model() override { return nullptr; }
  sim::Unit& receiver() override { return twin_; }
  memory::AuxWindow& window() override { return aux_; }
  void set_client(memory::AgentClient& client) override;
  void bind_port(unsigned port, sim::FlitPort links) override { twin_.bind_port(port, links); }
  void bind_window(memory::WindowBus& bus) override;
  std::vector<std::unique_ptr<sim::Unit>> put_dram_on(const sim::ClockRatio& to_dram) override {
    return border_->put_on(to_dram, twin_);
  }
  void bind_interlink(unsigned link, memory::BeatLink* out, memory::BeatLink* in) override {
    interlink_.bind(link, out, in, twin_);
  }
  bool has_staging() const override { return staging_; }
  void staging_read(std::uint64_t address, std::span<std::uint8_t> bytes) const override;
  void staging_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override;
  void set_probe(memory::MemoryProbe* probe) override {
    border_ != nullptr ? border_->set_probe(probe) : dram_.set_probe(probe);
  }
  const memory::MisuseLog& misuse() const override {
    return border_ != nullptr ? border_->misuse() : dram_.misuse();
  }
  sim::Cycle last_dram_handshake() const override {
    return border_ != nullptr ? border_->last_handshake() : dram_.last_handshake();
  }
  std::unique_ptr<sim::Unit> unit() override { return std::move(owned_twin_); }

 private:
  // AUX registers, from the control agent to the RTL.
  class Aux final : public memory::AuxWindow {
   public:
    explicit Aux(rtl::MemoryRtl& twin) : twin_(twin) {}
    void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override {
      twin_.aux_write(now, offset, data);
    }
    std::uint64_t aux_stat() const override { return twin_.aux_stat(); }
    std::uint64_t aux_status(unsigned word) const override { return twin_.aux_status(word); }

   private:
    rtl::MemoryRtl& twin_;
  };

  std::unique_ptr<rtl::MemoryRtl> make_twin(std::string name, const memory::MemoryAgentConfig& config,
                                            unsigned bus_bits, plugin::MemoryMaker make);

  bool staging_;
  DramOfTwin dram_;
  std::unique_ptr<BorderOfTwin> border_;  // in its place: the DRAM has a clock of its own
  std::unique_ptr<rtl::MemoryRtl> owned_twin_;
  rtl::MemoryRtl& twin_;
  Aux aux_;
  std::unique_ptr<ClientOfTwin> client_;
  std::unique_ptr<WindowOfTwin> window_;
  InterlinkOfTwin interlink_;
};

}  // namespace ktpu::apps
