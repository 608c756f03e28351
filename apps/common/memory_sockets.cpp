// SPDX-License-Identifier: Apache-2.0
#include "apps/common/memory_sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/common/dram_compare.h"
#include "arch/error.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::apps {

namespace {

rtl::DramSocket::Shown pins_of(const memory::DramOutputs& out) {
  return {out.ar_ready, out.aw_ready, out.w_ready, out.r_valid,
          out.b_valid,  out.r_id,     out.b_id,    out.r_data.words.data()};
}

// What the host shows.
rtl::WindowSocket::Inputs host_side(const memory::WindowBus& bus) {
  const auto address = [](const sim::Link<memory::WindowAddress>& link) {
    return link.valid() ? rtl::WindowSocket::Address{true, link.data().addr, link.data().beats}
                        : rtl::WindowSocket::Address{};
  };
  return {address(bus.aw), address(bus.ar), bus.w.valid() ? bus.w.data().data.data() : nullptr, bus.r.busy(),
          bus.b.busy()};
}

}  // namespace

void DramOfTwin::reset(sim::Cycle start) {
  device_.reset(start);
  next_ = start;
  last_handshake_ = sim::kNever;
}

rtl::DramSocket::Shown DramOfTwin::shown(sim::Cycle) const { return pins_of(device_.out()); }

void DramOfTwin::clock(sim::Cycle now, const Moves& moves) {
  memory::DramInputs in;
  memory::DramAddress ar, aw;
  memory::DramWriteBeat w;
  if (moves.ar != nullptr) {
    ar = {moves.ar->addr, moves.ar->beats, moves.ar->id, origin(moves.ar->id)};
    in.ar = &ar;
  }
  if (moves.aw != nullptr) {
    aw = {moves.aw->addr, moves.aw->beats, moves.aw->id, origin(moves.aw->id)};
    in.aw = &aw;
  }
  if (moves.w != nullptr) {
    std::copy_n(moves.w->data, w.data.words.size(), w.data.words.begin());
    w.lanes = moves.w->lanes;
    w.last = moves.w->last;
    in.w = &w;
  }
  in.r_taken = moves.r;
  in.b_taken = moves.b;
  if (in.ar != nullptr || in.aw != nullptr || in.w != nullptr || in.r_taken || in.b_taken) tell(now, in);
  next_ = device_.clock(now, in);
}

arch::Coord DramOfTwin::origin(unsigned requester) const {
  if (ports_.empty()) return {};
  return requester < ports_.size() ? ports_[requester] : ports_.front();  // window, mover, interlink
}

void DramOfTwin::tell(sim::Cycle now, const memory::DramInputs& in) {
  last_handshake_ = now;
  const memory::DramOutputs& out = device_.out();
  read_bursts_ += in.ar != nullptr;
  write_bursts_ += in.aw != nullptr;
  write_beats_ += in.w != nullptr;
  read_beats_ += in.r_taken;
  responses_ += in.b_taken;
  if (in.w != nullptr) words_written_ += static_cast<unsigned>(std::popcount(in.w->lanes));
  if (probe_ == nullptr) return;
  if (in.ar != nullptr) probe_->on_read_address(now, *in.ar);
  if (in.aw != nullptr) probe_->on_write_address(now, *in.aw);
  if (in.w != nullptr) probe_->on_write_beat(now, *in.w);
  if (in.r_taken) {
    probe_->on_read_beat(now, out.r_id, out.r_last);
    probe_->on_read_data(now, out.r_id, out.r_data);
  }
  if (in.b_taken) probe_->on_write_response(now, out.b_id);
}

std::vector<sim::Wait> DramOfTwin::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits = device_.waits(now);
  for (sim::Wait& wait : waits) wait.part = "dram";
  return waits;
}

// Names and sentences as of the model's DRAM path, as far as the bus tells them.
void DramOfTwin::visit(sim::Archive& archive) {
  archive.scope("dram_path", [&] {
    archive.counter("read_bursts", read_bursts_, "bursts", "read addresses accepted by the DRAM");
    archive.counter("write_bursts", write_bursts_, "bursts", "write addresses accepted by the DRAM");
    archive.counter("read_beats", read_beats_, "beats", "data beats read on the DRAM bus");
    archive.counter("write_beats", write_beats_, "beats", "data beats written on the DRAM bus");
    archive.counter("responses", responses_, "bursts", "write responses of the DRAM");
    archive.counter("words_written", words_written_, "words", "32-byte words taken from requesters");
  });
  archive.scope("dram", [&] { device_.visit(archive); });
}

void ClientOfTwin::reset(sim::Cycle start) {
  next_ = start;
  client_.reset(start);
}

// Its flit waits for the port that shows it, as rtl::MemoryTwin tells it.
std::vector<sim::Wait> ClientOfTwin::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits = client_.waits(now);
  for (sim::Wait& wait : waits)
    if (wait.part == memory::kClientOutput) wait.on_part = "output";
  return waits;
}

WindowOfTwin::WindowOfTwin(memory::WindowBus& bus, sim::Unit& agent) : bus_(bus) {
  bus_.aw.bind_receiver(agent);
  bus_.ar.bind_receiver(agent);
  bus_.w.bind_receiver(agent);
  bus_.r.bind_sender(agent);
  bus_.b.bind_sender(agent);
}

void WindowOfTwin::drive(const Outputs& out) {
  bus_.aw.set_busy(out.aw_busy);
  bus_.ar.set_busy(out.ar_busy);
  bus_.w.set_busy(out.w_busy);
  if (out.b_valid)
    bus_.b.offer(true);
  else
    bus_.b.withdraw();
  if (out.r_valid)
    bus_.r.offer({out.r, out.r_last});
  else
    bus_.r.withdraw();
}

rtl::WindowSocket::Inputs WindowOfTwin::clock(sim::Cycle, const Outputs&) {
  if (bus_.r.valid()) bus_.r.sample_sent();
  if (bus_.b.valid()) bus_.b.sample_sent();
  return host_side(bus_);
}

void RecordedDram::reset(sim::Cycle start) {
  real_.set_misuse_log(misuse_);
  real_.reset(start);
  out_ = real_.out();
  clocked_ = sim::kNever;
}

sim::Cycle RecordedDram::clock(sim::Cycle now, const memory::DramInputs& in) {
  before_ = out_;
  moved_ = {};
  if (in.ar != nullptr) moved_.ar = *in.ar;
  if (in.aw != nullptr) moved_.aw = *in.aw;
  if (in.w != nullptr) moved_.w = *in.w;
  moved_.r = in.r_taken;
  moved_.b = in.b_taken;
  clocked_ = now;
  const sim::Cycle next = real_.clock(now, in);
  out_ = real_.out();
  return next;
}

rtl::DramSocket::Shown ComparedDram::shown(sim::Cycle now) const { return pins_of(dram_.shown(now)); }

void ComparedDram::clock(sim::Cycle now, const Moves& moves) {
  now_ = now + 1;
  const RecordedDram::Moved& model = dram_.moved(now);
  compare_address(unit_, now, "dram.ar", model.ar, moves.ar);
  compare_address(unit_, now, "dram.aw", model.aw, moves.aw);
  compare_beat(unit_, now, "dram.w", model.w, moves.w, dram_.bus_bits());
  if (model.r != moves.r) differ(unit_, now, "dram.r", "taken", bit(model.r), bit(moves.r));
  if (model.b != moves.b) differ(unit_, now, "dram.b", "taken", bit(model.b), bit(moves.b));
  compared_ += model.ar.has_value() + model.aw.has_value() + model.w.has_value() + model.r + model.b;
}

void RecordedClient::reset(sim::Cycle start) {
  offered_at_ = clocked_at_ = sim::kNever;
  real_.reset(start);
}

bool RecordedClient::offer(sim::Cycle now, const arch::Flit& flit) {
  offered_at_ = now;
  offered_ = flit;
  accepted_ = real_.offer(now, flit);
  return accepted_;
}

sim::Cycle RecordedClient::clock(sim::Cycle now, bool out_taken) {
  clocked_at_ = now;
  taken_ = out_taken;
  return real_.clock(now, out_taken);
}

void RecordedWindow::aux_write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) {
  if (written_at_ != now) count_ = 0;
  written_at_ = now;
  KTPU_CHECK(count_ < writes_.size(), "{} register writes in a cycle", count_ + 1);
  writes_[count_++] = {offset, data};
  real_.aux_write(now, offset, data);
}

bool ComparedClient::offer(sim::Cycle now, const arch::Flit& flit) {
  const arch::Flit* expected = client_.offered(now);
  if (expected == nullptr) differ(unit_, now, "client.in", "valid", "0", "1");
  if (const auto difference = sim::first_difference(*expected, flit))
    throw sim::LockstepError({unit_, now, "client.in", *difference});
  offered_ = true;
  return client_.accepted();
}

void ComparedClient::clock(sim::Cycle now, bool out_taken) {
  if (client_.offered(now) != nullptr && !offered_) differ(unit_, now, "client.in", "valid", "1", "0");
  if (client_.taken(now) != out_taken)
    differ(unit_, now, "client.out", "taken", bit(client_.taken(now)), bit(out_taken));
  offered_ = false;
}

rtl::WindowSocket::Inputs ComparedWindow::clock(sim::Cycle now, const Outputs& out) {
  const auto compare = [&](const char* port, const char* field, bool expected, bool got) {
    if (expected != got) differ(unit_, now, port, field, bit(expected), bit(got));
  };
  compare("window.aw", "busy", bus_.aw.busy(), out.aw_busy);
  compare("window.ar", "busy", bus_.ar.busy(), out.ar_busy);
  compare("window.w", "busy", bus_.w.busy(), out.w_busy);
  compare("window.b", "valid", bus_.b.valid(), out.b_valid);
  compare("window.r", "valid", bus_.r.valid(), out.r_valid);
  if (out.r_valid) {
    compare("window.r", "last", bus_.r.data().last, out.r_last);
    for (unsigned word = 0; word < out.r.size(); ++word)
      if (bus_.r.data().data[word] != out.r[word])
        differ(unit_, now, "window.r", fmt::format("data[{}:{}]", 64 * word + 63, 64 * word),
               fmt::format("{:#x}", bus_.r.data().data[word]), fmt::format("{:#x}", out.r[word]));
  }
  return host_side(bus_);
}

}  // namespace ktpu::apps
