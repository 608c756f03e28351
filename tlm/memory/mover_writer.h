// SPDX-License-Identifier: Apache-2.0
// The mover's write engine with its command and data FIFO (memory.md section 10.4): takes write commands in
// order, waits until the data of one is resident, and sends it as a burst.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/memory/dram_path.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/mover_registers.h"
#include "tlm/sim/fifo.h"

namespace ktpu::memory {

class MoverWriter {
 public:
  enum class Kind : std::uint32_t { kData, kFill, kGenerate };
  struct Command {
    std::uint64_t addr = 0;   // 40 bits
    std::uint32_t count = 0;  // words, 1..128
    Kind kind = Kind::kData;  // 32 bits: no padding, checkpoints keep the bytes
  };

  MoverWriter();
  void reset(sim::Cycle start);
  // What cycle `at` is, by the registers and the path's events in it: without events it stays so. Before
  // anything is pushed in `at`.
  void account(sim::Cycle at, const DramWires& wires) { cycles_.enter(at, doing(wires)); }
  void sync(sim::Cycle now) { cycles_.sync(now); }

  // Registers, as the issue engine sees them in the present cycle: ask before push() and clock().
  bool full() const { return commands_.full(); }
  bool starved() const { return starved_; }  // waits for data of its command; one cycle old
  // No command in sight of the engine and no response to come. A command is in sight three cycles after its
  // push only.
  bool looks_idle(sim::Cycle now) const {
    return state_ == State::kIdle && responses_ == 0 && !commands_.readable(now);
  }
  // Commands anywhere on their way, up to the response.
  std::uint64_t unfinished() const { return commands_.size() + (held() ? 1 : 0) + responses_; }

  void push(sim::Cycle now, const Command& command) { commands_.push(now, command); }
  // One cycle, after the issue engine's; consumes the write events on `wires` and updates the address there.
  // Returns whether a word of read data left for memory.
  bool clock(sim::Cycle now, DramWires& wires, const MoverRegisters& registers);
  // After clock(): a word of read data arrived in this cycle.
  void arrive(sim::Cycle now, const std::array<std::uint64_t, 4>& word);

  // Last: the write data of now + 1, with the registers of that cycle.
  void offer(sim::Cycle now, DramWires& wires, const MoverRegisters& registers);

  // Puts the write data on the wires, or takes it off.
  void show(DramWires& wires, bool offers) const;

  sim::Cycle next(sim::Cycle now, const DramWires& wires) const;
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kArm,       // command held, data missing
    kGenerate,  // the generator works on the word
    kData,      // burst presented, up to its last beat
  };
  using Word = std::array<std::uint64_t, 4>;

  MoverWriteCycle doing(const DramWires& wires) const;
  bool held() const { return state_ == State::kArm || state_ == State::kGenerate; }
  bool resident(sim::Cycle now, const Command& command, std::uint32_t leaving) const;
  void take(sim::Cycle now, DramWires& wires, const MoverRegisters& registers, std::uint32_t leaving);
  void present(DramWires& wires);

  sim::Fifo<Command> commands_;
  sim::Fifo<Word> data_;
  std::uint32_t arrived_ = 0;  // words in the data FIFO
  bool starved_ = false;

  State state_ = State::kIdle;
  Command command_{};
  std::uint32_t beat_ = 0;              // next one, kData
  std::uint32_t responses_ = 0;         // bursts presented and not answered
  sim::Cycle generated_ = sim::kNever;  // last cycle of kGenerate
  Word word_{};                         // of a fill or generated

  sim::Attribution<MoverWriteCycle, kMoverWriteCycles> cycles_;
  std::uint64_t bursts_ = 0, words_ = 0, generated_words_ = 0, fill_words_ = 0, starved_cycles_ = 0;
};

}  // namespace ktpu::memory
