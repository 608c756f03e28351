// SPDX-License-Identifier: Apache-2.0
#include "compiler/planner/gemm_passes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "arch/encoding/layout.h"
#include "arch/encoding/text.h"
#include "compiler/base/refusal.h"

namespace ktpu::planner {
namespace {

using arch::ClusterInst;
using arch::ClusterOp;

constexpr std::uint64_t kWordBytes = 32;
constexpr std::uint64_t kRawEntryWords = 8, kPackedEntryWords = 4;  // FP16, MXFP7
constexpr std::uint64_t kResultAlign = 8;                           // words

std::uint64_t entry_words(bool packed) { return packed ? kPackedEntryWords : kRawEntryWords; }

ClusterInst instruction(ClusterOp op) {
  ClusterInst inst;
  inst.op = static_cast<std::uint32_t>(op);
  return inst;
}

std::uint64_t chunk_entry(Policy policy, std::uint64_t slot, std::uint64_t size) {
  if (policy == Policy::kCompat) return slot * size;
  const std::uint64_t in_bank = std::max<std::uint64_t>(1, kBankEntries / size);
  return slot / in_bank * kBankEntries + slot % in_bank * size;
}

bool fits(const GemmProblem& problem, std::uint64_t chunks, std::uint64_t size, std::uint64_t entries) {
  return chunk_entry(problem.policy, chunks - 1, size) + size <= entries;
}

L1Plan plan_l1(const GemmProblem& problem) {
  const auto need = [&](std::uint32_t size, std::uint32_t entries, const char* side) {
    if (size == 0 || size > entries || size > kBankEntries)
      throw base::Refusal(base::Phase::kStages, "CHUNK_OVER_BANK",
                          fmt::format("a chunk of {} entries of operand {}; L1 has {}, a bank {}", size, side,
                                      entries, kBankEntries),
                          "take fewer blocks of K, or a smaller tile");
  };
  const std::uint32_t a = problem.a_entries(), b = problem.b_entries();
  need(a, problem.l1_a, "A");
  need(b, problem.l1_b, "B");
  L1Plan plan;
  plan.banks_a = fits(problem, 2, a, problem.l1_a) ? 2 : 1;
  plan.b_resident = fits(problem, problem.k_chunks, b, problem.l1_b);
  plan.banks_b = !plan.b_resident && fits(problem, 2, b, problem.l1_b) ? 2 : 1;
  const bool overwritten = plan.banks_a == 1 || (plan.banks_b == 1 && !plan.b_resident);
  if (problem.policy == Policy::kBest && problem.k_chunks > 1 && overwritten)
    throw base::Refusal(base::Phase::kStages, "CHUNK_OVER_BANK",
                        fmt::format("chunks of {} and {} entries; L1 of {} and {} does not hold two of each, "
                                    "and one is read while the next is fetched",
                                    a, b, problem.l1_a, problem.l1_b),
                        "take fewer blocks of K, or a smaller tile");
  plan.fused = problem.k_chunks > 1 || problem.nk > 1;
  return plan;
}

// The passes of one cluster.
class Emitter {
 public:
  Emitter(const GemmProblem& problem, const L1Plan& l1)
      : problem_(problem), l1_(l1), memory_(problem.memory()) {}

  std::vector<Pass> passes(const ClusterTiles& cluster) {
    std::vector<Pass> passes;
    for (const TileAt& tile : cluster.tiles) passes.push_back(pass(cluster.at, tile));
    if (l1_.banks_a > 1)
      for (std::size_t i = 1; i < passes.size(); ++i)
        if (passes[i].tile.column == passes[i - 1].tile.column) fetch_ahead(passes[i - 1], passes[i]);
    return passes;
  }

 private:
  Pass pass(arch::Coord at, const TileAt& tile) {
    Pass pass{at, tile, {}, 0};
    std::vector<ClusterInst>& steps = pass.steps;
    const std::uint64_t result =
        (memory_.c + (tile.row * problem_.n_tiles + tile.column) * problem_.gm * problem_.gn) * kWordBytes;
    if (l1_.b_resident && column_ != tile.column) {
      for (std::uint64_t k = 0; k < problem_.k_chunks; ++k) fill_b(steps, tile, k);
      column_ = tile.column;
    }
    for (std::uint64_t k = 0; k < problem_.k_chunks; ++k, ++sweep_) {
      fill(steps, 0, memory_.a, tile.row * problem_.k_chunks + k, problem_.a_entries(), problem_.preq_a,
           l1_.a_entry(problem_, sweep_));
      if (!l1_.b_resident) fill_b(steps, tile, k);
      ClusterInst gemm = instruction(ClusterOp::kGemm);
      gemm.gm = problem_.gm;
      gemm.gn = problem_.gn;
      gemm.nk = problem_.nk;
      gemm.acc = k > 0;
      std::tie(gemm.abank, gemm.aoff) = split(l1_.a_entry(problem_, sweep_));
      std::tie(gemm.bbank, gemm.boff) = split(l1_.b_entry(problem_, sweep_, k));
      if (l1_.fused && k + 1 == problem_.k_chunks) {
        gemm.emit = 1;
        gemm.addr = result;
      }
      steps.push_back(gemm);
    }
    ClusterInst drain = instruction(ClusterOp::kDrain);
    drain.addr = result;
    drain.n = problem_.gm * problem_.gn;
    drain.fuse = l1_.fused;
    steps.push_back(drain);
    return pass;
  }

  void fill_b(std::vector<ClusterInst>& steps, const TileAt& tile, std::uint64_t k) const {
    fill(steps, 1, memory_.b, tile.column * problem_.k_chunks + k, problem_.b_entries(), problem_.preq_b,
         l1_.b_entry(problem_, sweep_, k));
  }

  // Bank and offset.
  static std::pair<std::uint32_t, std::uint32_t> split(std::uint64_t entry) {
    KTPU_CHECK(entry / kBankEntries <= 1, "entry {} lies past the two banks", entry);
    return {static_cast<std::uint32_t>(entry / kBankEntries),
            static_cast<std::uint32_t>(entry % kBankEntries)};
  }

  void fill(std::vector<ClusterInst>& steps, std::uint32_t side, std::uint64_t base, std::uint64_t chunk,
            std::uint32_t entries, bool packed, std::uint64_t entry) const {
    const std::uint64_t words = entry_words(packed);
    for (std::uint32_t done = 0; done < entries;) {
      ClusterInst inst = instruction(ClusterOp::kFill);
      inst.n = std::min(entries - done, kLongestFill);
      inst.sel = side;
      inst.preq = packed;
      inst.addr = (base + (chunk * entries + done) * words) * kWordBytes;
      std::tie(inst.fbank, inst.eoff) = split(entry + done);
      steps.push_back(inst);
      done += inst.n;
    }
  }

  // The next tile's first A can come while this one's results leave; and be used, where its B is there.
  void fetch_ahead(Pass& pass, Pass& next) const {
    const auto is_a = [](const ClusterInst& inst) { return inst.is(ClusterOp::kFill) && inst.sel == 0; };
    auto end = std::find_if_not(next.steps.begin(), next.steps.end(), is_a);
    if (l1_.b_resident && problem_.k_chunks > 1) ++end;
    pass.lent = static_cast<std::size_t>(std::distance(next.steps.begin(), end));
    pass.steps.insert(std::prev(pass.steps.end()), next.steps.begin(), end);
    next.steps.erase(next.steps.begin(), end);
  }

  const GemmProblem& problem_;
  const L1Plan& l1_;
  MemoryWords memory_;
  std::uint64_t sweep_ = 0;
  std::optional<std::uint64_t> column_;  // whose B is in L1
};

std::vector<Pass> in_turn(std::vector<std::vector<Pass>> by_cluster) {
  std::size_t all_have = by_cluster.empty() ? 0 : by_cluster[0].size();
  for (const auto& passes : by_cluster) all_have = std::min(all_have, passes.size());
  std::vector<Pass> passes;
  for (std::size_t row = 0; row < all_have; ++row)
    for (auto& mine : by_cluster) passes.push_back(std::move(mine[row]));
  for (auto& mine : by_cluster)
    for (std::size_t row = all_have; row < mine.size(); ++row) passes.push_back(std::move(mine[row]));
  return passes;
}

}  // namespace

MemoryWords GemmProblem::memory() const {
  MemoryWords words;
  words.a = first_word;
  words.b = words.a + m_tiles * k_chunks * a_entries() * entry_words(preq_a);
  const auto aligned = [](std::uint64_t word) {
    return (word + kResultAlign - 1) / kResultAlign * kResultAlign;
  };
  words.c = aligned(words.b + n_tiles * k_chunks * b_entries() * entry_words(preq_b));
  words.end = aligned(words.c + m_tiles * n_tiles * gm * gn);
  return words;
}

std::uint64_t L1Plan::a_entry(const GemmProblem& problem, std::uint64_t sweep) const {
  return chunk_entry(problem.policy, sweep % banks_a, problem.a_entries());
}
std::uint64_t L1Plan::b_entry(const GemmProblem& problem, std::uint64_t sweep, std::uint64_t chunk) const {
  return chunk_entry(problem.policy, b_resident ? chunk : sweep % banks_b, problem.b_entries());
}

GemmPasses plan_passes(const GemmProblem& problem) {
  if (problem.m_tiles == 0 || problem.n_tiles == 0 || problem.k_chunks == 0)
    throw arch::UserError::make("a product of {} x {} tiles and {} chunks of K: none of them may be 0",
                                problem.m_tiles, problem.n_tiles, problem.k_chunks);
  GemmPasses plan{problem, plan_l1(problem), {}};
  std::vector<std::vector<Pass>> by_cluster;
  for (const ClusterTiles& cluster : problem.clusters)
    by_cluster.push_back(Emitter(plan.problem, plan.l1).passes(cluster));
  plan.passes = in_turn(std::move(by_cluster));
  return plan;
}

std::string print(const GemmPasses& plan) {
  const GemmProblem& p = plan.problem;
  std::string text = fmt::format("gemm {} x {} tiles of {} x {} groups, {} chunks of {} blocks\n", p.m_tiles,
                                 p.n_tiles, p.gm, p.gn, p.k_chunks, p.nk);
  text += fmt::format("  L1: A {} entries in {}, B {} entries {}; results {}\n", p.a_entries(),
                      plan.l1.banks_a, p.b_entries(),
                      plan.l1.b_resident ? std::string("resident") : fmt::format("in {}", plan.l1.banks_b),
                      plan.l1.fused ? "leave with the last chunk" : "are drained");
  for (const Pass& pass : plan.passes) {
    text += fmt::format("  pass ({},{}) tile {},{}: {} steps", pass.at.x, pass.at.y, pass.tile.row,
                        pass.tile.column, pass.steps.size());
    text += pass.lent != 0 ? fmt::format(", {} of them of the next tile\n", pass.lent) : std::string("\n");
    for (const ClusterInst& inst : pass.steps)
      text +=
          fmt::format("    {}\n", arch::flit_to_text(arch::make_flit(
                                      arch::make_header({}, {}, arch::FlitType::kCuInst, 0, false), inst)));
  }
  return text;
}

}  // namespace ktpu::planner
