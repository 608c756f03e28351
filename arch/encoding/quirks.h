// SPDX-License-Identifier: Apache-2.0
// Known defects of the reference machine (quirks.md) and what a node with `quirks: none` does instead. This
// table is the only place that names them: models, twins, reports and --explain look here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ktpu::arch {

enum class QuirkId : std::uint8_t {
  kV1,
  kV2,
  kV3,
  kV4,
  kV5,
  kV6,
  kV7,
  kV9,
  kV10,
  kV12,
  kC1,
  kM1,
  kI1,
  kI2,
  kO1,
  kP1,
  kP2,
  kP3,
  kP6
};

struct Quirk {
  QuirkId id;
  std::string_view name;       // "V3"
  std::string_view unit;       // node kind or block it lives in
  std::string_view where;      // page and section
  std::string_view reference;  // what the reference does
  std::string_view hit;        // when a run counts it
  std::string_view none;       // what `quirks: none` does
};

inline constexpr std::array<Quirk, 19> kQuirks{{
    {QuirkId::kV1, "V1", "vector_core", "vector.md 14 Q1",
     "the walk pointer of an FP32 store lags: the low half is overwritten and odd words stay unwritten",
     "an FP32 VST executes", "element halves go to words 2j and 2j+1"},
    {QuirkId::kV2, "V2", "vector_core", "vector.md 14 Q2",
     "an FP16 VCVT takes its data one register read too late", "an FP16 VCVT executes",
     "chunk j comes from chunk j"},
    {QuirkId::kV3, "V3", "vector_core", "vector.md 14 Q3",
     "nothing holds a predicated operation behind a recent compare, so it sees the predicate before the "
     "compare",
     "a predicate is read while its write is pending", "the operation waits until the predicate is written"},
    {QuirkId::kV4, "V4", "vector_core", "vector.md 14 Q4",
     "ANY and ALL use the predicate number of the instruction before them", "the two numbers differ",
     "each uses its own number"},
    {QuirkId::kV5, "V5", "vector_core", "vector.md 14 Q5",
     "the write-back of EXPSUM is masked by whatever predicate mask earlier arithmetic left behind",
     "the mask left behind is not all ones", "the write-back is not masked"},
    {QuirkId::kV6, "V6", "vector_core", "vector.md 14 Q6",
     "the 5-bit pending-write counter wraps on a depth-4 chain group of 8 chunks",
     "the wrapped register is named while writes are pending", "the counter is wide enough"},
    {QuirkId::kV7, "V7", "vector_core", "vector.md 14 Q7", "exp2 wraps for magnitudes from 128 up to 256",
     "VEXP2 or EXPSUM gets such an operand", "+infinity above, 0 below"},
    {QuirkId::kV9, "V9", "vector_core", "vector.md 14 Q9",
     "arithmetic in TREE mode writes nothing and a later user of its destination waits for ever",
     "it executes", "fault F_OPCODE (4)"},
    {QuirkId::kV10, "V10", "vector_core", "vector.md 14 Q10",
     "words of a chain group are not checked to be arithmetic", "such a word executes", "fault F_OPCODE (4)"},
    {QuirkId::kV12, "V12", "vector_core", "vector.md 14 Q12",
     "a loop whose end lies inside a chain group never closes", "the loop end address falls inside a group",
     "fault F_LOOP (6) when gathering a group crosses the loop end"},
    {QuirkId::kC1, "C1", "matmul_cluster", "cluster.md 9.4",
     "a buffer-2 descriptor taken exactly two cycles before a sweep starts overlaps it and colliding sweep "
     "commands are lost",
     "that happens", "the peer stream counts as open in those cycles, so the sweep waits"},
    {QuirkId::kM1, "M1", "mover", "memory.md 10.4", "a move reports done before its last write was issued",
     "done is read while a write is pending", "done follows the last write response"},
    {QuirkId::kI1, "I1", "interlink", "memory.md 11.7 X2",
     "a remote packet of one flit (a burst of 32k+1) sends the previous word again and shifts every later "
     "packet of the mesh",
     "such a packet is formed", "the right flit is sent"},
    {QuirkId::kI2, "I2", "interlink", "memory.md 11.7 X1",
     "two remote bursts of one mesh that interleave block each other for good",
     "a flit of a second burst arrives while one is open",
     "bursts of different sources are arbitrated whole"},
    {QuirkId::kO1, "O1", "control_agent", "orchestrator.md 3.1", "NODE_STATUS survives a reset",
     "it is read after a second reset", "reset clears it"},
    {QuirkId::kP1, "P1", "controller", "controller.md 17 Q1",
     "a victim decision exactly two cycles after a store hit misses the dirty bit and the store is lost",
     "that happens", "the line is dirty as soon as the store commits"},
    {QuirkId::kP2, "P2", "controller", "controller.md 17 Q2",
     "every second kick without a reset completes at once with the old word, and the real halt is never "
     "signalled",
     "a kick follows a halt", "each kick completes at its own halt"},
    {QuirkId::kP3, "P3", "controller", "controller.md 17 Q3",
     "a kick with an opcode other than 1 repeats the previous cause and word", "that happens",
     "code 0 or 1, word 0"},
    {QuirkId::kP6, "P6", "controller", "controller.md 17 Q6",
     "two peers that push at once corrupt the scratchpad",
     "a data flit comes from another source than the open burst's", "the same; reported, not repaired"},
}};

constexpr const Quirk& quirk(QuirkId id) { return kQuirks[static_cast<std::size_t>(id)]; }
// Looks a quirk up by its name, e.g. "V3"; nullptr when there is none.
constexpr const Quirk* find_quirk(std::string_view name) {
  for (const auto& q : kQuirks)
    if (q.name == name) return &q;
  return nullptr;
}

}  // namespace ktpu::arch
