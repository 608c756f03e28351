// SPDX-License-Identifier: Apache-2.0
// The mover's issue engine (memory.md section 10.4): walks the descriptors, one element a cycle, and turns
// them into read requests and write commands.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/dram_path.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/misuse.h"
#include "tlm/memory/mover_registers.h"
#include "tlm/memory/mover_writer.h"

namespace ktpu::memory {

class MoverIssue {
 public:
  // `quirks`: M1, see done(). `origin` names the mover in messages.
  MoverIssue(bool quirks, arch::Coord origin, MisuseLog& misuse);
  void reset(sim::Cycle start);
  void sync(sim::Cycle now) { cycles_.sync(now); }

  bool idle() const { return state_ == State::kIdle; }
  std::uint64_t moves() const { return moves_; }  // completed without a fault
  arch::mover::Fault fault() const { return fault_; }

  // A GO write, in effect from the next cycle on; ignored unless idle.
  void go(sim::Cycle now);
  // One cycle: consumes the read address events on `wires` and updates its registers there; pushes commands.
  void clock(sim::Cycle now, DramWires& wires, MoverRegisters& registers, MoverWriter& writer);
  // After clock(): a read beat arrived. Returns whether it is data, not an index.
  bool arrive(const std::array<std::uint64_t, 4>& word, bool last);
  // After clock(): a word of read data left for memory.
  void release() { --reserved_; }

  sim::Cycle next(sim::Cycle now) const;
  // Steps towards an end that no bus shows.
  std::uint64_t progress() const { return elements_; }
  // Quirk M1: moves that were done before their last write response.
  std::uint64_t early_done() const { return early_done_; }
  sim::Cycle first_early_done() const { return first_early_done_; }
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kStart,
    kIndices,  // loads the index vector of a gather
    kWalk,
    kCloseRead,
    kCloseWrite,
    kDrain,
    kDone,
  };
  // One step of the walk on its way to the examination.
  struct Element {
    bool present = false;
    bool last = false;
    bool source_valid = false;
    bool destination_valid = false;
    std::uint64_t source = 0, destination = 0;
  };
  struct Run {
    bool open = false;
    MoverWriter::Kind kind = MoverWriter::Kind::kData;
    std::uint64_t base = 0;
    std::uint64_t next = 0;
    std::uint32_t count = 0;
    std::uint32_t room = 0;  // words it may still grow by

    bool extends(std::uint64_t addr) const { return open && addr == next && room != 0; }
    void extend();
    void start(std::uint64_t addr, MoverWriter::Kind what, std::uint32_t cap);
  };
  struct Address {
    bool valid = false;
    std::uint64_t addr = 0;
    std::uint32_t beats = 0;
  };

  IssueCycle step(sim::Cycle now, MoverRegisters& registers, MoverWriter& writer);
  void begin(sim::Cycle now, MoverRegisters& registers);
  void load_indices(const MoverRegisters& registers);
  // kWalking, or why the element waits.
  IssueCycle examine(sim::Cycle now, const MoverRegisters& registers, MoverWriter& writer);
  void advance(MoverRegisters& registers);
  void produce(MoverRegisters& registers);
  bool can_request() const;
  void close_read();
  void close_write(sim::Cycle now, MoverWriter& writer);
  void drain(sim::Cycle now, const MoverWriter& writer);
  void move_addresses(DramWires& wires, bool had_request);
  void fail(sim::Cycle now, arch::mover::Fault fault, std::string text);

  bool quirks_;
  arch::Coord origin_;
  MisuseLog& misuse_;

  State state_ = State::kIdle;
  arch::mover::Fault fault_ = arch::mover::Fault::kNone;
  bool produced_last_ = false;
  std::array<Element, 2> stages_{};  // [1] is examined
  Run read_, write_;
  Address request_;                // request register
  std::array<Address, 2> skid_{};  // on the read channel, [0] first
  std::uint32_t outstanding_ = 0;  // read bursts
  std::uint32_t reserved_ = 0;     // words of the data FIFO

  // Gather.
  std::vector<std::uint32_t> indices_;
  std::uint32_t indices_loaded_ = 0;  // words
  std::uint32_t gather_phase_ = 0, gather_row_ = 0, gather_word_ = 0;

  sim::Attribution<IssueCycle, kIssueCycles> cycles_;
  std::uint64_t moves_ = 0, faults_ = 0, ignored_ = 0, elements_ = 0, suppressed_ = 0, read_bursts_ = 0,
                read_words_ = 0, flushes_ = 0, stall_request_ = 0, stall_command_ = 0, stall_data_ = 0,
                busy_cycles_ = 0, early_done_ = 0;
  sim::Cycle first_early_done_ = 0;
};

}  // namespace ktpu::memory
