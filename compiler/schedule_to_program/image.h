// SPDX-License-Identifier: Apache-2.0
// The instruction image of a vector core and the flits that load it, set its address descriptors and run it.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "compiler/program/unit_program.h"

namespace ktpu::schedule_to_program {

// Where an arithmetic operand comes from: v3, S4, K1.
struct Operand {
  arch::VectorSource source = arch::VectorSource::kVector;
  std::uint32_t number = 0;
  bool operator==(const Operand&) const = default;
};

arch::VectorWord vector_word(arch::VectorOpcode op);

// One dimension of a walk, in the units of the descriptor's user: bytes for moves, L1 words for loads and
// stores.
struct Dimension {
  std::uint32_t stride = 0, bound = 1;
};

class Image {
 public:
  void add(const arch::VectorWord& word);
  void set_scalar(std::uint32_t scalar, std::uint32_t bits);  // two words
  void constant(std::uint32_t scalar, double value);          // FP32 with its last eight bits cut off
  void vector_length(std::uint32_t scalar = 0);
  void mode(arch::VectorMode mode);
  void broadcast(std::uint32_t vector, std::uint32_t scalar);
  void move(arch::VectorOpcode op, std::uint32_t descriptor, std::uint32_t first_word);  // VFILL, VDRAIN
  void walk(arch::VectorOpcode op, std::uint32_t descriptor, std::uint32_t vector,
            std::uint32_t offset);  // VLD, VST of FP16
  void barrier();
  void halt();
  void append(const Image& image);

  std::size_t size() const { return words_.size(); }
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::vector<std::uint32_t> words_;
};

class StepList {
 public:
  // To the image words from `first` on.
  void load(const Image& image, std::uint32_t first = 0);
  void base(std::uint32_t descriptor, std::uint64_t address);
  // `index` from 0.
  void dimension(std::uint32_t descriptor, std::uint32_t index, Dimension dimension);
  void run(std::uint32_t pc = 0);

  std::vector<program::VectorStep> take() { return std::move(steps_); }

 private:
  std::vector<program::VectorStep> steps_;
};

}  // namespace ktpu::schedule_to_program
