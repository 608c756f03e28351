// SPDX-License-Identifier: Apache-2.0
// One flit as a line of text: mnemonic, then name=value for every field that differs from its default. The
// names are those of the layout tables, so disassembler and assembler can't disagree with the encoder.
//   fill a n=32 from=0x0 txn=0x40            gemm gm=8 gn=8 nk=4 txn=0x40
//   drain n=64 to=0x4000 txn=0x40 last       imem addr=3 word=0x1234 txn=0x40
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/flit.h"

namespace ktpu::arch {

// Whose instructions a CU_INST payload holds: opcodes 1, 2, 3 mean something else at each unit
// (vector.md 2.1).
enum class Dialect { kCluster, kVector };

// Exact: flit_from_text of the result gives the same 288 bits. A flit the fields can't express is `flit <72
// digits>`.
std::string flit_to_text(const Flit& flit, Dialect dialect = Dialect::kCluster);

// `key` alone is a flag (value empty). Coordinates have the value "(x,y)".
struct TextArg {
  std::string key;
  std::string value;
  std::size_t column = 0;  // for messages
};
// What is wrong with which argument; the caller adds the place.
struct TextProblem {
  std::size_t column = 0;  // of the argument; 0 = the mnemonic
  std::string message;
};

bool is_flit_mnemonic(std::string_view word);
std::vector<std::string_view> flit_mnemonics();
// Throws TextProblem.
Flit flit_from_text(std::string_view mnemonic, std::span<const TextArg> args);

// Decimal, 0x hex or 0b binary; false when it is none or exceeds 64 bits.
bool parse_number(std::string_view text, std::uint64_t& value);
// "(x,y)" with coordinates 0..15.
bool parse_coord(std::string_view text, Coord& coord);

}  // namespace ktpu::arch
