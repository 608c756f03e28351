// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/tlm_dram.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/error.h"

namespace ktpu::platform {

TlmDram::TlmDram(const sc_core::sc_module_name& name, unsigned bus_bits)
    : sc_module(name), DramDevice(bus_bits), socket("socket") {
  socket.register_nb_transport_bw(this, &TlmDram::response);
}

void TlmDram::connect(std::function<sc_core::sc_time(sim::Cycle)> time_of, std::function<void()> wake) {
  time_of_ = std::move(time_of);
  wake_ = std::move(wake);
}

bool TlmDram::take_started() { return std::exchange(started_, false); }

bool TlmDram::take_answered() { return std::exchange(answered_, false); }

void TlmDram::reset(sim::Cycle) {
  for (Side* side : {&read_, &write_}) {
    side->active = side->requested = side->responded = side->failed = false;
    side->beat = 0;
  }
  out_ = {};
  out_.ar_ready = out_.aw_ready = true;
}

void TlmDram::start(Side& side, tlm::tlm_command command, sim::Cycle now) {
  side.requested = true;
  side.responded = false;
  started_ = true;
  tlm::tlm_generic_payload& p = side.payload;
  p.set_command(command);
  p.set_address(side.address.addr);
  p.set_data_ptr(side.data.data());
  p.set_data_length(static_cast<unsigned>(side.data.size()));
  p.set_streaming_width(static_cast<unsigned>(side.data.size()));
  const bool masked = command == tlm::TLM_WRITE_COMMAND &&
                      std::any_of(side.enables.begin(), side.enables.end(), [](auto e) { return e == 0; });
  p.set_byte_enable_ptr(masked ? side.enables.data() : nullptr);
  p.set_byte_enable_length(masked ? static_cast<unsigned>(side.enables.size()) : 0);
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = std::max(sc_core::SC_ZERO_TIME, time_of_(now) - sc_core::sc_time_stamp());
  const tlm::tlm_sync_enum status = socket->nb_transport_fw(p, phase, delay);
  if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
    complete(side);
    if (status == tlm::TLM_UPDATED) {
      phase = tlm::END_RESP;
      delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_fw(p, phase, delay);
    }
  }
}

void TlmDram::complete(Side& side) {
  side.responded = true;
  if (side.payload.is_response_ok()) return;
  side.failed = true;
  if (misuse_ != nullptr)
    misuse_->add({memory::MisuseKind::kOutOfRange, 0, side.address.origin, side.address.addr,
                  "the TLM-2.0 memory answered a burst with " + side.payload.get_response_string()});
}

tlm::tlm_sync_enum TlmDram::response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& /*delay*/) {
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  KTPU_CHECK(phase == tlm::BEGIN_RESP, "unexpected TLM phase");
  complete(&payload == &read_.payload ? read_ : write_);
  answered_ = true;
  if (wake_) wake_();
  return tlm::TLM_COMPLETED;
}

void TlmDram::offer_beat() {
  const std::size_t bytes = bus_bytes();
  std::memcpy(out_.r_data.words.data(), read_.data.data() + read_.beat * bytes, bytes);
  out_.r_valid = true;
  out_.r_id = read_.address.id;
  out_.r_last = read_.beat + 1 == read_.address.beats;
}

sim::Cycle TlmDram::clock(sim::Cycle now, const memory::DramInputs& in) {
  const std::size_t bytes = bus_bytes();
  if (in.r_taken) {
    out_.r_valid = false;
    if (++read_.beat == read_.address.beats) read_.active = read_.responded = false;
  }
  if (read_.active && read_.responded && !out_.r_valid) offer_beat();
  if (in.ar != nullptr) {
    read_.address = *in.ar;
    read_.beat = 0;
    read_.active = true;
    read_.data.assign(bytes * in.ar->beats, 0);
    start(read_, tlm::TLM_READ_COMMAND, now);
    if (read_.responded && !out_.r_valid) offer_beat();
  }
  out_.ar_ready = !read_.active;

  if (in.b_taken) {
    out_.b_valid = false;
    write_.active = write_.responded = false;
  }
  if (in.aw != nullptr) {
    write_.address = *in.aw;
    write_.beat = 0;
    write_.active = true;
    write_.requested = write_.responded = false;
    write_.data.assign(bytes * in.aw->beats, 0);
    write_.enables.assign(bytes * in.aw->beats, TLM_BYTE_DISABLED);
  }
  if (in.w != nullptr) {
    unsigned char* to = write_.data.data() + write_.beat * bytes;
    std::memcpy(to, in.w->data.words.data(), bytes);
    for (std::size_t lane = 0; lane < bytes / arch::kWordBytes; ++lane)
      if ((in.w->lanes >> lane) & 1)
        std::memset(write_.enables.data() + write_.beat * bytes + lane * arch::kWordBytes, TLM_BYTE_ENABLED,
                    arch::kWordBytes);
    if (++write_.beat == write_.address.beats) start(write_, tlm::TLM_WRITE_COMMAND, now);
  }
  out_.aw_ready = !write_.active;
  out_.w_ready = write_.active && write_.beat < write_.address.beats;
  out_.b_valid = write_.active && write_.responded;
  out_.b_id = write_.address.id;
  // The answer comes from outside, in a cycle nobody here knows: look for it every cycle.
  const auto waits_for_answer = [](const Side& side) {
    return side.active && side.requested && !side.responded;
  };
  return waits_for_answer(read_) || waits_for_answer(write_) ? now + 1 : sim::kNever;
}

void TlmDram::visit(sim::Archive& a) {
  a.unreachable("state of the TLM-2.0 memory outside");
  for (auto [name, side] : {std::pair{"read", &read_}, std::pair{"write", &write_}}) {
    a.scope(name, [&, s = side] {
      a.state("active", s->active, 1);
      a.state("responded", s->responded, 1);
      a.state("beat", s->beat, 9);
    });
  }
}

std::vector<sim::Wait> TlmDram::waits(sim::Cycle) const {
  std::vector<sim::Wait> waits;
  for (const Side* side : {&read_, &write_})
    if (side->active && side->requested && !side->responded)
      waits.push_back(
          {fmt::format("the TLM-2.0 memory has not answered a burst at 0x{:x}", side->address.addr),
           nullptr});
  return waits;
}

}  // namespace ktpu::platform
