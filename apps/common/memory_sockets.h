// SPDX-License-Identifier: Apache-2.0
// The memory agent's RTL twin between the models it stands beside: on a DRAM and a control agent of its own,
// or in lock-step on those of the model, whose every cycle it is compared with.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "rtl_models/memory/memory_sockets.h"
#include "tlm/memory/agent_client.h"
#include "tlm/memory/dram_device.h"
#include "tlm/memory/memory_probe.h"
#include "tlm/memory/window_bus.h"

namespace ktpu::apps {

// A DRAM that is the twin's alone, with what its bus tells: findings of the device, probe, counters.
class DramOfTwin final : public rtl::DramSocket {
 public:
  // `device` must outlive it. `ports`: places of the memory ports, for the words of findings.
  explicit DramOfTwin(memory::DramDevice& device, std::vector<arch::Coord> ports = {})
      : device_(device), ports_(std::move(ports)) {
    device_.set_misuse_log(&misuse_);
  }
  void reset(sim::Cycle start) override;
  Shown shown(sim::Cycle now) const override;
  void clock(sim::Cycle now, const Moves& moves) override;
  bool resting() const override { return next_ == sim::kNever; }
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  void visit(sim::Archive& archive) override;

  void set_probe(memory::MemoryProbe* probe) { probe_ = probe; }
  const memory::MisuseLog& misuse() const { return misuse_; }
  sim::Cycle last_handshake() const { return last_handshake_; }  // kNever before the first

 private:
  void tell(sim::Cycle now, const memory::DramInputs& in);
  // Where a request came to the DRAM from; the RTL does not say for whom.
  arch::Coord origin(unsigned requester) const;

  memory::DramDevice& device_;
  std::vector<arch::Coord> ports_;
  memory::MisuseLog misuse_;
  memory::MemoryProbe* probe_ = nullptr;
  sim::Cycle next_ = 0;  // what the device's last clock() answered
  sim::Cycle last_handshake_ = sim::kNever;
  std::uint64_t read_bursts_ = 0, write_bursts_ = 0, read_beats_ = 0, write_beats_ = 0, responses_ = 0,
                words_written_ = 0;
};

// A control agent, of whatever kind, that is the twin's alone.
class ClientOfTwin final : public rtl::ClientSocket {
 public:
  explicit ClientOfTwin(memory::AgentClient& client) : client_(client) {}
  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override { client_.drive(now); }
  const arch::Flit* out() const override { return client_.out(); }
  bool offer(sim::Cycle now, const arch::Flit& flit) override { return client_.offer(now, flit); }
  void clock(sim::Cycle now, bool out_taken) override { next_ = client_.clock(now, out_taken); }
  bool resting() const override { return next_ == sim::kNever; }
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  void sync(sim::Cycle now) override { client_.sync(now); }
  void visit(sim::Archive& archive) override { client_.visit(archive); }

 private:
  memory::AgentClient& client_;
  sim::Cycle next_ = 0;  // what its last clock() answered
};

// A host's memory window whose answers are the twin's.
class WindowOfTwin final : public rtl::WindowSocket {
 public:
  // `agent`: the unit that the wires end at.
  WindowOfTwin(memory::WindowBus& bus, sim::Unit& agent);
  void drive(const Outputs& out) override;
  Inputs clock(sim::Cycle now, const Outputs& out) override;

 private:
  memory::WindowBus& bus_;
};

// Stands between the model and its DRAM, and keeps what happened in the last cycle.
class RecordedDram final : public memory::DramDevice {
 public:
  explicit RecordedDram(memory::DramDevice& real) : DramDevice(real.bus_bits()), real_(real) {}

  void reset(sim::Cycle start) override;
  sim::Cycle clock(sim::Cycle now, const memory::DramInputs& in) override;
  void visit(sim::Archive& archive) override { real_.visit(archive); }
  std::vector<sim::Wait> waits(sim::Cycle now) const override { return real_.waits(now); }

  // What the memory showed in cycle `now`, after the model's clock().
  const memory::DramOutputs& shown(sim::Cycle now) const { return clocked_ == now ? before_ : out_; }
  struct Moved {
    std::optional<memory::DramAddress> ar, aw;
    std::optional<memory::DramWriteBeat> w;
    bool r = false, b = false;
  };
  const Moved& moved(sim::Cycle now) const { return clocked_ == now ? moved_ : nothing_; }

 private:
  memory::DramDevice& real_;
  sim::Cycle clocked_ = sim::kNever;
  memory::DramOutputs before_;
  Moved moved_;
  const Moved nothing_;
};

// The twin's side of it: shows the same, and compares every handover. Throws sim::LockstepError.
class ComparedDram final : public rtl::DramSocket {
 public:
  ComparedDram(std::string unit, const RecordedDram& dram) : unit_(std::move(unit)), dram_(dram) {}
  void reset(sim::Cycle) override {}
  Shown shown(sim::Cycle now) const override;
  void clock(sim::Cycle now, const Moves& moves) override;
  std::uint64_t compared() const { return compared_; }  // handovers of the model
  sim::Cycle now() const { return now_; }               // the cycle whose clock() comes next

 private:
  std::string unit_;
  const RecordedDram& dram_;
  std::uint64_t compared_ = 0;
  sim::Cycle now_ = 0;
};

// The same for the control agent.
class RecordedClient final : public memory::AgentClient {
 public:
  explicit RecordedClient(memory::AgentClient& real) : real_(real) {}
  void reset(sim::Cycle start) override;
  const arch::Flit* out() const override { return real_.out(); }
  void drive(sim::Cycle now) override { real_.drive(now); }
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  sim::Cycle clock(sim::Cycle now, bool out_taken) override;
  void sync(sim::Cycle now) override { real_.sync(now); }
  void visit(sim::Archive& archive) override { real_.visit(archive); }
  std::vector<sim::Wait> waits(sim::Cycle now) const override { return real_.waits(now); }

  // Of cycle `now`, after the model's clock().
  const arch::Flit* offered(sim::Cycle now) const { return offered_at_ == now ? &offered_ : nullptr; }
  bool accepted() const { return accepted_; }
  bool taken(sim::Cycle now) const { return clocked_at_ == now && taken_; }

 private:
  memory::AgentClient& real_;
  sim::Cycle offered_at_ = sim::kNever, clocked_at_ = sim::kNever;
  arch::Flit offered_;
  bool accepted_ = false, taken_ = false;
};

// What the control agent reads and writes of the memory agent, on its way to the model.
class RecordedWindow final : public memory::AuxWindow {
 public:
  explicit RecordedWindow(memory::AuxWindow& real) : real_(real) {}
  void aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) override;
  std::uint64_t aux_stat() const override { return real_.aux_stat(); }
  std::uint64_t aux_status(unsigned word) const override { return real_.aux_status(word); }

  std::span<const rtl::ClientSocket::RegisterWrite> writes(sim::Cycle now) const {
    return {writes_.data(), written_at_ == now ? count_ : 0};
  }

 private:
  memory::AuxWindow& real_;
  sim::Cycle written_at_ = sim::kNever;
  std::size_t count_ = 0;
  std::array<rtl::ClientSocket::RegisterWrite, 2> writes_;  // one a register bus
};

class ComparedClient final : public rtl::ClientSocket {
 public:
  ComparedClient(std::string unit, const RecordedClient& client, const RecordedWindow& window)
      : unit_(std::move(unit)), client_(client), window_(window) {}
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  const arch::Flit* out() const override { return client_.out(); }
  bool offer(sim::Cycle now, const arch::Flit& flit) override;
  void clock(sim::Cycle now, bool out_taken) override;
  std::span<const RegisterWrite> writes(sim::Cycle now) const override { return window_.writes(now); }

 private:
  std::string unit_;
  const RecordedClient& client_;
  const RecordedWindow& window_;
  bool offered_ = false;
};

// The twin's side of a host window that is the model's.
class ComparedWindow final : public rtl::WindowSocket {
 public:
  ComparedWindow(std::string unit, const memory::WindowBus& bus) : unit_(std::move(unit)), bus_(bus) {}
  void drive(const Outputs&) override {}
  Inputs clock(sim::Cycle now, const Outputs& out) override;

 private:
  std::string unit_;
  const memory::WindowBus& bus_;
};

}  // namespace ktpu::apps
