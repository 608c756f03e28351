// SPDX-License-Identifier: Apache-2.0
// The 32-bit instruction word of the vector core (vector.md section 3). One layout for all opcodes; `rest`
// keeps the bits an opcode does not use, so that encoding what was decoded gives back any word.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "arch/encoding/layout.h"

namespace ktpu::arch {

// Section 3.3.
enum class VectorOpcode : std::uint8_t {
  kVmov,
  kVneg,
  kVabs,
  kVadd,
  kVsub,
  kVmul,
  kVfma,
  kVfnma,
  kVmax,
  kVmin,
  kVsel,
  kVcmplt,
  kVcmpgt,
  kVcmpeq,
  kVexp2,
  kVlog2,
  kVinv,
  kVrsqrt,
  kVcvt,
  kVred,
  kVld,
  kVst,
  kVbcast,
  kVshuf,
  kVsetvl,
  kVsetmode,
  kVseti,
  kVloop,
  kVbar,
  kVfill,
  kVdrain,
  kVhalt
};

// Operand selectors of section 3.1: where the value of slot a, b or c comes from.
enum class VectorSource : std::uint8_t { kVector, kScalar, kChain, kConstant };
enum class VectorMode : std::uint8_t { kFlat, kD2, kD4, kTree };
// Section 3.4.
enum class ReduceKind : std::uint8_t { kSum, kMax, kMin, kSumsq, kDot, kExpsum, kAny, kAll };
// Section 3.2; the other codes fault.
enum class VectorType : std::uint8_t { kFp16 = 1, kFp32 = 2 };

// The number the lane hardware knows an operation by: the seeds stand two higher (section 3.3).
constexpr unsigned alu_number(VectorOpcode op) {
  return static_cast<unsigned>(op) + (op >= VectorOpcode::kVexp2 ? 2 : 0);
}

struct VectorOpcodeInfo {
  std::string_view name;
  // Operand slots whose value the operation uses (arithmetic only): bit 0 a, 1 b, 2 c.
  std::uint8_t reads;
  std::string_view meaning;
};

inline constexpr std::array<VectorOpcodeInfo, 32> kVectorOpcodes{{
    {"VMOV", 1, "d = a"},
    {"VNEG", 1, "d = -a"},
    {"VABS", 1, "d = |a|"},
    {"VADD", 5, "d = a + c"},
    {"VSUB", 5, "d = a - c"},
    {"VMUL", 3, "d = a * b"},
    {"VFMA", 7, "d = a * b + c"},
    {"VFNMA", 7, "d = -(a * b) + c"},
    {"VMAX", 3, "d = a < b ? b : a"},
    {"VMIN", 3, "d = a > b ? b : a"},
    {"VSEL", 7, "d = c[22:0] != 0 ? a : b"},
    {"VCMPLT", 3, "predicate: a < b"},
    {"VCMPGT", 3, "predicate: a > b"},
    {"VCMPEQ", 3, "predicate: a == b"},
    {"VEXP2", 1, "d = 2^a"},
    {"VLOG2", 1, "d = log2 a"},
    {"VINV", 1, "d = 1 / a"},
    {"VRSQRT", 1, "d = 1 / sqrt a"},
    {"VCVT", 0, "round trip through a memory type"},
    {"VRED", 0, "reduction to a scalar"},
    {"VLD", 0, "L1 words to a vector register"},
    {"VST", 0, "vector register to L1 words"},
    {"VBCAST", 0, "scalar to all lanes, or element 0 to a scalar"},
    {"VSHUF", 0, "rotate within each chunk of 16"},
    {"VSETVL", 0, "vector length from a scalar"},
    {"VSETMODE", 0, "lane mode"},
    {"VSETI", 0, "the next word into a scalar or K3"},
    {"VLOOP", 0, "repeat the next words"},
    {"VBAR", 0, "wait for the outstanding fill"},
    {"VFILL", 0, "memory to L1"},
    {"VDRAIN", 0, "L1 to memory or to a node"},
    {"VHALT", 0, "end of the kernel"},
}};

struct VectorWord {
  std::uint32_t op = 0;      // VectorOpcode
  std::uint32_t sa = 0;      // VectorSource of slot a; VBCAST: 1 = scalar to vector; VSETI: 3 = into K3
  std::uint32_t sb = 0;      // of slot b
  std::uint32_t sc = 0;      // of slot c
  std::uint32_t vd = 0;      // destination; VST: source
  std::uint32_t va = 0;      // register of slot a; VSETMODE: the mode in its low two bits
  std::uint32_t vb = 0;      // of slot b; VLOOP: words of the body
  std::uint32_t vc = 0;      // of slot c
  std::uint32_t kind = 0;    // VRED: ReduceKind
  std::uint32_t pr = 0;      // predicate register
  std::uint32_t pm = 0;      // predication: 0 all, 1 where set, 2 and 3 where clear
  std::uint32_t dtype = 0;   // VectorType
  std::uint32_t ad = 0;      // address descriptor
  std::uint32_t offset = 0;  // VLD, VST: 14 bits, signed, L1 words. VFILL, VDRAIN: first L1 word, 9 bits
  std::uint32_t peer = 0;    // VDRAIN: 1 = to a node
  std::uint32_t signal = 0;  // VDRAIN to a node: ask for DATA_RECEIVED
  std::uint32_t peer_x = 0;
  std::uint32_t peer_y = 0;
  std::uint32_t buf = 0;   // VDRAIN to a node: destination buffer
  std::uint32_t rest = 0;  // bits without a meaning here, in their places

  constexpr VectorOpcode opcode() const { return static_cast<VectorOpcode>(op); }
  constexpr bool arithmetic() const { return op <= static_cast<std::uint32_t>(VectorOpcode::kVrsqrt); }
  constexpr bool compare() const {
    return op >= static_cast<std::uint32_t>(VectorOpcode::kVcmplt) &&
           op <= static_cast<std::uint32_t>(VectorOpcode::kVcmpeq);
  }
  bool operator==(const VectorWord&) const = default;
};

namespace detail {
constexpr std::uint32_t opcode_bits(std::initializer_list<VectorOpcode> ops) {
  std::uint32_t mask = 0;
  for (const VectorOpcode op : ops) mask |= 1u << static_cast<unsigned>(op);
  return mask;
}
}  // namespace detail

template <>
struct Layout<VectorWord> {
  using V = VectorWord;
  using O = VectorOpcode;
  static constexpr std::uint32_t kArith = (2u << static_cast<unsigned>(O::kVrsqrt)) - 1;
  static constexpr std::uint32_t kWalk = detail::opcode_bits({O::kVld, O::kVst});
  static constexpr std::uint32_t kMove = detail::opcode_bits({O::kVfill, O::kVdrain});
  static constexpr std::string_view name = "vector_word";
  static constexpr std::array<Binding<V>, 20> fields{{
      {{"op", 27, 5, "opcode"}, &V::op, Format::kOp},
      {{"sa", 25, 2, "source of slot a: 0 V, 1 S, 2 C, 3 K"},
       &V::sa,
       Format::kDec,
       kArith | detail::opcode_bits({O::kVbcast, O::kVseti})},
      {{"sb", 23, 2, "source of slot b"}, &V::sb, Format::kDec, kArith},
      {{"sc", 21, 2, "source of slot c"}, &V::sc, Format::kDec, kArith},
      {{"vd", 17, 4, "destination register; VST: source"},
       &V::vd,
       Format::kDec,
       kArith | kWalk | detail::opcode_bits({O::kVcvt, O::kVred, O::kVbcast, O::kVshuf, O::kVseti})},
      {{"va", 13, 4, "register of slot a"},
       &V::va,
       Format::kDec,
       kArith | detail::opcode_bits(
                    {O::kVcvt, O::kVred, O::kVbcast, O::kVshuf, O::kVsetvl, O::kVsetmode, O::kVloop})},
      {{"vb", 9, 4, "register of slot b"},
       &V::vb,
       Format::kDec,
       kArith | detail::opcode_bits({O::kVred, O::kVshuf, O::kVloop})},
      {{"vc", 5, 4, "register of slot c"}, &V::vc, Format::kDec, kArith},
      {{"kind", 5, 3, "VRED kind"}, &V::kind, Format::kDec, detail::opcode_bits({O::kVred})},
      {{"pr", 3, 2, "predicate register"}, &V::pr, Format::kDec, kArith | detail::opcode_bits({O::kVred})},
      {{"pm", 1, 2, "predication mode"}, &V::pm, Format::kDec, kArith},
      {{"dtype", 24, 3, "1 FP16, 2 FP32"}, &V::dtype, Format::kDec, kWalk | detail::opcode_bits({O::kVcvt})},
      {{"ad", 21, 3, "address descriptor"}, &V::ad, Format::kDec, kWalk | kMove},
      {{"offset", 0, 14, "signed offset in L1 words"}, &V::offset, Format::kDec, kWalk},
      {{"first", 0, 9, "first L1 word"}, &V::offset, Format::kDec, kMove},
      {{"peer", 24, 1, "VDRAIN to a node"}, &V::peer, Format::kFlag, detail::opcode_bits({O::kVdrain})},
      {{"signal", 25, 1, "VDRAIN asks for DATA_RECEIVED"},
       &V::signal,
       Format::kFlag,
       detail::opcode_bits({O::kVdrain})},
      {{"peer_x", 17, 4, "VDRAIN destination column"},
       &V::peer_x,
       Format::kCoordX,
       detail::opcode_bits({O::kVdrain})},
      {{"peer_y", 13, 4, "VDRAIN destination row"},
       &V::peer_y,
       Format::kCoordY,
       detail::opcode_bits({O::kVdrain})},
      {{"buf", 9, 4, "VDRAIN destination buffer"}, &V::buf, Format::kDec, detail::opcode_bits({O::kVdrain})},
  }};
};

namespace detail {
// Bits of a word that have a meaning in each opcode.
inline constexpr std::array<std::uint32_t, 32> kVectorWordBits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (unsigned op = 0; op < 32; ++op)
    for (const auto& b : Layout<VectorWord>::fields)
      if ((b.ops >> op) & 1) bits[op] |= static_cast<std::uint32_t>(b.field.mask()) << b.field.lsb;
  return bits;
}();
}  // namespace detail

// encode_vector_word(decode_vector_word(w)) == w for every w.
constexpr VectorWord decode_vector_word(std::uint32_t word) {
  const std::uint64_t words[2] = {word, 0};
  VectorWord w = unpack_payload<VectorWord>(words);
  w.rest = word & ~detail::kVectorWordBits[w.op];
  return w;
}
// The fields of opcode `as`, whatever the word's own one is (which stays in `op`): a chain group takes every
// word for arithmetic.
constexpr VectorWord decode_vector_word_as(std::uint32_t word, VectorOpcode as) {
  constexpr const Field& kOp = Layout<VectorWord>::fields[0].field;
  std::uint64_t words[2] = {word, 0};
  const auto own = static_cast<std::uint32_t>(get(words, kOp));
  set(words, kOp, static_cast<std::uint64_t>(as));
  VectorWord w = unpack_payload<VectorWord>(words);
  w.op = own;
  return w;
}
constexpr std::uint32_t encode_vector_word(const VectorWord& w) {
  std::uint64_t words[2] = {w.rest & ~detail::kVectorWordBits[w.op & 31], 0};
  pack_payload(words, w);
  return static_cast<std::uint32_t>(words[0]);
}

}  // namespace ktpu::arch
