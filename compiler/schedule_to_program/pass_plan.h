// SPDX-License-Identifier: Apache-2.0
// What a program in passes works out: the expressions of all its statements as one, so that what several of
// them compute is computed once. Of policy best; the reference has no such program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/expr.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule_to_program/exp2_range.h"
#include "compiler/schedule_to_program/spreads.h"

namespace ktpu::schedule_to_program {

struct PassLeaf {
  std::optional<double> constant;
  std::uint32_t operand = 0;  // when it is no constant
};
struct PassResult {
  schedule::Stretch to;
  base::Expr::Id value = 0;
};

class PassPlan {
 public:
  using Id = base::Expr::Id;

  // Throws base::Refusal (kBuild): ROW_UNKNOWN, ROW_SHAPES, RUN_SPANS, PART_CUTS_ROW, PART_UNALIGNED,
  // RUN_PAST_END, SPREAD_SHAPE, RUN_CUT_READS_RESULT.
  PassPlan(const schedule::Schedule& schedule, std::span<const schedule::Chain* const> statements);

  const base::Expr& expr() const { return expr_; }
  const PassLeaf& leaf(Id id) const { return leaves_[expr_[id].leaf]; }
  const std::vector<BandOperand>& operands() const { return operands_; }
  const std::vector<PassResult>& results() const { return results_; }
  std::uint64_t span() const { return span_; }        // elements, a whole number of rows
  std::uint64_t columns() const { return columns_; }  // of a row; 0: nothing folds
  // A fold's pass is the number of folds behind it; a value is known behind the passes of its folds.
  unsigned passes() const { return passes_; }
  unsigned pass(Id id) const { return pass_[id]; }
  // The same in all columns of a row.
  bool along_row(Id id) const { return along_row_[id]; }
  // Of an exp2.
  ExponentClamp clamp(Id id) const { return clamps_[id]; }

 private:
  void add_statement(const schedule::Chain& statement, std::size_t number);
  void require_apart(const schedule::Chain& statement, const schedule::Leaf& leaf, std::size_t number) const;
  Id constant(double value);
  Id operand(const BandOperand& operand);
  Id divide(Id dividend, Id divisor);
  void measure();

  const schedule::Schedule& schedule_;
  std::span<const schedule::Chain* const> statements_;
  base::Expr expr_;
  std::vector<PassLeaf> leaves_;
  std::vector<BandOperand> operands_;
  std::vector<PassResult> results_;
  std::vector<unsigned> pass_;
  std::vector<bool> along_row_;
  std::vector<ExponentClamp> clamps_;
  std::uint64_t span_ = 0, columns_ = 0;
  unsigned passes_ = 0;
};

}  // namespace ktpu::schedule_to_program
