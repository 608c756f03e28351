// SPDX-License-Identifier: Apache-2.0
// What the memory agent's twin hands to a DRAM, against what the model did. All throw sim::LockstepError.
#pragma once

#include <optional>
#include <string>

#include "rtl_models/memory/memory_sockets.h"
#include "tlm/memory/dram_device.h"
#include "tlm/sim/cycle.h"

namespace ktpu::apps {

[[noreturn]] void differ(const std::string& unit, sim::Cycle now, std::string port, std::string field,
                         std::string expected, std::string got);
inline std::string bit(bool value) { return value ? "1" : "0"; }

// `got`: null for nothing.
void compare_address(const std::string& unit, sim::Cycle now, const char* port,
                     const std::optional<memory::DramAddress>& expected, const rtl::DramSocket::Address* got);
void compare_beat(const std::string& unit, sim::Cycle now, const char* port,
                  const std::optional<memory::DramWriteBeat>& expected, const rtl::DramSocket::Beat* got,
                  unsigned bus_bits);

}  // namespace ktpu::apps
