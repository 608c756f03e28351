// SPDX-License-Identifier: Apache-2.0
// A vector core as far as this version goes: an endpoint that takes its instruction memory and descriptors
// and retires every envelope in the machine's time (vector.md sections 2 and 12.6), but runs no kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/unit.h"

namespace ktpu::vector {

struct VectorParams {
  arch::Coord at;
  arch::Coord memory_port;    // unused: no kernel, no traffic
  unsigned inst_depth = 512;  // instruction FIFO
  unsigned recv_depth = 512;  // receive FIFO
};

class VectorCore final : public sim::Unit, public noc::EndpointReports {
 public:
  // Binds the links.
  VectorCore(std::string name, const VectorParams& params, sim::FlitPort links);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override { base_.drive(now); }
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  void sync(sim::Cycle now) override { base_.sync(now); }
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  const VectorParams& params() const { return params_; }
  // "kernel-unsupported" for each RUN: it retires like an unknown envelope and does nothing.
  const noc::EndpointMisuseLog& misuse() const override { return misuse_; }
  void set_write_observer(noc::WriteObserver* observer) override { base_.set_write_observer(observer); }
  const noc::EndpointBase* endpoint_base() const override { return &base_; }
  bool idle() const { return !entered_ && !exec_done_ && base_.idle(); }

  // Back doors. `word` 0..511; `descriptor` and `field` 0..7.
  std::uint32_t instruction_word(unsigned word) const { return imem_[word % kWords]; }
  std::uint64_t descriptor(unsigned descriptor, unsigned field) const {
    return descriptors_[descriptor % 8][field % 8];
  }

 private:
  static constexpr unsigned kWords = 512;  // vector.md section 2.1: 9-bit word address

  void execute(sim::Cycle now);

  VectorParams params_;
  noc::EndpointBase base_;
  bool entered_ = false;    // inst_ready: the cycle after an envelope became visible
  bool exec_done_ = false;  // pulse register
  std::array<std::uint32_t, kWords> imem_{};
  std::array<std::array<std::uint64_t, 8>, 8> descriptors_{};  // [ad][fld]
  noc::EndpointMisuseLog misuse_;
  std::uint64_t imem_writes_ = 0, desc_writes_ = 0, runs_ = 0, unknown_ = 0, dropped_ = 0;
};

}  // namespace ktpu::vector
