// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/mover_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/latencies.h"
#include "arch/formats/philox.h"

namespace ktpu::memory {

namespace latency = arch::latency;

MoverWriter::MoverWriter()
    : commands_(sim::FifoShape::sync(latency::kMoverCommandDepth.value)),
      data_(sim::FifoShape::sync(latency::kMoverDataDepth.value)) {}

void MoverWriter::reset(sim::Cycle start) {
  cycles_.reset(start);
  commands_.reset();
  data_.reset();
  arrived_ = beat_ = responses_ = 0;
  starved_ = false;
  state_ = State::kIdle;
  generated_ = sim::kNever;
}

// `leaving`: words that leave the data FIFO in this cycle. The FIFO must show a word, and be it the leaving
// one.
bool MoverWriter::resident(sim::Cycle now, const Command& command, std::uint32_t leaving) const {
  return command.kind != Kind::kData || (data_.readable(now) && arrived_ - leaving >= command.count);
}

void MoverWriter::present(DramWires& wires) {
  wires.aw_valid = true;
  wires.aw_addr = command_.addr;
  wires.aw_beats = command_.count;
  state_ = State::kData;
  beat_ = 0;
  ++bursts_;
}

void MoverWriter::take(sim::Cycle now, DramWires& wires, const MoverRegisters& registers,
                       std::uint32_t leaving) {
  state_ = State::kIdle;
  if (!commands_.readable(now) || responses_ >= latency::kMoverResponses.value) return;
  command_ = commands_.head();
  commands_.pop(now);
  if (command_.kind == Kind::kGenerate) {
    state_ = State::kGenerate;
    // The address is valid the cycle after this; the upper half is in its register one later, in time for the
    // first beat.
    generated_ = now + 2 * latency::kMoverGenerate.value - 1;
    word_ = arch::generated_word(registers.seed, command_.addr);
  } else if (resident(now, command_, leaving)) {
    present(wires);
    ++responses_;
    return;
  } else {
    state_ = State::kArm;
  }
}

MoverWriteCycle MoverWriter::doing(const DramWires& wires) const {
  if (wires.w_taken) return MoverWriteCycle::kMoving;
  switch (state_) {
    case State::kIdle:
      if (commands_.empty()) return responses_ != 0 ? MoverWriteCycle::kAnswer : MoverWriteCycle::kIdle;
      return responses_ >= latency::kMoverResponses.value ? MoverWriteCycle::kResponses
                                                          : MoverWriteCycle::kStep;
    case State::kArm:
      return MoverWriteCycle::kData;
    case State::kGenerate:
      return MoverWriteCycle::kGenerating;
    case State::kData:
      if (wires.aw_valid) return MoverWriteCycle::kGrant;
      return wires.w_data == nullptr ? MoverWriteCycle::kData : MoverWriteCycle::kPath;
  }
  return MoverWriteCycle::kIdle;
}

bool MoverWriter::clock(sim::Cycle now, DramWires& wires, const MoverRegisters& registers) {
  const bool starved = state_ == State::kArm ? !resident(now, command_, 0)
                                             : state_ == State::kIdle && commands_.readable(now) &&
                                                   !resident(now, commands_.head(), 0);
  starved_cycles_ += starved;

  if (wires.aw_granted) wires.aw_valid = false;
  const bool taken = wires.w_taken;
  const bool data_left = taken && command_.kind == Kind::kData;
  const bool burst_done = taken && ++beat_ == command_.count;
  if (taken) {
    ++words_;
    fill_words_ += command_.kind == Kind::kFill;
    generated_words_ += command_.kind == Kind::kGenerate;
  }
  switch (state_) {
    case State::kIdle:
      take(now, wires, registers, 0);
      break;
    case State::kArm:
      if (resident(now, command_, 0)) {
        present(wires);
        ++responses_;
      }
      break;
    case State::kGenerate:
      if (now >= generated_) {
        const auto word = arch::generated_word(registers.seed, command_.addr);
        word_[2] = word[2];
        word_[3] = word[3];
        present(wires);
        ++responses_;
      }
      break;
    case State::kData:
      if (burst_done) take(now, wires, registers, data_left ? 1 : 0);
      break;
  }
  if (wires.b) --responses_;  // the registered number decided
  if (data_left) {
    data_.pop(now);
    --arrived_;
  }
  starved_ = starved;
  return data_left;
}

void MoverWriter::offer(sim::Cycle now, DramWires& wires, const MoverRegisters& registers) {
  if (state_ == State::kData && command_.kind == Kind::kFill) word_ = registers.fill_word();
  show(wires, state_ == State::kData && (command_.kind != Kind::kData || data_.readable(now + 1)));
}

void MoverWriter::show(DramWires& wires, bool offers) const {
  wires.w_data = nullptr;
  if (offers) wires.w_data = command_.kind == Kind::kData ? data_.head().data() : word_.data();
}

void MoverWriter::arrive(sim::Cycle now, const Word& word) {
  data_.push(now, word);
  ++arrived_;
}

sim::Cycle MoverWriter::next(sim::Cycle now, const DramWires& wires) const {
  const sim::Cycle soon = now + 1;
  if (starved_) return soon;
  switch (state_) {
    case State::kIdle:
      return commands_.empty() ? sim::kNever : std::max(soon, commands_.readable_from());
    case State::kArm:
      return std::max(soon, data_.readable_from());
    case State::kGenerate:
      return std::max(soon, generated_);
    case State::kData:
      return wires.w_data == nullptr ? soon : sim::kNever;
  }
  return soon;
}

void MoverWriter::visit(sim::Archive& archive) {
  commands_.visit(archive, "command_fifo");
  data_.visit(archive, "data_fifo");
  archive.state("arrived", arrived_, 10);
  archive.state("starved", starved_, 1);
  archive.state("state", state_, 2);
  cycles_.visit(archive);
  archive.state("addr", command_.addr, arch::address::kBits);
  archive.state("count", command_.count, 8);
  archive.state("kind", command_.kind, 2);
  archive.state("beat", beat_, 8);
  archive.state("responses", responses_, 6);
  archive.state("generated_at", generated_);
  archive.memory("word", word_.data(), word_.size());
  archive.counter("bursts", bursts_, "bursts", "write bursts of the mover");
  archive.counter("words", words_, "words", "32-byte words the mover wrote");
  archive.counter("fill_words", fill_words_, "words", "words among them that are the immediate");
  archive.counter("generated_words", generated_words_, "words", "words among them from the generator");
  archive.counter("starved_cycles", starved_cycles_, "cycles",
                  "cycles the write engine had a command and waited for its data");
}

void MoverWriter::waits(std::vector<sim::Wait>& waits) const {
  if (state_ == State::kArm)
    waits.push_back({fmt::format("mover: the write of {} words at {:#x} has {} of them", command_.count,
                                 command_.addr, arrived_)});
  if (state_ == State::kData)
    waits.push_back({fmt::format("mover: the write at {:#x} has sent {} of {} words", command_.addr, beat_,
                                 command_.count)});
  if (responses_ != 0) waits.push_back({fmt::format("mover: {} write responses to come", responses_)});
}

}  // namespace ktpu::memory
