// SPDX-License-Identifier: Apache-2.0
// What arrives from other meshes and stops here: flits go into the mesh, words into the DRAM, doorbells into
// their counters (memory.md section 11.4). One packet at a time, from either link in turn.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/dram_path.h"
#include "tlm/memory/interlink/link_port.h"
#include "tlm/memory/memory_cycles.h"

namespace ktpu::memory {

class Ingress {
 public:
  struct Doorbells {
    std::uint32_t received = 0;
    std::uint8_t last_tag = 0;
  };

  // `port`: who is named in messages about the words.
  Ingress(unsigned mesh_id, arch::Coord port) : mesh_id_(mesh_id), port_(port) {}
  void reset(sim::Cycle start);
  void sync(sim::Cycle now) { cycles_.sync(now); }

  // The flit in the injection register, null if none; `fresh` until it was shown.
  const arch::Flit* out() const { return out_valid_ ? &out_ : nullptr; }
  bool fresh() const { return fresh_; }
  void shown() { fresh_ = false; }
  DramWires& wires() { return wires_; }

  // Clock phase, after the DRAM path's. `out_taken`: the flit of out() left.
  void clock(sim::Cycle now, std::array<LinkPort, arch::interlink::kLinks>& links, bool out_taken);
  bool events() const { return wires_.events(); }
  bool active() const { return busy_ || out_valid_ || wires_.w_data != nullptr || wires_.aw_valid; }
  bool idle() const { return !active() && in_flight_ == 0; }

  const Doorbells& doorbells(unsigned mesh) const { return doorbells_[mesh]; }
  void clear_doorbells() { doorbells_.fill({}); }
  std::uint64_t blocked_cycles() const { return blocked_; }

  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  bool take_write(const Beat& beat);
  // What a cycle is in which no beat is taken or looked at, by its registers.
  IngressCycle waiting() const {
    return out_valid_ || in_flight_ != 0 ? IngressCycle::kLanding : IngressCycle::kIdle;
  }

  unsigned mesh_id_;
  arch::Coord port_;
  bool busy_ = false;       // a packet is being taken
  std::uint8_t link_ = 0;   // from here
  std::uint8_t turn_ = 0;   // link that goes first
  std::uint32_t left_ = 0;  // beats of it still to take
  arch::interlink::Header header_{};

  arch::Flit out_{};
  bool out_valid_ = false;
  bool fresh_ = false;

  DramWires wires_;
  std::array<std::uint64_t, 4> word_{};
  std::uint32_t in_flight_ = 0;  // writes without a response

  std::array<Doorbells, arch::interlink::kMeshes> doorbells_{};
  sim::Attribution<IngressCycle, kIngressCycles> cycles_;
  std::uint64_t injected_ = 0, written_ = 0, rung_ = 0, blocked_ = 0;
};

}  // namespace ktpu::memory
