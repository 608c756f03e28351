// SPDX-License-Identifier: Apache-2.0
// The way out of the accumulator: drain queue, two collect banks, burst sender (cluster.md section 9.2).
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/payloads.h"
#include "arch/flit.h"
#include "arch/formats/operand.h"
#include "tlm/sim/fifo.h"

namespace ktpu::cluster {

class WriteBack {
 public:
  // `at`: own coordinate; `memory_port`: where bursts to memory go.
  WriteBack(arch::Coord at, arch::Coord memory_port);

  void reset();

  // A result enters the queue at the end of cycle `now`; before clock(). False: the queue was full and the
  // result is lost.
  bool push(sim::Cycle now, const arch::Word256& word);
  // One cycle. `flit_taken`: the flit of flit() left. Returns whether a granule was popped.
  bool clock(sim::Cycle now, bool drain_busy, bool flit_taken);
  // A start pulse: granule index and taken count begin at 0 in the next cycle. After clock().
  void restart() { pushed_ = taken_ = 0; }
  // The destination of the current instruction, used from the next cycle on (section 5.5). After clock().
  void capture(const arch::ClusterInst& inst);

  // The write-back register; null when empty.
  const arch::Flit* flit() const { return flit_valid_ ? &flit_ : nullptr; }
  bool idle() const { return count_[0] == 0 && count_[1] == 0 && !sending_ && !flit_valid_; }
  bool sending() const { return sending_ || flit_valid_; }
  std::uint16_t taken() const { return taken_; }  // granules popped since the start pulse
  std::uint32_t queued() const { return queue_.size(); }
  // When clock() has something to do, given the registers of cycle now+1; kNever when nothing can happen.
  sim::Cycle wake(sim::Cycle now, bool drain_busy) const;

  void visit(sim::Archive& archive);

 private:
  static constexpr unsigned kBurst = 8;
  struct Granule {
    arch::Word256 word;
    std::uint64_t index;  // 16 bits of the machine; no padding, archives see the bytes
  };
  void load_flit();

  arch::Coord at_, memory_port_;
  sim::Fifo<Granule> queue_;
  std::array<std::array<arch::Word256, kBurst>, 2> bank_{};
  std::array<std::uint8_t, 2> count_{};
  std::array<std::uint16_t, 2> first_{};  // granule index of a bank's first word
  std::uint8_t collect_ = 0;              // bank being filled
  bool sending_ = false;
  std::uint8_t send_bank_ = 0, send_length_ = 0;
  std::uint8_t send_next_ = 0;  // 0 = descriptor, 1.. = data flits
  bool flit_valid_ = false;
  arch::Flit flit_{};
  arch::CuDataDesc node_desc_{};  // of the burst to a node being sent
  std::uint16_t pushed_ = 0, taken_ = 0;
  arch::ClusterInst to_{};  // only the destination fields matter
  std::uint64_t granules_ = 0, bursts_ = 0, lost_ = 0;
};

}  // namespace ktpu::cluster
