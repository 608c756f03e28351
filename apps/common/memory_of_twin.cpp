// SPDX-License-Identifier: Apache-2.0
#include "apps/common/memory_of_twin.h"

#include "arch/error.h"

namespace ktpu::apps {

void require_one_clock(const std::string& name, const memory::MemoryAgentConfig& config) {
  if (!config.dram_clock) return;
  throw arch::UserError::make(
      "{}: a memory agent of your own has its DRAM on the clock 'fabric' (the ports of ktpu_memory), and "
      "this "
      "DRAM "
      "has a clock of its own: leave `clock` out of `dram`, or choose impl model or rtl without a file",
      name);
}

MemoryOfTwin::MemoryOfTwin(std::string name, const memory::MemoryAgentConfig& config,
                           memory::DramDevice& dram, plugin::MemoryMaker make)
    : staging_(config.staging != memory::StagingPlacement::kNone),
      dram_(dram, config.ports),
      border_(config.dram_clock ? std::make_unique<BorderOfTwin>(dram, config) : nullptr),
      owned_twin_(make_twin(std::move(name), config, dram.bus_bits(), make)),
      twin_(*owned_twin_),
      aux_(twin_) {
  twin_.set_interlink(&interlink_);
}

std::unique_ptr<rtl::MemoryRtl> MemoryOfTwin::make_twin(std::string name,
                                                        const memory::MemoryAgentConfig& config,
                                                        unsigned bus_bits, plugin::MemoryMaker make) {
  rtl::MemoryPlace place = rtl::MemoryRtl::place_of(config, bus_bits);
  if (make != nullptr) {
    require_one_clock(name, config);
    return make(std::move(name), place, dram_);
  }
  if (border_ != nullptr)
    return std::make_unique<rtl::FarMemoryTwin>(std::move(name), std::move(place), *border_);
  return std::make_unique<rtl::MemoryTwin>(std::move(name), std::move(place), dram_);
}

MemoryOfTwin::~MemoryOfTwin() = default;

void MemoryOfTwin::set_client(memory::AgentClient& client) {
  client_ = std::make_unique<ClientOfTwin>(client);
  twin_.set_client(client_.get());
}

void MemoryOfTwin::bind_window(memory::WindowBus& bus) {
  KTPU_CHECK(window_ == nullptr, "{} has a host window", twin_.name());
  window_ = std::make_unique<WindowOfTwin>(bus, twin_);
  twin_.set_window(window_.get());
}

void MemoryOfTwin::staging_read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
  twin_.load(address, bytes);
}

void MemoryOfTwin::staging_written(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  twin_.store(address, bytes);
}

}  // namespace ktpu::apps
