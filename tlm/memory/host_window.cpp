// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/host_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "arch/encoding/address_map.h"
#include "arch/encoding/latencies.h"
#include "arch/formats/quantise.h"

namespace ktpu::memory {

namespace address = arch::address;

void HostWindow::bind(sim::Unit& agent) {
  bus_.aw.bind_receiver(agent, &inputs_, 1);
  bus_.ar.bind_receiver(agent, &inputs_, 2);
  bus_.w.bind_receiver(agent, &inputs_, 4);
  bus_.r.bind_sender(agent);
  bus_.b.bind_sender(agent);
}

void HostWindow::reset(sim::Cycle start) {
  cycles_.reset(start);
  wires_ = {};
  fresh_ = true;
  next_ = sim::kNever;
  state_ = State::kIdle;
  response_ = read_waits_ = b_layout_ = false;
  beats_ = total_ = skid_left_ = 0;
  skid_size_ = have_ = word_ = 0;
  address_at_ = sim::kNever;
}

bool HostWindow::takes_data() const {
  if (beats_ == 0) return false;
  if (state_ == State::kWrite) return skid_size_ < skid_.size();
  return state_ == State::kUpload && have_ < kUploadBeats;
}

void HostWindow::show() {
  fresh_ = false;
  bus_.aw.set_busy(state_ != State::kIdle || read_waits_);
  bus_.ar.set_busy(state_ != State::kIdle || read_waits_);
  bus_.w.set_busy(!takes_data());
  if (response_)
    bus_.b.offer(true);
  else
    bus_.b.withdraw();
  if (state_ == State::kRead && skid_size_ != 0)
    bus_.r.offer({skid_[0], beats_ == 1});
  else
    bus_.r.withdraw();
}

void HostWindow::begin_read(const WindowAddress& a) {
  state_ = State::kRead;
  address_ = a.addr & address::kMask;
  beats_ = total_ = skid_left_ = a.beats;
  wires_.ar_valid = true;
  wires_.ar_addr = address_;
  wires_.ar_beats = a.beats;
  wires_.ar_origin = origin_;
  ++reads_;
}

// Of a write and a read offered together the write goes first; the read is kept.
void HostWindow::accept_addresses() {
  if (bus_.aw.transfers()) {
    const WindowAddress& a = bus_.aw.data();
    address_ = a.addr & address::kMask;
    beats_ = total_ = a.beats;
    ++writes_;
    if (address::upload(address_)) {
      state_ = State::kUpload;
      b_layout_ = address::upload_b_layout(address_);
      destination_ = address::upload_destination(address_);
      have_ = word_ = 0;
    } else {
      state_ = State::kWrite;
      wires_.aw_valid = true;
      wires_.aw_addr = address_;
      wires_.aw_beats = a.beats;
      wires_.aw_origin = origin_;
    }
    if (bus_.ar.transfers()) {
      read_waits_ = true;
      waiting_read_ = bus_.ar.data();
    }
  } else if (read_waits_) {
    read_waits_ = false;
    begin_read(waiting_read_);
  } else if (bus_.ar.transfers()) {
    begin_read(bus_.ar.data());
  }
}

void HostWindow::write() {
  if (wires_.w_taken) {
    skid_[0] = skid_[1];
    --skid_size_;
    ++words_written_;
  }
  if (bus_.w.transfers()) {
    skid_[skid_size_++] = bus_.w.data().data;
    --beats_;
  }
  wires_.w_data = skid_size_ != 0 ? skid_[0].data() : nullptr;
  if (wires_.b) response_ = true;
}

void HostWindow::read() {
  if (bus_.r.valid() && bus_.r.sample_sent()) {
    skid_[0] = skid_[1];
    --skid_size_;
    ++words_read_;
    if (--beats_ == 0) state_ = State::kIdle;
  }
  if (wires_.r_valid) {
    skid_[skid_size_++] = wires_.r_data;
    --skid_left_;
  }
  wires_.r_ready = skid_size_ < skid_.size();
}

void HostWindow::convert() {
  const auto entry = arch::quantise_entry(std::span<const std::uint16_t, arch::kLanes * arch::kBlockK>(
      reinterpret_cast<const std::uint16_t*>(entry_.data()), arch::kLanes * arch::kBlockK));
  for (unsigned word = 0; word < kUploadWords; ++word)
    entry_[word] = arch::operand_word(b_layout_ ? arch::Side::kB : arch::Side::kA, word, entry);
}

void HostWindow::upload(sim::Cycle now) {
  if (bus_.w.transfers()) {
    entry_[have_++] = bus_.w.data().data;
    --beats_;
    if (have_ == kUploadBeats) {
      address_at_ = now + arch::latency::kQuantDone.value + arch::latency::kUploadAddress.value;
      ++entries_;
    }
  }
  if (address_at_ == now + 1) {
    address_at_ = sim::kNever;
    convert();
    word_ = 0;
    wires_.aw_valid = true;
    wires_.aw_addr = destination_;
    wires_.aw_beats = kUploadWords;
    wires_.aw_origin = origin_;
    wires_.w_data = entry_[0].data();
  }
  if (wires_.w_taken) {
    ++words_written_;
    wires_.w_data = ++word_ == kUploadWords ? nullptr : entry_[word_].data();
  }
  if (wires_.b) {
    have_ = 0;
    destination_ += address::kEntryBytesMxfp7;
    if (beats_ == 0) response_ = true;
  }
}

// By the registers and the path's events of a cycle: without events it stays what it is.
WindowCycle HostWindow::doing() const {
  if (wires_.w_taken || wires_.r_valid) return WindowCycle::kMoving;
  if (address_at_ != sim::kNever) return WindowCycle::kConverting;
  if (wires_.ar_valid || wires_.aw_valid || read_waits_) return WindowCycle::kGrant;
  switch (state_) {
    case State::kIdle:
      return WindowCycle::kIdle;
    case State::kWrite:
      return response_ || (skid_size_ == 0 && beats_ != 0) ? WindowCycle::kHost : WindowCycle::kMemory;
    case State::kRead:
      return skid_size_ != 0 ? WindowCycle::kHost : WindowCycle::kMemory;
    case State::kUpload:
      return response_ || have_ < kUploadBeats ? WindowCycle::kHost : WindowCycle::kMemory;
  }
  return WindowCycle::kIdle;
}

void HostWindow::clock(sim::Cycle now) {
  cycles_.enter(now, doing());
  if (wires_.ar_granted) wires_.ar_valid = false;
  if (wires_.aw_granted) wires_.aw_valid = false;
  // Whatever the outputs depend on.
  const auto registers = [&] {
    return std::tuple(state_, response_, read_waits_, beats_, skid_size_, have_, words_written_);
  };
  const auto before = registers();
  if (response_) {
    if (bus_.b.valid() && bus_.b.sample_sent()) {
      response_ = false;
      state_ = State::kIdle;
    }
  } else {
    switch (state_) {
      case State::kIdle:
        accept_addresses();
        break;
      case State::kWrite:
        write();
        break;
      case State::kRead:
        read();
        break;
      case State::kUpload:
        upload(now);
        break;
    }
  }
  wires_.clear_events();
  cycles_.enter(now + 1, doing());
  fresh_ |= registers() != before;
  next_ = sim::kNever;
  if (address_at_ != sim::kNever) next_ = address_at_ - 1;
  if (fresh_ || response_ || read_waits_ || (state_ == State::kRead && skid_size_ != 0)) next_ = now + 1;
}

void HostWindow::visit(sim::Archive& archive) {
  archive.state("state", state_, 2);
  archive.state("response", response_, 1);
  archive.state("read_waits", read_waits_, 1);
  archive.state("waiting_read_addr", waiting_read_.addr, address::kBits);
  archive.state("waiting_read_beats", waiting_read_.beats, 9);
  archive.state("address", address_, address::kBits);
  archive.state("beats", beats_, 9);
  archive.state("total", total_, 9);
  archive.memory("skid", skid_.data()->data(), 4 * skid_.size());
  archive.state("skid_size", skid_size_, 2);
  archive.state("skid_left", skid_left_, 9);
  archive.state("b_layout", b_layout_, 1);
  archive.state("have", have_, 4);
  archive.state("word", word_, 3);
  archive.state("address_at", address_at_);
  archive.state("destination", destination_, address::kBits);
  archive.memory("entry", entry_.data()->data(), 4 * entry_.size());
  archive.state("ar_valid", wires_.ar_valid, 1);
  archive.state("aw_valid", wires_.aw_valid, 1);
  archive.state("r_ready", wires_.r_ready, 1);
  cycles_.visit(archive);
  archive.counter("writes", writes_, "bursts", "write bursts of the host, uploads included");
  archive.counter("reads", reads_, "bursts", "read bursts of the host");
  archive.counter("words_written", words_written_, "words", "32-byte words written for the host");
  archive.counter("words_read", words_read_, "words", "32-byte words read for the host");
  archive.counter("entries", entries_, "entries", "entries that uploads quantised");
  wires_.visit(archive);
  archive.kept("fresh", fresh_);
  archive.kept("next", next_);
  if (archive.restores()) wires_.w_data = offered_word();
}

// The word on its way to the path.
const std::uint64_t* HostWindow::offered_word() const {
  if (state_ == State::kWrite) return skid_size_ != 0 ? skid_[0].data() : nullptr;
  const bool converted = state_ == State::kUpload && have_ == kUploadBeats && address_at_ == sim::kNever;
  return converted && word_ != kUploadWords ? entry_[word_].data() : nullptr;
}

void HostWindow::waits(std::vector<sim::Wait>& waits) const {
  switch (state_) {
    case State::kIdle:
      break;
    case State::kWrite:
      waits.push_back({fmt::format("host window: write of {} words at {:#x}: {}", total_, address_,
                                   beats_ != 0 ? fmt::format("{} words of the host", beats_)
                                               : std::string("response of the memory"))});
      break;
    case State::kRead:
      waits.push_back(
          {fmt::format("host window: read of {} words at {:#x}: {} words", total_, address_, beats_)});
      break;
    case State::kUpload:
      if (beats_ == 0 && have_ % kUploadBeats != 0)
        waits.push_back(
            {.what = fmt::format(
                 "host window: upload of {} beats at {:#x} has {} of the {} beats of its last entry and "
                 "waits for the rest for ever; an upload is a multiple of {} beats",
                 total_, address_, have_, kUploadBeats, kUploadBeats),
             .kind = "upload-short"});
      else
        waits.push_back({fmt::format("host window: upload of {} beats at {:#x}: {} beats of the host to come",
                                     total_, address_, beats_)});
  }
}

}  // namespace ktpu::memory
