// SPDX-License-Identifier: Apache-2.0
// cycles_mover.jsonl: one move of the small system's mover, alone.
#include <array>
#include <bit>

#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::check {

using nlohmann::json;
namespace mover = arch::mover;

namespace {

constexpr std::uint64_t kSource = 0x1000, kDestination = 0x80000;  // vectors/rtl/README.md
constexpr std::int64_t kMaxWords = (kDestination - kSource) / arch::kWordBytes;
constexpr std::uint32_t kMaxCap = 128;

struct Move {
  std::uint32_t rows = 1, cols = 1;
  bool transpose = false;
  mover::Control control;

  std::uint32_t words() const { return rows * cols; }
  // Where word `i` of the walk, row slow, goes.
  std::uint32_t destination(std::uint32_t i) const { return transpose ? i / cols + (i % cols) * rows : i; }
};

Move move_of(const json& row) {
  Move move;
  const std::string& op = text(member(row, "op"), "op");
  if (op != "copy" && op != "transpose")
    throw arch::UserError::make("op \"{}\" is none of copy, transpose", op);
  move.transpose = op == "transpose";
  const auto number = [&](const char* field, std::int64_t high) {
    return static_cast<std::uint32_t>(integer(member(row, field), field, 1, high));
  };
  if (move.transpose) {
    move.rows = number("rows", kMaxWords);
    move.cols = number("cols", kMaxWords);
  } else {
    move.cols = number("words", kMaxWords);
  }
  if (std::uint64_t{move.rows} * move.cols > kMaxWords)
    throw arch::UserError::make("{} x {} words reach from the source into the destination", move.rows,
                                move.cols);
  move.control.coalesce = integer(member(row, "coalesce"), "coalesce", 0, 1) != 0;
  if (row.contains("cap")) {
    const std::uint32_t cap = number("cap", kMaxCap);
    if (!std::has_single_bit(cap)) throw arch::UserError::make("cap {} is no power of two", cap);
    move.control.cap_code = cap == kMaxCap ? 0 : static_cast<unsigned>(std::countr_zero(cap)) + 1;
  }
  return move;
}

arch::Program program_of(const Move& move) {
  arch::Program program;
  const auto write = [&](std::uint32_t offset, std::uint64_t value) {
    program.steps.push_back({0, arch::StepWrite{arch::agent::kAuxCfgMover + offset, value}});
  };
  const auto dimension = [&](bool destination, unsigned number, std::uint32_t count, std::uint32_t words) {
    write(mover::kDimension,
          mover::dimension_word(destination, number, count, words * std::int64_t{arch::kWordBytes}));
    write(mover::kAxis, 0);
  };
  const unsigned ndim = move.transpose ? 2 : 1;
  write(mover::kBase, mover::base_word(false, kSource, ndim));
  write(mover::kBase, mover::base_word(true, kDestination, ndim));
  if (move.transpose) {
    dimension(false, 0, move.rows, move.cols);
    dimension(true, 0, move.rows, 1);
  }
  dimension(false, ndim - 1, move.cols, 1);
  dimension(true, ndim - 1, move.cols, move.transpose ? move.rows : 1);
  write(mover::kControl, mover::control_word(move.control));
  return program;
}

std::array<std::uint8_t, arch::kWordBytes> pattern(std::uint32_t word) {
  std::array<std::uint8_t, arch::kWordBytes> bytes;
  for (std::uint32_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i < 4 ? word >> (8 * i) : i);
  return bytes;
}

}  // namespace

void check_cycles_mover(const json& row, Differences& differences) {
  const Move move = move_of(row);
  topo::Machine machine = shipped_machine("reference_small");
  apply_dram(row, machine);
  const arch::Program program = program_of(move);
  Rig rig(std::move(machine), &program);
  for (std::uint32_t i = 0; i < move.words(); ++i)
    rig.write_memory(kSource + std::uint64_t{i} * arch::kWordBytes, pattern(i));
  rig.run();

  json got = json::object();
  got["words"] = move.words();
  bool correct = true;
  for (std::uint32_t i = 0; i < move.words(); ++i) {
    const auto expected = pattern(i);
    const auto moved = rig.read_memory(kDestination + std::uint64_t{move.destination(i)} * arch::kWordBytes,
                                       arch::kWordBytes);
    correct = correct && std::equal(expected.begin(), expected.end(), moved.begin(), moved.end());
  }
  got["correct"] = correct;
  got["dram_read_bursts"] = rig.dram.read_bursts.size();
  got["dram_write_bursts"] = rig.dram.write_bursts.size();
  if (!rig.dram.read_beats.empty() && !rig.dram.write_beats.empty()) {
    got["first_read_to_first_write_beat"] = rig.dram.write_beats.front() - rig.dram.read_beats.front();
    got["first_read_to_last_write_beat"] = rig.dram.write_beats.back() - rig.dram.read_beats.front();
  }
  compare_fields(row, got, {"dram", "op", "rows", "cols", "coalesce", "cap"}, {}, differences);
}

}  // namespace ktpu::check
