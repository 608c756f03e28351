// SPDX-License-Identifier: Apache-2.0
// A vector core's program, step by step: does its image end, and does what it touches exist? (compiler.md
// section 18.) Internal to the level.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"

namespace ktpu::program {

class VectorCheck {
 public:
  // Empty, or what is wrong.
  std::string step(const arch::VectorInst& inst);

 private:
  static constexpr std::size_t kImageWords = 512, kDescriptors = 8, kDims = 4;
  struct Descriptor {
    std::uint64_t base = 0;
    std::array<std::uint32_t, kDims> bounds{1, 1, 1, 1};
    // Words that a walk visits.
    std::uint64_t walk() const;
  };

  std::string run(std::uint32_t pc);
  // One word behind another, a loop's body once: which L1 words it touches. True when the kernel goes on.
  bool word(const arch::VectorWord& w, std::uint32_t constant);
  void touch(std::uint64_t first, std::uint64_t words);

  std::array<std::optional<std::uint32_t>, kImageWords> image_;
  std::array<Descriptor, kDescriptors> descriptors_;
  std::array<std::uint32_t, 4> scalars_{};
  std::uint32_t length_ = 1;    // of a vector
  std::uint64_t l1_words_ = 0;  // from word 0 to the last one touched in this run
  std::uint64_t longest_ = 0;   // walk of this run
};

}  // namespace ktpu::program
