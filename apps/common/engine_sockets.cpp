// SPDX-License-Identifier: Apache-2.0
#include "apps/common/engine_sockets.h"

#include <fmt/format.h>

#include "arch/encoding/registers.h"
#include "tlm/orchestrator/poll_text.h"
#include "tlm/orchestrator/register_bus_wires.h"

namespace ktpu::apps {

CommandEngineOfTwin::CommandEngineOfTwin(std::string name, unsigned commands, const Wires& wires,
                                         plugin::CommandEngineMaker make)
    : Unit(std::move(name)), wires_(wires), twin_(make(this->name(), commands)) {
  wires_.host->bind_receiver(*this);
  wires_.bus->bind_sender(*this);
}

void CommandEngineOfTwin::reset(sim::Cycle start) { twin_->reset(start); }

void CommandEngineOfTwin::drive(sim::Cycle now) {
  const std::uint64_t value = twin_->host_data();
  if (wires_.host_data != nullptr) *wires_.host_data = value;
  if (wires_.expected != nullptr && *wires_.expected != value)
    throw sim::LockstepError(
        {name(),
         now,
         "host_bus",
         {"read_data", fmt::format("0x{:016x}", *wires_.expected), fmt::format("0x{:016x}", value)}});
  const rtl::EngineBeat shown = twin_->bus_beat();
  if (shown.write || shown.read) {
    orchestrator::BusBeat beat;
    beat.write = shown.write;
    beat.read = shown.read;
    beat.write_offset = shown.write_offset;
    beat.read_offset = shown.read_offset;
    beat.data = shown.data;
    wires_.bus->offer(beat);
  } else if (wires_.bus->valid()) {
    wires_.bus->withdraw();
  }
}

sim::Cycle CommandEngineOfTwin::clock(sim::Cycle now) {
  rtl::EngineBeat host;
  if (wires_.host->valid()) {
    const orchestrator::BusBeat& beat = wires_.host->data();
    host = {beat.write, beat.read, beat.write_offset, beat.read_offset, beat.data};
  }
  const bool beat_on = wires_.bus->valid();  // to be taken off the wires
  watch(now);
  const sim::Cycle next = twin_->clock(now, host, *wires_.bus_data);
  return beat_on ? now + 1 : next;
}

void CommandEngineOfTwin::watch(sim::Cycle now) {
  namespace reg = arch::engine;
  if (wires_.host->valid()) {
    const orchestrator::BusBeat& beat = wires_.host->data();
    if (beat.write && beat.write_offset == reg::kCtrl && (beat.data & 1) != 0 && twin_->quiet()) polls_ = 0;
  }
  if (!wires_.bus->valid()) return;
  const orchestrator::BusBeat& beat = wires_.bus->data();
  writes_ += beat.write;
  polls_ += beat.read;
  if (beat.read && !(polling_ && poll_offset_ == beat.read_offset)) {
    poll_offset_ = beat.read_offset;
    poll_since_ = now;
  }
  polling_ = beat.read;
}

std::vector<sim::Wait> CommandEngineOfTwin::waits(sim::Cycle) const {
  if (twin_->quiet()) return {};
  return {{.what = polling_ ? fmt::format("it reads {} over and over, the last time 0x{:x}; its RTL does not "
                                          "tell what it waits for",
                                          orchestrator::register_text(poll_offset_), *wires_.bus_data)
                            : std::string("it runs commands"),
           .kind = "rtl",
           .since = polling_ ? poll_since_ : sim::kNever}};
}

void CommandEngineOfTwin::visit(sim::Archive& archive) {
  archive.unreachable("state inside the RTL twin");
  archive.counter("polls", polls_, "reads", "Poll reads since the last GO");
  archive.counter("writes", writes_, "writes", "WRITE commands executed");
}

std::unique_ptr<sim::Lockstep> lockstep_engine(const std::string& name, unsigned commands,
                                               orchestrator::RegisterBus& host,
                                               orchestrator::RegisterBus& agent,
                                               orchestrator::CommandEngine** model,
                                               plugin::CommandEngineMaker make) {
  sim::Shadows shadows;
  CommandEngineOfTwin::Wires wires;
  wires.host = shadows.mirror("host_bus", sim::Shadow::Role::kInput, &host.beat);
  wires.bus = shadows.mirror("agent_bus", sim::Shadow::Role::kOutput, &agent.beat);
  wires.bus_data = &agent.read_data;
  wires.expected = &host.read_data;
  auto real = std::make_unique<orchestrator::CommandEngine>(name + ".model", commands, host, agent);
  *model = real.get();
  auto twin = std::make_unique<CommandEngineOfTwin>(name + ".rtl", commands, wires, make);
  return std::make_unique<sim::Lockstep>(name, std::move(shadows), std::move(real), std::move(twin));
}

}  // namespace ktpu::apps
