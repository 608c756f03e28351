// SPDX-License-Identifier: Apache-2.0
// The host memory window (memory.md section 8): one transaction at a time, writes before reads. Plain bursts
// go to the path as they are; a write to an upload aperture is quantised entry by entry.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/dram_path.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/memory/window_bus.h"

namespace ktpu::memory {

class HostWindow {
 public:
  // `origin`: what messages name as the requester, the coordinate of memory port 0.
  HostWindow(WindowBus& bus, arch::Coord origin) : bus_(bus), origin_(origin) {}

  // Elaboration: `agent` is the unit this is a part of.
  void bind(sim::Unit& agent);
  DramWires& wires() { return wires_; }

  void reset(sim::Cycle start);
  void drive() {
    if (fresh_) show();
  }
  // Whether clock() must run in `now`; it runs after the path's.
  bool wants(sim::Cycle now) const { return inputs_ != 0 || next_ <= now || wires_.events(); }
  void clock(sim::Cycle now);
  sim::Cycle next() const { return next_; }

  bool idle() const { return state_ == State::kIdle && !read_waits_ && !response_; }
  void visit(sim::Archive& archive);
  void sync(sim::Cycle now) { cycles_.sync(now); }
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t { kIdle, kWrite, kRead, kUpload };
  static constexpr unsigned kUploadBeats = 8;  // an entry in FP16
  static constexpr unsigned kUploadWords = 4;  // and quantised

  void show();
  void accept_addresses();
  void begin_read(const WindowAddress& address);
  void write();
  void read();
  void upload(sim::Cycle now);
  void convert();
  bool takes_data() const;
  WindowCycle doing() const;
  const std::uint64_t* offered_word() const;

  WindowBus& bus_;
  arch::Coord origin_;
  DramWires wires_;
  std::uint32_t inputs_ = 0;  // an input of the bus is valid; kept by the links
  bool fresh_ = true;         // the outputs differ from the wires
  sim::Cycle next_ = sim::kNever;

  State state_ = State::kIdle;
  bool response_ = false;    // write response waiting for the host
  bool read_waits_ = false;  // a read that was offered together with a write
  WindowAddress waiting_read_{};
  std::uint64_t address_ = 0;
  std::uint32_t beats_ = 0;  // of the burst that the host has not yet moved
  std::uint32_t total_ = 0;
  // Data on its way: a two-entry skid of either direction.
  std::array<WindowWord, 2> skid_{};
  std::uint8_t skid_size_ = 0;
  std::uint32_t skid_left_ = 0;  // kRead: beats that have not come yet
  // kUpload
  bool b_layout_ = false;
  std::uint8_t have_ = 0;                // beats of the present entry
  std::uint8_t word_ = 0;                // written of the present entry
  sim::Cycle address_at_ = sim::kNever;  // its write address becomes valid
  std::uint64_t destination_ = 0;        // of the present entry
  alignas(32) std::array<WindowWord, kUploadBeats> entry_{};

  sim::Attribution<WindowCycle, kWindowCycles> cycles_;
  std::uint64_t writes_ = 0, reads_ = 0, words_written_ = 0, words_read_ = 0, entries_ = 0;
};

}  // namespace ktpu::memory
