// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/mover_issue.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/latencies.h"

namespace ktpu::memory {

namespace latency = arch::latency;
using arch::mover::Fault;
using arch::mover::Mode;

namespace {
constexpr std::uint32_t kPageWords = 4096 / arch::kWordBytes;
constexpr std::uint32_t kIndicesPerWord = 8;
}  // namespace

MoverIssue::MoverIssue(bool quirks, arch::Coord origin, MisuseLog& misuse)
    : quirks_(quirks), origin_(origin), misuse_(misuse), indices_(arch::mover::kMaxIndices) {}

void MoverIssue::reset(sim::Cycle start) {
  cycles_.reset(start);
  state_ = State::kIdle;
  fault_ = Fault::kNone;
  produced_last_ = false;
  stages_ = {};
  read_ = write_ = {};
  request_ = {};
  skid_ = {};
  outstanding_ = reserved_ = indices_loaded_ = 0;
  gather_phase_ = gather_row_ = gather_word_ = 0;
  moves_ = 0;
}

void MoverIssue::Run::extend() {
  next = (next + arch::kWordBytes) & arch::address::kMask;
  ++count;
  --room;
}

// Never leaves its 4 KB page and never exceeds the cap.
void MoverIssue::Run::start(std::uint64_t addr, MoverWriter::Kind what, std::uint32_t cap) {
  open = true;
  kind = what;
  base = addr;
  next = (addr + arch::kWordBytes) & arch::address::kMask;
  count = 1;
  room = std::min<std::uint32_t>(kPageWords - 1 - (addr / arch::kWordBytes % kPageWords), cap - 1);
}

void MoverIssue::go(sim::Cycle now) {
  if (state_ != State::kIdle) {
    ++ignored_;
    misuse_.add({MisuseKind::kMoverBusy, now, origin_, 0,
                 "memory mover: a GO was ignored because a move was running; its other fields and registers "
                 "act on that move"});
    return;
  }
  state_ = State::kStart;
  fault_ = Fault::kNone;
}

void MoverIssue::fail(sim::Cycle now, Fault fault, std::string text) {
  fault_ = fault;
  ++faults_;
  misuse_.add({MisuseKind::kMoverFault, now, origin_, 0,
               fmt::format("memory mover: fault {}: {}", static_cast<unsigned>(fault), text)});
}

void MoverIssue::begin(sim::Cycle now, MoverRegisters& registers) {
  state_ = State::kIdle;
  if (registers.mode == Mode::kTranspose || registers.mode > Mode::kFill)
    return fail(now, Fault::kMode,
                fmt::format("mode {} is not built", static_cast<unsigned>(registers.mode)));
  if (registers.width > 2) return fail(now, Fault::kWidth, "element width 3 does not exist");
  const bool gather = registers.mode == Mode::kGather;
  if (gather && (registers.index_count == 0 || registers.index_count > arch::mover::kMaxIndices))
    return fail(now, Fault::kIndexLength,
                fmt::format("a gather of {} indices; 1..{} are possible", registers.index_count,
                            arch::mover::kMaxIndices));
  state_ = gather ? State::kIndices : State::kWalk;
  registers.source.restart();
  registers.destination.restart();
  produced_last_ = false;
  stages_ = {};
  read_ = write_ = {};
  indices_loaded_ = 0;
  gather_phase_ = gather_row_ = gather_word_ = 0;
}

bool MoverIssue::can_request() const { return !request_.valid && outstanding_ < latency::kMoverReads.value; }

// One word per read, one read at a time.
void MoverIssue::load_indices(const MoverRegisters& registers) {
  if (outstanding_ != 0) return;
  if (indices_loaded_ * kIndicesPerWord >= registers.index_count) {
    state_ = State::kWalk;
    return;
  }
  request_ = {
      true,
      (registers.index_address + indices_loaded_ * std::uint64_t{arch::kWordBytes}) & arch::address::kMask,
      1};
  ++outstanding_;
  ++read_bursts_;
}

bool MoverIssue::arrive(const std::array<std::uint64_t, 4>& word, bool last) {
  outstanding_ -= last;
  ++read_words_;
  if (state_ != State::kIndices) return true;
  for (unsigned i = 0; i < kIndicesPerWord; ++i)
    indices_[(indices_loaded_ * kIndicesPerWord + i) % indices_.size()] =
        static_cast<std::uint32_t>(word[i / 2] >> (32 * (i % 2)));
  ++indices_loaded_;
  return false;
}

void MoverIssue::close_read() {
  if (!read_.open) return;
  request_ = {true, read_.base, read_.count};
  read_.open = false;
  ++outstanding_;
  ++read_bursts_;
}

void MoverIssue::close_write(sim::Cycle now, MoverWriter& writer) {
  if (write_.open) writer.push(now, {write_.base, write_.count, write_.kind});
  write_.open = false;
}

IssueCycle MoverIssue::examine(sim::Cycle now, const MoverRegisters& registers, MoverWriter& writer) {
  using Kind = MoverWriter::Kind;
  const Element& e = stages_[1];
  const bool misaligned = e.destination_valid && e.destination % arch::kWordBytes != 0;
  const bool writes = e.destination_valid && !misaligned;
  Kind kind = Kind::kData;
  if (registers.mode == Mode::kFill)
    kind = Kind::kFill;
  else if (registers.mode == Mode::kGenerate)
    kind = Kind::kGenerate;
  else if (!e.source_valid)
    kind = Kind::kFill;
  const bool reads = writes && kind == Kind::kData;

  const bool extend_read = reads && read_.extends(e.source);
  const bool extend_write =
      writes && kind != Kind::kGenerate && write_.kind == kind && write_.extends(e.destination);
  const bool read_closes = read_.open && !extend_read, write_closes = write_.open && !extend_write;

  const bool no_request = read_closes && !can_request();
  const bool no_command = write_closes && writer.full();
  const bool no_room = reads && reserved_ >= latency::kMoverDataDepth.value;
  if (no_request || no_command || no_room) {
    stall_request_ += no_request;
    stall_command_ += no_command;
    stall_data_ += no_room;
    // The run that holds the data of the waiting commands could never close otherwise.
    if (no_command && read_.open && can_request() && writer.starved()) {
      close_read();
      ++flushes_;
    }
    return no_request ? IssueCycle::kRequest : no_command ? IssueCycle::kCommand : IssueCycle::kData;
  }

  if (read_closes) close_read();
  if (write_closes) close_write(now, writer);
  if (reads) {
    if (extend_read)
      read_.extend();
    else
      read_.start(e.source, kind, registers.cap());
    ++reserved_;
  }
  if (writes) {
    if (extend_write)
      write_.extend();
    else
      write_.start(e.destination, kind, registers.coalesce ? registers.cap() : 1);
  }
  ++elements_;
  suppressed_ += !e.destination_valid;
  if (misaligned)
    fail(now, Fault::kAlignment,
         fmt::format("destination {:#x} is no multiple of {}; the move stops", e.destination,
                     arch::kWordBytes));
  if (misaligned || e.last) state_ = State::kCloseRead;
  return IssueCycle::kWalking;
}

// Puts the present position of the walkers into the first stage and steps them.
void MoverIssue::produce(MoverRegisters& registers) {
  Element& e = stages_[0];
  e.present = false;
  if (produced_last_) return;
  const bool gather = registers.mode == Mode::kGather;
  if (gather && ++gather_phase_ < latency::kMoverGather.value) return;
  gather_phase_ = 0;
  e.present = true;
  e.destination = registers.destination.address();
  e.destination_valid = registers.destination.valid();
  e.last = produced_last_ = registers.destination.at_last();
  if (gather) {
    const bool loaded = gather_row_ < indices_loaded_ * kIndicesPerWord;
    const std::uint32_t offset = loaded ? indices_[gather_row_] * registers.pitch : 0;
    e.source = (registers.source.base() + offset + std::uint64_t{gather_word_} * arch::kWordBytes) &
               arch::address::kMask;
    e.source_valid = true;
    if (++gather_word_ >= registers.row_words) {
      gather_word_ = 0;
      ++gather_row_;
    }
  } else {
    e.source = registers.source.address();
    e.source_valid = registers.source.valid();
    registers.source.step();
  }
  registers.destination.step();
}

void MoverIssue::advance(MoverRegisters& registers) {
  stages_[1] = stages_[0];
  produce(registers);
}

void MoverIssue::drain(sim::Cycle now, const MoverWriter& writer) {
  if (outstanding_ != 0 || !writer.looks_idle(now)) return;
  if (writer.unfinished() != 0) {
    if (!quirks_) return;
    if (early_done_++ == 0) first_early_done_ = now;
  }
  state_ = State::kDone;
}

// Request register and the skid behind it, whose registers are the read channel.
void MoverIssue::move_addresses(DramWires& wires, bool had_request) {
  const bool ready = !skid_[1].valid;
  if (wires.ar_granted) {
    skid_[0] = skid_[1];
    skid_[1].valid = false;
  }
  if (had_request && ready) {
    skid_[skid_[0].valid ? 1 : 0] = request_;
    request_.valid = false;
  }
  wires.ar_valid = skid_[0].valid;
  wires.ar_addr = skid_[0].addr;
  wires.ar_beats = skid_[0].beats;
}

IssueCycle MoverIssue::step(sim::Cycle now, MoverRegisters& registers, MoverWriter& writer) {
  switch (state_) {
    case State::kIdle:
      return IssueCycle::kIdle;
    case State::kStart:
      begin(now, registers);
      return IssueCycle::kStep;
    case State::kIndices:
      load_indices(registers);
      return IssueCycle::kIndices;
    case State::kWalk: {
      const IssueCycle did = stages_[1].present ? examine(now, registers, writer) : IssueCycle::kWalking;
      if (did == IssueCycle::kWalking) advance(registers);
      return did;
    }
    case State::kCloseRead:
      if (read_.open && !can_request()) return IssueCycle::kRequest;
      close_read();
      state_ = State::kCloseWrite;
      return IssueCycle::kStep;
    case State::kCloseWrite:
      if (write_.open && writer.full()) return IssueCycle::kCommand;
      close_write(now, writer);
      state_ = State::kDrain;
      return IssueCycle::kStep;
    case State::kDrain:
      drain(now, writer);
      return IssueCycle::kDrain;
    case State::kDone:
      moves_ += fault_ == Fault::kNone;
      state_ = State::kIdle;
      return IssueCycle::kStep;
  }
  return IssueCycle::kIdle;
}

void MoverIssue::clock(sim::Cycle now, DramWires& wires, MoverRegisters& registers, MoverWriter& writer) {
  const bool had_request = request_.valid;
  if (state_ != State::kIdle) {
    ++busy_cycles_;
    cycles_.enter(now, step(now, registers, writer));
    // It runs in every cycle until it is idle.
    if (state_ == State::kIdle) cycles_.enter(now + 1, IssueCycle::kIdle);
  }
  move_addresses(wires, had_request);
}

sim::Cycle MoverIssue::next(sim::Cycle now) const {
  const bool moves = request_.valid && !skid_[1].valid;
  // Draining and waiting for an index end with an event.
  if (state_ == State::kIdle) return moves ? now + 1 : sim::kNever;
  return now + 1;
}

void MoverIssue::visit(sim::Archive& archive) {
  archive.state("state", state_, 3);
  cycles_.visit(archive);
  archive.state("fault", fault_, 4);
  archive.state("moves", moves_, 24);
  archive.state("produced_last", produced_last_, 1);
  for (unsigned i = 0; i < stages_.size(); ++i) {
    archive.scope(fmt::format("stage{}", i), [&] {
      archive.state("present", stages_[i].present, 1);
      archive.state("last", stages_[i].last, 1);
      archive.state("source_valid", stages_[i].source_valid, 1);
      archive.state("destination_valid", stages_[i].destination_valid, 1);
      archive.state("source", stages_[i].source, arch::address::kBits);
      archive.state("destination", stages_[i].destination, arch::address::kBits);
    });
  }
  const auto run = [&](std::string_view name, Run& r) {
    archive.scope(name, [&] {
      archive.state("open", r.open, 1);
      archive.state("kind", r.kind, 2);
      archive.state("base", r.base, arch::address::kBits);
      archive.state("next", r.next, arch::address::kBits);
      archive.state("count", r.count, 8);
      archive.state("room", r.room, 8);
    });
  };
  run("read_run", read_);
  run("write_run", write_);
  const auto address = [&](std::string_view name, Address& a) {
    archive.scope(name, [&] {
      archive.state("valid", a.valid, 1);
      archive.state("addr", a.addr, arch::address::kBits);
      archive.state("beats", a.beats, 8);
    });
  };
  address("request", request_);
  address("skid0", skid_[0]);
  address("skid1", skid_[1]);
  archive.state("outstanding", outstanding_, 5);
  archive.state("reserved", reserved_, 10);
  archive.state("indices_loaded", indices_loaded_, 9);
  archive.memory("indices", indices_.data(),
                 std::size_t{indices_loaded_} * kIndicesPerWord);  // others act as 0
  archive.state("gather_phase", gather_phase_, 3);
  archive.state("gather_row", gather_row_);
  archive.state("gather_word", gather_word_, 16);
  archive.counter("faults", faults_, "moves", "moves that ended in a fault");
  archive.counter("ignored", ignored_, "writes", "GO writes ignored because a move was running");
  archive.counter("elements", elements_, "elements", "elements examined");
  archive.counter("suppressed", suppressed_, "elements",
                  "elements outside the destination's extents, not written");
  archive.counter("read_bursts", read_bursts_, "bursts", "read bursts of the mover");
  archive.counter("read_words", read_words_, "words", "32-byte words read, indices included");
  archive.counter("flushes", flushes_, "bursts",
                  "read runs requested early because the write engine starved behind a full command FIFO");
  archive.counter("stall_request", stall_request_, "cycles",
                  "cycles an element waited for the read request register or for fewer reads in flight");
  archive.counter("stall_command", stall_command_, "cycles",
                  "cycles an element waited for room in the command FIFO");
  archive.counter("stall_data", stall_data_, "cycles", "cycles an element waited for room in the data FIFO");
  archive.counter("busy_cycles", busy_cycles_, "cycles", "cycles with a move running");
  archive.counter("early_done", early_done_, "moves",
                  "moves reported done before their last write was answered (quirk M1)");
  archive.kept("first_early_done", first_early_done_);
}

void MoverIssue::waits(std::vector<sim::Wait>& waits) const {
  if (state_ == State::kIdle) return;
  if (state_ == State::kIndices)
    waits.push_back({fmt::format("mover: {} words of indices read", indices_loaded_)});
  if (outstanding_ != 0) waits.push_back({fmt::format("mover: {} read bursts in flight", outstanding_)});
  if (state_ == State::kWalk) waits.push_back({"mover: walks, the move is not complete"});
}

}  // namespace ktpu::memory
