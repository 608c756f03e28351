// SPDX-License-Identifier: Apache-2.0
// Vector kernels as text, for the disassembler and for messages. vector_asm.h reads the same forms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "arch/encoding/vector_inst.h"
#include "arch/program/vector_place.h"

namespace ktpu::arch {

inline constexpr std::array<std::string_view, 4> kVectorModeNames{"FLAT", "D2", "D4", "TREE"};
inline constexpr std::array<std::string_view, 8> kReduceNames{"SUM", "MAX",    "MIN", "SUMSQ",
                                                              "DOT", "EXPSUM", "ANY", "ALL"};
inline constexpr std::array<std::string_view, 3> kVectorTypeNames{"", "fp16", "fp32"};
// Register letters by VectorSource.
inline constexpr std::string_view kSourceLetters = "vSCK";

// What the assembler puts into an operand slot that the operation ignores (vector.md section 7): K0 in a
// chain, where a vector register would fault, else register 0.
struct SlotFill {
  VectorSource source = VectorSource::kVector;
  std::uint32_t number = 0;
};
constexpr SlotFill slot_fill(bool chain) { return chain ? SlotFill{VectorSource::kConstant, 0} : SlotFill{}; }

// One instruction word; empty when only `.word` says it, which is so for every constant of a VSETI. A VLOOP
// names `loop_end` instead of its length when that is given; a VSETI has its constant behind it.
std::string vector_word_to_text(std::uint32_t word, const VectorPlace& place, std::string_view loop_end = {},
                                std::uint32_t constant = 0);
// The 24 bits a VSETI writes: "1.5", "int 64" or "0x3eaaaa".
std::string vector_constant_to_text(std::uint32_t bits);
double vector_constant_value(std::uint32_t bits);
// One field of a descriptor: "A1.base=0x4", "A1.dim0=(1,4)"; empty when the fields cannot say it.
std::string descriptor_field_to_text(const VectorInst& desc);

}  // namespace ktpu::arch
