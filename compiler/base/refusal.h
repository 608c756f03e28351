// SPDX-License-Identifier: Apache-2.0
// A program the compiler does not take (compiler.md section 25): what set it off, where, and what to do.
#pragma once

#include <string>
#include <string_view>

#include "arch/error.h"

namespace ktpu::base {

// Where the compiler stood. Everything up to kLayout is said before any operand is placed.
enum class Phase : std::uint8_t {
  kBind,    // arguments to ports
  kTrace,   // running the kernel's body
  kStages,  // statements to stages: hazards, sequences
  kLayout,  // orders of operands, pairing
  kPack,    // an operand into its order
  kTransfer,
  kAllocate,
  kBuild,   // words of a unit's program
  kEncode,  // fields to bits
};
std::string_view name(Phase phase);
constexpr bool before_placing(Phase phase) { return phase <= Phase::kLayout; }

class Refusal : public arch::UserError {
 public:
  // `code` is stable, upper case: CHUNK_OVER_BANK. `fix` says what to change.
  Refusal(Phase phase, std::string code, const std::string& what, const std::string& fix);
  Phase phase() const { return phase_; }
  const std::string& code() const { return code_; }

 private:
  Phase phase_;
  std::string code_;
};

// A fused epilogue that has to be staged (section 15, relax): caught by the driver.
class CannotFuse : public Refusal {
 public:
  using Refusal::Refusal;
};

}  // namespace ktpu::base
