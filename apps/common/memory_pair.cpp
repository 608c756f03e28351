// SPDX-License-Identifier: Apache-2.0
#include "apps/common/memory_pair.h"

namespace ktpu::apps {

MemoryPair::MemoryPair(std::string name, const memory::MemoryAgentConfig& config, memory::DramDevice& dram,
                       plugin::MemoryMaker make)
    : name_(std::move(name)),
      recorded_dram_(dram),
      compared_dram_(name_, recorded_dram_),
      owned_model_(std::make_unique<memory::MemoryAgent>(name_ + ".model", config, recorded_dram_)),
      compared_border_(config.dram_clock ? std::make_unique<ComparedBorder>(name_, *owned_model_) : nullptr),
      owned_twin_(make_twin(config, dram.bus_bits(), make)),
      model_(*owned_model_),
      twin_(*owned_twin_),
      window_(model_) {
  twin_.set_interlink(&interlink_);
}

std::unique_ptr<rtl::MemoryRtl> MemoryPair::make_twin(const memory::MemoryAgentConfig& config,
                                                      unsigned bus_bits, plugin::MemoryMaker make) {
  rtl::MemoryPlace place = rtl::MemoryRtl::place_of(config, bus_bits);
  if (make != nullptr) {
    require_one_clock(name_, config);
    return make(name_ + ".rtl", place, compared_dram_);
  }
  if (compared_border_ != nullptr)
    return std::make_unique<rtl::FarMemoryTwin>(name_ + ".rtl", std::move(place), *compared_border_);
  return std::make_unique<rtl::MemoryTwin>(name_ + ".rtl", std::move(place), compared_dram_);
}

void MemoryPair::set_client(memory::AgentClient& client) {
  recorded_client_ = std::make_unique<RecordedClient>(client);
  compared_client_ = std::make_unique<ComparedClient>(name_, *recorded_client_, window_);
  model_.set_client(recorded_client_.get());
  twin_.set_client(compared_client_.get());
}

void MemoryPair::bind_port(unsigned port, sim::FlitPort links) {
  model_.bind_port(port, links);
  twin_.bind_port(port, shadows_.mirror("port" + std::to_string(port), links));
}

void MemoryPair::bind_window(memory::WindowBus& bus) {
  model_.bind_window(bus);
  compared_window_ = std::make_unique<ComparedWindow>(name_, bus);
  twin_.set_window(compared_window_.get());
}

void MemoryPair::bind_interlink(unsigned link, memory::BeatLink* out, memory::BeatLink* in) {
  model_.bind_interlink(link, out, in);
  const BeatPort shadow = mirror(shadows_, link, {out, in});
  interlink_.bind(link, shadow.out, shadow.in, twin_);
}

std::uint64_t MemoryPair::ComparedAux::compared(std::string field, std::uint64_t expected,
                                                std::uint64_t got) const {
  if (expected == got) return expected;
  throw sim::LockstepError(
      {pair_.name_,
       pair_.compared_dram_.now(),
       "aux",
       {std::move(field), fmt::format("0x{:016x}", expected), fmt::format("0x{:016x}", got)}});
}

std::uint64_t MemoryPair::ComparedAux::aux_stat() const {
  return compared("stat", pair_.window_.aux_stat(), pair_.twin_.aux_stat());
}

std::uint64_t MemoryPair::ComparedAux::aux_status(unsigned word) const {
  return compared(fmt::format("statw[{}]", word), pair_.window_.aux_status(word),
                  pair_.twin_.aux_status(word));
}

std::unique_ptr<sim::Unit> MemoryPair::unit() {
  return std::make_unique<sim::Lockstep>(name_, std::move(shadows_), std::move(owned_model_),
                                         std::move(owned_twin_));
}

}  // namespace ktpu::apps
