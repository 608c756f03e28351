// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "arch/encoding/cluster_inst.h"
#include "arch/encoding/layout.h"
#include "arch/encoding/payloads.h"
#include "arch/encoding/text.h"
#include "arch/encoding/vector_inst.h"
#include "arch/flit.h"

namespace ktpu::arch {

inline constexpr Coord kPort{0, 1}, kCluster{1, 1}, kCluster2{2, 1}, kVectorNode{2, 0};

// The encoder gives exactly the fixed digits, the decoder gives the fields back, and the text form keeps
// every bit.
template <class S>
void expect_encoding(std::uint32_t header, const S& fields, const std::string& hex) {
  const Flit flit = make_flit(header, fields);
  EXPECT_EQ(to_hex(flit), hex);
  EXPECT_EQ(flit_from_hex(hex), flit);
  EXPECT_EQ(unpack<S>(flit_from_hex(hex)), fields) << hex;
}

// Parses a line of text as the assembler would, for arguments without coordinates or with them.
inline Flit from_line(const std::string& line) {
  std::vector<TextArg> args;
  std::string mnemonic, word;
  auto flush = [&] {
    if (word.empty()) return;
    if (mnemonic.empty()) {
      mnemonic = word;
    } else {
      const auto equals = word.find('=');
      args.push_back({word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1),
                      args.size() + 1});
    }
    word.clear();
  };
  for (const char c : line) {
    if (c == ' ')
      flush();
    else
      word += c;
  }
  flush();
  return flit_from_text(mnemonic, args);
}

}  // namespace ktpu::arch
