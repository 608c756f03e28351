// SPDX-License-Identifier: Apache-2.0
// Between the memory mover and the DRAM path: writes for other meshes leave as packets of one word and are
// answered at once, everything else passes on, write addresses one cycle later (memory.md sections 11.4 and
// 11.6). Built with the interlink, also when that is idle.
//
// A write address valid at A is in the split's register in A+1. A word for another mesh then asks to be sent
// in A+2 and leaves the mover in A+3.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/encoding/interlink.h"
#include "tlm/memory/dram_path.h"

namespace ktpu::memory {

class WriteSplit {
 public:
  // `idle`: the interlink is never used, all writes are local.
  WriteSplit(unsigned mesh_id, bool idle) : mesh_id_(mesh_id), idle_(idle) {}

  // `mover`: the requester's wires; they must outlive the split. path_wires() goes to the DRAM path instead.
  void attach(DramWires& mover) { mover_ = &mover; }
  DramWires& path_wires() { return down_; }
  void set_mesh_id(unsigned mesh_id) { mesh_id_ = mesh_id; }
  void reset();

  // Clock phase, after the DRAM path's and the sender's, before the mover's.
  void clock(sim::Cycle now);
  // End of the clock phase, after the mover's: the wires that pass through.
  void pass_through();

  // --- To the interlink's sender.
  bool requests() const { return state_ == State::kRequest; }  // a register
  arch::interlink::Header header() const;
  // Whether the mover offers the word now; take_word() takes it.
  bool word_offered() const { return mover_->w_data != nullptr; }
  const std::uint64_t* take_word();
  // The sender took the request.
  void accepted() { state_ = State::kWord; }

  bool active() const { return state_ != State::kFree || posted_ != 0; }
  void visit(sim::Archive& archive);

 private:
  enum class State : std::uint8_t {
    kFree,
    kDecode,   // the address is in the register
    kLocal,    // its burst runs on the DRAM path
    kRequest,  // a word for another mesh waits to be sent
    kWord,     // the sender fetches it
  };
  bool remote() const;

  unsigned mesh_id_;
  bool idle_;
  DramWires* mover_ = nullptr;
  DramWires down_;
  State state_ = State::kFree;
  std::uint64_t addr_ = 0;
  std::uint32_t left_ = 0;    // words of the burst
  std::uint32_t posted_ = 0;  // answers still to give
  bool word_taken_ = false;   // in this cycle
  std::uint64_t sent_ = 0;
};

}  // namespace ktpu::memory
