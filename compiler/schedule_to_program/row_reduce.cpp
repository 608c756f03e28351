// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/row_reduce.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/image.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using base::Phase;
using base::Refusal;

constexpr std::uint32_t kFill = 0, kDrain = 1, kIn = 2, kOut = 3;  // descriptors
constexpr std::uint32_t kSource = 0, kResult = 2;                  // registers

Image image_of(base::LaneOp op, std::uint32_t columns, std::uint32_t rows) {
  const std::uint32_t words = columns / kLanes;
  Image image;
  image.set_scalar(0, columns);
  image.vector_length();
  image.mode(arch::VectorMode::kFlat);
  image.move(VectorOpcode::kVfill, kFill, 0);
  image.barrier();
  for (std::uint32_t row = 0; row < rows; ++row) {
    image.walk(VectorOpcode::kVld, kIn, kSource, row * words);
    ReductionScalars scalars;
    const Operand source{arch::VectorSource::kVector, kSource};
    for (const arch::VectorWord& word : lane_words(op, false, kResult, {&source, 1}, scalars))
      image.add(word);
    image.walk(VectorOpcode::kVst, kOut, kResult, row * words);
  }
  image.move(VectorOpcode::kVdrain, kDrain, rows * words);
  image.halt();
  return image;
}

}  // namespace

std::vector<program::VectorStep> row_reduction(const schedule::Schedule& schedule,
                                               const schedule::Chain& statement, std::uint64_t batch) {
  const base::Expr::Node& fold = statement.expr[statement.expr.root()];
  KTPU_CHECK(base::is_fold(fold.op) && statement.leaves.size() == 1 &&
                 statement.leaves[0].kind == schedule::Leaf::Kind::kMemory,
             "a reduce is one fold of one buffer");
  if (!fold.row)
    throw Refusal(Phase::kBuild, "ROW_UNKNOWN", "a fold along rows of unknown width",
                  "fold a buffer whose last axis is the row");
  const std::uint64_t columns = fold.row->columns;
  if (columns == 0 || columns % kLanes != 0 || columns > kLongestVector)
    throw Refusal(Phase::kBuild, "ROW_WIDTH", fmt::format("a fold along rows of {} elements", columns),
                  fmt::format("rows are a multiple of {}, at most {}", kLanes, kLongestVector));
  const std::uint64_t span = std::min(statement.span, fold.row->rows * columns);
  if (span % columns != 0)
    throw Refusal(Phase::kBuild, "PART_CUTS_ROW",
                  fmt::format("a part of {} elements cuts rows of {}", span, columns),
                  "make part a multiple of the row");
  const std::uint64_t rows = span / columns, words = columns / kLanes;
  std::uint64_t tile = rows_per_pass(rows, words, schedule.resources.vector_l1_words);
  if (schedule.policy == schedule::Policy::kBest)
    while (tile > 1 &&
           (rows % tile != 0 ||
            image_of(fold.op, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(tile)).size() >
                kImageWords))
      --tile;
  const Image image =
      image_of(fold.op, static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(tile));
  if (image.size() > kImageWords)
    throw Refusal(Phase::kBuild, "IMAGE_TOO_LONG", fmt::format("an image of {} words", image.size()),
                  fmt::format("the instruction memory holds {}: fold fewer rows at once", kImageWords));

  StepList list;
  list.load(image);
  const auto row_walk = Dimension{1, static_cast<std::uint32_t>(words)};
  const auto pass_walk = Dimension{kWordBytes, static_cast<std::uint32_t>(tile * words)};
  list.base(kIn, 0);
  list.dimension(kIn, 0, row_walk);
  list.base(kOut, tile * words);
  list.dimension(kOut, 0, row_walk);
  list.dimension(kFill, 0, pass_walk);
  list.dimension(kDrain, 0, pass_walk);
  const schedule::Stretch& source = statement.leaves[0].stretch;
  const std::uint64_t from = start_of(schedule, source.buffer, batch) + 2 * source.at;
  const std::uint64_t to = start_of(schedule, statement.result.buffer, batch) + 2 * statement.result.at;
  for (std::uint64_t row = 0; row < rows; row += tile) {
    list.base(kFill, from + row * words * kWordBytes);
    list.base(kDrain, to + row * words * kWordBytes);
    list.run();
  }
  return list.take();
}

}  // namespace ktpu::schedule_to_program
