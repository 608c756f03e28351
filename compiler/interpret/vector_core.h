// SPDX-License-Identifier: Apache-2.0
// A vector core, one instruction after the other, each finished before the next (vector.md). Faults, and what
// the machine does silently wrong, end in a UserError.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"
#include "compiler/interpret/lanes.h"
#include "compiler/interpret/machine.h"
#include "compiler/interpret/vector_predicates.h"
#include "compiler/interpret/wires.h"

namespace ktpu::interpret {

// An address descriptor (section 5.1).
struct Descriptor {
  std::uint64_t base = 0;
  std::array<std::int32_t, 4> stride{};
  std::array<std::uint32_t, 4> bound{1, 1, 1, 1};  // at least 1
  std::uint64_t total() const;
};

// Yields one address after the other and stays at the last.
class Walk {
 public:
  Walk(const Descriptor& descriptor, std::int64_t offset);
  std::uint64_t next();

 private:
  const Descriptor& d_;
  std::uint64_t address_;
  std::array<std::uint32_t, 4> index_{};
};

class VectorCore {
 public:
  VectorCore(const UnitFacts& facts, Rounding rounding, Counters& counters);

  void execute(const arch::VectorInst& inst, Wires& wires);
  void receive(const Stream& stream);

  // What a kernel left, for tests and messages; r, p, e and w must be in range.
  std::uint32_t scalar(unsigned r) const { return s_[r]; }
  std::uint32_t element(unsigned r, unsigned e) const { return v_[r][e]; }
  bool predicate(unsigned p, unsigned e) const { return p_.bits(p)[e]; }
  unsigned l1_words() const { return static_cast<unsigned>(l1_.size()); }
  const Word256& l1(unsigned w) const { return l1_[w]; }

 private:
  using Register = std::array<std::uint32_t, kMaxLength>;

  void run(unsigned pc, Wires& wires);
  // One instruction; false: VHALT.
  bool step(Wires& wires);
  const arch::VectorWord& fetch();
  void arithmetic(const arch::VectorWord& head);
  void gather_group(const arch::VectorWord& head, unsigned depth);
  const std::uint32_t* operand(unsigned source, unsigned reg, Register& scratch) const;
  void write_back(const arch::VectorWord& last, const Register& result);
  void reduce(const arch::VectorWord& w);
  void any_all(const arch::VectorWord& w);
  void convert(const arch::VectorWord& w);
  void broadcast(const arch::VectorWord& w);
  void shuffle(const arch::VectorWord& w);
  void load(const arch::VectorWord& w, Wires& wires);
  void store(const arch::VectorWord& w);
  void fill(const arch::VectorWord& w, Wires& wires);
  void drain(const arch::VectorWord& w, Wires& wires);
  void drain_to_node(const arch::VectorWord& w, Wires& wires);
  unsigned chunks() const { return (vl_ + 15) / 16; }
  // Whole chunks move, whatever the length.
  unsigned moved() const { return 16 * chunks(); }

  bool quirks_;
  Counters& counters_;
  LaneArithmetic lanes_;
  std::vector<std::uint32_t> imem_;
  std::vector<arch::VectorWord> decoded_;
  std::bitset<512> decoded_valid_;
  std::array<Descriptor, 8> descriptors_;
  std::array<Register, 16> v_{};
  std::array<std::uint32_t, 16> s_{};
  std::array<std::uint32_t, 4> k_;
  Predicates p_;
  std::vector<Word256> l1_;
  std::bitset<512> l1_written_;
  unsigned vl_ = kMaxLength, mode_ = 0;
  unsigned pc_ = 0, top_ = 0, end_ = 0;
  bool looping_ = false;
  bool filling_ = false;  // a VFILL that no VBAR has waited for
  std::uint32_t count_ = 0;
  std::vector<arch::VectorWord> group_;
  // What the quirks V2, V4 and V5 remember.
  unsigned last_reg_ = 0, last_chunk_ = 0, last_pr_ = 0, last_pm_ = 0;
};

}  // namespace ktpu::interpret
