// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/entry_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/encoding/address_map.h"
#include "arch/encoding/latencies.h"
#include "arch/formats/quantise.h"

namespace ktpu::memory {

namespace {
constexpr std::uint32_t kQuantBeats = arch::address::kEntryBytesFp16 / arch::kWordBytes;
// The transform's input register in front of its own L_QUANT cycles (memory.md section 6: b + 10).
constexpr sim::Cycle kBeatRegister = 1;
}  // namespace

void EntryReader::reset() { *this = EntryReader(port_, reads_in_flight_, staging_, store_); }

void EntryReader::emit(arch::Flit& out) {
  const bool last_word = emit_.word + 1 == emit_.words;
  const auto& data = emit_.data[emit_.word];
  std::copy_n(data.begin(), 4, out.w.begin());
  out.w[4] = arch::make_header(destination_[emit_.destination], port_, arch::FlitType::kMemRdResp, emit_.txn,
                               last_word, emit_.word & 3u);
  ++responses_;
  if (!last_word) {
    ++emit_.word;
  } else {
    emit_.word = 0;
    if (++emit_.destination == destinations_) emit_.valid = false;
  }
}

void EntryReader::convert() {
  const auto entry = arch::quantise_entry(std::span<const std::uint16_t, arch::kLanes * arch::kBlockK>(
      reinterpret_cast<const std::uint16_t*>(buffer_.data()), arch::kLanes * arch::kBlockK));
  for (unsigned word = 0; word < arch::kEntryWords; ++word)
    buffer_[word] = arch::operand_word(b_layout_ ? arch::Side::kB : arch::Side::kA, word, entry);
  ++quantised_;
}

// An entry of the port's own staging memory comes whole; the next one is asked for in the cycle after it.
void EntryReader::read_store(sim::Cycle now) {
  store_->read(word_of(address_), {reinterpret_cast<std::uint8_t*>(buffer_.data()), entry_bytes_});
  address_ = (address_ + entry_bytes_) & arch::address::kMask;
  stored_at_ = now + 1 + arch::latency::kStagingEntry.value;
  ++entries_;
  state_ = State::kWait;
}

void EntryReader::clock(sim::Cycle now, const std::uint64_t* beat, bool emit_was_empty) {
  if (state_ == State::kWait && emit_was_empty) {
    emit_.valid = true;
    emit_.words = static_cast<std::uint8_t>(entry_words_);
    emit_.word = emit_.destination = 0;
    emit_.txn = static_cast<std::uint8_t>(txn_ + entry_);
    std::copy_n(buffer_.begin(), entry_words_, emit_.data.begin());
    beats_ = 0;
    if (++entry_ == total_) {
      state_ = State::kIdle;
    } else {
      state_ = stored_ ? State::kStg : State::kFill;
      start_ = quant_;
    }
    return;
  }
  if (state_ == State::kStg && stored_at_ <= now) read_store(now);
  if (state_ != State::kFill) return;
  if (start_) {
    start_ = false;
    return;
  }
  if (beat != nullptr) {
    std::memcpy(buffer_[beats_].data(), beat, arch::kWordBytes);
    if (++beats_ == entry_beats_) {
      --outstanding_;
      ++entries_;
      if (quant_)
        done_at_ = now + kBeatRegister + arch::latency::kQuantDone.value;
      else
        state_ = State::kWait;
    }
  } else if (done_at_ <= now) {
    convert();
    done_at_ = sim::kNever;
    state_ = State::kWait;
  }
}

void EntryReader::take(sim::Cycle now, const arch::Flit& request, const arch::MemReq& fields,
                       MisuseLog& misuse) {
  quant_ = fields.quant();
  b_layout_ = fields.b_layout();
  entry_words_ = quant_ || fields.entry_words == 0 || fields.entry_words > 4 ? 4 : fields.entry_words;
  entry_beats_ = quant_ ? kQuantBeats : entry_words_;
  entry_bytes_ = entry_beats_ * arch::kWordBytes;
  total_ = fields.stream() && fields.count != 0 ? fields.count : 1;
  txn_ = static_cast<std::uint8_t>(request.txn());
  destination_[0] = request.src();
  for (unsigned i = 0; i < 3; ++i) destination_[i + 1] = arch::Coord::from_node_byte(fields.peer(i));
  destinations_ = static_cast<std::uint8_t>(1 + fields.n_peer);
  address_ = fields.addr;
  requested_ = entry_ = beats_ = 0;
  done_at_ = sim::kNever;
  ++requests_;
  PortTarget target = port_target(address_, staging_);
  // The store holds finished words only; a request for conversion goes out (section 7.2).
  if (target == PortTarget::kStore && quant_) target = PortTarget::kPath;
  stored_ = target == PortTarget::kStore;
  if (target == PortTarget::kDrop) {
    ++bursts_;
    ++dropped_;
    misuse.add({MisuseKind::kDroppedAperture, now, request.src(), fields.addr,
                fmt::format("read of {} entries at {:#012x}: nothing serves aperture {:#x} of mesh {}; the "
                            "request is dropped and never answered",
                            total_, fields.addr, arch::address::aperture(fields.addr),
                            arch::address::mesh(fields.addr))});
    return;
  }
  if (stored_) {
    state_ = State::kStg;
    start_ = false;
    stored_at_ = now + 1 + arch::latency::kStagingEntry.value;
    requested_ = total_;  // no bursts
    ++bursts_;            // the run counts once (section 4.6)
    if (staging_aliases(address_, std::uint64_t{total_} * entry_bytes_))
      misuse.add({MisuseKind::kStagingAlias, now, request.src(), fields.addr,
                  fmt::format("read of {} entries at {:#012x} runs past the {} MiB of the staging memory: "
                              "the address wraps",
                              total_, fields.addr, arch::address::kStagingBytes >> 20)});
  } else {
    state_ = State::kFill;
    start_ = quant_;
  }
  if (txn_ + total_ > 256)
    misuse.add({MisuseKind::kTagOverflow, now, request.src(), fields.addr,
                fmt::format("read of {} entries with tag {}: tags wrap at 256", total_, txn_)});
}

void EntryReader::issue(DramWires& wires) {
  if (state_ == State::kIdle || requested_ == total_ || outstanding_ == reads_in_flight_ || wires.ar_valid)
    return;
  wires.ar_valid = true;
  wires.ar_addr = address_;
  wires.ar_beats = entry_beats_;
  wires.ar_origin = destination_[0];
  address_ = (address_ + entry_bytes_) & arch::address::kMask;
  ++requested_;
  ++outstanding_;
  ++bursts_;
}

sim::Cycle EntryReader::next(sim::Cycle now, bool beat_waits) const {
  if (emit_.valid || state_ == State::kWait) return now + 1;
  if (state_ == State::kStg) return std::max(stored_at_, now + 1);
  if (state_ != State::kFill) return sim::kNever;
  if (start_ || (beat_waits && beats_ < entry_beats_)) return now + 1;
  return done_at_;  // kNever while beats are missing: they come as events
}

void EntryReader::visit(sim::Archive& archive) {
  archive.state("state", state_, 2);
  archive.state("start", start_, 1);
  archive.state("quant", quant_, 1);
  archive.state("b_layout", b_layout_, 1);
  archive.state("stored", stored_, 1);
  archive.state("stored_at", stored_at_);
  archive.state("txn", txn_, 8);
  archive.state("destinations", destinations_, 3);
  archive.state("total", total_, 9);
  archive.state("requested", requested_, 9);
  archive.state("entry", entry_, 9);
  archive.state("outstanding", outstanding_, 7);
  archive.state("beats", beats_, 4);
  archive.state("address", address_, arch::address::kBits);
  archive.state("transform_done_at", done_at_);
  archive.memory("buffer", buffer_.data()->data(), 4 * buffer_.size());
  archive.state("emit_valid", emit_.valid, 1);
  archive.state("emit_word", emit_.word, 3);
  archive.state("emit_destination", emit_.destination, 3);
  archive.state("emit_txn", emit_.txn, 8);
  archive.memory("emit_data", emit_.data.data()->data(), 4 * emit_.data.size());
  archive.counter("requests", requests_, "requests", "entry read requests taken");
  archive.counter("bursts", bursts_, "bursts", "entry read bursts issued");
  archive.counter("entries", entries_, "entries", "entries completely received from memory");
  archive.counter("quantised", quantised_, "entries", "entries converted from FP16 to MXFP7 on the way");
  archive.counter("responses", responses_, "flits", "MEM_RD_RESP flits of entry reads, peers included");
  archive.counter("dropped", dropped_, "requests",
                  "entry read requests for an aperture that nothing serves: taken and never answered");
  archive.kept_memory("destination", destination_.data(), destination_.size());
  archive.kept("entry_words", entry_words_);
  archive.kept("entry_beats", entry_beats_);
  archive.kept("entry_bytes", entry_bytes_);
  archive.kept("emit_words", emit_.words);
}

void EntryReader::waits(std::vector<sim::Wait>& waits) const {
  if (emit_.valid)
    waits.push_back(
        {.what = fmt::format("entry read: word {} of tag {} for ({},{}) to leave", emit_.word, emit_.txn,
                             destination_[emit_.destination].x, destination_[emit_.destination].y),
         .part = "reads",
         .on_part = "output",
         .kind = "output"});
  if (state_ == State::kFill && beats_ < entry_beats_)
    waits.push_back(
        {.what = fmt::format("entry read for ({},{}): {} of {} beats of entry {} of {} received",
                             destination_[0].x, destination_[0].y, beats_, entry_beats_, entry_, total_),
         .part = "reads",
         .on_part = "dram",
         .kind = "dram-read"});
}

}  // namespace ktpu::memory
