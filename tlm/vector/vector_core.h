// SPDX-License-Identifier: Apache-2.0
// The vector core (vector.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/encoding/vector_word.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/endless.h"
#include "tlm/sim/unit.h"
#include "tlm/vector/address_walk.h"
#include "tlm/vector/lane_array.h"
#include "tlm/vector/scratchpad.h"
#include "tlm/vector/send_slot.h"
#include "tlm/vector/vector_cycles.h"

namespace ktpu::vector {

// Section 13.
enum class VectorFault : std::uint8_t {
  kNone,
  kDtype,
  kVsrc,
  kChain,
  kOpcode,
  kLen,
  kLoop,
  kVl,
  kRedvl,
  kCudata,
};
std::string_view fault_name(VectorFault fault);

struct VectorParams {
  arch::Coord at;
  arch::Coord memory_port;    // where fills and drains to memory go
  unsigned inst_depth = 512;  // instruction FIFO
  unsigned recv_depth = 512;  // receive FIFO
  unsigned l1_words = 512;    // power of two, at most 512
  bool quirks = true;         // true: V1 to V12 as in the reference machine; false: as intended (quirks.md)
};

// Watches kernels (ktpu-check, tests). Cycles are absolute.
class VectorProbe {
 public:
  virtual ~VectorProbe() = default;
  virtual void on_run(Cycle /*kernel_cycle_0*/, unsigned /*pc*/) {}
  // An instruction is in its execute cycle.
  virtual void on_execute(Cycle /*now*/, unsigned /*pc*/, std::uint32_t /*word*/) {}
  // The instruction in flight retires.
  virtual void on_done(Cycle /*now*/, std::uint32_t /*result*/, bool /*fault*/, bool /*run*/) {}
};

class VectorCore final : public sim::Unit, public noc::EndpointReports, public sim::Endless {
 public:
  // Binds the links.
  VectorCore(std::string name, const VectorParams& params, sim::FlitPort links);

  void reset(Cycle start) override;
  void drive(Cycle now) override { base_.drive(now); }
  Cycle clock(Cycle now) override;
  void visit(sim::Archive& archive) override;
  void sync(Cycle now) override;
  std::vector<sim::Wait> waits(Cycle now) const override;
  std::uint64_t progress() const override { return instructions_ + lanes_.beats() + words_moved_; }

  const VectorParams& params() const { return params_; }
  void set_probe(VectorProbe* probe) { probe_ = probe; }  // null: none
  const noc::EndpointMisuseLog& misuse() const override { return misuse_; }
  void set_write_observer(noc::WriteObserver* observer) override { base_.set_write_observer(observer); }
  const noc::EndpointBase* endpoint_base() const override { return &base_; }
  std::vector<noc::QuirkHits> quirk_hits() const override;
  bool idle() const;

  // Back doors. `word` 0..511, `element` 0..127, others modulo their number.
  std::uint32_t instruction_word(unsigned word) const { return imem_[word % kWords]; }
  const Descriptor& descriptor(unsigned descriptor) const { return descriptors_[descriptor % 8]; }
  std::uint32_t scalar(unsigned reg) const { return s_[reg % 16]; }
  std::uint32_t element(unsigned reg, unsigned element) const {
    return lanes_.chunk(reg % kVectorRegisters, 0)[element % kMaxLength];
  }
  const Predicate& predicate(unsigned p) const { return lanes_.predicate(p % kPredicates); }
  const L1Word& l1(unsigned word) const { return l1_.word(word); }
  std::uint32_t kernel_cycles() const { return cycles_; }  // of the last RUN
  // A kernel is moving and no VHALT lies ahead: only a fault can end it. There is no branch back but VLOOP,
  // and behind the last word of the instruction memory comes the first. False in cycles in which it waits for
  // others, who may be what it really stands at.
  bool never_halts() const;
  Cycle kernel_start() const { return started_; }
  Cycle endless_since() const override { return never_halts() ? started_ : sim::kNever; }

 private:
  static constexpr unsigned kWords = 512;  // section 1: 9-bit pc

  // What the sequencer does in cycle at_. Names of vector.md section 12 in the comments.
  enum class Step : std::uint8_t {
    kIdle,
    kFetch,    // F
    kExecute,  // E
    kGather,   // further words of a chain group
    kIssue,    // first beat, behind the hazards
    kBeats,    // further beats
    kPipe,     // W: the pipe is empty; after_pipe_ is next
    kSetMode,  // VSETMODE
    kLoadStart,
    kLoad,  // VLD: one L1 word
    kStoreStart,
    kStore,          // VST: a write cycle
    kMoveChunks,     // VCVT, VSHUF, VBCAST
    kReduce,         // VRED: beats
    kReduceTail,     // the accumulators
    kPredicateRead,  // ANY, ALL
    kFillWait,       // VFILL behind the one before
    kFillCheck,
    kFillRequest,  // a request is decided
    kFillHand,     // it is handed over
    kDrainCheck,
    kDrainRead,  // an L1 word is read
    kDrainHand,  // it is handed over
    kBarrier,
    kHalt,
    kDone,  // exec_done
  };

  // vector_core.cpp
  void take_instruction(Cycle now);
  Cycle wake(Cycle now, Cycle base_wake) const;
  std::uint32_t cycle_counter(Cycle now) const;

  // vector_sequencer.cpp
  void run_sequencer(Cycle now);
  void start_kernel(Cycle now, unsigned pc);
  // `step` in cycle `at`; `between`: what the cycles before it are spent on.
  void go(Step step, Cycle at, VectorCycle between = VectorCycle::kStep) {
    step_ = step;
    at_ = at;
    between_ = between;
  }
  void hold(Cycle now, VectorCycle cause) {  // the same step again in the next cycle
    at_ = now + 1;
    held_ = cause;
  }
  void go_when_empty(Step step, Cycle now);
  void step(Cycle now);
  std::array<std::uint8_t, 4> checked_registers() const;
  static VectorCycle cycle_of(Step step);
  void fetch(Cycle now);
  void execute(Cycle now);
  void execute_arithmetic(Cycle now);
  void gather(Cycle now);
  void load_stage(unsigned t, const arch::VectorWord& word);
  void issue_first(Cycle now);
  void issue_next(Cycle now);
  void execute_reduction(Cycle now);
  void read_predicate(Cycle now);
  void fault(Cycle now, VectorFault code);
  void finish(Cycle now);
  std::uint32_t operand(arch::VectorSource source, unsigned reg) const;
  unsigned chunks() const { return (vl_ + kLanes - 1) / kLanes; }
  unsigned pop_word();

  // vector_moves.cpp
  void start_walk(Cycle now);
  void load_word(Cycle now);
  void store_word(Cycle now);
  void move_chunks(Cycle now);
  void fill_hand(Cycle now);
  void drain_hand(Cycle now);
  void hand_to_peer();
  bool fp32() const { return word_.dtype == static_cast<std::uint32_t>(arch::VectorType::kFp32); }

  // vector_report.cpp
  void hit(arch::QuirkId id, Cycle cycle, std::uint64_t count = 1);
  void note_wrapped();
  void report_fault(Cycle now, VectorFault code);
  void report_burst(Cycle now, Scratchpad::Effect effect);
  std::string instruction_text() const;
  std::string hazard_text() const;
  std::string responses_text() const;
  void decode_all();

  VectorParams params_;
  noc::EndpointBase base_;
  LaneArray lanes_;
  Scratchpad l1_;
  SendSlot slot_;

  std::array<std::uint32_t, kWords> imem_{};
  std::array<arch::VectorWord, kWords> decoded_{};
  std::array<Descriptor, 8> descriptors_{};
  std::array<std::uint32_t, 16> s_{};
  std::array<std::uint32_t, 4> k_{};
  std::uint8_t vl_ = kMaxLength;
  arch::VectorMode mode_ = arch::VectorMode::kFlat;

  // Node level.
  bool entered_ = false;  // inst_ready: the cycle after an envelope became visible
  bool running_ = false;  // the instruction in flight is a RUN
  std::uint32_t result_ = 0;
  bool faulted_ = false;

  // Sequencer.
  Step step_ = Step::kIdle;
  Cycle at_ = sim::kNever;
  Cycle started_ = 0;  // kernel cycle 0
  std::uint32_t cycles_ = 0;
  std::uint16_t pc_ = 0;
  arch::VectorWord word_{};  // being executed
  std::uint16_t word_pc_ = 0;
  bool loop_active_ = false;
  std::uint16_t loop_top_ = 0, loop_end_ = 0;
  std::uint32_t loop_count_ = 0;
  std::uint8_t last_pr_ = 0, last_pm_ = 0;      // registers that V4 and V5 are about
  std::uint16_t position_ = 0, positions_ = 0;  // word, beat or chunk of the instruction, and how many
  AddressWalk walk_{descriptors_};
  // VST: the walk moves on at the start of these cycles. The reference can be late with two (V1).
  std::array<Cycle, 2> walk_steps_at_{sim::kNever, sim::kNever};
  bool high_half_ = false;  // VST FP32
  L1Word drained_{};
  Step after_pipe_ = Step::kIdle;
  VectorCycle between_ = VectorCycle::kIdle;
  std::optional<VectorCycle> held_;  // the step of the last cycle could not be done, and why
  bool slot_open_ = false;           // within one clock(): the slot can be loaded

  VectorProbe* probe_ = nullptr;
  sim::Attribution<VectorCycle, kVectorCycles> cycle_states_;
  noc::EndpointMisuseLog misuse_;
  std::array<noc::QuirkHits, 10> quirks_hit_{};  // by QuirkId, V1 to V12
  std::uint64_t imem_writes_ = 0, desc_writes_ = 0, runs_ = 0, unknown_ = 0, faults_ = 0, instructions_ = 0,
                words_moved_ = 0, fills_ = 0, drains_ = 0, fill_words_ = 0, drain_words_ = 0,
                kernel_cycles_ = 0;
};

}  // namespace ktpu::vector
