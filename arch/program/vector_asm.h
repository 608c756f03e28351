// SPDX-License-Identifier: Apache-2.0
// Statements of a stage block that stand for several envelopes of a vector core (vector.md 2.1): `kernel`,
// `desc A0 ...`, `run LABEL`. Internal to the assembler. Grammar: docs/programs.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/encoding/vector_inst.h"
#include "arch/program/token_reader.h"

namespace ktpu::arch {

class VectorAsm {
 public:
  // One per stage block: labels are known to the `run` statements behind them.
  explicit VectorAsm(TokenReader& in) : in_(in) {}

  // Reads one such statement and appends its envelopes; false, with nothing read, when another one follows.
  bool statement(std::vector<Flit>& out);

 private:
  bool expand(std::vector<Flit>& out);
  struct Header {
    std::uint32_t txn = 0;
    bool last = false;
  };
  bool header_option(Header& header);
  // `last` marks the last of them.
  static void envelopes(std::vector<Flit>& out, const std::vector<VectorInst>& insts, const Header& header);

  void kernel(std::vector<Flit>& out);
  void descriptor(std::vector<Flit>& out);
  void descriptor_field(std::vector<Flit>& out, const Token& place, std::uint32_t ad, std::string_view field);
  std::uint64_t dimension();
  void run(std::vector<Flit>& out);

  TokenReader& in_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;  // word addresses
};

}  // namespace ktpu::arch
