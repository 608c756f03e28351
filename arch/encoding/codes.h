// SPDX-License-Identifier: Apache-2.0
// Small closed sets of codes: signals, unit types, CU_CTRL registers, faults.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arch/bits.h"

namespace ktpu::arch {

struct NamedCode {
  std::string_view name;
  std::uint32_t value = 0;
  std::string_view meaning = {};
};

// CU_SIGNAL codes, fabric.md section 9. Only kInstComplete returns a dispatch credit.
enum class SignalCode : std::uint8_t {
  kInstComplete = 0x00,
  kBatchComplete = 0x01,
  kBarrierReached = 0x02,  // nothing sends it
  kDataReceived = 0x03,
  kFault = 0x04,
};
inline constexpr std::array<NamedCode, 5> kSignalCodes{{
    {"INST_COMPLETE", 0x00, "retired; returns one dispatch credit"},
    {"BATCH_COMPLETE", 0x01, "retired an instruction marked last; arg = its txn"},
    {"BARRIER_REACHED", 0x02, "named, sent by nothing"},
    {"DATA_RECEIVED", 0x03, "a CU_DATA burst with the signal flag landed; arg = buffer"},
    {"FAULT", 0x04, "retired with a fault; no credit"},
}};

// CU_TYPE of CU_CAPS, fabric.md section 10.2 (PE: composite.md section 1).
enum class UnitType : std::uint16_t {
  kNull = 0x0000,
  kMatmulCluster = 0x4D47,
  kVectorCore = 0x5643,
  kController = 0x5256,
  kLegacyMatmul = 0x4D58,
  kPe = 0x5045,
};
inline constexpr std::array<NamedCode, 6> kUnitTypes{{
    {"NULL", 0x0000, "null unit"},
    {"MG", 0x4D47, "matmul cluster"},
    {"VC", 0x5643, "vector core"},
    {"RV", 0x5256, "RISC-V controller"},
    {"MX", 0x4D58, "legacy matmul unit"},
    {"PE", 0x5045, "composite-command unit"},
}};

// CU_CTRL register indices, fabric.md section 10.1 and 12.
enum class CtrlIndex : std::uint8_t {
  kCaps = 0,
  kStatus = 1,
  kCounters = 2,
  kDebug = 3,
  kAdapterCaps = 0xE0,
  kAdapterBase = 0xE1,
  kAdapterEnable = 0xE2,
  kAdapterCounters = 0xE3,
};
inline constexpr std::array<NamedCode, 8> kCtrlIndices{{
    {"CU_CAPS", 0, "type, version, buffers, instruction FIFO depth"},
    {"CU_STATUS", 1, "busy and free instruction slots"},
    {"CU_COUNTERS", 2, "instructions retired, busy cycles"},
    {"CU_DBG", 3, "unit's own 64-bit counter"},
    {"ADAPTER_CAPS", 0xE0, "staging adapter: id, version, window size, lines"},
    {"ADAPTER_BASE", 0xE1, "staging adapter: window base"},
    {"ADAPTER_ENABLE", 0xE2, "staging adapter: window on"},
    {"ADAPTER_COUNTERS", 0xE3, "staging adapter: requests served, forwarded"},
}};

// Fields of the 64-bit CU_CTRL values.
namespace cu_caps {
inline constexpr Field kType{"cu_type", 48, 16, "unit type"};
inline constexpr Field kVersion{"cu_version", 40, 8, "build number"};
inline constexpr Field kBuffers{"n_buffers", 36, 4, "buffer ids accepted"};
inline constexpr Field kInstDepth{"inst_depth", 20, 16, "instruction FIFO depth"};
inline constexpr std::array<Field, 4> kFields{kType, kVersion, kBuffers, kInstDepth};
}  // namespace cu_caps
namespace cu_status {
inline constexpr Field kBusy{"busy", 63, 1, "work in the unit"};
inline constexpr Field kError{"error", 62, 1, "tied to 0"};
inline constexpr Field kInstSpace{"inst_space", 32, 16, "free instruction slots"};
inline constexpr std::array<Field, 3> kFields{kBusy, kError, kInstSpace};
}  // namespace cu_status
constexpr std::uint64_t make_cu_caps(UnitType type, unsigned version, unsigned buffers, unsigned inst_depth) {
  std::uint64_t word = 0;
  set(&word, cu_caps::kType, static_cast<std::uint64_t>(type));
  set(&word, cu_caps::kVersion, version);
  set(&word, cu_caps::kBuffers, buffers);
  set(&word, cu_caps::kInstDepth, inst_depth);
  return word;
}

// Vector core fault arguments, fabric.md section 9.
inline constexpr std::array<NamedCode, 9> kVectorFaults{{
    {"F_DTYPE", 1, "data type"},
    {"F_VSRC", 2, "vector source"},
    {"F_CHAIN", 3, "chain"},
    {"F_OPCODE", 4, "opcode"},
    {"F_LENGTH", 5, "length"},
    {"F_LOOP", 6, "loop"},
    {"F_VL", 7, "vector length"},
    {"F_REDUCE", 8, "reduce length"},
    {"F_CUDATA", 9, "peer burst"},
}};

template <std::size_t N>
constexpr std::string_view code_name(const std::array<NamedCode, N>& table, std::uint32_t value) {
  for (const auto& c : table)
    if (c.value == value) return c.name;
  return {};
}

}  // namespace ktpu::arch
