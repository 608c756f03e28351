// SPDX-License-Identifier: Apache-2.0
// Ties the bit fields of a payload to the members of a plain struct. One table per payload, Layout<S>, serves
// the encoder, the decoder, the disassembler and the generated SystemVerilog package and C header.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "arch/bits.h"
#include "arch/flit.h"

namespace ktpu::arch {

// How the text form writes a value.
enum class Format : std::uint8_t {
  kDec,
  kHex,
  kFlag,    // 1 bit: the bare name when set
  kNode,    // node byte {y[3:0], x[3:0]}, written (x,y)
  kCoordX,  // the x half of a coordinate whose other half is the neighbouring entry; both print as one (x,y)
  kCoordY,  // the y half
  kOp,      // the opcode: the text form writes it as the mnemonic
};

inline constexpr std::uint32_t kEveryOp = 0xFFFFFFFF;

// One field of payload struct S. `shift` is the position of the field's bit 0 in the member (a value may be
// split). `ops` has bit n set when the field exists in opcode n.
template <class S>
struct Binding {
  Field field;
  std::uint32_t S::*narrow = nullptr;
  std::uint64_t S::*wide = nullptr;
  Format format = Format::kDec;
  unsigned shift = 0;
  std::uint32_t ops = kEveryOp;

  constexpr Binding(Field f, std::uint32_t S::*m, Format fmt = Format::kDec, std::uint32_t in_ops = kEveryOp)
      : field(f), narrow(m), format(fmt), ops(in_ops) {}
  constexpr Binding(Field f, std::uint64_t S::*m, Format fmt = Format::kHex, unsigned value_shift = 0,
                    std::uint32_t in_ops = kEveryOp)
      : field(f), wide(m), format(fmt), shift(value_shift), ops(in_ops) {}

  constexpr std::uint64_t read(const S& s) const { return narrow ? s.*narrow : s.*wide; }
  constexpr void write(S& s, std::uint64_t value) const {
    if (narrow)
      s.*narrow = static_cast<std::uint32_t>(value);
    else
      s.*wide = value;
  }
};

// Specialised per payload struct: `name` and `fields` (an array of Binding<S>).
template <class S>
struct Layout;

// The opcode that selects among fields; structs without a member `op` have one form only.
template <class S>
constexpr unsigned layout_op(const S& s) {
  if constexpr (requires { s.op; })
    return s.op & 31;
  else
    return 0;
}

// Overwrites the bits of every field of S in the payload `words` (4 words); values are masked to their
// widths.
template <class S>
constexpr void pack_payload(std::uint64_t* words, const S& s) {
  const std::uint32_t op_bit = 1u << layout_op(s);
  for (const auto& b : Layout<S>::fields)
    if (b.ops & op_bit) set(words, b.field, b.read(s) >> b.shift);
}

// Reads every field; members without a field in this form keep their default. The opcode is the first field.
template <class S>
constexpr S unpack_payload(const std::uint64_t* words) {
  S s;
  std::uint32_t op_bit = kEveryOp;
  if constexpr (requires { s.op; }) {
    op_bit = 1u << (get(words, Layout<S>::fields[0].field) & 31);
  }
  // A split member is assembled from its parts, so the defaults of all bound members are cleared first.
  for (const auto& b : Layout<S>::fields)
    if (b.ops & op_bit) b.write(s, 0);
  for (const auto& b : Layout<S>::fields)
    if (b.ops & op_bit) b.write(s, b.read(s) | get(words, b.field) << b.shift);
  return s;
}

template <class S>
constexpr S unpack(const Flit& flit) {
  return unpack_payload<S>(flit.w.data());
}
template <class S>
constexpr void pack(Flit& flit, const S& s) {
  pack_payload(flit.w.data(), s);
}
// A flit of the given header with an otherwise zero payload holding `s`.
template <class S>
constexpr Flit make_flit(std::uint32_t header, const S& s) {
  Flit f;
  f.w[4] = header;
  pack(f, s);
  return f;
}

}  // namespace ktpu::arch
