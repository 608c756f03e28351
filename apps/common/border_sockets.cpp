// SPDX-License-Identifier: Apache-2.0
#include "apps/common/border_sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/common/dram_compare.h"
#include "tlm/memory/dram_path.h"
#include "tlm/sim/engine.h"

namespace ktpu::apps {

namespace {

rtl::BorderSocket::Shown shown_of(const memory::BorderCycle& seen) {
  rtl::BorderSocket::Shown shown;
  shown.ar_full = seen.ar_full;
  shown.aw_full = seen.aw_full;
  shown.w_full = seen.w_full;
  for (unsigned f = 0; f < shown.r.size(); ++f)
    if (seen.r[f]) shown.r[f] = seen.r[f]->words.data();
  if (seen.r[0]) shown.r_id = static_cast<std::uint8_t>(seen.r[0]->id);
  shown.b_valid = seen.b.has_value();
  shown.b_id = seen.b.value_or(0);
  return shown;
}

std::optional<memory::DramAddress> address_of(const std::optional<memory::AddressWord>& word) {
  if (!word) return std::nullopt;
  return memory::DramAddress{word->addr, word->beats, static_cast<std::uint8_t>(word->id), {}};
}

memory::AddressWord word_of(const rtl::DramSocket::Address& address) {
  return {address.addr, address.beats, address.id, {}};
}

}  // namespace

ComparedBorder::ComparedBorder(std::string unit, memory::MemoryAgent& model)
    : unit_(std::move(unit)), model_(model) {
  model.watch_border(latest_);
}

void ComparedBorder::reset(sim::Cycle) { latest_ = {}; }

// The model's path has run in this cycle, or it sleeps and nothing of its end of the FIFOs changes.
rtl::BorderSocket::Shown ComparedBorder::shown(sim::Cycle now) {
  seen_ = latest_.at == now ? latest_ : model_.border(now);
  return shown_of(seen_);
}

void ComparedBorder::clock(sim::Cycle now, const Moves& moves) {
  compare_address(unit_, now, "dram.ar", address_of(seen_.ar), moves.ar);
  compare_address(unit_, now, "dram.aw", address_of(seen_.aw), moves.aw);
  compare_beat(unit_, now, "dram.w", seen_.w, moves.w, model_.bus_bits());
  if (seen_.r_popped != moves.r)
    differ(unit_, now, "dram.r", "taken", fmt::format("{:#x}", seen_.r_popped),
           fmt::format("{:#x}", moves.r));
  if (seen_.b && latest_.at != now) differ(unit_, now, "dram.b", "taken", "0", "1");
  compared_ += seen_.ar.has_value() + seen_.aw.has_value() + seen_.w.has_value() + seen_.b.has_value() +
               static_cast<unsigned>(std::popcount(seen_.r_popped));
}

BorderOfTwin::BorderOfTwin(memory::DramDevice& device, const memory::MemoryAgentConfig& config)
    : bus_(
          device,
          config.reads_in_flight == 1 ? 1 : static_cast<unsigned>(config.ports.size()) + 2 + config.interlink,
          memory::DramPath::read_depth(config.reads_in_flight, device.bus_bits())) {
  device.set_misuse_log(&misuse_);
}

std::vector<std::unique_ptr<sim::Unit>> BorderOfTwin::put_on(const sim::ClockRatio& to_dram,
                                                             sim::Unit& agent) {
  agent_ = &agent;
  auto bus = std::make_unique<memory::DramBusUnit>(agent.name() + ".dram_path", bus_, to_dram.inverse(),
                                                   agent, unused_due_);
  far_ = bus.get();
  far_->set_probe(probe_);
  border_ = memory::ClockBorder(to_dram);
  border_.set_other(*far_);
  std::vector<std::unique_ptr<sim::Unit>> units;
  units.push_back(std::move(bus));
  units.push_back(std::make_unique<memory::DramChip>(agent.name() + ".dram", bus_.device()));
  return units;
}

void BorderOfTwin::reset(sim::Cycle) {
  bus_.reset_fifos();
  reads_ = writes_ = beats_ = 0;
}

rtl::BorderSocket::Shown BorderOfTwin::shown(sim::Cycle now) {
  Shown shown;
  shown.ar_full = border_.full(bus_.ar, now);
  shown.aw_full = border_.full(bus_.aw, now);
  shown.w_full = border_.full(bus_.w, now);
  for (std::size_t f = 0; f < bus_.r.size(); ++f)
    if (bus_.r[f].readable(now)) shown.r[f] = bus_.r[f].head().words.data();
  if (shown.r[0] != nullptr) shown.r_id = static_cast<std::uint8_t>(bus_.r[0].head().id);
  shown.b_valid = bus_.b.readable(now);
  if (shown.b_valid) shown.b_id = static_cast<std::uint8_t>(bus_.b.head());
  return shown;
}

void BorderOfTwin::clock(sim::Cycle now, const Moves& moves) {
  if (moves.ar != nullptr) {
    border_.push(bus_.ar, now, word_of(*moves.ar));
    reads_ += moves.ar->beats;
  }
  if (moves.aw != nullptr) {
    border_.push(bus_.aw, now, word_of(*moves.aw));
    ++writes_;
  }
  if (moves.w != nullptr) {
    memory::DramWriteBeat beat;
    std::copy_n(moves.w->data, beat.data.words.size(), beat.data.words.begin());
    beat.lanes = moves.w->lanes;
    beat.last = moves.w->last;
    border_.push(bus_.w, now, beat);
    ++beats_;
  }
  for (std::size_t f = 0; f < bus_.r.size(); ++f)
    if (moves.r >> f & 1) border_.pop(bus_.r[f], now);
  reads_ -= static_cast<std::uint32_t>(std::popcount(moves.r));
  if (bus_.b.readable(now)) border_.pop(bus_.b, now);
  far_->tell({reads_ != 0, writes_, beats_}, border_.after(now));
}

bool BorderOfTwin::resting() const {
  return bus_.aw.empty() && bus_.w.empty() && bus_.b.empty() && bus_.ar.empty() && reads_ == 0 &&
         bus_.writes_open() == 0;
}

void BorderOfTwin::set_probe(memory::MemoryProbe* probe) {
  probe_ = probe;
  if (far_ != nullptr) far_->set_probe(probe);
}

sim::Cycle BorderOfTwin::last_handshake() const {
  const sim::Cycle begun = agent_->engine() == nullptr ? 0 : agent_->engine()->now();
  return begun == 0 ? sim::kNever : far_->last_handshake(begun - 1);
}

}  // namespace ktpu::apps
