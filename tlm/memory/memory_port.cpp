// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/memory_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/latencies.h"
#include "arch/encoding/payloads.h"

namespace ktpu::memory {

namespace latency = arch::latency;
using arch::FlitType;

namespace {
constexpr std::uint32_t kBusyFrom = latency::kMemQueueDepth.value - latency::kMemQueueMargin.value;

bool is_entry_read(const arch::Flit& request) {
  const auto fields = arch::unpack<arch::MemReq>(request);
  return fields.stream() || fields.quant();
}
}  // namespace

MemoryPort::MemoryPort(arch::Coord at, unsigned reads_in_flight, MisuseLog& misuse,
                       const StagingConfig& staging)
    : at_(at),
      misuse_(misuse),
      staging_(staging),
      store_(staging.placement == StagingPlacement::kPort ? std::make_unique<SparseMemory>(kStagingMemory)
                                                          : nullptr),
      reads_(sim::FifoShape::sync(latency::kMemQueueDepth.value)),
      writes_in_(sim::FifoShape::sync(latency::kMemQueueDepth.value)),
      reader_(at, reads_in_flight, staging, store_.get()) {}

void MemoryPort::reset(sim::Cycle start) {
  reads_.reset();
  writes_in_.reset();
  busy_ = wedged_ = false;
  reader_.reset();
  slots_.reset();
  wires_ = {};
  skid_size_ = 0;
  state_ = State::kIdle;
  write_beat_ = plain_left_ = 0;
  response_ = false;
  releasing_ = -1;
  out_valid_ = fresh_ = false;
  next_ = sim::kNever;
  plain_reads_before_ = plain_reads_;
  writes_before_ = writes_;
  read_cycles_.reset(start);
  emit_cycles_.reset(start);
  write_cycles_.reset(start);
}

// A request leaves the queue when its engine takes it (sections 4.3 and 4.4).
void MemoryPort::pop_read_queue(sim::Cycle now, bool reader_was_idle, bool emit_was_empty, State was) {
  if (!reader_was_idle || !emit_was_empty || !reads_.readable(now)) return;
  const arch::Flit& request = reads_.head();
  const auto fields = arch::unpack<arch::MemReq>(request);
  if (fields.stream() || fields.quant()) {
    if (was == State::kPlain) return;
    reader_.take(now, request, fields, misuse_);
  } else {
    if (was != State::kIdle) return;
    state_ = State::kPlain;
    plain_left_ = fields.len + 1;
    plain_header_ = arch::make_header(request.src(), at_, FlitType::kMemRdResp, request.txn(), false);
    wires_.ar_valid = true;
    wires_.ar_addr = fields.addr;
    wires_.ar_beats = fields.len + 1;
    wires_.ar_origin = request.src();
    ++plain_reads_;
  }
  reads_.pop(now);
}

void MemoryPort::pop_write_queue(sim::Cycle now) {
  if (wedged_ || !writes_in_.readable(now)) return;
  const arch::Flit& head = writes_in_.head();
  if (head.type() == FlitType::kMemWrReq) {
    if (!slots_.open(now, head, misuse_)) return;
  } else if (!slots_.store(now, head)) {
    wedged_ = true;  // for good: the descriptor it lacks would be behind it
    misuse_.add(
        {MisuseKind::kDataWithoutSlot, now, head.src(), 0,
         fmt::format("write data from ({},{}) belongs to no open write; the write queue of the memory "
                     "port at ({},{}) stops for good",
                     head.src_x(), head.src_y(), at_.x, at_.y)});
    return;
  }
  writes_in_.pop(now);
}

// The write engine takes the next complete slot; its address is valid in the next cycle.
void MemoryPort::begin_write(sim::Cycle now) {
  slot_ = static_cast<std::uint8_t>(slots_.take(now));
  const WriteSlot& slot = slots_.at(slot_);
  write_beat_ = 0;
  ++writes_;
  const PortTarget target = port_target(slot.addr, staging_);
  if (target == PortTarget::kDrop) {
    state_ = State::kDrop;
    ++dropped_;
    misuse_.add({MisuseKind::kDroppedAperture, now, slot.src, slot.addr,
                 fmt::format("write of {} words at {:#012x}: nothing serves aperture {:#x} of mesh {}; the "
                             "data is dropped and never acknowledged",
                             slot.length, slot.addr, arch::address::aperture(slot.addr),
                             arch::address::mesh(slot.addr))});
    return;
  }
  write_words_ += slot.length;
  if (target == PortTarget::kStore) {
    state_ = State::kStore;
    if (staging_aliases(slot.addr, std::uint64_t{slot.length} * arch::kWordBytes))
      misuse_.add({MisuseKind::kStagingAlias, now, slot.src, slot.addr,
                   fmt::format("write of {} words at {:#012x} runs past the {} MiB of the staging memory: "
                               "the address wraps",
                               slot.length, slot.addr, arch::address::kStagingBytes >> 20)});
    return;
  }
  state_ = State::kWrite;
  wires_.aw_valid = true;
  wires_.aw_addr = slot.addr;
  wires_.aw_beats = slot.length;
  wires_.aw_origin = slot.src;
  wires_.w_data = slot.data[0].data();
}

// One word a cycle into the port's own staging memory, then its response.
void MemoryPort::store_word() {
  const WriteSlot& slot = slots_.at(slot_);
  if (write_beat_ == slot.length) {
    response_ = true;
    return;
  }
  store_->write(
      word_of(slot.addr) + std::uint64_t{write_beat_} * arch::kWordBytes,
      {reinterpret_cast<const std::uint8_t*>(slot.data[write_beat_ % kWriteBeats].data()), arch::kWordBytes});
  ++write_beat_;
}

void MemoryPort::clock(sim::Cycle now, const arch::Flit* in, bool out_taken) {
  // Registers as of this cycle; everything below sees these.
  const State was = state_;
  const bool reader_was_idle = reader_.idle();
  const bool emit_was_empty = !reader_.emitting();
  const bool room = !out_valid_ || out_taken;
  if (was == State::kStore && !response_) store_word();
  const bool acknowledge = (was == State::kWrite || was == State::kStore) && (response_ || wires_.b);
  const std::uint64_t* skid_beat = skid_size_ != 0 ? skid_[0].data.data() : nullptr;
  const int release = releasing_;
  releasing_ = -1;

  if (wires_.ar_granted) wires_.ar_valid = false;
  if (wires_.aw_granted) wires_.aw_valid = false;
  if (wires_.w_taken) {
    WriteSlot& slot = slots_.at(slot_);
    wires_.w_data = ++write_beat_ == slot.length ? nullptr : slot.data[write_beat_ % kWriteBeats].data();
  }
  if (wires_.b) response_ = true;

  if (!emit_was_empty) emit_cycles_.enter(now, room ? EmitCycle::kSending : EmitCycle::kBlocked);
  // Output register: emit buffer, then plain read beat or acknowledgement.
  bool beat_taken = false;
  if (room) {
    out_valid_ = true;
    if (!emit_was_empty) {
      reader_.emit(out_);
    } else if (was == State::kPlain && skid_beat != nullptr) {
      std::copy_n(skid_beat, 4, out_.w.begin());
      out_.w[4] = plain_header_ | (plain_left_ == 1 ? 1u << arch::header::kLast.lsb % 32 : 0);
      beat_taken = true;
      ++plain_beats_;
      if (--plain_left_ == 0) state_ = State::kIdle;
    } else if (acknowledge) {
      const WriteSlot& slot = slots_.at(slot_);
      out_ = arch::make_flit(slot.src, at_, FlitType::kMemWrAck, slot.txn, true);
      if (landing_ != nullptr) landing_->write_acknowledged(slot.src, slot.addr);
      releasing_ = slot_;
      response_ = false;
      state_ = State::kIdle;
      ++acks_;
    } else {
      out_valid_ = false;
    }
    fresh_ = out_valid_;
  }

  // Entry read engine.
  if (!reader_was_idle) {
    const bool take = skid_beat != nullptr && reader_.takes_beat();
    reader_.clock(now, take ? skid_beat : nullptr, emit_was_empty);
    beat_taken |= take;
    if (take) read_cycles_.enter(now, ReadCycle::kReceiving);
  }
  pop_read_queue(now, reader_was_idle, emit_was_empty, was);
  reader_.issue(wires_);

  // The next complete write, unless a plain read was faster.
  if (was == State::kIdle && state_ == State::kIdle && slots_.ready(now)) {
    begin_write(now);
  } else if (was == State::kDrop) {
    releasing_ = slot_;
    state_ = State::kIdle;
  }
  pop_write_queue(now);
  if (release >= 0) slots_.release(static_cast<unsigned>(release));

  // R skid: two entries, a beat in at t comes out at t+1.
  if (beat_taken) {
    skid_[0] = skid_[1];
    --skid_size_;
  }
  if (wires_.r_valid) skid_[skid_size_++].data = wires_.r_data;
  wires_.r_ready = skid_size_ < 2;

  if (in != nullptr) (in->type() == FlitType::kMemRdReq ? reads_ : writes_in_).push(now, *in);
  busy_ = reads_.size() >= kBusyFrom || reads_.full() || writes_in_.size() >= kBusyFrom || writes_in_.full();
  wires_.clear_events();
  next_ = work_ahead(now);
  read_cycles_.enter(now + 1, read_state());
  write_cycles_.enter(now + 1, write_state());
  if (!reader_.emitting()) emit_cycles_.enter(now + 1, EmitCycle::kIdle);
}

// From the registers alone, which do not change while the port sleeps.
ReadCycle MemoryPort::read_state() const {
  const ReadCycle state = reader_.cycle_state(wires_.ar_valid);
  return state == ReadCycle::kIdle && !reads_.empty() ? ReadCycle::kQueued : state;
}

WriteCycle MemoryPort::write_state() const {
  if (wedged_) return WriteCycle::kWedged;
  switch (state_) {
    case State::kWrite:
      if (response_) return WriteCycle::kAcknowledge;
      if (wires_.aw_valid) return WriteCycle::kGrant;
      return wires_.w_data != nullptr ? WriteCycle::kData : WriteCycle::kAnswer;
    case State::kPlain:
      return wires_.ar_valid ? WriteCycle::kGrant : WriteCycle::kPlainRead;
    case State::kStore:
      return response_ ? WriteCycle::kAcknowledge : WriteCycle::kData;
    case State::kDrop:
      return WriteCycle::kData;
    case State::kIdle:
      break;
  }
  return slots_.idle() ? WriteCycle::kIdle : WriteCycle::kAssembling;
}

void MemoryPort::sync(sim::Cycle now) {
  read_cycles_.sync(now);
  emit_cycles_.sync(now);
  write_cycles_.sync(now);
}

sim::Cycle MemoryPort::work_ahead(sim::Cycle now) const {
  const sim::Cycle soon = now + 1;
  const bool beat_waits = skid_size_ != 0;
  // A slot to release has its acknowledgement in the output register, so that covers it.
  if (out_valid_ || response_ || (state_ == State::kPlain && beat_waits)) return soon;
  if (state_ == State::kStore || state_ == State::kDrop || releasing_ >= 0) return soon;
  sim::Cycle next = reader_.next(now, beat_waits);
  // Heads of queues; whatever blocks them otherwise is an event after which this is worked out again.
  const bool reader_free = reader_.idle() && !reader_.emitting() && state_ != State::kPlain;
  if (reader_free && !reads_.empty() && (state_ == State::kIdle || is_entry_read(reads_.head())))
    next = std::min(next, reads_.readable_from());
  if (state_ == State::kIdle) next = std::min(next, slots_.ready_from());
  if (!wedged_ && !writes_in_.empty() && (!slots_.full() || writes_in_.head().type() != FlitType::kMemWrReq))
    next = std::min(next, writes_in_.readable_from());
  return std::max(next, soon);
}

bool MemoryPort::idle() const {
  return reads_.empty() && writes_in_.empty() && reader_.idle() && !reader_.emitting() && slots_.idle() &&
         state_ == State::kIdle && skid_size_ == 0 && !out_valid_;
}

void MemoryPort::visit(sim::Archive& archive) {
  reads_.visit(archive, "read_queue");
  writes_in_.visit(archive, "write_queue");
  archive.state("busy", busy_, 1);
  archive.state("wedged", wedged_, 1);
  archive.scope("reader", [&] { reader_.visit(archive); });
  archive.scope("slots", [&] { slots_.visit(archive); });
  archive.state("skid_size", skid_size_, 2);
  archive.memory("skid", skid_.data()->data.data(), 4 * skid_.size());
  archive.state("state", state_, 3);
  archive.state("slot", slot_, 4);
  archive.state("write_beat", write_beat_, 5);
  archive.state("response", response_, 1);
  archive.state("releasing", releasing_);
  archive.state("plain_left", plain_left_, 9);
  archive.state("ar_valid", wires_.ar_valid, 1);
  archive.state("ar_addr", wires_.ar_addr, 40);
  archive.state("aw_valid", wires_.aw_valid, 1);
  archive.state("aw_addr", wires_.aw_addr, 40);
  archive.state("r_ready", wires_.r_ready, 1);
  archive.state("out_valid", out_valid_, 1);
  archive.flit("out", out_);
  archive.scope("read", [&] { read_cycles_.visit(archive); });
  archive.scope("emit", [&] { emit_cycles_.visit(archive); });
  archive.scope("write", [&] { write_cycles_.visit(archive); });
  archive.counter("plain_reads", plain_reads_, "bursts", "plain read bursts issued");
  archive.counter("plain_beats", plain_beats_, "flits", "MEM_RD_RESP flits of plain reads");
  archive.counter("writes", writes_, "bursts", "write bursts issued");
  archive.counter("write_words", write_words_, "words", "32-byte words of the write bursts issued");
  archive.counter("acks", acks_, "flits", "MEM_WR_ACK flits sent");
  archive.counter("dropped", dropped_, "bursts",
                  "writes to an aperture that nothing serves: taken and never acknowledged");
  wires_.visit(archive);
  archive.kept("plain_header", plain_header_);
  archive.kept("fresh", fresh_);
  archive.kept("next", next_);
  archive.kept("plain_reads_before", plain_reads_before_);
  archive.kept("writes_before", writes_before_);
  if (store_ != nullptr) store_->visit(archive);
  if (!archive.restores()) return;
  WriteSlot& slot = slots_.at(slot_);
  const bool offers = state_ == State::kWrite && write_beat_ != slot.length;
  wires_.w_data = offers ? slot.data[write_beat_ % kWriteBeats].data() : nullptr;
}

// Parts: input, read queue, reads (what runs of them), write queue, write slots, writes (the burst that
// runs), output. The way to memory is the agent's part "dram".
void MemoryPort::waits(sim::Cycle now, std::vector<sim::Wait>& waits) const {
  const auto add = [&waits](std::string_view kind, const char* part, const char* on_part, std::string what) {
    waits.push_back({.what = std::move(what), .part = part, .on_part = on_part, .kind = kind});
  };
  slots_.waits(waits);
  reader_.waits(waits);
  if (wedged_)
    add("no-slot", "write queue", "",
        fmt::format("data from ({},{}) at the head of the write queue has no open write",
                    writes_in_.head().src_x(), writes_in_.head().src_y()));
  else if (writes_in_.readable(now) && slots_.full())
    add("slots-full", "write queue", "write slots",
        fmt::format("a write from ({},{}) at the head of the write queue finds all {} write slots taken",
                    writes_in_.head().src_x(), writes_in_.head().src_y(), kWriteSlots));
  if (reads_.readable(now))
    add("read-queue", "read queue", "reads",
        fmt::format("{} requests behind the one that runs", reads_.size()));
  if (state_ == State::kWrite)
    add("dram-write", "writes", response_ ? "output" : "dram",
        fmt::format("the write at {:#x}: {}", wires_.aw_addr,
                    response_ ? "its acknowledge to leave" : "the response of the memory"));
  if (state_ == State::kPlain)
    add("dram-read", "reads", skid_size_ != 0 ? "output" : "dram",
        fmt::format("plain read: {} words to come", plain_left_));
  if (reads_.size() >= kBusyFrom)
    add("queue-full", "input", "read queue",
        fmt::format("room in its read queue ({} requests)", reads_.size()));
  if (writes_in_.size() >= kBusyFrom)
    add("queue-full", "input", "write queue",
        fmt::format("room in its write queue ({} flits)", writes_in_.size()));
  if (out_valid_)
    add("output", "output", "",
        fmt::format("a {} for ({},{}) to leave", arch::flit_type_name(out_.type_code()), out_.dst_x(),
                    out_.dst_y()));
}

}  // namespace ktpu::memory
