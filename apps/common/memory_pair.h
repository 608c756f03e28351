// SPDX-License-Identifier: Apache-2.0
// The memory agent's model and RTL in lock-step in a machine: mesh links, the DRAM bus and all that passes
// between the memory agent and its control agent are compared.
#pragma once

#include <memory>
#include <string>

#include "apps/common/border_sockets.h"
#include "apps/common/interlink_sockets.h"
#include "apps/common/memory_of_twin.h"
#include "apps/common/memory_sockets.h"
#include "rtl_models/memory/memory_twin.h"
#include "tlm/platform/memory_stand.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

class MemoryPair final : public platform::MemoryStand {
 public:
  // `make` and what it throws: as of MemoryOfTwin.
  MemoryPair(std::string name, const memory::MemoryAgentConfig& config, memory::DramDevice& dram,
             plugin::MemoryMaker make = nullptr);

  memory::MemoryAgent* model() override { return &model_; }
  sim::Unit& receiver() override { return model_; }
  memory::AuxWindow& window() override { return compared_aux_; }
  void set_client(memory::AgentClient& client) override;
  void bind_port(unsigned port, sim::FlitPort links) override;
  void bind_window(memory::WindowBus& bus) override;
  std::vector<std::unique_ptr<sim::Unit>> put_dram_on(const sim::ClockRatio& to_dram) override {
    return model_.put_dram_on(to_dram, name_);
  }
  void bind_interlink(unsigned link, memory::BeatLink* out, memory::BeatLink* in) override;
  bool has_staging() const override { return model_.config().staging != memory::StagingPlacement::kNone; }
  void staging_read(std::uint64_t address, std::span<std::uint8_t> bytes) const override {
    model_.staging()->read(address, bytes);
  }
  void staging_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override {
    twin_.store(address, bytes);
  }
  void set_probe(memory::MemoryProbe* probe) override { model_.set_probe(probe); }
  const memory::MisuseLog& misuse() const override { return model_.misuse(); }
  sim::Cycle last_dram_handshake() const override { return model_.last_dram_handshake(); }
  std::unique_ptr<sim::Unit> unit() override;

 private:
  // What the control agent sees: AUX_STAT and AUX_STATW are compared when they are read.
  class ComparedAux final : public memory::AuxWindow {
   public:
    explicit ComparedAux(MemoryPair& pair) : pair_(pair) {}
    void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override {
      pair_.window_.aux_write(now, offset, data);
    }
    std::uint64_t aux_stat() const override;
    std::uint64_t aux_status(unsigned word) const override;

   private:
    std::uint64_t compared(std::string field, std::uint64_t expected, std::uint64_t got) const;
    MemoryPair& pair_;
  };
  std::unique_ptr<rtl::MemoryRtl> make_twin(const memory::MemoryAgentConfig& config, unsigned bus_bits,
                                            plugin::MemoryMaker make);

  std::string name_;
  RecordedDram recorded_dram_;
  ComparedDram compared_dram_;
  sim::Shadows shadows_;
  std::unique_ptr<memory::MemoryAgent> owned_model_;
  std::unique_ptr<ComparedBorder> compared_border_;  // of a DRAM on a clock of its own
  std::unique_ptr<rtl::MemoryRtl> owned_twin_;
  memory::MemoryAgent& model_;
  rtl::MemoryRtl& twin_;
  RecordedWindow window_;
  ComparedAux compared_aux_{*this};
  std::unique_ptr<RecordedClient> recorded_client_;
  std::unique_ptr<ComparedClient> compared_client_;
  std::unique_ptr<ComparedWindow> compared_window_;
  InterlinkOfTwin interlink_;
};

}  // namespace ktpu::apps
