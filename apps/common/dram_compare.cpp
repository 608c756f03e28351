// SPDX-License-Identifier: Apache-2.0
#include "apps/common/dram_compare.h"

#include <fmt/format.h>

#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

void differ(const std::string& unit, sim::Cycle now, std::string port, std::string field,
            std::string expected, std::string got) {
  throw sim::LockstepError(
      {unit, now, std::move(port), {std::move(field), std::move(expected), std::move(got)}});
}

void compare_address(const std::string& unit, sim::Cycle now, const char* port,
                     const std::optional<memory::DramAddress>& expected,
                     const rtl::DramSocket::Address* got) {
  if (expected.has_value() != (got != nullptr))
    differ(unit, now, port, "valid", bit(expected.has_value()), bit(got != nullptr));
  if (got == nullptr) return;
  if (expected->addr != got->addr)
    differ(unit, now, port, "addr", fmt::format("{:#x}", expected->addr), fmt::format("{:#x}", got->addr));
  if (expected->beats != got->beats)
    differ(unit, now, port, "beats", std::to_string(expected->beats), std::to_string(got->beats));
  if (expected->id != got->id)
    differ(unit, now, port, "id", std::to_string(expected->id), std::to_string(got->id));
}

void compare_beat(const std::string& unit, sim::Cycle now, const char* port,
                  const std::optional<memory::DramWriteBeat>& expected, const rtl::DramSocket::Beat* got,
                  unsigned bus_bits) {
  if (expected.has_value() != (got != nullptr))
    differ(unit, now, port, "valid", bit(expected.has_value()), bit(got != nullptr));
  if (got == nullptr) return;
  if (expected->lanes != got->lanes)
    differ(unit, now, port, "lanes", fmt::format("{:#x}", expected->lanes), fmt::format("{:#x}", got->lanes));
  if ((expected->last != 0) != got->last)
    differ(unit, now, port, "last", bit(expected->last != 0), bit(got->last));
  for (unsigned word = 0; word < bus_bits / 64; ++word)
    if ((expected->lanes >> (word / 4) & 1) != 0 && expected->data.words[word] != got->data[word])
      differ(unit, now, port, fmt::format("data[{}:{}]", 64 * word + 63, 64 * word),
             fmt::format("{:#x}", expected->data.words[word]), fmt::format("{:#x}", got->data[word]));
}

}  // namespace ktpu::apps
