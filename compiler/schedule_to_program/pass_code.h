// SPDX-License-Identifier: Apache-2.0
// The instructions of one row of a program in passes: a pass over the row's vectors for every fold that
// waits for another, then the pass that stores. Partial results gather in a register, lane by lane, and are
// folded across the lanes once a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/schedule_to_program/image.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/pass_plan.h"

namespace ktpu::schedule_to_program {

// Instructions that must not be torn apart (a VSETI and its constant) stand together.
using Code = std::vector<Image>;

// L1 words at which things begin.
struct PassPlaces {
  std::vector<std::uint64_t> operands, results;
  std::uint64_t spills = 0;  // 8 words each
};

class PassCode {
 public:
  // `columns`: elements of a row, or of a stretch when nothing folds.
  PassCode(const PassPlan& plan, std::uint64_t columns);

  // Scalars that stay: vector lengths, constants.
  Code prelude() const;
  // `at`: L1 words from the first row. Throws base::Refusal (REGISTERS).
  Code row(const PassPlaces& places, std::uint64_t at);
  // Words of L1 beside operands and results that row() has asked for so far.
  std::uint64_t spill_words() const;

 private:
  using Id = PassPlan::Id;
  struct Piece {  // of a row, one vector
    std::uint64_t word = 0;
    std::uint32_t length = 0, padded = 0;
  };
  // What a register holds while a piece is worked on.
  struct Held {
    std::optional<Id> value;
    bool locked = false;
  };
  struct Task {
    Id value = 0;
    std::optional<std::size_t> result;  // to store; else a fold to gather
  };

  void number_scalars();
  void choose_kept();
  bool kept(Id id) const { return kept_.contains(id) && plan_.pass(id) <= done_; }
  bool is_constant(Id id) const;
  bool is_operand(Id id) const;
  std::vector<Id> arguments(Id id) const;

  void emit(const arch::VectorWord& word);
  void set_length(std::uint32_t elements);
  void begin_folds(unsigned pass);
  void end_folds(unsigned pass);
  void make_row_values(unsigned pass);
  void piece(const Piece& piece, const std::vector<Task>& tasks);
  void order(Id id, std::vector<Id>& out, std::vector<bool>& seen) const;
  void compute(Id id, std::size_t step);
  void gather(Id fold, std::size_t step);
  void store(std::size_t result, std::size_t step);

  Operand operand(Id id, std::size_t step);
  std::uint32_t in_register(Id id, std::size_t step);
  std::uint32_t free_register(std::size_t step);
  void release(std::size_t step);
  std::size_t next_use(Id id, std::size_t step) const;
  Operand constant(double value);

  const PassPlan& plan_;
  std::vector<Piece> pieces_;
  std::uint32_t longest_ = 0;  // padded length of the longest piece
  std::vector<bool> joined_;   // comparisons that are part of the choice they make
  std::map<std::uint32_t, std::uint32_t> length_scalar_;
  std::vector<std::pair<double, std::uint32_t>> constant_scalar_;
  std::uint32_t first_spare_ = 0, spare_ = 0;  // scalars for constants that have none of their own
  std::map<Id, std::uint32_t> kept_;           // registers of folds and of values along rows
  std::map<Id, std::uint64_t> spilled_;        // slots
  std::uint64_t most_spills_ = 0;

  // While a row is written.
  Code code_;
  const PassPlaces* places_ = nullptr;
  std::uint64_t at_ = 0;
  Piece piece_;
  std::uint32_t length_ = 0;
  unsigned done_ = 0;  // passes
  std::vector<Held> registers_;
  std::vector<std::vector<std::size_t>> uses_;  // steps that use a value
};

}  // namespace ktpu::schedule_to_program
