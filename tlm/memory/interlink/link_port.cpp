// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/link_port.h"

#include <fmt/format.h>

#include <algorithm>

namespace ktpu::memory {

namespace il = arch::interlink;

LinkPort::LinkPort()
    : buffers_{sim::Fifo<Beat>(sim::FifoShape::sync(il::kCredits)),
               sim::Fifo<Beat>(sim::FifoShape::sync(il::kCredits))} {}

void LinkPort::connect(sim::Unit& owner, BeatLink* out, BeatLink* in) {
  out_ = out;
  in_ = in;
  out->bind_sender(owner);
  in->bind_receiver(owner);
}

void LinkPort::reset(sim::Cycle start) {
  cycles_.reset(start);
  sends_flits_ = receives_flits_ = out_flit_ = next_flit_ = false;
  pops_flits_.fill(false);
  held_flits_ = 0;
  state_ = was_ = State::kRest;
  left_ = 0;
  turn_ = 0;
  out_valid_ = next_valid_ = in_valid_ = false;
  credit_.fill(il::kCredits);
  in_class_ = 0;
  for (auto& buffer : buffers_) buffer.reset();
  owed_.fill(0);
  popped_.fill(0);
}

void LinkPort::drive() {
  if (out_valid_) {
    out_->offer(out_beat_);
    shown_ = true;
  } else if (shown_) {
    out_->withdraw();
    shown_ = false;
  }
}

bool LinkPort::grant_credit(bool urgent) {
  for (unsigned c = 0; c < il::kClasses; ++c) {
    if (owed_[c] == 0 || (urgent && owed_[c] < il::kCreditReturn)) continue;
    il::Header header;
    header.kind = il::Kind::kCredit;
    header.txn = std::min(owed_[c], il::kMaxCreditPacket);
    header.address = c;
    owed_[c] -= header.txn;
    credit_beat_ = {{}, il::pack(header)};
    state_ = State::kCredit;
    did_ = LinkCycle::kGranting;
    return true;
  }
  return false;
}

int LinkPort::arbitrate(const std::array<Request, kSources>& requests) {
  if (was_ == State::kCredit) {
    out_beat_ = credit_beat_;
    next_valid_ = true;
    ++credits_sent_;
    state_ = State::kRest;
    did_ = LinkCycle::kCredit;
  }
  if (was_ != State::kRest || !connected()) return -1;
  if (grant_credit(true)) return -1;
  bool short_of_credit = false;
  for (unsigned c = 0; c < il::kClasses; ++c)
    for (unsigned i = 0; i < kSources; ++i) {
      const unsigned s = (turn_ + i) % kSources;
      const Request& r = requests[s];
      if (!r.valid || r.traffic_class != c) continue;
      if (r.beats > credit_[c]) {
        short_of_credit = true;
        continue;
      }
      credit_[c] -= r.beats;
      state_ = State::kData;
      did_ = LinkCycle::kGranting;
      source_ = static_cast<Source>(s);
      left_ = r.beats;
      turn_ = static_cast<std::uint8_t>((s + 1) % kSources);
      return static_cast<int>(s);
    }
  stalled_cycles_ += short_of_credit;
  if (short_of_credit) did_ = LinkCycle::kNoCredit;
  grant_credit(false);
  return -1;
}

void LinkPort::move(const Beat& beat) {
  out_beat_ = beat;
  next_valid_ = true;
  ++beats_sent_;
  packets_sent_ += beat.first();
  did_ = LinkCycle::kMoving;
  if (beat.first()) sends_flits_ = il::unpack(beat.header).kind == il::Kind::kFlits;
  next_flit_ = sends_flits_;
  flits_sent_ += sends_flits_;
  if (--left_ == 0) state_ = State::kRest;
}

bool LinkPort::pop(sim::Cycle now, unsigned traffic_class) {
  const Beat& beat = buffers_[traffic_class].head();
  bool& flits = pops_flits_[traffic_class];
  if (beat.first()) flits = il::unpack(beat.header).kind == il::Kind::kFlits;
  held_flits_ -= flits;
  buffers_[traffic_class].pop(now);
  ++popped_[traffic_class];
  return flits;
}

void LinkPort::finish(sim::Cycle now, unsigned own_mesh) {
  cycles_.enter(now, did_);
  cycles_.enter(now + 1, LinkCycle::kIdle);  // else it runs then
  if (out_valid_) out_->sample_sent();
  out_valid_ = next_valid_;
  out_flit_ = next_flit_;
  next_valid_ = next_flit_ = false;
  if (in_valid_) {
    const il::Header header = il::unpack(in_beat_.header);
    if (in_beat_.first() && header.kind == il::Kind::kCredit) {
      credit_[header.address & 1] += header.txn;
      ++credits_received_;
    } else {
      if (in_beat_.first()) {
        in_class_ = header.destination == own_mesh ? il::kStops : il::kForwarded;
        receives_flits_ = header.kind == il::Kind::kFlits;
        ++packets_received_;
      }
      buffers_[in_class_].push(now, in_beat_);
      ++beats_received_;
      flits_received_ += receives_flits_;
      held_flits_ += receives_flits_;
    }
  }
  in_valid_ = arriving();
  if (in_valid_) in_beat_ = in_->data();
  for (unsigned c = 0; c < il::kClasses; ++c) {
    owed_[c] += popped_[c];
    popped_[c] = 0;
  }
}

// Whether the input register holds a flit for a mesh.
bool LinkPort::in_flit() const {
  if (!in_valid_) return false;
  if (!in_beat_.first()) return receives_flits_;
  return il::unpack(in_beat_.header).kind == il::Kind::kFlits;
}

bool LinkPort::active() const {
  return state_ != State::kRest || out_valid_ || shown_ || in_valid_ || owed_[0] != 0 || owed_[1] != 0;
}

bool LinkPort::idle() const { return !active() && buffers_[0].empty() && buffers_[1].empty(); }

void LinkPort::visit(sim::Archive& archive) {
  archive.state("state", state_, 2);
  archive.state("source", source_, 1);
  archive.state("left", left_, 6);
  archive.state("turn", turn_, 1);
  archive.memory("credit_beat", credit_beat_.header.data(), credit_beat_.header.size());
  archive.state("out_valid", out_valid_, 1);
  archive.flit("out_data", out_beat_.data);
  archive.memory("out_header", out_beat_.header.data(), out_beat_.header.size());
  archive.state("in_valid", in_valid_, 1);
  archive.flit("in_data", in_beat_.data);
  archive.memory("in_header", in_beat_.header.data(), in_beat_.header.size());
  archive.state("in_class", in_class_, 1);
  for (unsigned c = 0; c < il::kClasses; ++c) {
    archive.state(fmt::format("credit{}", c), credit_[c], 8);
    archive.state(fmt::format("owed{}", c), owed_[c], 8);
    buffers_[c].visit(archive, fmt::format("buffer{}", c));
  }
  archive.state("sends_flits", sends_flits_, 1);
  archive.state("receives_flits", receives_flits_, 1);
  archive.state("out_flit", out_flit_, 1);
  archive.computed("in_flit", in_flit(), 1);
  for (unsigned c = 0; c < il::kClasses; ++c)
    archive.state(fmt::format("pops_flits{}", c), pops_flits_[c], 1);
  archive.state("held_flits", held_flits_, 16);
  if (connected()) cycles_.visit(archive);
  archive.counter("flits_sent", flits_sent_, "flits", "flits for other meshes put on the link");
  archive.counter("flits_received", flits_received_, "flits", "flits for meshes taken from the link");
  archive.counter("beats_sent", beats_sent_, "beats", "beats of packets put on the link, credits left out");
  archive.counter("packets_sent", packets_sent_, "packets", "packets put on the link, credits left out");
  archive.counter("beats_received", beats_received_, "beats", "beats of packets taken from the link");
  archive.counter("packets_received", packets_received_, "packets", "packets taken from the link");
  archive.counter("credits_sent", credits_sent_, "packets", "credit packets put on the link");
  archive.counter("credits_received", credits_received_, "packets", "credit packets taken from the link");
  archive.counter("credit_stalled", stalled_cycles_, "cycles",
                  "cycles in which the link rested because a packet found too little credit");
  archive.kept("shown", shown_);
}

void LinkPort::waits(std::string_view name, std::vector<sim::Wait>& waits) const {
  for (unsigned c = 0; c < il::kClasses; ++c)
    if (!buffers_[c].empty())
      waits.push_back({fmt::format("{}: {} received beats {} not taken", name, buffers_[c].size(),
                                   c == il::kStops ? "for this mesh are" : "to be passed on are")});
}

}  // namespace ktpu::memory
