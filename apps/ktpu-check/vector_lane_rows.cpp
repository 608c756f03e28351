// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the vector core, run through its lane array: vectors/vector (operations, reductions,
// conversions) and vectors_valu.jsonl.
#include <fmt/format.h>

#include <algorithm>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/block_twins.h"
#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/vector_rig.h"
#include "arch/error.h"
#include "arch/formats/acc.h"
#include "arch/formats/e8m15.h"
#include "tlm/vector/lane_array.h"

namespace ktpu::check {

using arch::VectorOpcode;
using nlohmann::json;
using vector::Cycle;
using vector::LaneArray;

namespace {

constexpr unsigned kBits = 24, kDigits = 6;

std::optional<VectorOpcode> opcode_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  for (unsigned op = 0; op <= static_cast<unsigned>(VectorOpcode::kVrsqrt); ++op) {
    const std::string_view known = arch::kVectorOpcodes[op].name;
    if (known == name || known.substr(1) == name) return static_cast<VectorOpcode>(op);
  }
  return std::nullopt;
}

VectorOpcode opcode_in(const json& row) {
  const std::string& name = text(member(row, "op"), "op");
  if (const auto op = opcode_of(name)) return *op;
  throw arch::UserError::make("operation \"{}\" is not known", name);
}

struct Lanes {
  std::array<std::uint32_t, vector::kLanes> a{}, b{}, c{}, result{};
  std::uint32_t predicate = 0;
  Cycle latency = 0;  // from the operands at the ALU to the end of its last stage
};

void run_until_retired(LaneArray& array, Cycle from, Cycle* retired = nullptr) {
  for (Cycle now = from; array.wake() != sim::kNever; ++now) {
    array.clock(now);
    if (retired != nullptr) *retired = now;
  }
}

// One beat in FLAT mode; a comparison once more as the head of a chain, which shows the value it hands on.
void run_lanes(VectorOpcode op, Lanes& lanes) {
  LaneArray array(true);
  array.reset();
  const std::array<const std::array<std::uint32_t, vector::kLanes>*, 3> operands{&lanes.a, &lanes.b,
                                                                                 &lanes.c};
  for (unsigned s = 0; s < operands.size(); ++s)
    std::copy(operands[s]->begin(), operands[s]->end(), array.chunk(s, 0));
  constexpr unsigned kTarget = 3;
  vector::LaneGroup& group = array.group();
  group.stage[0].op = op;
  group.stage[0].reg = {0, 1, 2};
  group.vd = kTarget;
  arch::VectorWord word;
  word.op = static_cast<std::uint32_t>(op);
  group.compare = word.compare();
  Cycle retired = 0;
  array.issue(0, 0, 0, vector::kLanes);
  run_until_retired(array, 0, &retired);
  constexpr Cycle kToOperands = 2;
  lanes.latency = retired - kToOperands;
  lanes.predicate = array.predicate(0).chunk(0);
  if (group.compare) {
    group.depth = 2;
    group.compare = false;
    group.stage[1].op = VectorOpcode::kVmov;
    group.stage[1].source = {arch::VectorSource::kChain, arch::VectorSource::kConstant,
                             arch::VectorSource::kConstant};
    for (unsigned phase = 0; phase < 2; ++phase) array.issue(1000 + phase, 0, phase, vector::kLanes);
    run_until_retired(array, 1000);
  }
  std::copy_n(array.chunk(kTarget, 0), vector::kLanes, lanes.result.begin());
}

std::vector<std::uint32_t> elements(const json& row, const char* field, std::size_t count) {
  const std::string& digits = text(member(row, field), field);
  if (digits.size() != count * kDigits)
    throw arch::UserError::make("field \"{}\" has {} digits, not {}", field, digits.size(), count * kDigits);
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(
        static_cast<std::uint32_t>(hex_value(digits.substr(i * kDigits, kDigits), field, kBits)));
  return values;
}

// One lane's RTL for all of them, back to back. A comparison's predicate is its result, as an operand.
void run_lanes_on_rtl(VectorOpcode op, Lanes& lanes) {
  std::array<LaneOperands, vector::kLanes> operands;
  for (unsigned i = 0; i < vector::kLanes; ++i) operands[i] = {lanes.a[i], lanes.b[i], lanes.c[i]};
  const LaneResults results = operate_on_rtl(op, operands);
  lanes.latency = results.latency;
  arch::VectorWord word;
  word.op = static_cast<std::uint32_t>(op);
  for (unsigned i = 0; i < vector::kLanes; ++i) {
    lanes.result[i] = results.values[i];
    lanes.predicate |= static_cast<std::uint32_t>(word.compare() && results.values[i] != 0) << i;
  }
}

// What a vector core has inside.
void run_lanes_as_asked(VectorOpcode op, Lanes& lanes) {
  const topo::Impl impl = implementation_of(VectorRig::recorded_node(), "lane ALU");
  if (impl == topo::Impl::kModel) return run_lanes(op, lanes);
  Lanes model = lanes;
  run_lanes_on_rtl(op, lanes);
  if (impl != topo::Impl::kLockstep) return;
  run_lanes(op, model);
  note_compared(2 * lanes.result.size() + 1);
  for (unsigned i = 0; i < vector::kLanes; ++i)
    if (model.result[i] != lanes.result[i] || ((model.predicate ^ lanes.predicate) >> i & 1) != 0 ||
        model.latency != lanes.latency)
      throw arch::UserError(
          fmt::format(
              "lock-step mismatch: {} of {:06x} {:06x} {:06x}: model {:06x} predicate {} after {} cycles, "
              "RTL {:06x} predicate {} after {}",
              arch::kVectorOpcodes[static_cast<unsigned>(op)].name, lanes.a[i], lanes.b[i], lanes.c[i],
              model.result[i], model.predicate >> i & 1, model.latency, lanes.result[i],
              lanes.predicate >> i & 1, lanes.latency),
          arch::ExitStatus::kLockstepMismatch);
}

}  // namespace

void check_lane(const json& row, Differences& differences) {
  const VectorOpcode op = opcode_in(row);
  const auto operand = [&](const char* field) {
    return row.contains(field) ? static_cast<std::uint32_t>(hex_value(row[field], field, kBits)) : 0;
  };
  Lanes lanes;
  lanes.a[0] = operand("a");
  lanes.b[0] = operand("b");
  lanes.c[0] = operand("c");
  run_lanes_as_asked(op, lanes);
  json got = {{"r", to_hex(lanes.result[0], kDigits)}, {"p", lanes.predicate & 1}};
  if (!row.contains("p")) got.erase("p");
  compare_fields(row, got, {"op", "a", "b", "c", "tag"}, {}, differences);
}

void check_vectors_valu(const json& row, Differences& differences) {
  const VectorOpcode op = opcode_in(row);
  const json& cases = member(row, "cases");
  json got_cases = json::array();
  Cycle latency = 0;
  for (std::size_t first = 0; first < cases.size(); first += vector::kLanes) {
    const std::size_t count = std::min<std::size_t>(vector::kLanes, cases.size() - first);
    Lanes lanes;
    for (std::size_t i = 0; i < count; ++i) {
      const json& one = cases[first + i];
      if (!one.is_array() || one.size() != 5) throw arch::UserError("cases: not lists of five");
      lanes.a[i] = static_cast<std::uint32_t>(hex_value(one[0], "cases", kBits));
      lanes.b[i] = static_cast<std::uint32_t>(hex_value(one[1], "cases", kBits));
      lanes.c[i] = static_cast<std::uint32_t>(hex_value(one[2], "cases", kBits));
    }
    run_lanes_as_asked(op, lanes);
    latency = lanes.latency;
    for (std::size_t i = 0; i < count; ++i) {
      const json& one = cases[first + i];
      got_cases.push_back(
          {one[0], one[1], one[2], to_hex(lanes.result[i], kDigits), (lanes.predicate >> i) & 1});
    }
  }
  const json got = {{"alu_opcode", arch::alu_number(op)}, {"latency", latency}, {"cases", got_cases}};
  compare_fields(row, got, {"op"}, {}, differences);
}

void check_convert(const json& row, Differences& differences) {
  note_no_twin("conversions here are a function of the formats library; no unit runs");
  const std::string& kind = text(member(row, "cvt"), "cvt");
  const json& in = member(row, "in");
  const auto value = [&](unsigned bits) { return static_cast<std::uint32_t>(hex_value(in, "in", bits)); };
  std::uint64_t out = 0;
  unsigned digits = kDigits;
  if (kind == "f16_e8") {
    out = arch::fp16_to_e8m15(static_cast<std::uint16_t>(value(16)));
  } else if (kind == "f32_e8") {
    out = arch::fp32_to_e8m15(value(32));
  } else if (kind == "e8_f16") {
    out = arch::e8m15_to_fp16(value(kBits));
    digits = 4;
  } else if (kind == "e8_f32") {
    out = arch::e8m15_to_fp32(value(kBits));
    digits = 8;
  } else if (kind == "acc22_e8") {
    out = arch::acc_to_e8m15(value(22), 14);
  } else if (kind == "acc24_e8") {
    out = arch::acc_to_e8m15(value(24), 16);
  } else {
    throw arch::UserError::make("conversion \"{}\" is not known", kind);
  }
  const json got = {{"out", to_hex(out, digits)}};
  compare_fields(row, got, {"cvt", "in", "tag"}, {}, differences);
}

void check_reduce(const json& row, Differences& differences) {
  note_no_twin("reductions here run the lane array alone, which has no twin without its core");
  const std::string& name = text(member(row, "kind"), "kind");
  constexpr std::array<std::string_view, 6> kKinds{"SUM", "MAX", "MIN", "SUMSQ", "DOT", "EXPSUM"};
  const auto found = std::find(kKinds.begin(), kKinds.end(), name);
  if (found == kKinds.end()) throw arch::UserError::make("reduction \"{}\" is not known", name);
  const auto kind = static_cast<arch::ReduceKind>(found - kKinds.begin());
  const auto vl = static_cast<std::size_t>(integer(member(row, "vl"), "vl", 16, vector::kMaxLength));
  if (vl % vector::kLanes != 0) throw arch::UserError::make("vl {} is not a multiple of 16", vl);
  LaneArray array(true);
  array.reset();
  const auto load = [&](unsigned reg, const char* field) {
    const auto values = elements(row, field, vl);
    std::copy(values.begin(), values.end(), array.chunk(reg, 0));
  };
  load(0, "va");
  if (kind == arch::ReduceKind::kDot) load(1, "vb");
  constexpr std::uint8_t kWriteBack = 2;
  vector::Reduction& reduction = array.reduction();
  reduction.kind = kind;
  reduction.va = 0;
  reduction.vb = kind == arch::ReduceKind::kDot ? 1 : kind == arch::ReduceKind::kExpsum ? kWriteBack : 0;
  array.start_reduction();
  const unsigned beats = static_cast<unsigned>(vl / vector::kLanes) * (reduction.halves() ? 2 : 1);
  Cycle now = 0;
  for (unsigned q = 0; q < beats; ++q, ++now) {
    array.reduce(now, q);
    array.clock(now);
  }
  run_until_retired(array, now);
  json got = {{"r", to_hex(array.reduce_tail(1000), kDigits)}};
  if (row.contains("wb")) {
    std::string digits;
    for (std::size_t e = 0; e < vl; ++e) digits += to_hex(array.chunk(kWriteBack, 0)[e], kDigits);
    got["wb"] = digits;
  }
  compare_fields(row, got, {"kind", "vl", "va", "vb", "tag"}, {}, differences);
}

}  // namespace ktpu::check
