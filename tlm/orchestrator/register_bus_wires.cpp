// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/register_bus_wires.h"

#include "arch/error.h"

namespace ktpu::orchestrator {

std::optional<sim::FieldDifference> first_difference(const BusBeat& expected, const BusBeat& got) {
  const auto differ = [](const char* field, std::uint64_t e, std::uint64_t g) {
    return sim::FieldDifference{field, fmt::format("0x{:x}", e), fmt::format("0x{:x}", g)};
  };
  if (expected.write != got.write) return differ("write", expected.write, got.write);
  if (expected.read != got.read) return differ("read", expected.read, got.read);
  if (expected.strobe != got.strobe) return differ("strobe", expected.strobe, got.strobe);
  if (expected.write_offset != got.write_offset)
    return differ("write_offset", expected.write_offset, got.write_offset);
  if (expected.read_offset != got.read_offset)
    return differ("read_offset", expected.read_offset, got.read_offset);
  if (expected.data != got.data) return differ("data", expected.data, got.data);
  return std::nullopt;
}

std::string wire_text(const BusBeat& beat) {
  return fmt::format("{:x}{:x} {:02x} {:08x} {:08x} {:016x}", beat.read ? 1 : 0, beat.write ? 1 : 0,
                     beat.strobe, beat.write_offset, beat.read_offset, beat.data);
}

std::string wire_words(const BusBeat& beat, const sim::DialectAt&) {
  std::string text;
  if (beat.write)
    text = fmt::format("write {:#06x} = {:#018x}{}", beat.write_offset, beat.data,
                       beat.strobe == 0xFF ? std::string() : fmt::format(" strobe={:#04x}", beat.strobe));
  if (beat.read) text += fmt::format("{}read {:#06x}", beat.write ? ", " : "", beat.read_offset);
  return text;
}

std::string wire_bits(const BusBeat& beat) {
  return fmt::format("{:b}{:b}{:08b}{:032b}{:032b}{:064b}", beat.read ? 1 : 0, beat.write ? 1 : 0,
                     beat.strobe, beat.write_offset, beat.read_offset, beat.data);
}

}  // namespace ktpu::orchestrator
