// SPDX-License-Identifier: Apache-2.0
#include "apps/common/agent_sockets.h"

#include <algorithm>

#include "arch/encoding/codes.h"
#include "arch/error.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

namespace {

rtl::AgentRtl::Beats beats_of(const std::vector<orchestrator::RegisterBus*>& buses) {
  rtl::AgentRtl::Beats beats{};
  for (std::size_t b = 0; b < buses.size(); ++b) {
    if (!buses[b]->beat.valid()) continue;
    const orchestrator::BusBeat& beat = buses[b]->beat.data();
    beats[b] = {beat.write, beat.read, beat.strobe, beat.write_offset, beat.read_offset, beat.data};
  }
  return beats;
}

[[noreturn]] void differ(const std::string& unit, sim::Cycle now, std::string port, std::string field,
                         std::string expected, std::string got) {
  throw sim::LockstepError(
      {unit, now, std::move(port), {std::move(field), std::move(expected), std::move(got)}});
}

std::string hex(std::uint64_t value) { return fmt::format("0x{:016x}", value); }

}  // namespace

AgentOfTwin::AgentOfTwin(std::string name, const orchestrator::ControlAgentParams& params,
                         std::vector<orchestrator::RegisterBus*> buses, memory::AuxWindow* aux,
                         plugin::AgentMaker make)
    : buses_(std::move(buses)),
      aux_(aux == nullptr ? nullptr : std::make_unique<Aux>(*aux)),
      twin_(make(std::move(name), rtl::AgentPlace::of(params), aux_.get())) {
  KTPU_CHECK(buses_.size() <= rtl::AgentRtl::kBuses, "{} register buses", buses_.size());
}

void AgentOfTwin::drive(sim::Cycle) {
  for (std::size_t b = 0; b < buses_.size(); ++b)
    buses_[b]->read_data = twin_->read_data(static_cast<unsigned>(b));
}

bool AgentOfTwin::offer(sim::Cycle now, const arch::Flit& flit) {
  const bool taken = twin_->offer(now, flit);
  const bool signal = flit.type() == arch::FlitType::kCuSignal;
  signals_ += signal;
  mailbox_received_ += taken && !signal;
  if (signal && flit.bits(248, 8) == static_cast<std::uint64_t>(arch::SignalCode::kFault) &&
      faults_.size() < orchestrator::kFaultsKept)
    faults_.push_back({now, flit.src(), static_cast<std::uint32_t>(flit.bits(216, 32))});
  if (taken && probe_ != nullptr) probe_->received(now, flit);
  return taken;
}

void AgentOfTwin::set_probe(orchestrator::AgentProbe* probe) {
  probe_ = probe;
  if (probe == nullptr) return twin_->observe({});
  twin_->observe([probe](sim::Cycle now, const rtl::AgentEvents& e) {
    if (e.kick) probe->kick(now);
    if (e.push) probe->push(now, e.flit);
  });
}

sim::Cycle AgentOfTwin::clock(sim::Cycle now, bool out_taken) {
  if (out_taken && probe_ != nullptr) probe_->sent(now, *out());
  const rtl::AgentRtl::Beats beats = beats_of(buses_);
  for (const rtl::AgentBeat& beat : beats) writes_ += beat.write, reads_ += beat.read;
  return twin_->clock(now, out_taken, beats);
}

void AgentOfTwin::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
  archive.counter("signals", signals_, "flits", "CU_SIGNAL flits received");
  archive.counter("mailbox_received", mailbox_received_, "flits", "Flits put into the receive mailbox");
  archive.counter("writes", writes_, "writes", "Register writes");
  archive.counter("reads", reads_, "reads", "Register reads");
}

std::vector<sim::Wait> AgentOfTwin::waits(sim::Cycle) const {
  const arch::Flit* flit = out();
  if (flit == nullptr) return {};
  return {{.what = fmt::format("the agent's {} flit for ({},{}) is not taken by the mesh",
                               arch::flit_type_name(flit->type_code()), flit->dst_x(), flit->dst_y()),
           .part = std::string(memory::kClientOutput),
           .kind = "output"}};
}

LockstepAgent::LockstepAgent(std::string name, orchestrator::ControlAgent& model,
                             const orchestrator::ControlAgentParams& params,
                             std::vector<orchestrator::RegisterBus*> buses, memory::AuxWindow* aux,
                             plugin::AgentMaker make)
    : name_(std::move(name)),
      model_(model),
      buses_(std::move(buses)),
      aux_(aux),
      twin_(make(name_ + ".rtl", rtl::AgentPlace::of(params), this)) {
  model_.set_aux(this);
}

LockstepAgent::~LockstepAgent() = default;

void LockstepAgent::reset(sim::Cycle start) {
  model_writes_.clear();
  twin_writes_.clear();
  model_.reset(start);
  twin_->reset(start);
}

void LockstepAgent::drive(sim::Cycle now) {
  model_.drive(now);
  compare(now);
}

void LockstepAgent::compare(sim::Cycle now) {
  ++compared_cycles_;
  const arch::Flit *expected = model_.out(), *got = twin_->out();
  if ((expected != nullptr) != (got != nullptr))
    differ(name_, now, "out", "valid", expected != nullptr ? "1" : "0", got != nullptr ? "1" : "0");
  if (expected != nullptr) {
    ++compared_values_;
    if (const auto difference = sim::first_difference(*expected, *got))
      throw sim::LockstepError({name_, now, "out", *difference});
  }
  for (std::size_t b = 0; b < buses_.size(); ++b) {
    const std::uint64_t value = twin_->read_data(static_cast<unsigned>(b));
    if (buses_[b]->read_data != value)
      differ(name_, now, fmt::format("bus{}", b), "read_data", hex(buses_[b]->read_data), hex(value));
  }
}

bool LockstepAgent::offer(sim::Cycle now, const arch::Flit& flit) {
  const bool expected = model_.offer(now, flit), got = twin_->offer(now, flit);
  ++compared_values_;
  if (expected != got) differ(name_, now, "in", "ready", expected ? "1" : "0", got ? "1" : "0");
  return expected;
}

void LockstepAgent::aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) {
  (twin_clocks_ ? twin_writes_ : model_writes_).push_back({offset, data});
  if (!twin_clocks_ && aux_ != nullptr) aux_->aux_write(now, offset, data);
}

// The twin first: its reads are to see the AUX window before the model's writes change it.
sim::Cycle LockstepAgent::clock(sim::Cycle now, bool out_taken) {
  const rtl::AgentRtl::Beats beats = beats_of(buses_);
  for (const rtl::AgentBeat& beat : beats) compared_values_ += beat.read;
  twin_clocks_ = true;
  const sim::Cycle twin_next = twin_->clock(now, out_taken, beats);
  twin_clocks_ = false;
  const sim::Cycle model_next = model_.clock(now, out_taken);
  if (model_writes_ != twin_writes_) {
    const auto text = [](const std::vector<AuxWrite>& writes) {
      return writes.empty() ? std::string("none")
                            : fmt::format("{} at 0x{:02x} (of {})", hex(writes[0].data), writes[0].offset,
                                          writes.size());
    };
    differ(name_, now, "aux", "write", text(model_writes_), text(twin_writes_));
  }
  compared_values_ += model_writes_.size();
  model_writes_.clear();
  twin_writes_.clear();
  return std::min(model_next, twin_next);
}

void LockstepAgent::visit(sim::Archive& archive) {
  model_.visit(archive);
  if (archive.is_checkpoint()) archive.unreachable("state inside the RTL twin");
}

}  // namespace ktpu::apps
