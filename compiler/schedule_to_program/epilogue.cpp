// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/epilogue.h"

#include <algorithm>
#include <optional>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/exp2_range.h"
#include "compiler/schedule_to_program/image.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using arch::VectorSource;
using base::CannotFuse;
using base::LaneOp;
using base::Phase;
using base::Refusal;
using schedule::Leaf;

constexpr std::uint32_t kFirstConstantScalar = 4, kScalars = 16;
constexpr std::uint32_t kMostTileWords = 256;

CannotFuse cannot_fuse(std::string code, const std::string& what) {
  return {Phase::kLayout, std::move(code), what, "stage the epilogue"};
}

class Epilogue {
 public:
  Epilogue(const schedule::Schedule& schedule, const schedule::Chain& statement)
      : schedule_(schedule), statement_(statement), words_(statement.gm * statement.gn) {
    read_leaves();
    find_clamps();
    require_room();
    const std::vector<LaneChain> chains = linearise(statement.expr);
    if (chains.size() != 1)
      throw Refusal(Phase::kLayout, "EPILOGUE_LIFTED",
                    "an epilogue that uses one of its values twice needs a register of its own for it",
                    "stage the epilogue");
    chain_ = chains.front();
    build();
  }

  std::vector<program::VectorStep> steps(std::uint64_t batch) const {
    StepList list;
    list.load(image_);
    for (std::uint32_t r = 0; r < tiles_; ++r) {
      list.base(r, r * tile_words());
      list.dimension(r, 0, {1, kStepWords});
    }
    list.base(out(), tiles_ * tile_words());
    list.dimension(out(), 0, {1, kStepWords});
    list.dimension(drain(), 0, {kWordBytes, words_});
    if (side_) {
      list.dimension(side_fill(), 0, {kWordBytes, statement_.gn});
      list.base(side_read(), side_words());
      // The columns' values again for each row of the tile.
      list.dimension(side_read(), 0, {1, statement_.gn});
      list.dimension(side_read(), 1, {0, statement_.gm});
      list.base(side_fill(), start_of(schedule_, side_->buffer, batch) + 2 * side_->at);
    }
    list.base(drain(), start_of(schedule_, statement_.result.buffer, batch) + 2 * statement_.result.at);
    list.run();
    return list.take();
  }

 private:
  std::uint32_t tile_words() const { return static_cast<std::uint32_t>(whole_steps(words_)); }
  std::uint32_t side_words() const { return (tiles_ + 1) * tile_words(); }
  std::uint32_t out() const { return tiles_; }
  std::uint32_t drain() const { return tiles_ + 1; }
  std::uint32_t side_fill() const { return tiles_ + 2; }
  std::uint32_t side_read() const { return tiles_ + 3; }

  void read_leaves() {
    for (const Leaf& leaf : statement_.leaves) switch (leaf.kind) {
        case Leaf::Kind::kResident:
          tiles_ = std::max(tiles_, leaf.slot + 1);
          break;
        case Leaf::Kind::kChannel:
          if (side_ && *side_ != leaf.stretch)
            throw Refusal(Phase::kLayout, "SIDE_OPERANDS", "an epilogue with two per-channel operands",
                          "add one of them in a stage of its own");
          side_ = leaf.stretch;
          break;
        case Leaf::Kind::kConstant:
          add_constant(leaf.value);
          break;
        case Leaf::Kind::kMemory:
          throw Refusal(Phase::kLayout, "EPILOGUE_OPERAND",
                        "an epilogue reads a buffer that is no per-channel operand", "stage the epilogue");
      }
  }

  void find_clamps() {
    clamps_.resize(statement_.expr.nodes().size());
    if (schedule_.policy != schedule::Policy::kBest) return;
    std::vector<ValueRange> ranges;
    for (const Leaf& leaf : statement_.leaves)
      ranges.push_back(leaf.kind == Leaf::Kind::kConstant ? constant_range(leaf.value) : kHalfRange);
    clamps_ = exponent_clamps(statement_.expr, ranges);
    for (const ExponentClamp& clamp : clamps_) {
      if (clamp.below) add_constant(kLeastExponent);
      if (clamp.above) add_constant(kGreatestExponent);
    }
  }

  static std::optional<std::uint32_t> fixed_constant(double value) {
    if (value == 0.0) return 0;
    if (value == 1.0) return 1;
    if (value == -1.0) return 2;
    return std::nullopt;
  }

  void add_constant(double value) {
    if (!fixed_constant(value) && std::find(constants_.begin(), constants_.end(), value) == constants_.end())
      constants_.push_back(value);
  }

  void require_room() const {
    if (words_ > kMostTileWords)
      throw cannot_fuse("TILE_TOO_LARGE",
                        fmt::format("a tile of {} words; a vector core takes {}", words_, kMostTileWords));
    const std::uint64_t l1 = side_words() + (side_ ? statement_.gn : 0);
    if (!fits_l1(l1, schedule_.resources.vector_l1_words))
      throw cannot_fuse("L1_FOOTPRINT", fmt::format("an epilogue of {} L1 words", l1));
    const std::uint32_t descriptors = tiles_ + 2 + (side_ ? 2 : 0);
    if (descriptors > kDescriptors || tiles_ > kRunningRegister)
      throw cannot_fuse("OPERANDS", fmt::format("an epilogue that needs {} address descriptors; there are {}",
                                                descriptors, kDescriptors));
    if (constants_.size() > kScalars - kFirstConstantScalar)
      throw cannot_fuse("OPERANDS", fmt::format("an epilogue with {} constants", constants_.size()));
    // Eight words are read from column (8 chunk) mod gn on, and the walk starts again only at its end.
    if (side_ && schedule_.policy == schedule::Policy::kBest && statement_.gn % kStepWords != 0 &&
        kStepWords % statement_.gn != 0 && words_ > kStepWords)
      throw cannot_fuse("SIDE_OPERAND_SHAPE",
                        fmt::format("a per-channel operand over {} columns of sub-tiles", statement_.gn));
  }

  Operand operand(const ChainSource& source) const {
    if (source.kind == ChainSource::Kind::kRunning) return {VectorSource::kVector, kRunningRegister};
    const Leaf& leaf = statement_.leaves.at(source.number);
    switch (leaf.kind) {
      case Leaf::Kind::kResident:
        return {VectorSource::kVector, leaf.slot};
      case Leaf::Kind::kChannel:
        return {VectorSource::kVector, kSideRegister};
      default:
        break;
    }
    if (const auto fixed = fixed_constant(leaf.value)) return {VectorSource::kConstant, *fixed};
    return scalar(leaf.value);
  }

  Operand scalar(double value) const {
    const auto index = std::find(constants_.begin(), constants_.end(), value) - constants_.begin();
    return {VectorSource::kScalar, kFirstConstantScalar + static_cast<std::uint32_t>(index)};
  }

  static bool takes_constants(LaneOp op) {
    return op != LaneOp::kFma && op != LaneOp::kSelect && !base::is_compare(op) && !base::is_fold(op);
  }

  // Of a scalar register only slot b has been shown to work, of a constant register all.
  static void require_slots(const arch::VectorWord& word) {
    const auto scalar = static_cast<std::uint32_t>(VectorSource::kScalar);
    if (word.sa == scalar || word.sc == scalar)
      throw cannot_fuse("CONSTANT_SLOT", "a constant that has to come from a scalar register in slot a or c");
  }

  void build() {
    image_.set_scalar(0, kLongestVector);
    for (std::uint32_t k = 0; k < constants_.size(); ++k)
      image_.constant(kFirstConstantScalar + k, constants_[k]);
    image_.vector_length();
    image_.mode(arch::VectorMode::kFlat);
    if (side_) {
      image_.move(VectorOpcode::kVfill, side_fill(), side_words());
      image_.barrier();
    }
    for (std::uint32_t chunk = 0; chunk < ceil_div(words_, kStepWords); ++chunk)
      add_chunk(chunk * kStepWords);
    image_.move(VectorOpcode::kVdrain, drain(), tiles_ * tile_words());
    image_.halt();
    if (image_.size() > kImageWords)
      throw cannot_fuse("IMAGE_TOO_LONG", fmt::format("an epilogue of {} words", image_.size()));
  }

  void add_chunk(std::uint32_t offset) {
    for (std::uint32_t r = 0; r < tiles_; ++r) image_.walk(VectorOpcode::kVld, r, r, offset);
    if (side_) image_.walk(VectorOpcode::kVld, side_read(), kSideRegister, offset % statement_.gn);
    ReductionScalars scalars;
    for (const LaneStep& step : chain_) {
      if (!takes_constants(step.op))
        throw cannot_fuse("EPILOGUE_OP", fmt::format("'{}' in an epilogue", base::info(step.op).name));
      std::vector<Operand> sources;
      for (const ChainSource& source : step.sources) sources.push_back(operand(source));
      if (const ExponentClamp clamp = clamps_[step.node]; step.op == LaneOp::kExp2 && clamp.any()) {
        for (const arch::VectorWord& word : clamp_words(clamp, kRunningRegister, sources[0],
                                                        scalar(kLeastExponent), scalar(kGreatestExponent)))
          image_.add(word);
        sources[0] = {VectorSource::kVector, kRunningRegister};
      }
      for (const arch::VectorWord& word : lane_words(step.op, false, kRunningRegister, sources, scalars)) {
        require_slots(word);
        image_.add(word);
      }
    }
    image_.walk(VectorOpcode::kVst, out(), kRunningRegister, offset);
  }

  const schedule::Schedule& schedule_;
  const schedule::Chain& statement_;
  std::uint32_t words_;
  std::uint32_t tiles_ = 0;
  std::optional<schedule::Stretch> side_;
  std::vector<double> constants_;
  std::vector<ExponentClamp> clamps_;  // by node
  LaneChain chain_;
  Image image_;
};

}  // namespace

std::vector<program::VectorStep> epilogue_program(const schedule::Schedule& schedule,
                                                  const schedule::Chain& statement, std::uint64_t batch) {
  return Epilogue(schedule, statement).steps(batch);
}

void require_pairing(const schedule::Schedule& schedule, std::size_t cluster_stage) {
  const schedule::Stage& clusters = schedule.stages.at(cluster_stage);
  if (!schedule.resources.agent)
    throw cannot_fuse("AGENT_ABSENT", "the machine names no agent to acknowledge tiles to");
  if (clusters.instances.size() > schedule.resources.vector_cores)
    throw cannot_fuse("MORE_INSTANCES_THAN_CORES",
                      fmt::format("{} instances deliver tiles to {} vector cores", clusters.instances.size(),
                                  schedule.resources.vector_cores));
  if (cluster_stage + 1 == schedule.stages.size() ||
      schedule.stages[cluster_stage + 1].unit != schedule::UnitType::kVector ||
      schedule.stages[cluster_stage + 1].instances.size() != clusters.instances.size())
    throw cannot_fuse("EPILOGUE_ABSENT", "tiles are delivered and no stage of epilogues takes them");
}

}  // namespace ktpu::schedule_to_program
