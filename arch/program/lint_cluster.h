// SPDX-License-Identifier: Apache-2.0
// Rules of cluster.md section 15 over the instructions one cluster gets, in order. Internal to lint.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "arch/encoding/cluster_inst.h"

namespace ktpu::arch {

class ClusterLint {
 public:
  // Sizes of the unit; 0 = unknown, not checked.
  struct Sizes {
    std::uint32_t tiles = 0, l1_a = 0, l1_b = 0;
  };
  using Report = std::function<void(std::string_view rule, std::string text)>;

  ClusterLint(Coord at, Sizes sizes) : at_(at), sizes_(sizes) {}

  void instruction(const ClusterInst& inst, const Report& report);
  // A unit that nothing follows: an emitting GEMM whose DRAIN never came.
  void end(const Report& report) const;

 private:
  struct Range {  // entries of one L1 bank a sweep reads
    std::uint32_t bank = 0, first = 0, count = 0;
  };
  void fill(const ClusterInst& i, const Report& report);
  void gemm(const ClusterInst& i, const Report& report);
  void drain(const ClusterInst& i, const Report& report);

  Coord at_;
  Sizes sizes_;
  std::uint32_t loaded_tiles_ = 0;           // tiles some GEMM has opened
  std::uint32_t open_gm_ = 0, open_gn_ = 0;  // shape of the last opening GEMM
  std::optional<ClusterInst> emitting_;      // waits for its fused DRAIN
  bool last_emits_ = false;                  // the last GEMM
  std::optional<Range> sweep_a_, sweep_b_;   // what the last GEMM may still be reading
};

}  // namespace ktpu::arch
