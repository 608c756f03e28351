// SPDX-License-Identifier: Apache-2.0
// Several statements as one program of a vector core: operands are filled once, each step loads them, goes
// through all chains and stores the results, and a RUN does as many steps as L1 and the image allow
// (compiler.md sections 18.4, 18.5 and 18.7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "compiler/schedule_to_program/chains.h"
#include "compiler/schedule_to_program/exp2_range.h"
#include "compiler/schedule_to_program/image.h"
#include "compiler/schedule_to_program/spreads.h"

namespace ktpu::schedule_to_program {

struct BandSource {
  enum class Kind : std::uint8_t { kRunning, kOperand, kChain, kConstant };
  Kind kind = Kind::kRunning;
  std::uint32_t number = 0;
  bool operator==(const BandSource&) const = default;
};
struct BandStep {
  base::LaneOp op = base::LaneOp::kLeaf;
  bool chooses = false;
  base::Expr::Id value = 0;  // of all statements' values
  std::vector<BandSource> sources;
};
struct BandChain {
  std::vector<BandStep> steps;
  bool held = false;    // in a register of its own, for later chains
  bool stores = false;  // the last one of a statement
};
// Consecutive statements that write one buffer: one drain.
struct BandRegion {
  schedule::BufferId buffer = 0;
  std::uint64_t at = 0;
  std::uint32_t first = 0, count = 1;  // results
};

// The question "do these statements fit one program" is asked with the part knob as the stride; what is built
// has the real extents.
enum class Extents : std::uint8_t { kAsked, kReal };

class Band {
 public:
  // Throws base::Refusal (phase kBuild): OPERANDS (descriptors), L1_FOOTPRINT, IMAGE_TOO_LONG,
  // REGISTERS, ROW_WIDTH, ROW_SHAPES, ROW_UNKNOWN, PART_CUTS_ROW, SPREAD_SHAPE, RUN_SPANS, DRAIN_APART,
  // LONE_COMPARE, NO_LANE_OP, NO_OPERATION; under policy best RUN_PAST_END and PART_UNALIGNED.
  Band(const schedule::Schedule& schedule, std::span<const schedule::Chain* const> statements,
       Extents extents);

  std::vector<program::VectorStep> steps(std::uint64_t batch) const;

 private:
  void add_statement(const schedule::Chain& statement);
  BandSource source_of(const schedule::Chain& statement, std::uint32_t leaf);
  std::vector<base::Expr::Id> add_values(const schedule::Chain& statement,
                                         const std::vector<BandSource>& leaves);
  void find_clamps();
  void add_region(const schedule::Chain& statement);
  void require_descriptors() const;
  void find_width(std::span<const schedule::Chain* const> statements);
  void allocate_registers();
  void measure_step();
  void choose_steps();
  void choose_exact_steps();
  bool fits(std::uint64_t steps) const;
  void require(std::uint64_t steps) const;
  bool stores_stay_inside() const;
  void require_alignment() const;

  std::uint64_t at(const schedule::Leaf& leaf) const;
  std::uint64_t at(const schedule::Chain& statement) const;
  std::uint64_t words_per_run() const { return chunks_ * length_ / 16; }
  std::uint64_t image_words(std::uint64_t steps) const;
  Operand register_of(const BandSource& source) const;
  std::uint32_t clamp_scalar() const;  // the first of those that hold exp2's bounds
  std::uint32_t clamp_scalars() const { return (least_ ? 1 : 0) + (greatest_ ? 1 : 0); }
  Operand clamped(Image& image, const BandStep& step, Operand argument) const;
  void add_step(Image& image, std::uint64_t step) const;
  Image image() const;
  std::uint32_t load_descriptor(std::size_t operand) const;
  std::uint32_t store_descriptor() const;
  std::uint32_t drain_descriptor(std::size_t region) const;

  const schedule::Schedule& schedule_;
  Extents extents_;
  bool seeds_ = false;  // constants come from the image, none from memory
  std::vector<const schedule::Chain*> statements_;
  std::vector<std::uint32_t> final_chain_;  // of each statement
  std::vector<BandOperand> operands_;
  std::vector<double> constants_;
  std::vector<BandChain> chains_;
  std::vector<BandRegion> regions_;
  // All statements as one expression, for what is known of exp2's arguments.
  base::Expr values_;
  std::vector<std::pair<BandSource, ValueRange>> value_leaves_;
  std::vector<base::Expr::Id> made_;  // by statement
  std::vector<ExponentClamp> clamps_;
  bool least_ = false, greatest_ = false;         // bounds in use
  std::vector<std::uint32_t> held_register_;      // by chain
  std::vector<std::uint32_t> constant_register_;  // by constant
  std::uint64_t span_ = 0;                        // elements
  std::optional<base::RowShape> row_;
  std::uint64_t length_ = 128;  // elements of a step
  std::uint64_t chunks_ = 1;    // steps of a RUN
  std::size_t step_words_ = 0;
};

}  // namespace ktpu::schedule_to_program
