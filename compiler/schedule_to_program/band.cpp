// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/band.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using base::Phase;
using base::Refusal;
using schedule::Chain;
using schedule::Leaf;

constexpr std::uint32_t kFirstConstantScalar = 4, kScalars = 16, kRegisters = 16, kMostOperands = 7;

Refusal refusal(std::string code, const std::string& what, const std::string& fix) {
  return {Phase::kBuild, std::move(code), what, fix};
}

// A statement's own descriptors, with its constants among the operands.
std::uint64_t own_budget(const Chain& statement) {
  std::vector<const Leaf*> distinct;
  for (const Leaf& leaf : statement.leaves)
    if (std::none_of(distinct.begin(), distinct.end(), [&](const Leaf* l) { return *l == leaf; }))
      distinct.push_back(&leaf);
  return 2 * distinct.size() + 2;
}

bool seeds(const Chain& statement) {
  const bool without_array = std::any_of(statement.leaves.begin(), statement.leaves.end(), [](const Leaf& l) {
    return l.kind == Leaf::Kind::kConstant && !l.array;
  });
  return without_array || own_budget(statement) > kDescriptors;
}

ValueRange range_of(const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kConstant ? constant_range(leaf.value) : kHalfRange;
}

std::optional<base::RowShape> row_of(const Chain& statement) {
  std::optional<base::RowShape> row;
  for (const base::Expr::Node& node : statement.expr.nodes()) {
    if (!base::is_fold(node.op)) continue;
    if (!node.row)
      throw refusal("ROW_UNKNOWN", "a fold along rows of unknown width",
                    "fold a buffer whose last axis is the row");
    if (row && *row != *node.row)
      throw refusal(
          "ROW_SHAPES",
          fmt::format("folds along rows of {} and of {} in one program", row->columns, node.row->columns),
          "fold them in stages of their own");
    row = node.row;
  }
  return row;
}

}  // namespace

Band::Band(const schedule::Schedule& schedule, std::span<const Chain* const> statements, Extents extents)
    : schedule_(schedule), extents_(extents), statements_(statements.begin(), statements.end()) {
  seeds_ = std::any_of(statements.begin(), statements.end(), [](const Chain* s) { return seeds(*s); });
  for (const Chain* statement : statements) add_statement(*statement);
  find_clamps();
  require_descriptors();
  find_width(statements);
  allocate_registers();
  measure_step();
  choose_steps();
  if (schedule_.policy == schedule::Policy::kBest && extents_ == Extents::kReal) {
    require_alignment();
    if (!stores_stay_inside()) choose_exact_steps();
  }
  for (std::size_t g = 0; g < regions_.size(); ++g) {
    const BandRegion& region = regions_[g];
    if (region.count == 1 || schedule_.policy == schedule::Policy::kCompat) continue;
    // The drain writes the results of one RUN one after the other.
    if (chunks_ * length_ != span_)
      throw refusal("DRAIN_APART", "results that follow each other in one buffer take more than one RUN each",
                    "write them in stages of their own");
  }
}

std::uint64_t Band::at(const Leaf& leaf) const {
  return extents_ == Extents::kAsked ? leaf.asked_at : leaf.stretch.at;
}
std::uint64_t Band::at(const Chain& statement) const {
  return extents_ == Extents::kAsked ? statement.asked_at : statement.result.at;
}

void Band::add_statement(const Chain& statement) {
  const auto first_chain = static_cast<std::uint32_t>(chains_.size());
  // Operands and constants are numbered as the expression meets them, lifted or not.
  std::vector<BandSource> leaves;
  for (std::uint32_t l = 0; l < statement.leaves.size(); ++l) leaves.push_back(source_of(statement, l));
  const std::vector<base::Expr::Id> values = add_values(statement, leaves);
  for (const LaneChain& lane : linearise(statement.expr)) {
    BandChain chain;
    for (const LaneStep& lane_step : lane) {
      BandStep step{lane_step.op, lane_step.chooses, values.at(lane_step.node), {}};
      for (const ChainSource& source : lane_step.sources) switch (source.kind) {
          case ChainSource::Kind::kRunning:
            step.sources.push_back({BandSource::Kind::kRunning, 0});
            break;
          case ChainSource::Kind::kChain:
            step.sources.push_back({BandSource::Kind::kChain, first_chain + source.number});
            break;
          case ChainSource::Kind::kLeaf:
            step.sources.push_back(leaves.at(source.number));
            break;
        }
      for (const BandSource& source : step.sources)
        if (source.kind == BandSource::Kind::kChain) chains_[source.number].held = true;
      chain.steps.push_back(std::move(step));
    }
    chains_.push_back(std::move(chain));
  }
  chains_.back().stores = true;
  final_chain_.push_back(static_cast<std::uint32_t>(chains_.size() - 1));
  add_region(statement);
}

// The statement's values among those of all statements, by node of its expression.
std::vector<base::Expr::Id> Band::add_values(const Chain& statement, const std::vector<BandSource>& leaves) {
  std::vector<base::Expr::Id> values;
  for (const base::Expr::Node& node : statement.expr.nodes()) {
    if (node.op != base::LaneOp::kLeaf) {
      std::array<base::Expr::Id, 3> args{};
      for (unsigned i = 0; i < base::info(node.op).arguments; ++i) args[i] = values[node.args[i]];
      values.push_back(values_.op(node.op, args, node.row));
      continue;
    }
    const BandSource& source = leaves.at(node.leaf);
    if (source.kind == BandSource::Kind::kChain) {
      const auto writer = std::find(final_chain_.begin(), final_chain_.end(), source.number);
      values.push_back(made_.at(static_cast<std::size_t>(writer - final_chain_.begin())));
      continue;
    }
    const auto known = std::find_if(value_leaves_.begin(), value_leaves_.end(),
                                    [&](const auto& leaf) { return leaf.first == source; });
    values.push_back(values_.leaf(static_cast<std::uint32_t>(known - value_leaves_.begin())));
    if (known == value_leaves_.end())
      value_leaves_.emplace_back(source, range_of(statement.leaves[node.leaf]));
  }
  made_.push_back(values.at(statement.expr.root()));
  return values;
}

void Band::find_clamps() {
  clamps_.resize(values_.nodes().size());
  if (schedule_.policy != schedule::Policy::kBest) return;
  std::vector<ValueRange> ranges;
  for (const auto& [source, range] : value_leaves_) ranges.push_back(range);
  clamps_ = exponent_clamps(values_, ranges);
  for (const ExponentClamp& clamp : clamps_) {
    least_ = least_ || clamp.below;
    greatest_ = greatest_ || clamp.above;
  }
}

BandSource Band::source_of(const Chain& statement, std::uint32_t number) {
  const Leaf& leaf = statement.leaves.at(number);
  if (leaf.kind == Leaf::Kind::kConstant && seeds_) {
    const auto known = std::find(constants_.begin(), constants_.end(), leaf.value);
    const auto index = static_cast<std::uint32_t>(known - constants_.begin());
    if (known == constants_.end()) constants_.push_back(leaf.value);
    return {BandSource::Kind::kConstant, index};
  }
  KTPU_CHECK(leaf.kind == Leaf::Kind::kConstant || leaf.kind == Leaf::Kind::kMemory,
             "a delivered tile outside an epilogue");
  BandOperand operand{leaf.stretch.buffer, at(leaf), leaf.period, leaf.take, leaf.whole};
  if (leaf.kind == Leaf::Kind::kConstant) {
    operand = {*leaf.array, 0, 0, 0, false};
  } else if (operand.whole && schedule_.policy == schedule::Policy::kBest && statement.span <= operand.take) {
    // Read once only: instances begin where the buffer begins.
    operand.period = operand.take = 0;
    operand.whole = false;
  } else if (operand.period == 0) {
    // What the latest earlier statement of the run made stays in a register.
    for (std::size_t s = final_chain_.size(); s-- > 0;)
      if (statements_[s]->result.buffer == operand.buffer && at(*statements_[s]) == operand.at)
        return {BandSource::Kind::kChain, final_chain_[s]};
  }
  const auto known = std::find(operands_.begin(), operands_.end(), operand);
  const auto index = static_cast<std::uint32_t>(known - operands_.begin());
  if (known == operands_.end()) operands_.push_back(operand);
  return {BandSource::Kind::kOperand, index};
}

void Band::add_region(const Chain& statement) {
  const auto result = static_cast<std::uint32_t>(final_chain_.size() - 1);
  if (!regions_.empty() && regions_.back().buffer == statement.result.buffer) {
    BandRegion& region = regions_.back();
    const std::uint64_t span = extents_ == Extents::kAsked ? statement.asked_span : statement.span;
    if (at(statement) != region.at + region.count * span)
      throw refusal("DRAIN_APART", "results in one buffer that do not follow each other",
                    "write them in stages of their own");
    ++region.count;
    return;
  }
  regions_.push_back({statement.result.buffer, at(statement), result, 1});
}

void Band::require_descriptors() const {
  const std::uint64_t budget = 2 * operands_.size() + 1 + regions_.size();
  if (operands_.size() > kMostOperands || budget > kDescriptors)
    throw refusal("OPERANDS",
                  fmt::format("{} operands and {} results need {} address descriptors; there are {}",
                              operands_.size(), regions_.size(), budget, kDescriptors),
                  "split the expression into two statements");
}

void Band::find_width(std::span<const Chain* const> statements) {
  for (const Chain* statement : statements) {
    const std::optional<base::RowShape> row = row_of(*statement);
    if (row && row_ && *row != *row_)
      throw refusal(
          "ROW_SHAPES",
          fmt::format("folds along rows of {} and of {} in one program", row_->columns, row->columns),
          "fold them in stages of their own");
    if (row) row_ = row;
  }
  if (row_) {
    if (row_->columns == 0 || row_->columns % kLanes != 0 || row_->columns > kLongestVector)
      throw refusal("ROW_WIDTH", fmt::format("a fold along rows of {} elements", row_->columns),
                    fmt::format("rows are a multiple of {}, at most {}", kLanes, kLongestVector));
    length_ = row_->columns;
  }
  for (std::size_t s = 0; s < statements.size(); ++s) {
    std::uint64_t span = extents_ == Extents::kAsked ? statements[s]->asked_span : statements[s]->span;
    if (row_) span = std::min(span, row_->rows * row_->columns);
    if (s != 0 && span != span_)
      throw refusal("RUN_SPANS", "statements over different lengths in one program",
                    "write them in stages of their own");
    span_ = span;
  }
  if (row_ && span_ % row_->columns != 0)
    throw refusal("PART_CUTS_ROW", fmt::format("a part of {} elements cuts rows of {}", span_, row_->columns),
                  "make part a multiple of the row");
}

void Band::allocate_registers() {
  std::vector<std::uint32_t> free;
  for (auto r = static_cast<std::uint32_t>(operands_.size()); r < kRegisters; ++r)
    if (r != kRunningRegister && r != kScratchRegister) free.push_back(r);
  std::size_t next = 0;
  const auto take = [&] {
    if (next == free.size())
      throw refusal("REGISTERS", "an expression that needs more vector registers than there are",
                    "split it into two statements");
    return free[next++];
  };
  held_register_.assign(chains_.size(), kRunningRegister);
  for (std::size_t c = 0; c < chains_.size(); ++c)
    if (chains_[c].held) held_register_[c] = take();
  for (std::size_t k = 0; k < constants_.size(); ++k) constant_register_.push_back(take());
  if (constants_.size() + clamp_scalars() > kScalars - kFirstConstantScalar)
    throw refusal("REGISTERS",
                  fmt::format("{} constants in one program", constants_.size() + clamp_scalars()),
                  "split it into two statements");
}

Operand Band::register_of(const BandSource& source) const {
  switch (source.kind) {
    case BandSource::Kind::kRunning:
      return {arch::VectorSource::kVector, kRunningRegister};
    case BandSource::Kind::kOperand:
      return {arch::VectorSource::kVector, source.number};
    case BandSource::Kind::kChain:
      return {arch::VectorSource::kVector, held_register_[source.number]};
    case BandSource::Kind::kConstant:
      return {arch::VectorSource::kVector, constant_register_[source.number]};
  }
  return {};
}

std::uint32_t Band::load_descriptor(std::size_t operand) const {
  return static_cast<std::uint32_t>(operands_.size() + operand);
}
std::uint32_t Band::store_descriptor() const { return static_cast<std::uint32_t>(2 * operands_.size()); }
std::uint32_t Band::drain_descriptor(std::size_t region) const {
  return static_cast<std::uint32_t>(2 * operands_.size() + 1 + region);
}

std::uint32_t Band::clamp_scalar() const {
  return kFirstConstantScalar + static_cast<std::uint32_t>(constants_.size());
}

// exp2's argument, clamped where it has to be: on its way through the running register.
Operand Band::clamped(Image& image, const BandStep& step, Operand argument) const {
  const ExponentClamp clamp = clamps_[step.value];
  if (step.op != base::LaneOp::kExp2 || !clamp.any()) return argument;
  const Operand least{arch::VectorSource::kScalar, clamp_scalar()};
  const Operand greatest{arch::VectorSource::kScalar, clamp_scalar() + (least_ ? 1 : 0)};
  for (const arch::VectorWord& word : clamp_words(clamp, kRunningRegister, argument, least, greatest))
    image.add(word);
  return {arch::VectorSource::kVector, kRunningRegister};
}

void Band::add_step(Image& image, std::uint64_t step) const {
  const auto offset = static_cast<std::uint32_t>(step * length_ / kLanes);
  for (std::uint32_t i = 0; i < operands_.size(); ++i)
    image.walk(VectorOpcode::kVld, load_descriptor(i), i, offset);
  ReductionScalars scalars;
  const Choosing choosing{schedule_.policy == schedule::Policy::kBest, static_cast<std::uint32_t>(length_)};
  std::uint32_t result = 0;
  for (std::size_t c = 0; c < chains_.size(); ++c) {
    const BandChain& chain = chains_[c];
    for (std::size_t s = 0; s < chain.steps.size(); ++s) {
      // The register that later chains read is written last: earlier results of the chain pass by it.
      const bool last = s + 1 == chain.steps.size();
      const std::uint32_t to = last ? held_register_[c] : kRunningRegister;
      std::vector<Operand> sources;
      for (const BandSource& source : chain.steps[s].sources) sources.push_back(register_of(source));
      sources[0] = clamped(image, chain.steps[s], sources[0]);
      for (const arch::VectorWord& word :
           lane_words(chain.steps[s].op, chain.steps[s].chooses, to, sources, scalars, choosing))
        image.add(word);
    }
    if (!chain.stores) continue;
    image.walk(VectorOpcode::kVst, store_descriptor(), held_register_[c],
               static_cast<std::uint32_t>(offset + result * words_per_run()));
    ++result;
  }
}

void Band::measure_step() {
  Image image;
  add_step(image, 0);
  step_words_ = image.size();
}

std::uint64_t Band::image_words(std::uint64_t steps) const {
  // Lengths of what stands around the steps: see image().
  return 2 + 3 * constants_.size() + 2 * clamp_scalars() + 2 + operands_.size() + 1 + steps * step_words_ +
         regions_.size() + 1;
}

Image Band::image() const {
  Image image;
  image.set_scalar(0, static_cast<std::uint32_t>(length_));
  for (std::uint32_t k = 0; k < constants_.size(); ++k)
    image.constant(kFirstConstantScalar + k, constants_[k]);
  if (least_) image.constant(clamp_scalar(), kLeastExponent);
  if (greatest_) image.constant(clamp_scalar() + clamp_scalars() - 1, kGreatestExponent);
  image.vector_length();
  image.mode(arch::VectorMode::kFlat);
  for (std::uint32_t k = 0; k < constants_.size(); ++k)
    image.broadcast(constant_register_[k], kFirstConstantScalar + k);
  const auto run = static_cast<std::uint32_t>(words_per_run());
  const auto operands = static_cast<std::uint32_t>(operands_.size());
  for (std::uint32_t i = 0; i < operands; ++i) image.move(VectorOpcode::kVfill, i, i * run);
  image.barrier();
  for (std::uint64_t step = 0; step < chunks_; ++step) add_step(image, step);
  for (std::size_t g = 0; g < regions_.size(); ++g)
    image.move(VectorOpcode::kVdrain, drain_descriptor(g), (operands + regions_[g].first) * run);
  image.halt();
  KTPU_CHECK(image.size() == image_words(chunks_), "image of {} words, counted {}", image.size(),
             image_words(chunks_));
  return image;
}

std::vector<program::VectorStep> Band::steps(std::uint64_t batch) const {
  StepList list;
  list.load(image());
  const auto run = static_cast<std::uint32_t>(words_per_run());
  const auto load_words = static_cast<std::uint32_t>(length_ / kLanes);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    list.base(load_descriptor(i), i * run);
    list.dimension(load_descriptor(i), 0, {1, load_words});
  }
  list.base(store_descriptor(), operands_.size() * run);
  list.dimension(store_descriptor(), 0, {1, load_words});
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    const std::vector<Dimension> walk = fill_walk(operands_[i], chunks_ * length_);
    for (std::uint32_t d = 0; d < walk.size(); ++d) list.dimension(i, d, walk[d]);
  }
  for (std::size_t g = 0; g < regions_.size(); ++g)
    list.dimension(drain_descriptor(g), 0, {kWordBytes, regions_[g].count * run});

  const std::uint64_t elements = chunks_ * length_;
  for (std::uint64_t b = 0; b < ceil_div(span_, elements); ++b) {
    for (std::uint32_t i = 0; i < operands_.size(); ++i) {
      list.base(i,
                start_of(schedule_, operands_[i].buffer, batch) + 2 * fill_start(operands_[i], b * elements));
    }
    for (std::size_t g = 0; g < regions_.size(); ++g)
      list.base(drain_descriptor(g),
                start_of(schedule_, regions_[g].buffer, batch) + 2 * (regions_[g].at + b * elements));
    list.run();
  }
  // The next program's fills are plain walks: what a spread has set beyond the first dimension goes.
  for (std::uint32_t i = 0; i < operands_.size(); ++i) {
    const std::size_t dimensions = fill_walk(operands_[i], chunks_ * length_).size();
    for (std::uint32_t d = 1; d < dimensions; ++d) list.dimension(i, d, {0, 1});
  }
  return list.take();
}

}  // namespace ktpu::schedule_to_program
