// SPDX-License-Identifier: Apache-2.0
// The control agent between two register buses and a mesh that blocks; the command engine between a host and
// a slave that answers at random.
#include "apps/ktpu-cosim/register_master.h"
#include "apps/ktpu-cosim/unit_bench.h"
#include "arch/encoding/text.h"
#include "tlm/sim/comparison.h"

namespace ktpu::cosim {

namespace {

// An AUX window with other words in every cycle.
class ChangingAux final : public memory::AuxWindow {
 public:
  explicit ChangingAux(const Setup& setup)
      : transfers_(setup.transfers), port_(setup.block.port("aux")), seed_(setup.conditions.seed) {}
  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override {
    transfers_.out(now, port_, [&] { return fmt::format("write {:#04x} = {:#018x}", offset, data); });
  }
  std::uint64_t aux_stat() const override { return sim::Random::nth(seed_, cycle); }
  std::uint64_t aux_status(unsigned word) const override { return sim::Random::nth(seed_ + word + 1, cycle); }
  sim::Cycle cycle = 0;

 private:
  Transfers& transfers_;
  unsigned port_;
  std::uint64_t seed_;
};

// Not a unit: a part of the memory agent, whose calls are made here.
class AgentBench final : public Bench {
 public:
  explicit AgentBench(const Setup& setup)
      : conditions_(setup.conditions),
        transfers_(setup.transfers),
        mesh_(setup.block.port("mesh")),
        aux_(setup),
        params_(std::get<orchestrator::ControlAgentParams>(setup.block.shape)),
        pointers_{&buses_[0], &buses_[1]},
        masters_{{{setup, 0, buses_[0]}, {setup, 1, buses_[1]}}},
        flits_(&Message::flits, conditions_.seed),
        model_(params_, pointers_, &aux_),
        pair_(setup.registry.agent(topo::Impl::kLockstep,
                                   "agent")({"agent", params_, pointers_, &aux_, &model_})),
        compared_(dynamic_cast<const sim::Comparison*>(pair_.get())) {
    KTPU_CHECK(compared_ != nullptr, "agent: the lock-step implementation is no lock-step pair");
    for (const Message& message : setup.stimulus) {
      if (message.port < masters_.size())
        masters_[message.port].send(message);
      else
        flits_.add(message);
    }
    pair_->reset(0);
  }

  void run(sim::Cycle cycles) override {
    for (const sim::Cycle end = now_ + cycles; now_ < end; ++now_) step();
  }
  sim::Cycle now() const override { return now_; }
  std::uint64_t values() const override { return compared_->compared_values(); }

 private:
  void step() {
    const auto text = [](const arch::Flit& flit) {
      return arch::flit_to_text(flit, arch::Dialect::kCluster);
    };
    aux_.cycle = now_;
    pair_->drive(now_);
    for (RegisterMaster& master : masters_) master.drive(now_);
    const bool taken = pair_->out() != nullptr && !stalled(conditions_, 4 * mesh_, now_);
    if (taken) transfers_.out(now_, mesh_, [&] { return text(*pair_->out()); });
    if (!stalled(conditions_, 4 * mesh_ + 1, now_))
      if (const auto flit = flits_.take(now_)) {
        pair_->offer(now_, *flit);
        transfers_.in(now_, mesh_, [&] { return text(*flit); });
      }
    pair_->clock(now_, taken);
    for (RegisterMaster& master : masters_) master.clock(now_);
  }

  Conditions conditions_;
  Transfers& transfers_;
  unsigned mesh_;
  ChangingAux aux_;
  orchestrator::ControlAgentParams params_;
  std::array<orchestrator::RegisterBus, 2> buses_{orchestrator::RegisterBus{"bus0"},
                                                  orchestrator::RegisterBus{"bus1"}};
  std::vector<orchestrator::RegisterBus*> pointers_;
  std::array<RegisterMaster, 2> masters_;
  Feed<arch::Flit> flits_;
  orchestrator::ControlAgent model_;
  std::unique_ptr<memory::AgentClient> pair_;
  const sim::Comparison* compared_;
  sim::Cycle now_ = 0;
};

class HostUnit final : public sim::Unit {
 public:
  HostUnit(const Setup& setup, orchestrator::RegisterBus& bus) : Unit("host"), master_(setup, 0, bus) {
    bus.beat.bind_sender(*this);
  }
  void send(const Message& message) { master_.send(message); }
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle now) override {
    if (driven_ != now) master_.drive(now);
    driven_ = now;
  }
  sim::Cycle clock(sim::Cycle now) override {
    master_.clock(now);
    return now + 1;
  }

 private:
  RegisterMaster master_;
  sim::Cycle driven_ = sim::kNever;
};

// Whatever is read is a small number or anything, one cycle after the sample.
class SlaveUnit final : public sim::Unit {
 public:
  SlaveUnit(const Setup& setup, orchestrator::RegisterBus& bus)
      : Unit("slave"), bus_(bus), transfers_(setup.transfers), seed_(setup.conditions.seed) {
    bus_.beat.bind_receiver(*this);
  }
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override { bus_.read_data = value_; }
  sim::Cycle clock(sim::Cycle now) override {
    if (answers_) transfers_.in(now, kPort, [&] { return fmt::format("data {:#018x}", bus_.read_data); });
    answers_ = false;
    if (!bus_.beat.valid()) return now + 1;
    const orchestrator::BusBeat& beat = bus_.beat.data();
    transfers_.out(now, kPort, [&] { return orchestrator::wire_words(beat); });
    answers_ = beat.read;
    value_ = sim::Random::nth(seed_, now);
    return now + 1;
  }

 private:
  static constexpr unsigned kPort = 1;
  orchestrator::RegisterBus& bus_;
  Transfers& transfers_;
  std::uint64_t seed_;
  std::uint64_t value_ = 0;
  bool answers_ = false;
};

class EngineBench final : public UnitBench {
 public:
  explicit EngineBench(const Setup& setup) : host_(setup, host_bus_), slave_(setup, agent_bus_) {
    for (const Message& message : setup.stimulus) host_.send(message);
    stand(setup.registry
              .command_engine(topo::Impl::kLockstep, "engine")(
                  {"engine", std::get<EngineShape>(setup.block.shape).commands, host_bus_, agent_bus_})
              .unit);
    engine_.add(host_);
    engine_.add(slave_);
    engine_.add(host_bus_.beat);
    engine_.add(agent_bus_.beat);
    engine_.elaborate();
  }

 private:
  orchestrator::RegisterBus host_bus_{"host_bus"}, agent_bus_{"agent_bus"};
  HostUnit host_;
  SlaveUnit slave_;
};

}  // namespace

std::unique_ptr<Bench> agent_bench(const Setup& setup) { return std::make_unique<AgentBench>(setup); }
std::unique_ptr<Bench> engine_bench(const Setup& setup) { return std::make_unique<EngineBench>(setup); }

}  // namespace ktpu::cosim
