// SPDX-License-Identifier: Apache-2.0
// Vector registers, predicates, scoreboard and the lane pipeline (vector.md sections 4, 7, 8 and 12.2): takes
// one beat a cycle from the sequencer and writes its results when they leave the last stage.
//
// A cycle: the sequencer looks and issues, then clock(now) does what the end of the cycle does.
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/vector_latencies.h"
#include "arch/encoding/vector_word.h"
#include "arch/formats/lane_alu.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"

namespace ktpu::vector {

using sim::Cycle;

inline constexpr unsigned kLanes = 16;
inline constexpr unsigned kVectorRegisters = 16;
inline constexpr unsigned kMaxLength = 128;  // elements of a vector register (section 1)
inline constexpr unsigned kPredicates = 4;
inline constexpr unsigned kMaxDepth = 4;
inline constexpr Cycle kAluLatency = arch::latency::kLaneAlu.value;
inline constexpr Cycle kPipeDrain = arch::latency::kLanesEmpty.value;
inline constexpr unsigned kAccumulators = 16;  // of a reduction

// 128 bits, element e at bit e.
struct Predicate {
  std::array<std::uint64_t, 2> bits{};
  // The 16 bits of a chunk.
  std::uint32_t chunk(unsigned j) const {
    return static_cast<std::uint32_t>(bits[j / 4] >> (j % 4 * 16)) & 0xFFFF;
  }
  void set_chunk(unsigned j, std::uint32_t mask, std::uint32_t value) {
    const unsigned shift = j % 4 * 16;
    bits[j / 4] = (bits[j / 4] & ~(std::uint64_t{mask} << shift)) | std::uint64_t{value & mask} << shift;
  }
};

// One word of a chain group, operands that are no vector registers captured at decode.
struct LaneStage {
  arch::VectorOpcode op = arch::VectorOpcode::kVmov;
  std::array<arch::VectorSource, 3> source{};
  std::array<std::uint8_t, 3> reg{};
  std::array<std::array<std::uint32_t, kLanes>, 3> constant{};  // of sources S and K, one copy a lane
};

// An arithmetic instruction: a FLAT one or a group of 2 or 4 words (section 7).
struct LaneGroup {
  unsigned depth = 1;
  std::array<LaneStage, kMaxDepth> stage;
  std::uint8_t vd = 0, pr = 0, pm = 0;  // of the last word
  bool compare = false;                 // the last word is one
  bool discard = false;                 // TREE mode: nothing is written (section 14, Q9)
};

struct Reduction {
  arch::ReduceKind kind = arch::ReduceKind::kSum;
  std::uint8_t va = 0, vb = 0, pr = 0, pm = 0;

  bool halves() const {  // two beats a chunk
    return kind == arch::ReduceKind::kSumsq || kind == arch::ReduceKind::kDot ||
           kind == arch::ReduceKind::kExpsum;
  }
  arch::VectorOpcode combine() const {
    return kind == arch::ReduceKind::kMax   ? arch::VectorOpcode::kVmax
           : kind == arch::ReduceKind::kMin ? arch::VectorOpcode::kVmin
                                            : arch::VectorOpcode::kVadd;
  }
};

class LaneArray {
 public:
  // `quirks`: V6 and V7 as in the reference machine.
  explicit LaneArray(bool quirks) : quirks_(quirks) {}
  void reset();

  // --- Registers, for whole-chunk moves while the pipe is empty.
  std::uint32_t* chunk(unsigned reg, unsigned j) { return &v_[reg][j * kLanes]; }
  const std::uint32_t* chunk(unsigned reg, unsigned j) const { return &v_[reg][j * kLanes]; }
  const Predicate& predicate(unsigned p) const { return p_[p]; }
  // The register entry a beat read last as operand a (section 14, Q2).
  const std::uint32_t* last_read() const { return chunk(last_reg_, last_chunk_); }

  // --- Scoreboard (section 12.4).
  bool pending(unsigned reg) const { return scoreboard_[reg] != 0; }
  // Writes are on their way although the scoreboard says none: the counter wrapped (Q6).
  bool unprotected(unsigned reg) const { return scoreboard_[reg] == 0 && in_flight_[reg] != 0; }
  // The scoreboard waits for writes that are not on their way: those of a discarded group (Q9).
  bool never_written(unsigned reg) const { return scoreboard_[reg] != 0 && in_flight_[reg] == 0; }

  // Whether the group, with its first beat decided in `now`, would read bits of predicate `p` before a
  // compare that is on its way has written them (no interlock: section 14, Q3).
  bool predicate_pending(Cycle now, unsigned p) const;
  // The same for ANY and ALL, which read all bits below `vl` in `now` itself.
  bool predicate_pending_now(Cycle now, unsigned p, unsigned vl) const;

  // --- Beats. The group or reduction must stay as it is until the last beat was read (two cycles).
  LaneGroup& group() { return group_; }
  const LaneGroup& group() const { return group_; }
  Reduction& reduction() { return reduction_; }
  void issue(Cycle now, unsigned chunk, unsigned phase, unsigned vl);
  void start_reduction();
  void reduce(Cycle now, unsigned beat);
  // The beat that combines the accumulators: the result.
  std::uint32_t reduce_tail(Cycle now);
  // First cycle in which the pipe is empty if no beat follows.
  Cycle empty_from() const { return empty_from_; }

  // End of cycle `now`. Returns the next cycle in which something happens by itself.
  void clock(Cycle now);
  Cycle wake() const;

  struct Wrapped {  // operands of exp2 in the range that wraps (Q7) since the last call
    std::uint64_t count = 0;
    Cycle first = 0;
  };
  bool wrapped() const { return wrapped_.count != 0; }
  Wrapped take_wrapped();
  std::uint64_t beats() const { return beats_; }
  std::uint64_t elements() const { return elements_; }

  void visit(sim::Archive& archive);

 private:
  struct Beat {
    Cycle issued = 0;
    Cycle retires = 0;
    std::uint8_t chunk = 0, first = 0, width = 0;  // elements first .. first + width - 1 of the chunk
    std::uint8_t vd = 0, pr = 0, pm = 0, vl = 0;
    bool writes = false, compare = false, reduces = false;
    std::uint32_t mask = 0;  // of the chunk: elements that are written
    std::array<std::uint32_t, kLanes> result{};
  };
  static constexpr unsigned kRing = 128;  // beats under way: at most 62 cycles' worth

  void read(Beat& beat);
  void read_reduction(Beat& beat);
  void sample_mask(Beat& beat) const;
  void retire(const Beat& beat);
  Beat& push(Cycle now);
  void count_up(unsigned reg);  // a write of `reg` is on its way
  void note_wrapped(const std::uint32_t* operands, const Beat& beat, Cycle now);

  bool quirks_;
  std::array<std::array<std::uint32_t, kMaxLength>, kVectorRegisters> v_{};
  std::array<Predicate, kPredicates> p_{};
  std::array<std::uint8_t, kVectorRegisters> scoreboard_{};
  std::array<std::uint16_t, kVectorRegisters> in_flight_{};
  LaneGroup group_;
  Reduction reduction_;
  std::array<std::uint32_t, kAccumulators> accumulators_{};
  std::array<Beat, kRing> ring_{};
  std::uint32_t read_ = 0, mask_ = 0, retire_ = 0, tail_ = 0;  // counts, modulo the ring
  Cycle empty_from_ = 0;
  std::uint8_t last_reg_ = 0, last_chunk_ = 0;
  Wrapped wrapped_;
  std::uint64_t beats_ = 0, elements_ = 0;
};

}  // namespace ktpu::vector
