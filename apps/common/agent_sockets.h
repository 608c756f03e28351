// SPDX-License-Identifier: Apache-2.0
// The control agent's RTL twin as the memory agent's client: alone, or in lock-step beside the model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rtl_models/agent/agent_twin.h"
#include "tlm/memory/agent_client.h"
#include "tlm/orchestrator/control_agent.h"
#include "tlm/plugin/plugin.h"
#include "tlm/sim/comparison.h"

namespace ktpu::apps {

// The twin between the register buses, the AUX window and the memory agent.
class AgentOfTwin final : public memory::AgentClient, public orchestrator::ProbedAgent {
 public:
  // `buses` and `aux` must outlive it; `aux` may be null. `make`: of a module of one's own. Throws UserError
  // for what the RTL is not built for.
  AgentOfTwin(std::string name, const orchestrator::ControlAgentParams& params,
              std::vector<orchestrator::RegisterBus*> buses, memory::AuxWindow* aux,
              plugin::AgentMaker make = plugin::make_agent<rtl::AgentTwin>);

  void reset(sim::Cycle start) override { twin_->reset(start); }
  const arch::Flit* out() const override { return twin_->out(); }
  void drive(sim::Cycle now) override;
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  void set_probe(orchestrator::AgentProbe* probe) override;
  const std::vector<orchestrator::SignalledFault>& faults() const override { return faults_; }

 private:
  class Aux final : public rtl::AuxSocket {
   public:
    explicit Aux(memory::AuxWindow& real) : real_(real) {}
    void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override {
      real_.aux_write(now, offset, data);
    }
    std::uint64_t aux_stat() const override { return real_.aux_stat(); }
    std::uint64_t aux_status(unsigned word) const override { return real_.aux_status(word); }

   private:
    memory::AuxWindow& real_;
  };

  std::vector<orchestrator::RegisterBus*> buses_;
  std::unique_ptr<Aux> aux_;
  orchestrator::AgentProbe* probe_ = nullptr;
  std::vector<orchestrator::SignalledFault> faults_;
  std::uint64_t signals_ = 0, mailbox_received_ = 0, writes_ = 0, reads_ = 0;
  std::unique_ptr<rtl::AgentRtl> twin_;
};

// The model on the real wires, the twin on the same inputs. Every cycle: the flit shown, the read data, and
// what goes to the AUX window; for each flit offered, whether it is taken. The first difference throws
// sim::LockstepError.
class LockstepAgent final : public memory::AgentClient,
                            public sim::Comparison,
                            private memory::AuxWindow,
                            private rtl::AuxSocket {
 public:
  // `model` has `buses` and `params`; it is given this as its AUX window. All must outlive it. `make` as
  // above.
  LockstepAgent(std::string name, orchestrator::ControlAgent& model,
                const orchestrator::ControlAgentParams& params, std::vector<orchestrator::RegisterBus*> buses,
                memory::AuxWindow* aux, plugin::AgentMaker make = plugin::make_agent<rtl::AgentTwin>);
  ~LockstepAgent() override;

  void reset(sim::Cycle start) override;
  const arch::Flit* out() const override { return model_.out(); }
  void drive(sim::Cycle now) override;
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken) override;
  void sync(sim::Cycle now) override { model_.sync(now); }
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override { return model_.waits(now); }

  rtl::AgentRtl& twin() { return *twin_; }
  sim::Cycle compared_cycles() const override { return compared_cycles_; }
  // Flits shown or taken, read words and AUX writes, each in the first cycle it was there.
  std::uint64_t compared_values() const override { return compared_values_; }

 private:
  struct AuxWrite {
    std::uint32_t offset = 0;
    std::uint64_t data = 0;
    bool operator==(const AuxWrite&) const = default;
  };
  // Of the model and of the twin, told apart by whose clock() runs.
  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override;
  std::uint64_t aux_stat() const override { return aux_ == nullptr ? 0 : aux_->aux_stat(); }
  std::uint64_t aux_status(unsigned word) const override {
    return aux_ == nullptr ? 0 : aux_->aux_status(word);
  }
  void compare(sim::Cycle now);

  std::string name_;
  orchestrator::ControlAgent& model_;
  std::vector<orchestrator::RegisterBus*> buses_;
  memory::AuxWindow* aux_;
  std::unique_ptr<rtl::AgentRtl> twin_;
  bool twin_clocks_ = false;
  std::vector<AuxWrite> model_writes_, twin_writes_;
  std::uint64_t compared_cycles_ = 0, compared_values_ = 0;
};

}  // namespace ktpu::apps
