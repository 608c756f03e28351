// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/sender.h"

#include <fmt/format.h>

#include <algorithm>

namespace ktpu::memory {

namespace il = arch::interlink;

void Sender::reset(sim::Cycle start) {
  cycles_.reset(start);
  state_ = State::kIdle;
  granted_ = first_ = false;
  left_ = 0;
  word_ = {};
}

LinkPort::Request Sender::request(unsigned link) const {
  if (state_ != State::kSend || granted_ || link_ != link) return {};
  return {true, header_.beats, class_};
}

Beat Sender::beat() const {
  Beat beat{word_, {}};
  if (first_) beat.header = il::pack(header_);
  return beat;
}

// Earlier writes go before a doorbell, which tells of them.
void Sender::choose(const Way& way, Encapsulator& encapsulator, WriteSplit& writes, Doorbell& doorbell) {
  if (writes.requests()) {
    from_ = From::kWrite;
    header_ = writes.header();
    writes.accepted();
  } else if (encapsulator.closed()) {
    from_ = From::kFlits;
    header_ = encapsulator.header(way.own_mesh);
  } else if (doorbell.pending) {
    from_ = From::kDoorbell;
    header_ = {};
    header_.kind = il::Kind::kDoorbell;
    header_.destination = doorbell.mesh;
    header_.source = way.own_mesh;
    header_.txn = doorbell.tag;
    doorbell.pending = false;
  } else {
    return;
  }
  state_ = State::kOffer;
  left_ = header_.beats;
  link_ = static_cast<std::uint8_t>(il::link_towards(way.own_mesh, header_.destination));
  const bool stops = il::neighbour(way.own_mesh, link_) == header_.destination;
  class_ = static_cast<std::uint8_t>(stops ? il::kStops : il::kForwarded);
  reachable_ = header_.destination != way.own_mesh && way.links[link_];
}

// The next word into the register. False: it is not there yet.
bool Sender::fetch(sim::Cycle now, Encapsulator& encapsulator, WriteSplit& writes) {
  switch (from_) {
    case From::kFlits:
      if (!encapsulator.load(now)) {
        if (!quirks_) return false;
        // I1: the word sent before goes out again, and this one leads the next packet.
        if (single_flits_++ == 0) first_single_ = now;
      }
      word_ = encapsulator.word();
      return true;
    case From::kWrite: {
      if (!writes.word_offered()) return false;
      word_ = {};
      std::copy_n(writes.take_word(), 4, word_.w.begin());
      return true;
    }
    case From::kDoorbell:
      word_ = {};
      return true;
  }
  return true;
}

// Of the present cycle, before anything changes.
SenderCycle Sender::doing(bool moved) const {
  switch (state_) {
    case State::kIdle:
      return SenderCycle::kIdle;
    case State::kOffer:
      return SenderCycle::kStep;
    case State::kDrop:
      return SenderCycle::kDropping;
    case State::kSend:
      return moved ? SenderCycle::kSending : granted_ ? SenderCycle::kStep : SenderCycle::kLink;
  }
  return SenderCycle::kIdle;
}

bool Sender::clock(sim::Cycle now, bool moved, const Way& way, Encapsulator& encapsulator, WriteSplit& writes,
                   Doorbell& doorbell) {
  bool dropped = false;
  SenderCycle did = doing(moved);
  switch (state_) {
    case State::kIdle:
      choose(way, encapsulator, writes, doorbell);
      if (state_ != State::kIdle) did = SenderCycle::kStep;
      break;
    case State::kOffer:
      if (!fetch(now, encapsulator, writes)) {
        did = SenderCycle::kWord;
        break;
      }
      state_ = reachable_ ? State::kSend : State::kDrop;
      dropped = !reachable_;
      first_ = true;
      break;
    case State::kDrop:
      moved = true;
      dropped_ += from_ == From::kFlits;
      [[fallthrough]];
    case State::kSend:
      if (!moved) break;
      first_ = false;
      if (--left_ != 0) {
        fetch(now, encapsulator, writes);
        break;
      }
      if (from_ == From::kFlits) encapsulator.sent();
      if (state_ == State::kSend) {
        flits_ += from_ == From::kFlits ? header_.beats : 0;
        writes_ += from_ == From::kWrite;
        doorbells_ += from_ == From::kDoorbell;
      }
      state_ = State::kIdle;
      granted_ = false;
      break;
  }
  cycles_.enter(now, did);
  if (state_ == State::kIdle) cycles_.enter(now + 1, SenderCycle::kIdle);  // else it runs then
  return dropped;
}

void Sender::visit(sim::Archive& archive) {
  archive.state("state", state_, 2);
  cycles_.visit(archive);
  archive.computed("flits_moved", flits_moved(), 6);
  archive.state("from", from_, 2);
  archive.state("kind", header_.kind, 4);
  archive.state("destination", header_.destination, 2);
  archive.state("source", header_.source, 2);
  archive.state("txn", header_.txn, 8);
  archive.state("beats", header_.beats, 6);
  archive.state("address", header_.address, 40);
  archive.state("reachable", reachable_, 1);
  archive.state("link", link_, 1);
  archive.state("class", class_, 1);
  archive.state("granted", granted_, 1);
  archive.state("first", first_, 1);
  archive.state("left", left_, 6);
  archive.flit("word", word_);
  archive.counter("flits", flits_, "flits", "flits sent to other meshes");
  archive.counter("writes", writes_, "words", "words of the mover sent to other meshes");
  archive.counter("doorbells", doorbells_, "packets", "doorbells sent");
  archive.counter("unreachable", dropped_, "flits",
                  "flits dropped because no link leads to their mesh, or the interlink was disabled");
  archive.counter("single_flits", single_flits_, "packets",
                  "packets of one flit, which sent the previous word again (quirk I1)");
  archive.kept("first_single", first_single_);
}

void Sender::waits(std::vector<sim::Wait>& waits) const {
  if (state_ == State::kSend && !granted_)
    waits.push_back({fmt::format("interlink: a packet of {} beats for mesh {} to have room there",
                                 header_.beats, header_.destination)});
  if (state_ == State::kOffer)
    waits.push_back({fmt::format("interlink: the data of a write for mesh {}", header_.destination)});
}

}  // namespace ktpu::memory
