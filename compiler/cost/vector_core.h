// SPDX-License-Identifier: Apache-2.0
// A vector core: envelopes in order, kernels by the rules of vector.md section 12. A kernel's timing depends
// on its scalars only where VSETVL, VLOOP and descriptors take them from; those are followed.
#pragma once

#include <array>
#include <deque>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "compiler/cost/unit_clock.h"
#include "compiler/cost/wires.h"

namespace ktpu::cost {

class VectorCore final : public Unit {
 public:
  VectorCore(unsigned index, const UnitCost& cost, Ledger& ledger, Mesh& mesh);

  void instruction(Moment accepted, const arch::Flit& flit) override;
  void wake(Cycles now) override;
  void data(Moment accepted, unsigned entries) override;
  void burst(Moment accepted, const PeerBurst& burst) override;
  const UnitBooks& books() const override { return books_; }

 private:
  struct Held {
    Moment accepted;
    arch::VectorInst inst;
    arch::Coord from;
    bool last = false;
  };
  struct Descriptor {
    std::uint64_t base = 0;
    std::array<std::int32_t, 4> stride{};
    std::array<std::uint32_t, 4> bound{1, 1, 1, 1};
    unsigned total() const;
  };
  // Addresses of a walk, one by one.
  class Walk {
   public:
    explicit Walk(const Descriptor& d) : d_(d), address_(d.base) {}
    std::uint64_t next();

   private:
    const Descriptor& d_;
    std::uint64_t address_;
    std::array<std::uint32_t, 4> index_{};
  };

  Moment spend(Moment from, Cycles cycles, Cause cause) {
    return ledger_.after(from, clock_.fabric(cycles), cause);
  }
  void proceed();
  void describe(const arch::VectorInst& inst);
  void retire(Moment done);

  // ---- Of the running kernel; cycles are its own
  void begin(Moment zero, unsigned pc);
  // Runs until it ends or waits for a fill.
  void run();
  // One instruction that is executed in `e`; false: it waits for a fill.
  bool execute(const arch::VectorWord& w, Cycles e);
  void arithmetic(const arch::VectorWord& head, Cycles e);
  void reduce(const arch::VectorWord& w, Cycles e);
  void move(Cycles e, Cycles cycles);
  void start_fill(const arch::VectorWord& w, Cycles begin);
  void drain(const arch::VectorWord& w, Cycles e);
  void halt(Cycles w);
  Cycles chunks() const { return (vl_ + cost_.lanes - 1) / cost_.lanes; }
  // L1 words of a register as FP16, 16 elements each.
  Cycles words() const { return (vl_ + 15) / 16; }
  Cycles pipe_empty(Cycles e) const { return std::max(e, last_beat_ + cost_.pipe); }
  // From kernel cycle `from` on nothing happens until the fill has landed.
  void wait_landed(Cycles from);
  // Cycle `c` of the kernel as a moment; what was spent since the last one is booked.
  Moment moment(Cycles c);
  Cycles kernel_cycle(Moment m) const { return synced_ + clock_.unit(m.t - sync_.t); }

  unsigned index_;
  const VectorCost& cost_;
  UnitClock clock_;
  arch::Coord at_;
  Ledger& ledger_;
  Mesh& mesh_;
  std::deque<Held> queue_;
  Moment done_;
  bool any_ = false;
  UnitBooks books_;

  std::array<arch::VectorWord, 512> imem_;
  std::array<std::uint32_t, 512> raw_{};
  std::array<Descriptor, 8> descriptors_;
  std::array<std::uint32_t, 16> scalars_{};
  unsigned vl_ = 128;
  arch::VectorMode mode_ = arch::VectorMode::kFlat;

  bool running_ = false, waiting_ = false, outstanding_ = false;
  Moment zero_;                              // kernel cycle 0
  Moment sync_;                              // the last cycle that became a moment,
  Cycles synced_ = 0;                        // and its number
  Cycles lanes_ = 0, pipe_ = 0, moves_ = 0;  // spent on them since
  Cycles fetch_ = 0;                         // F of the next instruction
  unsigned pc_ = 0;
  std::uint64_t executed_ = 0;
  Cycles last_beat_ = 0;
  std::array<Cycles, 16> ready_{};
  Cycles landed_ = 0;  // first cycle in which no fill is outstanding
  Moment landed_at_;
  bool looping_ = false;
  unsigned loop_top_ = 0, loop_end_ = 0;
  std::uint32_t loop_left_ = 0;
};

}  // namespace ktpu::cost
