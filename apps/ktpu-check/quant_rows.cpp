// SPDX-License-Identifier: Apache-2.0
// vectors_quant.jsonl: the block quantiser alone, which is the transform of the entry read engine.
#include "apps/check_formats/hex.h"
#include "apps/ktpu-check/block_twins.h"
#include "apps/ktpu-check/implementations.h"
#include "apps/ktpu-check/logs.h"
#include "apps/ktpu-check/row_kinds.h"
#include "arch/encoding/payloads.h"
#include "arch/error.h"
#include "tlm/memory/entry_reader.h"

namespace ktpu::check {

using nlohmann::json;

namespace {

// The engine registers a beat once in front of the quantiser (memory.md section 6).
constexpr Cycle kBeatRegister = 1;
constexpr Cycle kLimit = 100;

Conversion convert(const QuantiserBeats& beats, bool b_layout) {
  memory::EntryReader reader({0, 1}, 1);
  memory::MisuseLog misuse;
  reader.reset();
  arch::MemReq fields;
  fields.flags = arch::kMemFlagQuant | (b_layout ? arch::kMemFlagBLayout : 0);
  reader.take(0, arch::make_flit({0, 1}, {1, 1}, arch::FlitType::kMemRdReq, 0, true), fields, misuse);
  memory::DramWires wires;
  reader.issue(wires);
  Conversion result;
  Cycle first_beat = 0, last_beat = 0, done = 0;  // beats: taken by the engine
  unsigned taken = 0;
  for (Cycle now = 1; now < kLimit && result.words.size() < arch::kEntryWords; ++now) {
    const bool emit_was_empty = !reader.emitting();
    if (!emit_was_empty) {
      arch::Flit out;
      reader.emit(out);
      result.words.push_back({out.w[0], out.w[1], out.w[2], out.w[3]});
    }
    const std::uint64_t* beat = taken < beats.size() && reader.takes_beat() ? beats[taken].data() : nullptr;
    if (beat != nullptr) {
      if (taken == 0) first_beat = now;
      last_beat = now;
      ++taken;
    }
    reader.clock(now, beat, emit_was_empty);
    // With all beats there the engine waits for nothing but the end of the conversion.
    if (taken == beats.size() && done == 0) done = reader.next(now, false);
  }
  result.fill_cycles = last_beat - first_beat + 1;
  result.last_beat_to_done = done - (last_beat + kBeatRegister) - 1;
  return result;
}

// What a memory port has inside.
Conversion convert_as_asked(const QuantiserBeats& beats, bool b_layout) {
  topo::Node node;
  node.at = {0, 1};
  node.params = topo::MemoryPort{};
  const topo::Impl impl = implementation_of(node, "quantiser");
  if (impl == topo::Impl::kModel) return convert(beats, b_layout);
  Conversion twin = convert_on_rtl(beats, b_layout);
  if (impl != topo::Impl::kLockstep) return twin;
  note_compared(2 + twin.words.size());
  if (!(convert(beats, b_layout) == twin))
    throw arch::UserError("lock-step mismatch: the quantiser's model and RTL convert the entry differently",
                          arch::ExitStatus::kLockstepMismatch);
  return twin;
}

}  // namespace

void check_vectors_quant(const json& row, Differences& differences) {
  const auto src = hex_halves(member(row, "src"), "src", arch::kLanes * arch::kBlockK);
  QuantiserBeats beats{};
  for (std::size_t i = 0; i < src.size(); ++i)
    beats[i / 16][i % 16 / 4] |= static_cast<std::uint64_t>(src[i]) << (16 * (i % 4));
  const Conversion c = convert_as_asked(beats, integer(member(row, "b_layout"), "b_layout", 0, 1) != 0);

  json got = json::object();
  json words = json::array();
  for (const arch::Word256& word : c.words) words.push_back(to_hex(word.data(), 256));
  got["words"] = words;
  got["fill_cycles"] = c.fill_cycles;
  got["last_beat_to_done"] = c.last_beat_to_done;
  compare_fields(row, got, {"kind", "b_layout", "src"}, {}, differences);
}

}  // namespace ktpu::check
