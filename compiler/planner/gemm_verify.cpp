// SPDX-License-Identifier: Apache-2.0
// Runs a plan's instructions on a model of L1 that only knows which entry of memory each entry of L1 holds.
#include <map>
#include <set>

#include "arch/error.h"
#include "compiler/planner/gemm_passes.h"

namespace ktpu::planner {
namespace {

using arch::ClusterInst;
using arch::ClusterOp;

constexpr std::uint64_t kWordBytes = 32;
constexpr std::uint64_t kNothing = ~std::uint64_t{0};

struct Side {
  std::uint64_t base = 0, end = 0;  // words of memory
  std::uint64_t words = 8;          // of an entry
  std::uint32_t entries = 0;        // of a chunk
  std::uint32_t l1 = 0;
};

class Cluster {
 public:
  Cluster(const GemmPasses& plan, const ClusterTiles& owner) : plan_(plan), owner_(owner) {
    const GemmProblem& p = plan.problem;
    const MemoryWords memory = p.memory();
    const std::uint64_t a_words = p.preq_a ? 4 : 8, b_words = p.preq_b ? 4 : 8;
    sides_[0] = {memory.a, memory.b, a_words, p.a_entries(), p.l1_a};
    sides_[1] = {memory.b, memory.b + p.n_tiles * p.k_chunks * p.b_entries() * b_words, b_words,
                 p.b_entries(), p.l1_b};
    for (unsigned side = 0; side < 2; ++side) l1_[side].assign(sides_[side].l1, kNothing);
  }

  // All throw what is wrong, without the place.
  void run(const ClusterInst& inst) {
    if (inst.is(ClusterOp::kFill)) fill(inst);
    if (inst.is(ClusterOp::kGemm)) gemm(inst);
    if (inst.is(ClusterOp::kDrain)) drain(inst);
  }
  void finish() const {
    if (drained_ != owner_.tiles.size())
      throw arch::UserError::make("{} of {} tiles are computed", drained_, owner_.tiles.size());
  }

 private:
  const TileAt& tile(std::size_t number) const {
    if (number >= owner_.tiles.size()) throw arch::UserError("more tiles than the cluster has");
    return owner_.tiles[number];
  }
  std::uint64_t result(const TileAt& at) const {
    const GemmProblem& p = plan_.problem;
    return (p.memory().c + (at.row * p.n_tiles + at.column) * p.gm * p.gn) * kWordBytes;
  }

  void fill(const ClusterInst& inst) {
    const Side& side = sides_[inst.sel];
    const std::uint64_t word = inst.addr / kWordBytes;
    if (word < side.base || (word - side.base) % side.words != 0 || word + inst.n * side.words > side.end)
      throw arch::UserError::make("entries from {:#x} are not all of the operand", inst.addr);
    if (inst.n == 0 || inst.n > kLongestFill) throw arch::UserError::make("a fill of {} entries", inst.n);
    const std::uint64_t first = (word - side.base) / side.words;
    for (std::uint32_t i = 0; i < inst.n; ++i) {
      if (inst.eoff + i >= kBankEntries) throw arch::UserError("a fill runs out of its bank");
      const std::uint64_t entry = std::uint64_t{inst.fbank} * kBankEntries + inst.eoff + i;
      if (entry >= side.l1) throw arch::UserError::make("entry {} of {} in L1", entry, side.l1);
      if (read_[inst.sel].contains(entry))
        throw arch::UserError::make("entry {} is overwritten while the sweep before may read it", entry);
      l1_[inst.sel][entry] = first + i;
    }
  }

  void holds(unsigned number, std::uint32_t bank, std::uint32_t offset, std::uint64_t chunk) {
    read_[number].clear();
    const Side& side = sides_[number];
    for (std::uint32_t i = 0; i < side.entries; ++i) {
      const std::uint64_t entry = std::uint64_t{bank} * kBankEntries + (offset + i) % kBankEntries;
      if (entry >= side.l1 || l1_[number][entry] != chunk * side.entries + i)
        throw arch::UserError::make("entry {} of L1 {} does not hold entry {} of chunk {}", entry,
                                    number == 0 ? "A" : "B", i, chunk);
      read_[number].insert(entry);
    }
  }

  void gemm(const ClusterInst& inst) {
    const GemmProblem& p = plan_.problem;
    const TileAt& at = tile(sweeps_ / p.k_chunks);
    const std::uint64_t k = sweeps_ % p.k_chunks;
    holds(0, inst.abank, inst.aoff, at.row * p.k_chunks + k);
    holds(1, inst.bbank, inst.boff, at.column * p.k_chunks + k);
    if (inst.acc != (k > 0 ? 1u : 0u)) throw arch::UserError("the first chunk of a tile clears it, no other");
    const bool leaves = plan_.l1.fused && k + 1 == p.k_chunks;
    if (inst.emit != (leaves ? 1u : 0u) || (leaves && inst.addr != result(at)))
      throw arch::UserError("results leave with the last chunk, to their place");
    ++sweeps_;
  }

  void drain(const ClusterInst& inst) {
    const GemmProblem& p = plan_.problem;
    const TileAt& at = tile(drained_);
    if (sweeps_ < (drained_ + 1) * p.k_chunks) throw arch::UserError("a tile is drained before it is done");
    if (inst.n != p.gm * p.gn || inst.addr != result(at)) throw arch::UserError("a drain of another tile");
    ++drained_;
    // It has waited for the sweeps before it, unless one of the next tile is among them.
    if (sweeps_ == drained_ * p.k_chunks)
      for (std::set<std::uint64_t>& side : read_) side.clear();
  }

  const GemmPasses& plan_;
  const ClusterTiles& owner_;
  Side sides_[2];
  std::vector<std::uint64_t> l1_[2];
  std::set<std::uint64_t> read_[2];  // by the last sweep, which may still be at it
  std::size_t sweeps_ = 0, drained_ = 0;
};

}  // namespace

void verify(const GemmPasses& plan) {
  const GemmProblem& p = plan.problem;
  std::set<std::pair<std::uint64_t, std::uint64_t>> owned;
  std::map<arch::Coord, Cluster> clusters;
  for (const ClusterTiles& owner : p.clusters) {
    if (!clusters.try_emplace(owner.at, plan, owner).second)
      throw arch::UserError::make("cluster ({},{}) stands twice in the plan", owner.at.x, owner.at.y);
    for (const TileAt& tile : owner.tiles)
      if (tile.row >= p.m_tiles || tile.column >= p.n_tiles || !owned.insert({tile.row, tile.column}).second)
        throw arch::UserError::make("tile {},{} has two clusters, or is none", tile.row, tile.column);
  }
  if (owned.size() != p.m_tiles * p.n_tiles)
    throw arch::UserError::make("{} of {} tiles have no cluster", p.m_tiles * p.n_tiles - owned.size(),
                                p.m_tiles * p.n_tiles);
  for (std::size_t n = 0; n < plan.passes.size(); ++n) {
    const Pass& pass = plan.passes[n];
    const auto fail = [&](std::size_t step, const std::string& what) {
      throw arch::UserError::make("pass {} of cluster ({},{}), step {}: {}", n, pass.at.x, pass.at.y, step,
                                  what);
    };
    const auto cluster = clusters.find(pass.at);
    if (cluster == clusters.end()) fail(0, "the cluster owns no tiles");
    if (pass.steps.empty() || !pass.steps.back().is(ClusterOp::kDrain))
      fail(0, "it does not end with a drain");
    for (std::size_t s = 0; s < pass.steps.size(); ++s) try {
        cluster->second.run(pass.steps[s]);
      } catch (const arch::UserError& error) {
        fail(s, error.what());
      }
  }
  for (const auto& [at, cluster] : clusters) try {
      cluster.finish();
    } catch (const arch::UserError& error) {
      throw arch::UserError::make("cluster ({},{}): {}", at.x, at.y, error.what());
    }
}

}  // namespace ktpu::planner
