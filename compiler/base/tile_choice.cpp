// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/tile_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "compiler/base/refusal.h"
#include "compiler/base/vector_l1.h"

namespace ktpu::base {
namespace {

constexpr std::uint32_t kLanes = 4, kBlockK = 32;
constexpr std::uint32_t kLargestGroups = 2048;
constexpr std::uint32_t kOffsetSpan = 256;  // entries of a bank that an offset of 8 bits reaches
constexpr double kScoreUnit = 4096;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
std::uint64_t up(std::uint64_t a, std::uint64_t b) { return ceil_div(a, b) * b; }

// Exact up to 2^53, beyond any memory's size.
double volume(const ProductShape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

double intensity_of(std::uint32_t gm, std::uint32_t gn) {
  return 2.0 * gm * gn / (static_cast<double>(gm) + gn);
}

TileCandidate candidate(const ProductShape& shape, const TileLimits& limits, std::uint32_t gm,
                        std::uint32_t gn) {
  const std::uint32_t bank_a = std::min(limits.l1_a / limits.banks, kOffsetSpan);
  const std::uint32_t bank_b = std::min(limits.l1_b / limits.banks, kOffsetSpan);
  const std::uint64_t blocks = std::max<std::uint64_t>(1, shape.k / kBlockK);
  TileCandidate tile;
  tile.gm = gm;
  tile.gn = gn;
  tile.nk = static_cast<std::uint32_t>(std::min<std::uint64_t>({bank_a / gm, bank_b / gn, blocks}));
  tile.intensity = intensity_of(gm, gn);
  if (!tile.fits()) return tile;
  tile.useful = volume(shape) / volume(tile.padded(shape));
  // Ties are told apart by the last bit of this product: it is formed in this order, and rounds to even.
  const double score = tile.intensity * tile.useful;
  tile.key.score = static_cast<std::int64_t>(std::nearbyint(score * kScoreUnit));
  tile.key.nk = tile.nk;
  tile.key.squareness = -std::abs(static_cast<std::int64_t>(gm) - static_cast<std::int64_t>(gn));
  return tile;
}

// The first with the largest key; end: none fits.
std::vector<TileCandidate>::const_iterator best_of(const std::vector<TileCandidate>& candidates) {
  auto best = candidates.end();
  for (auto it = candidates.begin(); it != candidates.end(); ++it)
    if (it->fits() && (best == candidates.end() || it->key > best->key)) best = it;
  return best;
}

std::string why_not(const TileCandidate& tile, const TileCandidate& best, const TileLimits& limits) {
  if (!tile.fits()) {
    const bool a = tile.gm > std::min(limits.l1_a / limits.banks, kOffsetSpan);
    return fmt::format("one block of K of operand {} does not fit a bank of L1", a ? "A" : "B");
  }
  if (tile.key.score != best.key.score)
    return fmt::format("score {} below {}", tile.key.score, best.key.score);
  if (tile.key.nk != best.key.nk) return fmt::format("equal score, nk {} below {}", tile.nk, best.nk);
  if (tile.key.squareness != best.key.squareness) return "equal score and nk, farther from square";
  return "equal key, tried later";
}

bool stays_fused(std::uint64_t gm, std::uint64_t gn) {
  constexpr std::uint64_t kMostGroups = 255, kMostTiles = 256, kStepWords = 8;
  // The tile that is delivered, and the result.
  return gm <= kMostGroups && gn <= kMostGroups && gm * gn <= kMostTiles &&
         fits_vector_l1(2 * up(gm * gn, kStepWords));
}

}  // namespace

ProductShape TileCandidate::padded(const ProductShape& shape) const {
  return {up(shape.m, bm()), up(shape.n, bn()), up(shape.k, bk())};
}

std::vector<TileCandidate> tile_candidates(const ProductShape& shape, const TileLimits& limits) {
  if (shape.m == 0 || shape.n == 0 || shape.k == 0)
    throw arch::UserError::make("a product of {} x {} x {} (M, N, K): none of them may be 0", shape.m,
                                shape.n, shape.k);
  if (limits.banks == 0) throw arch::UserError("L1 has no banks");
  std::vector<TileCandidate> candidates;
  for (std::uint32_t gm = 1; gm <= std::min(kLargestGroups, limits.tiles); gm *= 2)
    for (std::uint32_t gn = 1; gn <= kLargestGroups && std::uint64_t{gm} * gn <= limits.tiles; gn *= 2)
      candidates.push_back(candidate(shape, limits, gm, gn));
  return candidates;
}

TileCandidate choose_tile(const ProductShape& shape, const TileLimits& limits) {
  const std::vector<TileCandidate> candidates = tile_candidates(shape, limits);
  const auto best = best_of(candidates);
  if (best == candidates.end())
    throw Refusal(Phase::kStages, "NO_TILE",
                  fmt::format("no tile fits {} sub-tiles and {}/{} L1 entries in {} banks", limits.tiles,
                              limits.l1_a, limits.l1_b, limits.banks),
                  "a cluster needs at least one entry in each bank");
  return *best;
}

std::string explain_tile(const ProductShape& shape, const TileLimits& limits) {
  const std::vector<TileCandidate> candidates = tile_candidates(shape, limits);
  const auto best = best_of(candidates);
  std::string text =
      fmt::format("tiles for {} x {} x {} (M, N, K), {} sub-tiles, L1 {}/{} in {} banks\n", shape.m, shape.n,
                  shape.k, limits.tiles, limits.l1_a, limits.l1_b, limits.banks);
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    text += fmt::format("  gm={} gn={} ", it->gm, it->gn);
    if (it->fits())
      text += fmt::format("nk={} intensity {:.4g} useful {:.2f}% key ({}, {}, {}): ", it->nk, it->intensity,
                          100 * it->useful, it->key.score, it->key.nk, it->key.squareness);
    else
      text += fmt::format("intensity {:.4g}: ", it->intensity);
    text += it == best ? "chosen" : why_not(*it, best == candidates.end() ? *it : *best, limits);
    text += '\n';
  }
  if (best == candidates.end()) text += "  none fits\n";
  return text;
}

std::optional<EpilogueTile> fused_tile(std::uint64_t m, std::uint64_t n, std::uint32_t cores,
                                       EpilogueTile preferred) {
  const std::uint64_t rows = ceil_div(m, kLanes), columns = ceil_div(n, kLanes);
  if (ceil_div(rows, preferred.gm) * ceil_div(columns, preferred.gn) <= cores &&
      stays_fused(preferred.gm, preferred.gn))
    return preferred;
  using Rank = std::tuple<std::int64_t, double, std::uint64_t>;  // the largest wins
  std::optional<EpilogueTile> best;
  Rank best_rank;
  for (std::uint64_t high = 1; high <= cores; ++high)
    for (std::uint64_t wide = 1; high * wide <= cores; ++wide) {
      const std::uint64_t gm = ceil_div(rows, high), gn = ceil_div(columns, wide);
      if (!stays_fused(gm, gn)) continue;
      const EpilogueTile tile{static_cast<std::uint32_t>(gm), static_cast<std::uint32_t>(gn)};
      const Rank rank{-static_cast<std::int64_t>(high * wide), intensity_of(tile.gm, tile.gn), gm};
      if (best && rank <= best_rank) continue;
      best = tile;
      best_rank = rank;
    }
  return best;
}

}  // namespace ktpu::base
