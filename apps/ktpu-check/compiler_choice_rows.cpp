// SPDX-License-Identifier: Apache-2.0
// retired/dtype, retired/tile, retired/grid, misc/tinygrad_tiling and misc/vec: types, tiles, grids and the
// limits of a vector core (vectors/compiler/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/error.h"
#include "arch/formats/dtype.h"
#include "compiler/base/refusal.h"
#include "compiler/base/tile_choice.h"
#include "compiler/bytes/encode.h"
#include "compiler/schedule/grid.h"
#include "compiler/schedule_to_program/lane_words.h"
#include "compiler/schedule_to_program/limits.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMany = 1 << 24;

std::uint64_t count(const json& row, const char* field, std::int64_t low = 0) {
  return static_cast<std::uint64_t>(integer(member(row, field), field, low, kMany));
}
std::uint32_t small(const json& row, const char* field, std::int64_t low = 0) {
  return static_cast<std::uint32_t>(count(row, field, low));
}
std::uint64_t item(const json& list, std::size_t i, const char* field) {
  return static_cast<std::uint64_t>(integer(list.at(i), field, 1, kMany));
}

bool refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Refusal&) {
    return true;
  }
  return false;
}

base::TileLimits limits_of(const json& target) {
  return {small(target, "tiles"), small(target, "l1_a"), small(target, "l1_b"), small(target, "banks", 1)};
}
base::ProductShape product_of(const json& row) {
  return {count(row, "M", 1), count(row, "N", 1), count(row, "K", 1)};
}

schedule::Grid grid_of(const json& sizes) {
  return {item(sizes, 0, "grid"), item(sizes, 1, "grid"), sizes.size() > 2 ? item(sizes, 2, "grid") : 1};
}
schedule::TileShape tile_of(const json& sizes) { return {item(sizes, 0, "tile"), item(sizes, 1, "tile")}; }

constexpr std::array<std::string_view, 5> kCoverage{"ok", "rows_uncovered", "cols_uncovered",
                                                    "rows_overshoot", "cols_overshoot"};

// The recorded names of operations that are called otherwise here.
std::optional<base::LaneOp> recorded_op(std::string_view name) {
  static constexpr std::pair<std::string_view, base::LaneOp> kNames[] = {
      {"cmplt", base::LaneOp::kLess},     {"cmpgt", base::LaneOp::kGreater}, {"cmpeq", base::LaneOp::kEqual},
      {"sum", base::LaneOp::kRowSum},     {"rmax", base::LaneOp::kRowMax},   {"rmin", base::LaneOp::kRowMin},
      {"sumsq", base::LaneOp::kRowSumsq}, {"select", base::LaneOp::kSelect}};
  for (const auto& [recorded, op] : kNames)
    if (recorded == name) return op;
  return base::lane_op(name);
}

}  // namespace

void check_dtypes(const json& file, Differences& differences) {
  json all = json::array();
  for (const json& row : member(file, "dtypes")) {
    const std::string& name = text(member(row, "name"), "name");
    const auto type = arch::number_type(name);
    if (!type) throw UserError::make("type \"{}\" is not known", name);
    static constexpr std::array<const char*, 3> kKinds{"float", "int", "block"};
    const arch::NumberFormat& f = arch::number_format(*type);
    json got = {{"name", name},      {"bits", f.bits},
                {"exp", f.exp_bits}, {"man", f.man_bits},
                {"bias", f.bias},    {"subnormal", f.has_subnormals},
                {"block", f.block},  {"kind", kKinds.at(static_cast<std::size_t>(f.kind))}};
    if (f.is_float())
      got.update({{"max_exp", f.max_exp()},
                  {"min_exp", f.min_exp()},
                  {"max_finite", f.max_finite()},
                  {"eps", f.eps()},
                  {"smallest_positive", f.smallest()}});
    all.push_back(std::move(got));
  }
  compare_fields(file, {{"dtypes", all}}, {"id", "path"}, "", differences);
}

// Without its own capacities a row names one of the file's `targets`.
void check_tile_choice(const json& row, Differences& differences) {
  const json& target = member(row, "target");
  const base::TileLimits limits = limits_of(
      target.is_string() ? member(member(row, "targets"), target.get<std::string>().c_str()) : target);
  const base::ProductShape shape = product_of(row);
  json got;
  try {
    const base::TileCandidate tile = base::choose_tile(shape, limits);
    const base::ProductShape padded = tile.padded(shape);
    got = {{"gm", tile.gm},
           {"gn", tile.gn},
           {"nk", tile.nk},
           {"bm", tile.bm()},
           {"bn", tile.bn()},
           {"bk", tile.bk()},
           {"intensity", tile.intensity},
           {"useful", tile.useful},
           {"key", {tile.key.score, tile.key.nk, tile.key.squareness}},
           {"padded", {padded.m, padded.n, padded.k}},
           {"grid", {padded.m / tile.bm(), padded.n / tile.bn(), 1}},
           {"status", "ok"}};
  } catch (const base::Refusal&) {
    got = {{"status", "refused"}};
  }
  compare_fields(row, got, {"id", "path", "target", "targets", "M", "N", "K"}, "", differences);
}

void check_grid_covers(const json& row, Differences& differences) {
  const json &out = list(row, "out", 2), &tile = list(row, "tile", 2);
  const auto coverage = schedule::covers(grid_of(list(row, "grid", 3)), tile_of(tile), item(out, 0, "out"),
                                         item(out, 1, "out"));
  const json got = {{"result", kCoverage.at(static_cast<std::size_t>(coverage))}};
  compare_fields(row, got, {"grid", "out", "tile"}, "", differences);
}

void check_grid_correspondence(const json& row, Differences& differences) {
  const json &producer = list(row, "producer", 2), &consumer = list(row, "consumer", 2);
  const auto parts = schedule::correspondence(grid_of(producer[0]), tile_of(producer[1]),
                                              grid_of(consumer[0]), tile_of(consumer[1]));
  const json result = parts ? json{parts->sm, parts->sn} : json("refused");
  compare_fields(row, {{"result", result}}, {"producer", "consumer"}, "", differences);
}

void check_grid_epilogue(const json& row, Differences& differences) {
  const auto made =
      schedule::epilogue_grid(grid_of(list(row, "producer_grid", 2)), tile_of(list(row, "producer_tile", 2)),
                              count(row, "vector_cores"));
  const json got = {{"grid", {made.grid.m, made.grid.n}}, {"tile", {made.tile.m, made.tile.n}}};
  compare_fields(row, got, {"producer_grid", "producer_tile", "vector_cores"}, "", differences);
}

void check_grid_ownership(const json& row, Differences& differences) {
  json owned = json::array();
  for (const auto& tiles :
       schedule::owned_tiles(count(row, "m_tiles"), count(row, "n_tiles"), count(row, "clusters", 1))) {
    json mine = json::array();
    for (const schedule::OwnedTile& tile : tiles) mine.push_back({tile.row, tile.column});
    owned.push_back(std::move(mine));
  }
  compare_fields(row, {{"owned", owned}}, {"m_tiles", "n_tiles", "clusters"}, "", differences);
}

void check_fused_tile(const json& row, Differences& differences) {
  const auto tile = base::fused_tile(count(row, "m", 1), count(row, "n", 1), small(row, "cores"))
                        .value_or(base::EpilogueTile{});
  compare_fields(row, {{"gm", tile.gm}, {"gn", tile.gn}}, {"kernel", "m", "n", "cores"}, "", differences);
}

void check_vector_l1(const json& row, Differences& differences) {
  const bool no = refused([&] { schedule_to_program::require_l1(count(row, "words")); });
  compare_fields(row, {{"result", no ? "refused" : "ok"}}, {"words"}, "", differences);
}

void check_rows_per_pass(const json& row, Differences& differences) {
  json tile = "refused";
  const bool no = refused([&] {
    tile = schedule_to_program::rows_per_pass(count(row, "rows", 1), count(row, "words_per_row", 1));
  });
  compare_fields(row, no ? json{{"result", tile}} : json{{"tile", tile}}, {"rows", "words_per_row"}, "",
                 differences);
}

void check_lane_words(const json& row, Differences& differences) {
  const auto op = recorded_op(text(member(row, "op"), "op"));
  json got = {{"result", "refused"}};  // what is no lane operation at all cannot even be asked for
  if (op) {
    // A refused row names no operands.
    std::vector<schedule_to_program::Operand> sources(3);
    if (row.contains("srcs"))
      for (std::size_t i = 0; i < row["srcs"].size(); ++i)
        sources.at(i).number = static_cast<std::uint32_t>(integer(row["srcs"][i], "srcs", 0, 15));
    const auto destination =
        row.contains("dst") ? static_cast<std::uint32_t>(integer(row["dst"], "dst", 0, 15)) : 0u;
    try {
      schedule_to_program::ReductionScalars scalars;
      json words = json::array();
      for (const auto& word : schedule_to_program::lane_words(*op, false, destination, sources, scalars))
        words.push_back(to_hex(bytes::encode(word), 8));
      got = {{"words", words}};
    } catch (const base::Refusal&) {
    }
  }
  compare_fields(row, got, {"op", "srcs", "dst"}, "", differences);
}

}  // namespace ktpu::check
