// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/pass_program.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/limits.h"
#include "compiler/schedule_to_program/pass_code.h"

namespace ktpu::schedule_to_program {
namespace {

using arch::VectorOpcode;
using base::Phase;
using base::Refusal;

constexpr std::uint32_t kWalker = 0;                 // the descriptor of all loads and stores
constexpr std::uint32_t kMovers = kDescriptors - 1;  // the others
constexpr std::uint64_t kMostRows = 32;              // of a RUN, and vectors of one that does not fold
constexpr std::uint64_t kMostWords = kMostChunks * kStepWords;

std::size_t size(const Code& code) {
  std::size_t words = 0;
  for (const Image& image : code) words += image.size();
  return words;
}

// A stretch of one operand or result between memory and L1: what one walk moves.
struct Move {
  VectorOpcode op = VectorOpcode::kVfill;
  std::size_t number = 0;  // of the operand or result
  std::uint64_t from = 0;  // elements into the RUN's own
  std::uint64_t word = 0;  // of L1
  std::vector<Dimension> walk;
};
// What one RUN instruction executes, and the moves whose descriptors it needs.
struct Segment {
  Code code;
  std::vector<Move> moves;
};

class PassProgram {
 public:
  PassProgram(const schedule::Schedule& schedule, std::span<const schedule::Chain* const> statements)
      : schedule_(schedule), plan_(schedule, statements) {
    if (plan_.span() == 0) return;
    const bool folds = plan_.columns() != 0;
    const std::uint64_t words =
        ceil_div(folds ? plan_.columns() : plan_.span(), kLanes);  // of a row, or of all
    const std::uint64_t rows = folds ? plan_.span() / kLanes / words : 1;
    spread_ = std::any_of(plan_.operands().begin(), plan_.operands().end(),
                          [](const BandOperand& o) { return o.period != 0; });
    // The most rows a RUN that L1 and the instruction memory hold; without rows, the longest stretch.
    std::optional<Refusal> why;
    const auto try_all = [&](bool paged) {
      const std::uint64_t all = folds ? rows : words;
      for (std::uint64_t n = std::min(all, folds ? kMostRows : kMostWords); n >= 1; --n) {
        if (all % n != 0) continue;
        if (folds ? build(plan_.columns(), words, n, paged, why) : build(n * kLanes, n, 1, paged, why))
          return true;
      }
      return false;
    };
    if (!try_all(false) && !try_all(true)) throw Refusal(*why);
  }

  std::vector<program::VectorStep> steps(std::uint64_t batch) const {
    StepList list;
    if (segments_.empty()) {  // an instance without a share of the work
      Image image;
      image.halt();
      list.load(image);
      return list.take();
    }
    list.base(kWalker, 0);
    list.dimension(kWalker, 0, {1, kStepWords});
    const std::vector<std::vector<Image>> pages = paged();
    const bool resident = !paged_;
    std::uint32_t pc = 0;
    std::vector<std::vector<std::uint32_t>> starts;
    for (const std::vector<Image>& segment : pages) {
      starts.emplace_back();
      for (const Image& page : segment) {
        starts.back().push_back(resident ? pc : 0);
        if (!resident) continue;
        list.load(page, pc);
        pc += static_cast<std::uint32_t>(page.size());
      }
    }
    // With one segment the descriptors keep their walks.
    const bool walks_stay = segments_.size() == 1;
    if (walks_stay) walks(list, segments_.front());
    const std::uint64_t elements = rows_ * pitch_ * kLanes;
    for (std::uint64_t passed = 0; passed < plan_.span(); passed += elements)
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        if (!walks_stay) walks(list, segments_[s]);
        for (std::size_t m = 0; m < segments_[s].moves.size(); ++m)
          list.base(static_cast<std::uint32_t>(1 + m), address(segments_[s].moves[m], passed, batch));
        for (std::size_t p = 0; p < pages[s].size(); ++p) {
          if (!resident) list.load(pages[s][p]);
          list.run(starts[s][p]);
        }
        if (!walks_stay) plain(list, segments_[s]);
      }
    if (walks_stay) plain(list, segments_.front());
    return list.take();
  }

 private:
  bool build(std::uint64_t columns, std::uint64_t words, std::uint64_t rows, bool paged,
             std::optional<Refusal>& why) {
    rows_ = rows;
    pitch_ = words;
    paged_ = paged;
    if (spread_)
      for (const BandOperand& operand : plan_.operands())
        if (!spread_fits(operand, rows * words * kLanes, schedule_.policy)) {
          why = Refusal(Phase::kBuild, "SPREAD_SHAPE",
                        fmt::format("a RUN over {} elements reads {} out of every {}", rows * words * kLanes,
                                    operand.take, operand.period),
                        "make the part a whole number of groups");
          return false;
        }
    PassCode code(plan_, columns);
    PassPlaces places;
    const std::uint64_t l1_words = schedule_.resources.vector_l1_words;
    std::uint64_t need = 0;
    for (const bool in_place : {false, true}) {
      places = place(in_place);
      need = places.spills;
      // The code does not depend on where things lie, so neither does what it needs.
      code.row(places, 0);
      need += code.spill_words();
      if (fits_l1(need, l1_words)) break;
    }
    if (!fits_l1(need, l1_words)) {
      why = Refusal(
          Phase::kBuild, "L1_FOOTPRINT",
          fmt::format("rows of {} elements: {} operands and {} results take {} L1 words; {} can be used",
                      words * kLanes, plan_.operands().size(), plan_.results().size(), need,
                      usable_l1(l1_words)),
          "use the kernels for wide rows (softmax_wide, layernorm_wide, rmsnorm_wide), or fold in "
          "several statements");
      return false;
    }
    segments_.assign(1, {});
    moves(VectorOpcode::kVfill, places);
    if (!paged && rows > 1 && size(segments_.back().code) + rows * 4 > kImageWords) return false;
    append(code.prelude());
    for (std::uint64_t row = 0; row < rows; ++row) {
      append(code.row(places, row * words));
      if (!paged && size(segments_.back().code) >= kImageWords) break;
    }
    moves(VectorOpcode::kVdrain, places);
    std::size_t total = 0;
    for (const Segment& segment : segments_) total += size(segment.code) + 1;
    if (paged || total <= kImageWords) return true;
    why = Refusal(Phase::kBuild, "IMAGE_TOO_LONG", fmt::format("an image of {} words", total),
                  fmt::format("the instruction memory holds {}", kImageWords));
    return false;
  }

  PassPlaces place(bool in_place) const {
    const std::uint64_t each = rows_ * pitch_;
    PassPlaces places;
    for (std::size_t i = 0; i < plan_.operands().size(); ++i) places.operands.push_back(i * each);
    std::uint64_t next = plan_.operands().size() * each;
    for (std::size_t r = 0; r < plan_.results().size(); ++r) {
      // The last result of a vector is stored behind everything that reads the vector.
      if (in_place && r + 1 == plan_.results().size() && !plan_.operands().empty()) {
        places.results.push_back(0);
      } else {
        places.results.push_back(next);
        next += each;
      }
    }
    places.spills = next;
    return places;
  }

  void append(const Code& code) {
    Code& to = segments_.back().code;
    to.insert(to.end(), code.begin(), code.end());
  }

  // All fills, then a barrier; or all drains. As many as there are descriptors in a segment.
  void moves(VectorOpcode op, const PassPlaces& places) {
    const bool fill = op == VectorOpcode::kVfill;
    const std::size_t count = fill ? plan_.operands().size() : plan_.results().size();
    const std::uint64_t words = rows_ * pitch_;
    const auto barrier = [&] {
      Image image;
      image.barrier();
      if (fill) segments_.back().code.push_back(image);
    };
    for (std::size_t i = 0; i < count; ++i)
      for (std::uint64_t from = 0; from < words; from += kWalkWords) {
        if (segments_.back().moves.size() == kMovers) {
          barrier();
          segments_.emplace_back();
        }
        Segment& segment = segments_.back();
        Move move{op, i, from * kLanes, (fill ? places.operands[i] : places.results[i]) + from, {}};
        move.walk = {
            {kWordBytes, static_cast<std::uint32_t>(std::min<std::uint64_t>(kWalkWords, words - from))}};
        if (fill && plan_.operands()[i].period != 0) {
          move.walk = fill_walk(plan_.operands()[i], words * kLanes);
          std::uint64_t total = 1;
          for (const Dimension& dimension : move.walk) total *= dimension.bound;
          if (total > kWalkWords)
            throw Refusal(Phase::kBuild, "WALK_TOO_LONG", fmt::format("a walk of {} words", total),
                          fmt::format("one walk is at most {} words", kWalkWords));
        }
        segment.moves.push_back(std::move(move));
        Image image;
        image.move(op, static_cast<std::uint32_t>(segment.moves.size()),
                   static_cast<std::uint32_t>(segment.moves.back().word));
        segment.code.push_back(image);
      }
    barrier();
  }

  // Each segment as pages of the instruction memory, each with its end.
  std::vector<std::vector<Image>> paged() const {
    std::vector<std::vector<Image>> all;
    for (const Segment& segment : segments_) {
      std::vector<Image> pages(1);
      for (const Image& instruction : segment.code) {
        if (pages.back().size() + instruction.size() + 1 > kImageWords) {
          pages.back().halt();
          pages.emplace_back();
        }
        pages.back().append(instruction);
      }
      pages.back().halt();
      all.push_back(std::move(pages));
    }
    return all;
  }

  static void walks(StepList& list, const Segment& segment) {
    for (std::uint32_t m = 0; m < segment.moves.size(); ++m)
      for (std::uint32_t d = 0; d < segment.moves[m].walk.size(); ++d)
        list.dimension(1 + m, d, segment.moves[m].walk[d]);
  }
  // The next program's walks are plain.
  static void plain(StepList& list, const Segment& segment) {
    for (std::uint32_t m = 0; m < segment.moves.size(); ++m)
      for (std::uint32_t d = 1; d < segment.moves[m].walk.size(); ++d) list.dimension(1 + m, d, {0, 1});
  }
  std::uint64_t address(const Move& move, std::uint64_t passed, std::uint64_t batch) const {
    if (move.op == VectorOpcode::kVdrain) {
      const schedule::Stretch& to = plan_.results()[move.number].to;
      return start_of(schedule_, to.buffer, batch) + 2 * (to.at + passed + move.from);
    }
    const BandOperand& operand = plan_.operands()[move.number];
    return start_of(schedule_, operand.buffer, batch) + 2 * (fill_start(operand, passed) + move.from);
  }

  const schedule::Schedule& schedule_;
  PassPlan plan_;
  bool spread_ = false, paged_ = false;
  std::uint64_t rows_ = 1, pitch_ = 1;  // of a RUN; words from row to row
  std::vector<Segment> segments_;
};

}  // namespace

bool needs_passes(const schedule::Chain& statement) {
  return std::any_of(statement.expr.nodes().begin(), statement.expr.nodes().end(), [](const auto& node) {
    return base::is_fold(node.op) && node.row &&
           (node.row->columns % kLanes != 0 || node.row->columns > kLongestVector);
  });
}

std::vector<program::VectorStep> pass_program(const schedule::Schedule& schedule,
                                              std::span<const schedule::Chain* const> statements,
                                              std::uint64_t batch) {
  return PassProgram(schedule, statements).steps(batch);
}

}  // namespace ktpu::schedule_to_program
