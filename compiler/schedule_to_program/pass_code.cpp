// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/pass_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using arch::VectorSource;
using arch::VectorWord;
using base::Expr;
using base::LaneOp;

constexpr std::uint32_t kRegisters = 16, kScalars = 16, kReductionScalars = 3;
constexpr std::uint32_t kFirstScalar = 1 + kReductionScalars;  // S0 is left to other programs' lengths
constexpr std::uint32_t kSpares = 3;                           // constants that one operation may read
constexpr std::uint32_t kWorking = 5;  // registers an operation and what waits for it need at least
constexpr std::uint32_t kMinusInfinity = 0xFF8000, kInfinity = 0x7F8000;
constexpr std::size_t kNever = ~std::size_t{0};

// E8M15, to the nearest.
std::uint32_t scalar_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const bool finite = (bits & 0x7F80'0000) != 0x7F80'0000;
  return (bits + (finite ? 0x80 : 0)) >> 8;
}

std::optional<std::uint32_t> hardware_constant(double value) {  // K0, K1, K2
  if (value == 0 && !std::signbit(value)) return 0;
  if (value == 1) return 1;
  if (value == -1) return 2;
  return std::nullopt;
}

VectorWord unary(VectorOpcode op, std::uint32_t to, Operand from) {
  VectorWord word = vector_word(op);
  word.vd = to;
  word.sa = static_cast<std::uint32_t>(from.source);
  word.va = from.number;
  return word;
}

Image one(const VectorWord& word) {
  Image image;
  image.add(word);
  return image;
}
Image set_scalar(std::uint32_t scalar, std::uint32_t bits) {
  Image image;
  image.set_scalar(scalar, bits);
  return image;
}

}  // namespace

PassCode::PassCode(const PassPlan& plan, std::uint64_t columns) : plan_(plan) {
  for (std::uint64_t from = 0; from < columns; from += kLongestVector) {
    Piece piece;
    piece.word = from / kLanes;
    piece.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(kLongestVector, columns - from));
    piece.padded = static_cast<std::uint32_t>(ceil_div(piece.length, kLanes) * kLanes);
    longest_ = std::max(longest_, piece.padded);
    pieces_.push_back(piece);
  }
  const std::vector<Expr::Node>& nodes = plan_.expr().nodes();
  std::vector<unsigned> users(nodes.size());
  joined_.assign(nodes.size(), false);
  for (const Expr::Node& node : nodes)
    for (unsigned i = 0; i < base::info(node.op).arguments; ++i) ++users[node.args[i]];
  for (const PassResult& result : plan_.results()) ++users[result.value];
  for (const Expr::Node& node : nodes)
    if (node.op == LaneOp::kSelect && base::is_compare(nodes[node.args[0]].op) && users[node.args[0]] == 1)
      joined_[node.args[0]] = true;
  number_scalars();
  choose_kept();
}

void PassCode::number_scalars() {
  std::uint32_t next = kFirstScalar;
  const auto length = [&](std::uint32_t elements) {
    if (length_scalar_.try_emplace(elements, next).second) ++next;
  };
  length(longest_);
  length(pieces_.back().length);
  length(pieces_.back().padded);
  std::vector<double> values;
  for (Id id = 0; id < plan_.expr().nodes().size(); ++id)
    if (is_constant(id))
      if (const double value = *plan_.leaf(id).constant; !hardware_constant(value)) values.push_back(value);
  bool below = false, above = false;
  for (Id id = 0; id < plan_.expr().nodes().size(); ++id) {
    below = below || plan_.clamp(id).below;
    above = above || plan_.clamp(id).above;
  }
  for (const auto& [used, bound] : {std::pair{below, kLeastExponent}, std::pair{above, kGreatestExponent}})
    if (used && std::find(values.begin(), values.end(), bound) == values.end()) values.push_back(bound);
  const std::uint32_t room = kScalars - next;
  const bool all = values.size() <= room;
  first_spare_ = spare_ = kScalars - kSpares;
  for (const double value : values) {
    if (!all && next >= first_spare_) break;
    constant_scalar_.emplace_back(value, next++);
  }
}

// Folds keep their registers for the row. So do values along it that a pass would work out for every vector
// anew, as long as registers are plenty.
void PassCode::choose_kept() {
  const std::vector<Expr::Node>& nodes = plan_.expr().nodes();
  std::uint32_t next = kRegisters;
  const auto keep = [&](Id id) { kept_.emplace(id, --next); };
  for (Id id = 0; id < nodes.size(); ++id)
    if (base::is_fold(nodes[id].op)) keep(id);
  if (next < kWorking)
    throw base::Refusal(base::Phase::kBuild, "REGISTERS",
                        fmt::format("{} folds in one program", kept_.size()), "split it into two statements");
  constexpr std::uint32_t kPlenty = 9;
  std::vector<bool> wanted(nodes.size());
  for (Id id = 0; id < nodes.size(); ++id)
    for (unsigned i = 0; i < base::info(nodes[id].op).arguments; ++i)
      if (!plan_.along_row(id)) wanted[nodes[id].args[i]] = true;
  for (const PassResult& result : plan_.results()) wanted[result.value] = true;
  for (Id id = 0; id < nodes.size() && next > kPlenty; ++id)
    if (wanted[id] && plan_.along_row(id) && nodes[id].op != LaneOp::kLeaf && plan_.pass(id) > 0 &&
        !base::is_fold(nodes[id].op) && !joined_[id])
      keep(id);
  registers_.resize(next);
}

bool PassCode::is_constant(Id id) const {
  return plan_.expr()[id].op == LaneOp::kLeaf && plan_.leaf(id).constant.has_value();
}
bool PassCode::is_operand(Id id) const {
  return plan_.expr()[id].op == LaneOp::kLeaf && !plan_.leaf(id).constant.has_value();
}

// What an operation reads: with a choice, what its comparison compares.
std::vector<PassCode::Id> PassCode::arguments(Id id) const {
  const Expr::Node& node = plan_.expr()[id];
  std::vector<Id> found;
  for (unsigned i = 0; i < base::info(node.op).arguments; ++i) {
    if (joined_[node.args[i]] && node.op == LaneOp::kSelect && i == 0)
      for (unsigned j = 0; j < 2; ++j) found.push_back(plan_.expr()[node.args[0]].args[j]);
    else
      found.push_back(node.args[i]);
  }
  return found;
}

Code PassCode::prelude() const {
  Code code;
  for (const auto& [length, scalar] : length_scalar_) code.push_back(set_scalar(scalar, length));
  for (const auto& [value, scalar] : constant_scalar_) code.push_back(set_scalar(scalar, scalar_bits(value)));
  Image flat;
  flat.mode(arch::VectorMode::kFlat);
  code.push_back(flat);
  return code;
}

std::uint64_t PassCode::spill_words() const { return most_spills_ * kStepWords; }

void PassCode::emit(const VectorWord& word) { code_.push_back(one(word)); }

void PassCode::set_length(std::uint32_t elements) {
  if (length_ == elements) return;
  length_ = elements;
  Image image;
  image.vector_length(length_scalar_.at(elements));
  code_.push_back(image);
}

Code PassCode::row(const PassPlaces& places, std::uint64_t at) {
  code_.clear();
  places_ = &places;
  at_ = at;
  length_ = 0;
  for (unsigned pass = 0; pass <= plan_.passes(); ++pass) {
    done_ = pass;
    if (pass != 0) make_row_values(pass);
    std::vector<Task> tasks;
    if (pass == plan_.passes()) {
      for (std::size_t r = 0; r < plan_.results().size(); ++r) tasks.push_back({plan_.results()[r].value, r});
    } else {
      for (Id id = 0; id < plan_.expr().nodes().size(); ++id)
        if (base::is_fold(plan_.expr()[id].op) && plan_.pass(id) == pass + 1) tasks.push_back({id, {}});
      begin_folds(pass + 1);
    }
    for (const Piece& each : pieces_) piece(each, tasks);
    if (pass != plan_.passes()) end_folds(pass + 1);
  }
  return std::move(code_);
}

// Every lane starts with what changes nothing, those behind a short row's end as well: the fold across the
// lanes takes whole words of 16.
void PassCode::begin_folds(unsigned pass) {
  set_length(longest_);
  for (const auto& [id, number] : kept_) {
    const LaneOp op = plan_.expr()[id].op;
    if (!base::is_fold(op) || plan_.pass(id) != pass) continue;
    if (op == LaneOp::kRowMax || op == LaneOp::kRowMin) {
      code_.push_back(set_scalar(1, op == LaneOp::kRowMax ? kMinusInfinity : kInfinity));
      emit(unary(VectorOpcode::kVmov, number, {VectorSource::kScalar, 1}));
    } else {
      emit(unary(VectorOpcode::kVmov, number, {VectorSource::kConstant, 0}));
    }
  }
}

void PassCode::end_folds(unsigned pass) {
  set_length(longest_);
  std::vector<std::pair<LaneOp, std::uint32_t>> folds;
  for (const auto& [id, number] : kept_)
    if (base::is_fold(plan_.expr()[id].op) && plan_.pass(id) == pass)
      folds.emplace_back(plan_.expr()[id].op, number);
  for (const auto& [op, number] : folds) {
    ReductionScalars scalars;
    const Operand source{VectorSource::kVector, number};
    // Squares have been gathered already.
    const LaneOp across = op == LaneOp::kRowSumsq ? LaneOp::kRowSum : op;
    for (const VectorWord& word : lane_words(across, false, number, {&source, 1}, scalars)) emit(word);
  }
}

// Values along the row that the passes behind the folds of `pass` read again and again.
void PassCode::make_row_values(unsigned pass) {
  std::vector<Id> made;
  for (const auto& [id, number] : kept_)
    if (plan_.pass(id) == pass && !base::is_fold(plan_.expr()[id].op)) made.push_back(id);
  if (made.empty()) return;
  set_length(longest_);
  uses_.assign(plan_.expr().nodes().size(), {});
  for (Held& held : registers_) held = {};
  spilled_.clear();
  std::vector<Id> steps;
  std::vector<bool> seen(plan_.expr().nodes().size());
  for (const Id id : made) {  // arguments have smaller numbers, and what is kept is not walked into
    for (const Id argument : arguments(id)) order(argument, steps, seen);
    steps.push_back(id);
  }
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const Id argument : arguments(steps[s])) uses_[argument].push_back(s);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    compute(steps[s], s);
    release(s);
  }
}

// Operations a value needs, arguments first; what has a place already is left out.
void PassCode::order(Id id, std::vector<Id>& out, std::vector<bool>& seen) const {
  if (seen[id] || plan_.expr()[id].op == LaneOp::kLeaf || kept(id)) return;
  seen[id] = true;
  for (const Id argument : arguments(id)) order(argument, out, seen);
  out.push_back(id);
}

void PassCode::piece(const Piece& piece, const std::vector<Task>& tasks) {
  piece_ = piece;
  set_length(piece.length);
  for (Held& held : registers_) held = {};
  spilled_.clear();
  // Steps: operations in order, each task behind what it needs.
  struct Step {
    std::optional<Id> compute;
    const Task* task = nullptr;
  };
  std::vector<Step> steps;
  std::vector<bool> seen(plan_.expr().nodes().size());
  uses_.assign(seen.size(), {});
  for (const Task& task : tasks) {
    std::vector<Id> operations;
    const std::vector<Id> wanted = task.result ? std::vector<Id>{task.value} : arguments(task.value);
    for (const Id id : wanted) order(id, operations, seen);
    for (const Id id : operations) {
      for (const Id argument : arguments(id)) uses_[argument].push_back(steps.size());
      steps.push_back({id, nullptr});
    }
    for (const Id id : wanted) uses_[id].push_back(steps.size());
    steps.push_back({std::nullopt, &task});
  }
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].compute)
      compute(*steps[s].compute, s);
    else if (steps[s].task->result)
      store(*steps[s].task->result, s);
    else
      gather(steps[s].task->value, s);
    release(s);
  }
}

void PassCode::compute(Id id, std::size_t step) {
  const Expr::Node& node = plan_.expr()[id];
  std::vector<Operand> sources;
  for (const Id argument : arguments(id)) sources.push_back(operand(argument, step));
  // What is read here for the last time makes room for the result.
  for (Held& held : registers_)
    if (held.value && next_use(*held.value, step + 1) == kNever) held = {};
  std::uint32_t to = 0;
  if (const auto found = kept_.find(id); found != kept_.end() && plan_.pass(id) <= done_) {
    to = found->second;
  } else {
    to = free_register(step + 1);
    registers_[to] = {id, false};
  }
  LaneOp op = node.op;
  const bool chooses = op == LaneOp::kSelect && joined_[node.args[0]];
  if (chooses) op = plan_.expr()[node.args[0]].op;
  if (const ExponentClamp clamp = plan_.clamp(id); clamp.any()) {
    const Operand least = clamp.below ? constant(kLeastExponent) : Operand{};
    const Operand greatest = clamp.above ? constant(kGreatestExponent) : Operand{};
    for (const VectorWord& word : clamp_words(clamp, to, sources[0], least, greatest)) emit(word);
    sources[0] = {VectorSource::kVector, to};
  }
  ReductionScalars scalars;
  for (const VectorWord& word : lane_words(op, chooses, to, sources, scalars, {true, length_})) emit(word);
}

void PassCode::gather(Id fold, std::size_t step) {
  const Expr::Node& node = plan_.expr()[fold];
  const Operand value = operand(node.args[0], step);
  const std::uint32_t to = kept_.at(fold);
  const Operand sum{VectorSource::kVector, to};
  ReductionScalars scalars;
  const auto add = [&](LaneOp op, const std::vector<Operand>& sources) {
    for (const VectorWord& word : lane_words(op, false, to, sources, scalars)) emit(word);
  };
  switch (node.op) {
    case LaneOp::kRowMax:
      return add(LaneOp::kMax, {sum, value});
    case LaneOp::kRowMin:
      return add(LaneOp::kMin, {sum, value});
    case LaneOp::kRowSumsq:
      return add(LaneOp::kFma, {value, value, sum});
    default:
      return add(LaneOp::kAdd, {sum, value});
  }
}

// Behind a short row's end zeros are stored.
void PassCode::store(std::size_t result, std::size_t step) {
  const Id id = plan_.results()[result].value;
  const bool ragged = piece_.length != piece_.padded;
  Operand value = operand(id, step);
  if (ragged || value.source != VectorSource::kVector) {
    const std::uint32_t to = free_register(step);
    if (ragged) {
      set_length(piece_.padded);
      emit(unary(VectorOpcode::kVmov, to, {VectorSource::kConstant, 0}));
      set_length(piece_.length);
    }
    emit(unary(VectorOpcode::kVmov, to, value));
    value = {VectorSource::kVector, to};
  }
  Image image;
  image.walk(VectorOpcode::kVst, 0, value.number,
             static_cast<std::uint32_t>(places_->results[result] + at_ + piece_.word));
  code_.push_back(image);
}

Operand PassCode::constant(double value) {
  if (const auto number = hardware_constant(value)) return {VectorSource::kConstant, *number};
  for (const auto& [known, scalar] : constant_scalar_)
    if (known == value) return {VectorSource::kScalar, scalar};
  const std::uint32_t scalar = spare_;
  spare_ = spare_ + 1 == kScalars ? first_spare_ : spare_ + 1;
  code_.push_back(set_scalar(scalar, scalar_bits(value)));
  return {VectorSource::kScalar, scalar};
}

Operand PassCode::operand(Id id, std::size_t step) {
  if (is_constant(id)) return constant(*plan_.leaf(id).constant);
  if (kept(id)) return {VectorSource::kVector, kept_.at(id)};
  return {VectorSource::kVector, in_register(id, step)};
}

std::uint32_t PassCode::in_register(Id id, std::size_t step) {
  for (std::uint32_t r = 0; r < registers_.size(); ++r)
    if (registers_[r].value == id) {
      registers_[r].locked = true;
      return r;
    }
  const std::uint32_t to = free_register(step);
  const std::uint64_t word = is_operand(id) ? places_->operands[plan_.leaf(id).operand] + at_ + piece_.word
                                            : places_->spills + spilled_.at(id) * kStepWords;
  Image image;
  image.walk(VectorOpcode::kVld, 0, to, static_cast<std::uint32_t>(word));
  code_.push_back(image);
  registers_[to] = {id, true};
  return to;
}

std::size_t PassCode::next_use(Id id, std::size_t step) const {
  const auto found = std::lower_bound(uses_[id].begin(), uses_[id].end(), step);
  return found == uses_[id].end() ? kNever : *found;
}

// A register that holds nothing, or what is needed last: operands are in L1 anyway, other values go there.
std::uint32_t PassCode::free_register(std::size_t step) {
  std::uint32_t victim = kRegisters;
  std::size_t latest = 0;
  for (std::uint32_t r = 0; r < registers_.size(); ++r) {
    const Held& held = registers_[r];
    if (!held.value) return r;
    if (held.locked) continue;
    const std::size_t use = next_use(*held.value, step);
    if (victim == kRegisters || use > latest) victim = r, latest = use;
  }
  KTPU_CHECK(victim != kRegisters, "one operation holds all {} registers", registers_.size());
  const Id id = *registers_[victim].value;
  if (!is_operand(id) && latest != kNever && !spilled_.contains(id)) {
    const std::uint64_t slot = spilled_.size();
    spilled_[id] = slot;
    most_spills_ = std::max(most_spills_, slot + 1);
    Image image;
    image.walk(VectorOpcode::kVst, 0, victim,
               static_cast<std::uint32_t>(places_->spills + slot * kStepWords));
    code_.push_back(image);
  }
  registers_[victim] = {};
  return victim;
}

void PassCode::release(std::size_t step) {
  for (Held& held : registers_) {
    held.locked = false;
    if (held.value && next_use(*held.value, step + 1) == kNever) held = {};
  }
}

}  // namespace ktpu::schedule_to_program
