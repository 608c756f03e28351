// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/image.h"

#include <bit>

#include "arch/error.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;

arch::VectorInst instruction(arch::VectorOp op) {
  arch::VectorInst inst;
  inst.op = static_cast<std::uint32_t>(op);
  return inst;
}

}  // namespace

arch::VectorWord vector_word(VectorOpcode op) {
  arch::VectorWord word;
  word.op = static_cast<std::uint32_t>(op);
  return word;
}

// Inlined, the compiler takes the fields of a fresh word for uninitialised.
[[gnu::noinline]] void Image::add(const arch::VectorWord& word) {
  words_.push_back(arch::encode_vector_word(word));
}

void Image::set_scalar(std::uint32_t scalar, std::uint32_t bits) {
  arch::VectorWord word = vector_word(VectorOpcode::kVseti);
  word.vd = scalar;
  add(word);
  words_.push_back(bits);
}

void Image::constant(std::uint32_t scalar, double value) {
  set_scalar(scalar, std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 8);
}

void Image::vector_length(std::uint32_t scalar) {
  arch::VectorWord word = vector_word(VectorOpcode::kVsetvl);
  word.va = scalar;
  add(word);
}

void Image::mode(arch::VectorMode mode) {
  arch::VectorWord word = vector_word(VectorOpcode::kVsetmode);
  word.va = static_cast<std::uint32_t>(mode);
  add(word);
}

void Image::broadcast(std::uint32_t vector, std::uint32_t scalar) {
  arch::VectorWord word = vector_word(VectorOpcode::kVbcast);
  word.sa = static_cast<std::uint32_t>(arch::VectorSource::kScalar);
  word.vd = vector;
  word.va = scalar;
  add(word);
}

void Image::move(VectorOpcode op, std::uint32_t descriptor, std::uint32_t first_word) {
  arch::VectorWord word = vector_word(op);
  word.ad = descriptor;
  word.offset = first_word;
  add(word);
}

void Image::walk(VectorOpcode op, std::uint32_t descriptor, std::uint32_t vector, std::uint32_t offset) {
  arch::VectorWord word = vector_word(op);
  word.dtype = static_cast<std::uint32_t>(arch::VectorType::kFp16);
  word.ad = descriptor;
  word.vd = vector;
  word.offset = offset;
  add(word);
}

void Image::barrier() { add(vector_word(VectorOpcode::kVbar)); }
void Image::halt() { add(vector_word(VectorOpcode::kVhalt)); }
void Image::append(const Image& image) {
  words_.insert(words_.end(), image.words_.begin(), image.words_.end());
}

void StepList::load(const Image& image, std::uint32_t first) {
  for (std::size_t i = 0; i < image.size(); ++i) {
    arch::VectorInst inst = instruction(arch::VectorOp::kImem);
    inst.addr = first + static_cast<std::uint32_t>(i);
    inst.word = image.words()[i];
    steps_.push_back(inst);
  }
}

void StepList::base(std::uint32_t descriptor, std::uint64_t address) {
  arch::VectorInst inst = instruction(arch::VectorOp::kDesc);
  inst.ad = descriptor;
  inst.value = address;
  steps_.push_back(inst);
}

void StepList::dimension(std::uint32_t descriptor, std::uint32_t index, Dimension dimension) {
  KTPU_CHECK(dimension.stride < (1u << 17) && dimension.bound < (1u << 16), "walk {} x {}", dimension.stride,
             dimension.bound);
  arch::VectorInst inst = instruction(arch::VectorOp::kDesc);
  inst.ad = descriptor;
  inst.fld = index + 1;
  inst.value = std::uint64_t{dimension.stride} << 16 | dimension.bound;
  steps_.push_back(inst);
}

void StepList::run(std::uint32_t pc) {
  arch::VectorInst inst = instruction(arch::VectorOp::kRun);
  inst.addr = pc;
  steps_.push_back(inst);
}

}  // namespace ktpu::schedule_to_program
