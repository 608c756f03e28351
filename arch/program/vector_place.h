// SPDX-License-Identifier: Apache-2.0
// Where the next word of a vector kernel stands, as far as reading the words in order tells: lane mode, place
// in a chain group, constant of a VSETI. Loops are read once; what runs behind a VHALT is entered by a RUN of
// its own, so the mode is unknown again.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/encoding/vector_word.h"

namespace ktpu::arch {

// Words of a chain group (vector.md section 7); TREE gathers like D4 (quirk V9).
constexpr unsigned chain_depth(std::optional<VectorMode> mode) {
  if (!mode || *mode == VectorMode::kFlat) return 1;
  return *mode == VectorMode::kD2 ? 2 : 4;
}

class VectorPlace {
 public:
  std::optional<VectorMode> mode;

  // The next word is the constant of the VSETI before it.
  bool constant() const { return constant_; }
  // The next word is this stage of a chain; 0: it is a head or no part of one.
  unsigned stage() const { return stage_; }
  // Stages of the chain that `word`, as the next one, would be in; 1: of none.
  unsigned depth(std::uint32_t word) const {
    if (constant_) return 1;
    if (stage_ > 0) return depth_;
    return decode_vector_word(word).arithmetic() ? chain_depth(mode) : 1;
  }

  void feed(std::uint32_t word) {
    if (constant_) {
      constant_ = false;
      return;
    }
    depth_ = depth(word);
    const bool in_chain = stage_ > 0;
    stage_ = stage_ + 1 < depth_ ? stage_ + 1 : 0;
    if (in_chain) return;  // a stage is an operation of the lanes and nothing else
    const VectorWord w = decode_vector_word(word);
    constant_ = w.opcode() == VectorOpcode::kVseti;
    if (w.opcode() == VectorOpcode::kVsetmode) mode = static_cast<VectorMode>(w.va & 3);
    if (w.opcode() == VectorOpcode::kVhalt) mode.reset();
  }

 private:
  bool constant_ = false;
  unsigned stage_ = 0;
  unsigned depth_ = 1;
};

}  // namespace ktpu::arch
