// SPDX-License-Identifier: Apache-2.0
// retired/plan: a whole product from its size to flits and commands; retired/pack and retired/packmx: the
// operand images it reads (vectors/compiler/README.md).
#include <fmt/format.h>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/row_kinds.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/error.h"
#include "arch/formats/quantise.h"
#include "arch/program/host_writes.h"
#include "compiler/base/tile_choice.h"
#include "compiler/planner/gemm_passes.h"
#include "compiler/planner/rounds.h"
#include "compiler/schedule/grid.h"
#include "compiler/schedule/layout.h"

namespace ktpu::check {

using arch::UserError;
using nlohmann::json;

namespace {

constexpr std::int64_t kMany = 1 << 24;

std::uint32_t number(const json& row, const char* field, std::int64_t low = 0) {
  return static_cast<std::uint32_t>(integer(member(row, field), field, low, kMany));
}
bool flag(const json& value) {
  if (!value.is_boolean()) throw UserError("preq: no pair of true and false");
  return value.get<bool>();
}

std::string sha256_of(std::string_view text) {
  return sha256_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void append_le(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// The text that the recorded hash is over: a list with a space behind each comma.
std::string commands_text(const json& commands) {
  std::string text = "[";
  for (const json& command : commands) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("[{}, {}, {}, {}]", command[0].dump(), command[1].dump(), command[2].dump(),
                        command[3].dump());
  }
  return text + "]";
}

json round_json(const planner::GemmRound& round, const json& recorded) {
  json commands = json::array(), flits = json::array();
  for (const arch::Command& c : round.commands)
    commands.push_back(
        {c.op, fmt::format("{:x}", c.address), fmt::format("{:x}", c.data), fmt::format("{:x}", c.mask)});
  std::string all;
  for (const arch::Flit& flit : round.flits) {
    flits.push_back(arch::to_hex(flit));
    all += arch::to_hex(flit);
  }
  std::vector<std::uint8_t> setup;
  for (const arch::HostWrite& write : arch::staging_writes({0, round.flits})) {
    append_le(setup, write.address);
    append_le(setup, write.data);
  }
  json got = {{"passes", round.passes},
              {"nflits", round.flits.size()},
              {"ncmd", round.commands.size()},
              {"setup_sha256", sha256_hex(setup)}};
  // Of long plans only hashes are recorded.
  if (recorded.contains("flits_sha256"))
    got.update({{"flits_sha256", sha256_of(all)}, {"cmds_sha256", sha256_of(commands_text(commands))}});
  else
    got.update({{"flits", flits}, {"cmds", commands}});
  return got;
}

planner::GemmProblem problem_of(const json& file, const base::TileCandidate& tile,
                                const base::ProductShape& padded) {
  const json &caps = member(file, "caps"), &preq = list(file, "preq", 2);
  planner::GemmProblem problem;
  problem.m_tiles = padded.m / tile.bm();
  problem.n_tiles = padded.n / tile.bn();
  problem.k_chunks = padded.k / tile.bk();
  problem.gm = tile.gm;
  problem.gn = tile.gn;
  problem.nk = tile.nk;
  problem.l1_a = number(caps, "l1_a");
  problem.l1_b = number(caps, "l1_b");
  problem.preq_a = flag(preq[0]);
  problem.preq_b = flag(preq[1]);
  problem.policy = planner::Policy::kCompat;
  const json& coords = member(file, "clusters");
  const auto owned = schedule::owned_tiles(problem.m_tiles, problem.n_tiles, coords.size());
  for (std::size_t c = 0; c < owned.size(); ++c) {
    planner::ClusterTiles cluster;
    cluster.at = {static_cast<std::uint8_t>(integer(coords[c].at(0), "clusters", 0, 15)),
                  static_cast<std::uint8_t>(integer(coords[c].at(1), "clusters", 0, 15))};
    for (const schedule::OwnedTile& t : owned[c]) cluster.tiles.push_back({t.row, t.column});
    problem.clusters.push_back(std::move(cluster));
  }
  return problem;
}

schedule::Layout entry_layout(const json& file) {
  return schedule::Layout::entry(number(file, "groups", 1), number(file, "blocks", 1));
}

// Little-endian halfwords of an image.
std::vector<std::uint16_t> packed(const json& file, const std::vector<std::uint16_t>& values) {
  const std::uint32_t shape[] = {number(file, "rows", 1), number(file, "k", 1)};
  std::vector<std::uint8_t> bytes;
  for (const std::uint16_t value : values) {
    bytes.push_back(static_cast<std::uint8_t>(value));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  }
  const std::vector<std::uint8_t> image = entry_layout(file).pack(bytes, shape);
  std::vector<std::uint16_t> halves;
  for (std::size_t i = 0; i + 1 < image.size(); i += 2)
    halves.push_back(static_cast<std::uint16_t>(image[i] | image[i + 1] << 8));
  return halves;
}

}  // namespace

void check_gemm_plan(const json& file, Differences& differences) {
  const json& caps = member(file, "caps");
  const base::ProductShape shape{number(file, "M", 1), number(file, "N", 1), number(file, "K", 1)};
  const base::TileCandidate tile = base::choose_tile(
      shape,
      {number(caps, "tiles"), number(caps, "l1_a"), number(caps, "l1_b"), number(caps, "l1_banks", 1)});
  const base::ProductShape padded = tile.padded(shape);
  const planner::GemmProblem problem = problem_of(file, tile, padded);
  const planner::GemmPasses plan = planner::plan_passes(problem);
  const bytes::Limits limits{number(caps, "stage_flits", 1), number(file, "ncmd", 1),
                             number(file, "inst_depth", 1)};
  const std::vector<planner::GemmRound> rounds = planner::cut_rounds(plan, limits);
  planner::verify(rounds, limits);

  json passes = json::array(), rounds_json = json::array();
  std::size_t flits = 0;
  for (const planner::Pass& pass : plan.passes)
    passes.push_back(
        {json{pass.at.x, pass.at.y}, pass.tile.row, pass.tile.column, pass.steps.size(), pass.lent});
  const json& recorded = member(file, "rounds");
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    rounds_json.push_back(round_json(rounds[r], r < recorded.size() ? recorded[r] : json::object()));
    flits += rounds[r].flits.size();
  }
  const planner::MemoryWords memory = problem.memory();
  const json got = {{"tile", {tile.gm, tile.gn, tile.nk}},
                    {"padded", {padded.m, padded.n, padded.k}},
                    {"layout_words", {memory.a, memory.b, memory.c, memory.end}},
                    {"l1plan",
                     {{"a_entries", problem.l1_a},
                      {"b_entries", problem.l1_b},
                      {"chunk_a", problem.a_entries()},
                      {"chunk_b", problem.b_entries()},
                      {"banks_a", plan.l1.banks_a},
                      {"banks_b", plan.l1.banks_b},
                      {"b_resident", plan.l1.b_resident},
                      {"chunks", problem.k_chunks},
                      {"fused", plan.l1.fused}}},
                    {"passes", passes},
                    {"rounds", rounds_json},
                    {"total_flits", flits},
                    {"n_rounds", rounds.size()},
                    {"n_passes", plan.passes.size()}};
  compare_fields(file, got, {"id", "path", "M", "N", "K", "clusters", "caps", "ncmd", "inst_depth", "preq"},
                 "", differences);
}

void check_entry_order(const json& file, Differences& differences) {
  std::vector<std::uint16_t> values(std::size_t{number(file, "rows", 1)} * number(file, "k", 1));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i % 2048);
  compare_fields(file, {{"memory_order", packed(file, values)}},
                 {"id", "path", "rows", "k", "groups", "blocks", "note"}, "", differences);
}

void check_entry_words(const json& file, Differences& differences) {
  const std::size_t count = std::size_t{number(file, "rows", 1)} * number(file, "k", 1);
  const auto side = static_cast<arch::Side>(number(file, "blayout"));
  const std::vector<std::uint16_t> image =
      packed(file, hex_halves(member(file, "input_fp16"), "input_fp16", count));
  constexpr std::size_t kEntry = arch::kLanes * arch::kBlockK;
  json words = json::array();
  for (std::size_t at = 0; at + kEntry <= image.size(); at += kEntry) {
    const arch::OperandEntry entry =
        arch::quantise_entry(std::span<const std::uint16_t, kEntry>(image.data() + at, kEntry));
    for (unsigned word = 0; word < arch::kEntryWords; ++word)
      words.push_back(to_hex(arch::operand_word(side, word, entry).data(), 256));
  }
  compare_fields(file, {{"words", words}},
                 {"id", "path", "rows", "k", "groups", "blocks", "blayout", "input_fp16"}, "", differences);
}

}  // namespace ktpu::check
