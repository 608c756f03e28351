// SPDX-License-Identifier: Apache-2.0
// One memory port (memory.md section 4): two intake queues, the entry read engine, the write reassembly, the
// state machine that writes and serves plain reads, and one output register.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/flit.h"
#include "tlm/memory/dram_path.h"
#include "tlm/memory/entry_reader.h"
#include "tlm/memory/landing.h"
#include "tlm/memory/write_slots.h"
#include "tlm/sim/fifo.h"

namespace ktpu::memory {

class MemoryPort {
 public:
  MemoryPort(arch::Coord at, unsigned reads_in_flight, MisuseLog& misuse, const StagingConfig& staging = {});

  static constexpr bool serves(arch::FlitType type) {
    return type == arch::FlitType::kMemRdReq || type == arch::FlitType::kMemWrReq ||
           type == arch::FlitType::kMemWrData;
  }

  // Registered outputs of the present cycle.
  bool busy() const { return busy_; }  // of the intake
  const arch::Flit* out() const { return out_valid_ ? &out_ : nullptr; }
  // Whether the output register holds a flit that was not shown yet; showing it resets this.
  bool fresh() const { return fresh_; }
  void shown() { fresh_ = false; }

  DramWires& wires() { return wires_; }
  arch::Coord at() const { return at_; }
  // The port's own staging memory, null if there is none.
  SparseMemory* store() { return store_.get(); }

  void set_landing(LandingTracker* landing) { landing_ = landing; }
  void reset(sim::Cycle start = 0);
  // One cycle, after the DRAM path's. `in`: the flit accepted by the intake, null if none.
  // `out_taken`: the output register's flit left. Keeps next().
  void clock(sim::Cycle now, const arch::Flit* in, bool out_taken);
  // The next cycle in which clock() must run even without a flit or an event on the wires.
  sim::Cycle next() const { return next_; }

  // Bursts issued since reset, 16 bits each (section 4.6).
  std::uint32_t read_count() const {
    return static_cast<std::uint32_t>(reader_.bursts() + plain_reads_ - plain_reads_before_) & 0xFFFF;
  }
  std::uint32_t write_count() const { return static_cast<std::uint32_t>(writes_ - writes_before_) & 0xFFFF; }

  bool idle() const;
  void sync(sim::Cycle now);
  void visit(sim::Archive& archive);
  void waits(sim::Cycle now, std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kWrite,  // a slot's burst, from its address to its acknowledgement
    kPlain,  // a plain read, from its address to its last beat
    kStore,  // a slot's words on their way into the port's own staging memory
    kDrop,   // a slot whose aperture nobody serves
  };
  struct Beat {
    std::array<std::uint64_t, 4> data;
  };

  void pop_read_queue(sim::Cycle now, bool reader_was_idle, bool emit_was_empty, State was);
  void pop_write_queue(sim::Cycle now);
  void begin_write(sim::Cycle now);
  void store_word();
  sim::Cycle work_ahead(sim::Cycle now) const;
  ReadCycle read_state() const;
  WriteCycle write_state() const;

  arch::Coord at_;
  MisuseLog& misuse_;
  StagingConfig staging_;
  std::unique_ptr<SparseMemory> store_;
  LandingTracker* landing_ = nullptr;
  sim::Fifo<arch::Flit> reads_;
  sim::Fifo<arch::Flit> writes_in_;
  bool busy_ = false;
  bool wedged_ = false;  // a data flit without a slot stands at the head of the write queue

  EntryReader reader_;
  WriteSlots slots_;
  DramWires wires_;
  std::array<Beat, 2> skid_{};  // R skid, [0] first
  std::uint32_t skid_size_ = 0;

  State state_ = State::kIdle;
  std::uint8_t slot_ = 0;  // kWrite
  std::uint32_t write_beat_ = 0;
  bool response_ = false;         // response came, acknowledgement not yet placed
  int releasing_ = -1;            // slot whose acknowledgement was placed in the cycle before
  std::uint32_t plain_left_ = 0;  // kPlain
  std::uint32_t plain_header_ = 0;

  arch::Flit out_{};
  bool out_valid_ = false;
  bool fresh_ = false;
  sim::Cycle next_ = 0;

  sim::Attribution<ReadCycle, kReadCycles> read_cycles_;
  sim::Attribution<EmitCycle, kEmitCycles> emit_cycles_;
  sim::Attribution<WriteCycle, kWriteCycles> write_cycles_;
  std::uint64_t plain_reads_ = 0, plain_beats_ = 0, writes_ = 0, write_words_ = 0, acks_ = 0, dropped_ = 0;
  std::uint64_t plain_reads_before_ = 0, writes_before_ = 0;  // at the last reset
};

}  // namespace ktpu::memory
