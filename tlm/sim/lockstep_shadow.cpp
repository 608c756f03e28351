// SPDX-License-Identifier: Apache-2.0
#include "tlm/sim/lockstep_shadow.h"

#include <algorithm>

#include "arch/error.h"

namespace ktpu::sim {

std::optional<FieldDifference> first_difference(const arch::Flit& expected, const arch::Flit& got) {
  for (const arch::Field& field : arch::header::kFields) {
    const std::uint64_t e = expected.get(field), g = got.get(field);
    if (e == g) continue;
    if (field.lsb == arch::header::kType.lsb)
      return FieldDifference{std::string(field.name),
                             std::string(arch::flit_type_name(static_cast<unsigned>(e))),
                             std::string(arch::flit_type_name(static_cast<unsigned>(g)))};
    return FieldDifference{std::string(field.name), std::to_string(e), std::to_string(g)};
  }
  for (unsigned word = arch::kPayloadBits / 64; word-- > 0;)
    if (expected.w[word] != got.w[word])
      return FieldDifference{fmt::format("payload[{}:{}]", 64 * word + 63, 64 * word),
                             fmt::format("0x{:016x}", expected.w[word]),
                             fmt::format("0x{:016x}", got.w[word])};
  return std::nullopt;
}

std::string wire_text(const arch::Flit& data) { return arch::to_hex(data); }

std::string wire_words(const arch::Flit& data, const DialectAt& dialect) {
  std::string text = arch::flit_to_text(data, dialect ? dialect(data.dst()) : arch::Dialect::kCluster);
  if (!text.starts_with("flit ")) return text;
  // The assembler has no words for data.
  const std::string hex = arch::to_hex(data);
  return fmt::format("{} ({},{}) to ({},{}) txn={:#04x}{}{} payload {}",
                     arch::flit_type_name(data.type_code()), data.src_x(), data.src_y(), data.dst_x(),
                     data.dst_y(), data.txn(), data.last() ? " last" : "",
                     data.rsvd() == 0 ? "" : fmt::format(" rsvd={}", data.rsvd()),
                     hex.substr(hex.size() - arch::kPayloadBits / 4));
}

std::string wire_bits(const arch::Flit& data) {
  std::string bits(arch::kFlitBits, '0');
  for (unsigned b = 0; b < arch::kFlitBits; ++b)
    if (data.bits(b, 1) != 0) bits[arch::kFlitBits - 1 - b] = '1';
  return bits;
}

Shadows::Shadows(std::size_t history) : history_(std::max<std::size_t>(history, 1)) {}

}  // namespace ktpu::sim
