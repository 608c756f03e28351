// SPDX-License-Identifier: Apache-2.0
#include "apps/check_formats/check_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "apps/check_formats/hex.h"
#include "arch/error.h"
#include "arch/formats/acc.h"
#include "arch/formats/e8m15.h"
#include "arch/formats/kernel.h"
#include "arch/formats/operand.h"
#include "arch/formats/quantise.h"
#include "arch/formats/subtile.h"

namespace ktpu::check {
namespace {

using arch::Side;
using nlohmann::json;

// One row being checked; keeps the first difference only.
class Row {
 public:
  Row(const json& row, RowResult& result) : row_(row), result_(result) {}

  const json& operator[](const char* field) const { return member(row_, field); }
  std::uint64_t bits(const char* field, unsigned width) const {
    return hex_value((*this)[field], field, width);
  }
  std::int64_t number(const char* field, std::int64_t low, std::int64_t high) const {
    return integer((*this)[field], field, low, high);
  }
  const json& values(const char* field, std::size_t size) const { return list(row_, field, size); }
  // Files about one width may leave `mw` out: the machine's default applies.
  unsigned mw() const {
    if (!row_.is_object() || !row_.contains("mw")) return arch::kDefaultAccMw;
    return static_cast<unsigned>(number("mw", arch::kMinAccMw, arch::kMaxAccMw));
  }

  void expect_bits(const char* field, unsigned width, std::uint64_t got) {
    expect(field, (*this)[field], width, got);
  }
  void expect(const std::string& name, const json& expected, unsigned width, std::uint64_t got) {
    expect_words(name, expected, width, &got);
  }
  void expect_words(const std::string& name, const json& expected, unsigned width, const std::uint64_t* got) {
    std::array<std::uint64_t, 16> want{};
    hex_words(expected, name.c_str(), width, want.data());
    if (!std::equal(want.data(), want.data() + (width + 63) / 64, got))
      differ(name, to_hex(want.data(), width), to_hex(got, width));
  }
  void expect_number(const std::string& name, const json& expected, std::int64_t got) {
    const std::int64_t want = integer(expected, name.c_str(), INT32_MIN, INT32_MAX);
    if (want != got) differ(name, std::to_string(want), std::to_string(got));
  }

 private:
  void differ(const std::string& name, const std::string& expected, const std::string& got) {
    if (!result_.equal) return;
    result_ = {false, name, expected, got};
  }

  const json& row_;
  RowResult& result_;
};

std::string indexed(const char* field, std::size_t index) { return fmt::format("{}[{}]", field, index); }

void mxfp7_quant(Row& row) {
  const auto h = hex_halves(row["h"], "h", arch::kBlockK);
  const arch::QuantisedBlock block = arch::quantise_block(std::span<const std::uint16_t, arch::kBlockK>(h));
  row.expect_bits("scale", 8, block.scale);
  const json& q = row.values("q", arch::kBlockK);
  for (std::size_t k = 0; k < arch::kBlockK; ++k) row.expect_number(indexed("q", k), q[k], block.q[k]);
}

// Quantised words against the recorded ones; the recorded words then rebuild the entry through the L1 write
// path.
void expect_operand_words(Row& row, Side side, const arch::OperandEntry& entry) {
  const json& words = row.values("words", arch::kEntryWords);
  for (unsigned w = 0; w < arch::kEntryWords; ++w) {
    const arch::Word256 word = arch::operand_word(side, w, entry);
    row.expect_words(indexed("words", w), words[w], 256, word.data());
  }
}

arch::OperandEntry stored_entry(Row& row, Side side) {
  const json& words = row.values("words", arch::kEntryWords);
  arch::OperandEntry entry;
  for (unsigned w = 0; w < arch::kEntryWords; ++w) {
    arch::Word256 word{};
    hex_words(words[w], "words", 256, word.data());
    arch::store_operand_word(side, w, word.data(), entry);
  }
  return entry;
}

void mxfp7_entry(Row& row) {
  const std::string& side_name = text(row["side"], "side");
  if (side_name != "A" && side_name != "B")
    throw arch::UserError::make("field \"side\" is neither \"A\" nor \"B\"");
  const Side side = side_name == "A" ? Side::kA : Side::kB;
  std::array<std::uint16_t, arch::kLanes * arch::kBlockK> source{};
  const json& lanes = row.values("lanes", arch::kLanes);
  for (std::size_t lane = 0; lane < arch::kLanes; ++lane)
    std::ranges::copy(hex_halves(lanes[lane], "lanes", arch::kBlockK), &source[lane * arch::kBlockK]);
  const arch::OperandEntry entry = arch::quantise_entry(source);
  expect_operand_words(row, side, entry);
  row.expect_words("entry", row["entry"], arch::kEntryBits, arch::entry_bits(side, entry).data());
  row.expect_words("entry", row["entry"], arch::kEntryBits,
                   arch::entry_bits(side, stored_entry(row, side)).data());
}

void acc_from_partial(Row& row) {
  const unsigned mw = row.mw();
  const auto part = static_cast<std::int32_t>(row.number("part", -(1 << 21), (1 << 21) - 1));
  const auto fa = static_cast<unsigned>(row.bits("fa", 8)), fb = static_cast<unsigned>(row.bits("fb", 8));
  const auto anchor = static_cast<unsigned>(row.number("anchor", 0, 255));
  row.expect_bits("acc", arch::acc_bits(mw), arch::normalise(part, fa, fb, anchor, mw));
}

void acc_add(Row& row) {
  const unsigned mw = row.mw(), width = arch::acc_bits(mw);
  const auto a = static_cast<std::uint32_t>(row.bits("a", width)),
             b = static_cast<std::uint32_t>(row.bits("b", width));
  row.expect_bits("sum", width, arch::acc_add(a, b, mw));
  // The sub-tile form the cluster runs, in a lane that varies with the operands.
  arch::SubTile tile, x;
  const unsigned lane = (a ^ b) % arch::kSubTileLanes;
  tile.lane[lane] = a;
  x.lane[lane] = b;
  arch::accumulate_kernel(mw).add(tile, x);
  row.expect_bits("sum", width, tile.lane[lane]);
}

void acc_to_fp16(Row& row) {
  const unsigned mw = row.mw();
  const auto acc = static_cast<std::uint32_t>(row.bits("acc", arch::acc_bits(mw)));
  row.expect_bits("fp16", 16, arch::acc_to_fp16(acc, mw));
}

void acc_to_e8m15(Row& row) {
  const unsigned mw = row.mw();
  const auto acc = static_cast<std::uint32_t>(row.bits("acc", arch::acc_bits(mw)));
  row.expect_bits("e8m15", 24, arch::acc_to_e8m15(acc, mw));
}

void fp16_to_e8m15(Row& row) {
  row.expect_bits("e8m15", 24, arch::fp16_to_e8m15(static_cast<std::uint16_t>(row.bits("fp16", 16))));
}

void fp32_to_e8m15(Row& row) {
  row.expect_bits("e8m15", 24, arch::fp32_to_e8m15(static_cast<std::uint32_t>(row.bits("fp32", 32))));
}

void e8m15_to_mem(Row& row) {
  const auto value = static_cast<std::uint32_t>(row.bits("e8m15", 24));
  row.expect_bits("fp16", 16, arch::e8m15_to_fp16(value));
  row.expect_bits("fp32", 32, arch::e8m15_to_fp32(value));
}

void subtile_chain(Row& row) {
  const unsigned mw = row.mw();
  const arch::AccumulateKernel& kernel = arch::accumulate_kernel(mw);
  const auto nk = static_cast<std::size_t>(row.number("nk", 1, 1 << 20));
  const json &as = row.values("A", nk), &bs = row.values("B", nk);
  arch::SubTile tile;
  for (std::size_t block = 0; block < nk; ++block) {
    arch::EntryBits a{}, b{};
    hex_words(as[block], "A", arch::kEntryBits, a.data());
    hex_words(bs[block], "B", arch::kEntryBits, b.data());
    (block == 0 ? kernel.load_chain : kernel.add_chain)(
        arch::entry_from_bits(Side::kA, a), arch::entry_from_bits(Side::kB, b), arch::kGemmAnchor, tile);
  }
  const arch::Word256 emitted = kernel.emit(tile);
  const json &acc = row.values("acc", arch::kSubTileLanes), &fp16 = row.values("fp16", arch::kSubTileLanes);
  for (std::size_t lane = 0; lane < arch::kSubTileLanes; ++lane) {
    row.expect(indexed("acc", lane), acc[lane], arch::acc_bits(mw), tile.lane[lane]);
    row.expect(indexed("fp16", lane), fp16[lane], 16, (emitted[lane / 4] >> (16 * (lane % 4))) & 0xFFFF);
  }
}

struct Kind {
  std::string_view name;
  void (*check)(Row&);
};
constexpr Kind kKinds[]{
    {"mxfp7_quant", mxfp7_quant},           {"mxfp7_entry", mxfp7_entry},
    {"acc_from_partial", acc_from_partial}, {"acc_add", acc_add},
    {"acc_to_fp16", acc_to_fp16},           {"acc_to_e8m15", acc_to_e8m15},
    {"fp16_to_e8m15", fp16_to_e8m15},       {"fp32_to_e8m15", fp32_to_e8m15},
    {"e8m15_to_mem", e8m15_to_mem},         {"subtile_chain", subtile_chain},
};

}  // namespace

bool check_formats_row(std::string_view kind, const json& row, RowResult& result) {
  const auto* found = std::ranges::find(kKinds, kind, &Kind::name);
  if (found == std::end(kKinds)) return false;
  result = {};
  Row view(row, result);
  found->check(view);
  return true;
}

void check_quant_words(const json& row, RowResult& result) {
  result = {};
  Row view(row, result);
  constexpr std::size_t kSource = arch::kLanes * arch::kBlockK;
  const auto src = hex_halves(view["src"], "src", kSource);
  const Side side = view.number("b_layout", 0, 1) != 0 ? Side::kB : Side::kA;
  expect_operand_words(view, side, arch::quantise_entry(std::span<const std::uint16_t, kSource>(src)));
}

}  // namespace ktpu::check
