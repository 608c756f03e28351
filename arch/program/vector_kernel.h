// SPDX-License-Identifier: Apache-2.0
// The lines of a `kernel` block: one instruction of the vector core each. Internal to vector_asm.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/encoding/vector_word.h"
#include "arch/program/token_reader.h"
#include "arch/program/vector_place.h"

namespace ktpu::arch {

class VectorKernel {
 public:
  using Labels = std::map<std::string, std::uint32_t, std::less<>>;
  // Labels of the block, which starts at word `at`, are added to `labels`.
  VectorKernel(TokenReader& in, std::uint32_t at, Labels& labels) : in_(in), at_(at), labels_(labels) {}

  // Behind '{', up to and with '}'.
  std::vector<std::uint32_t> read();

 private:
  struct Register {
    char kind = 0;  // v S C K P A
    std::uint32_t number = 0;
  };
  struct Loop {  // a VLOOP whose end label may come later
    std::size_t word = 0;
    Token label;
  };

  std::uint32_t here() const { return at_ + static_cast<std::uint32_t>(words_.size()); }
  void emit(std::uint32_t word);
  void emit(const VectorWord& word) { emit(encode_vector_word(word)); }

  void line();
  void label(const Token& t);
  void equ();
  void directive(const Token& t);
  void instruction(const Token& t);
  void arithmetic(VectorWord& w);
  void predication(VectorWord& w);
  void reduction(VectorWord& w, const Token& t, std::string_view kind);
  void vseti(VectorWord& w);
  void loop(VectorWord& w);
  void drain_target(VectorWord& w);
  std::uint32_t memory_type(const Token& t, std::string_view suffix);
  void resolve(const Loop& loop);

  void comma() { in_.expect(','); }
  // The word itself, or what `.equ` says it stands for.
  const std::string& meaning(const Token& t) const;
  std::uint32_t number(std::string_view what, std::uint32_t max);
  bool is_register(const Token& t, Register& r) const;
  // `kinds`: letters of the register files allowed here.
  Register reg(std::string_view kinds);
  std::uint32_t reg_number(std::string_view kind) { return reg(kind).number; }
  void set_slot(VectorWord& w, std::size_t slot, Register r);
  std::uint32_t constant();
  std::uint32_t float_constant(const Token& t, std::string_view rounding);

  TokenReader& in_;
  std::uint32_t at_;
  Labels& labels_;
  std::map<std::string, std::string, std::less<>> names_;  // of .equ
  std::vector<std::uint32_t> words_;
  std::vector<Loop> loops_;
  VectorPlace place_;
};

}  // namespace ktpu::arch
