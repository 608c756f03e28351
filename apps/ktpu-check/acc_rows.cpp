// SPDX-License-Identifier: Apache-2.0
// vectors_acc.jsonl: finished operand words in, accumulators and results out.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/instructions.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/payloads.h"
#include "arch/error.h"
#include "arch/formats/subtile.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr Cycle kInject = 60;  // any cycle past reset
constexpr unsigned kEntriesPerFill = 128;

void write_words(Rig& rig, std::uint64_t address, const json& words, const char* field, std::size_t count) {
  list(json{{field, words}}, field, count);
  std::vector<std::uint8_t> bytes;
  for (const json& word : words) {
    arch::Word256 value{};
    hex_words(word, field, 256, value.data());
    for (unsigned i = 0; i < arch::kWordBytes; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value[i / 8] >> (8 * (i % 8))));
  }
  rig.write_memory(address, bytes);
}

// The granules a SEND drain put on the wire, in order.
std::vector<arch::Word256> granules(const std::vector<FlitEvent>& arrivals) {
  std::vector<arch::Word256> words;
  unsigned left = 0;
  for (const FlitEvent& e : arrivals) {
    if (e.flit.type() != arch::FlitType::kCuData) continue;
    if (left == 0) {
      left = arch::unpack<arch::CuDataDesc>(e.flit).len + 1;
      continue;
    }
    --left;
    words.push_back({e.flit.w[0], e.flit.w[1], e.flit.w[2], e.flit.w[3]});
  }
  return words;
}

}  // namespace

// The tiles are drained twice: to memory as FP16, and as raw accumulators to the injection port.
void check_vectors_acc(const json& row, Differences& differences) {
  const auto extent = [&](const char* field) {
    return static_cast<unsigned>(integer(member(row, field), field, 1, 255));
  };
  const unsigned gm = extent("gm"), gn = extent("gn"), nk = extent("nk"), tiles = gm * gn;
  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  Rig rig(std::move(machine));
  const topo::Node& node = rig.only(topo::Kind::kMatmulCluster);
  const arch::Coord at = node.at, port = rig.only(topo::Kind::kTraffic).at;
  const unsigned mw = node.get<topo::MatmulCluster>()->acc_mw;

  const std::uint64_t a = 0, b = 128ull * gm * nk, c = b + 128ull * gn * nk;
  write_words(rig, a, member(row, "a_words"), "a_words", std::size_t{arch::kEntryWords} * gm * nk);
  write_words(rig, b, member(row, "b_words"), "b_words", std::size_t{arch::kEntryWords} * gn * nk);
  std::vector<arch::ClusterInst> program;
  append_fills(program, arch::Side::kA, a, gm * nk, 0, true, kEntriesPerFill);
  append_fills(program, arch::Side::kB, b, gn * nk, 0, true, kEntriesPerFill);
  program.push_back(gemm(gm, gn, nk));
  program.back().anchor = static_cast<std::uint32_t>(integer(member(row, "anchor"), "anchor", 0, 255));
  program.push_back(drain(tiles, c));
  program.push_back(drain(tiles, 0));
  program.back().dnode = 1;
  program.back().dbuf = 2;
  program.back().dst_x = port.x;
  program.back().dst_y = port.y;
  rig.inject(port, instruction_flits(program, at, port), kInject);
  rig.run();

  const auto raw = granules(rig.in(port).flits);
  const auto results = rig.read_memory(c, std::uint64_t{32} * tiles);
  if (raw.size() != std::size_t{2} * tiles)
    throw arch::UserError::make("{} granules arrived for {} sub-tiles", raw.size(), tiles);
  json acc = json::array(), fp16 = json::array();
  for (unsigned t = 0; t < tiles; ++t) {
    const arch::SubTile tile = arch::unpack_granules({raw[2 * t], raw[2 * t + 1]}, mw);
    json lanes = json::array();
    for (const std::uint32_t lane : tile.lane) lanes.push_back(to_hex(lane, (arch::acc_bits(mw) + 3) / 4));
    acc.push_back(lanes);
    std::string halves;
    for (unsigned i = 0; i < arch::kSubTileLanes; ++i)
      halves +=
          to_hex(static_cast<std::uint64_t>(results[32 * t + 2 * i] | results[32 * t + 2 * i + 1] << 8), 4);
    fp16.push_back(halves);
  }
  json got = json::object();
  got["acc22"] = acc;
  got["fp16"] = fp16;
  compare_fields(row, got, {"dram", "gm", "gn", "nk", "kind", "anchor", "a_words", "b_words"}, {},
                 differences);
}

}  // namespace ktpu::check
