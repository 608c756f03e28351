// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog vector core in the socket of vector::VectorCore: same parameters, same ports, same
// cycles.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "arch/flit.h"
#include "rtl_models/vector/kernel_track.h"
#include "tlm/sim/endless.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

class Vktpu_vector;

namespace ktpu::rtl {

template <class V>
class Twin;

// What the twin needs of vector::VectorParams. One Verilated module serves every place and size.
struct VectorPlace {
  arch::Coord at;
  arch::Coord memory_port;
  unsigned inst_depth = 512;
  unsigned recv_depth = 512;
  unsigned l1_words = 512;
  bool quirks = true;
};

// What happens inside in one cycle; the meanings are those of vector::VectorProbe.
struct VectorEvents {
  bool start, execute, done, run, fault;
  unsigned pc;
  std::uint32_t word, result;
};
using VectorObserver = std::function<void(sim::Cycle now, const VectorEvents&)>;

template <class V>
class VectorTwinOf final : public sim::Unit, public sim::Endless {
 public:
  // `params`: a vector::VectorParams (taken by shape, so that this folder does not depend on the models).
  // Throws UserError for sizes the RTL is not built for.
  template <class Params>
  VectorTwinOf(std::string name, const Params& params, sim::FlitPort links)
      : VectorTwinOf(std::move(name),
                     VectorPlace{params.at, params.memory_port, params.inst_depth, params.recv_depth,
                                 params.l1_words, params.quirks},
                     links) {}
  VectorTwinOf(std::string name, const VectorPlace& place, sim::FlitPort links);
  ~VectorTwinOf() override;

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  // Sleeps while the RTL says that nothing changes without a flit coming in.
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;

  std::uint64_t progress() const override { return executed_; }
  sim::Cycle endless_since() const override { return track_.endless_since(); }

  // Called in every cycle in which something happened; empty: nobody.
  void observe(VectorObserver observer) { observer_ = std::move(observer); }

  // Waves of the inside of the RTL (rtl_models/twin.h).
  void open_waves(const std::string& path);

 private:
  VectorPlace place_;
  VectorObserver observer_;
  std::uint64_t executed_ = 0;  // words of kernels
  KernelTrack track_;
  sim::FlitPort links_;
  std::unique_ptr<Twin<V>> twin_;
};

using VectorTwin = VectorTwinOf<Vktpu_vector>;
extern template class VectorTwinOf<Vktpu_vector>;

}  // namespace ktpu::rtl
