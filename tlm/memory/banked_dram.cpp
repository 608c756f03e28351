// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/banked_dram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arch/encoding/address_map.h"
#include "arch/error.h"

namespace ktpu::memory {

BankedDram::BankedDram(SparseMemory& memory, const BankedDramParams& params, unsigned bus_bits)
    : DramDevice(bus_bits), memory_(memory), params_(params) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw arch::UserError::make("banked DRAM: {}", what);
  };
  need(std::has_single_bit(params.banks), "`banks` must be a power of two");
  need(std::has_single_bit(params.row_bytes) && params.row_bytes >= bus_bytes(),
       "`row_bytes` must be a power of two and hold at least one beat of the bus");
  need(params.row_hit >= 1 && params.write_response >= 1,
       "`row_hit` and `write_response` must be at least 1");
  need(params.row_closed >= params.row_hit && params.row_conflict >= params.row_hit,
       "`row_closed` and `row_conflict` must not be below `row_hit`");
  need(params.reads_outstanding >= 1 && params.writes_outstanding >= 1,
       "`reads_outstanding` and `writes_outstanding` must be at least 1");
  need(params.bytes_per_cycle > 0 && std::isfinite(params.bytes_per_cycle),
       "`bytes_per_cycle` must be above 0");
  beat_cost_ =
      static_cast<std::uint64_t>(std::llround(bus_bytes() / params.bytes_per_cycle * (1 << kFraction)));
  banks_.resize(params.banks);
  reads_.slots.resize(params.reads_outstanding);
  writes_.slots.resize(params.writes_outstanding);
}

void BankedDram::reset(sim::Cycle start) {
  out_ = {};
  out_.r_data = {};
  out_.ar_ready = out_.aw_ready = true;
  std::fill(banks_.begin(), banks_.end(), Bank{0, start, false});
  reads_.head = reads_.size = writes_.head = writes_.size = filling_ = 0;
  bus_paid_until_ = start << kFraction;
  read_last_ = false;
}

sim::Cycle BankedDram::access(const DramAddress& burst, sim::Cycle from) {
  const std::uint64_t row = arch::address::local(burst.addr) / params_.row_bytes;
  Bank& bank = banks_[row % params_.banks];
  sim::Cycle column = std::max(from, bank.free);
  if (!bank.open) {
    column += params_.row_closed - params_.row_hit;
    ++row_opened_;
  } else if (bank.row != row) {
    column += params_.row_conflict - params_.row_hit;
    ++row_conflicts_;
  } else {
    ++row_hits_;
  }
  bank.open = true;
  bank.row = row;
  bank.free = column + std::max<std::uint64_t>(1, (burst.beats * beat_cost_) >> kFraction);
  return column + params_.row_hit;
}

std::uint64_t BankedDram::beat_address(const Burst& burst) const {
  return (burst.address.addr + std::uint64_t{burst.beat} * bus_bytes()) & arch::address::kMask;
}

void BankedDram::check_range(sim::Cycle now, const DramAddress& burst, bool write) {
  const std::uint64_t bytes = std::uint64_t{burst.beats} * bus_bytes();
  if (misuse_ != nullptr && !memory_.contains(burst.addr, bytes))
    record(out_of_range(now, burst, bytes, write, memory_.config()));
}

void BankedDram::pay(sim::Cycle at) {
  bus_paid_until_ = std::max<std::uint64_t>(bus_paid_until_, at << kFraction) + beat_cost_;
}

void BankedDram::offer_read(sim::Cycle at) {
  if (out_.r_valid || reads_.size == 0 || reads_.at(0).due > at || !bus_free(at)) return;
  Burst& burst = reads_.at(0);
  memory_.read(beat_address(burst), {reinterpret_cast<std::uint8_t*>(out_.r_data.words.data()), bus_bytes()});
  out_.r_valid = true;
  out_.r_id = burst.address.id;
  out_.r_last = ++burst.beat == burst.address.beats;
  bytes_read_ += bus_bytes();
  pay(at);
  read_last_ = true;
}

void BankedDram::offer_write(sim::Cycle at) {
  if (out_.w_ready || filling_ == writes_.size || !bus_free(at)) return;
  out_.w_ready = true;
  pay(at);
  read_last_ = false;
}

void BankedDram::store(std::uint64_t addr, const DramWriteBeat& beat) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(beat.data.words.data());
  for (std::uint32_t lanes = beat.lanes; lanes != 0; lanes &= lanes - 1) {
    const unsigned at = static_cast<unsigned>(std::countr_zero(lanes)) * arch::kWordBytes;
    memory_.write(addr + at, {bytes + at, std::min(arch::kWordBytes, bus_bytes())});
  }
  bytes_written_ += bus_bytes();
}

sim::Cycle BankedDram::clock(sim::Cycle now, const DramInputs& in) {
  // Handshakes of this cycle.
  if (in.r_taken) {
    out_.r_valid = false;
    if (out_.r_last) reads_.pop();
  }
  if (in.b_taken) {
    out_.b_valid = false;
    writes_.pop();
    --filling_;
  }
  if (in.ar != nullptr) {
    reads_.push() = {*in.ar, 0, access(*in.ar, now)};
    check_range(now, *in.ar, false);
  }
  if (in.aw != nullptr) {
    writes_.push() = {*in.aw, 0, 0};
    check_range(now, *in.aw, true);
  }
  std::uint64_t landing_at = 0;
  if (in.w != nullptr) {
    Burst& burst = writes_.at(filling_);
    landing_at = beat_address(burst);
    out_.w_ready = false;
    if (++burst.beat == burst.address.beats) {
      burst.due = std::max(now + params_.write_response, access(burst.address, now));
      ++filling_;
    }
  }

  // Who may use the bus next; the one that went last stands back.
  const sim::Cycle soon = now + 1;
  if (read_last_) {
    offer_write(soon);
    offer_read(soon);
  } else {
    offer_read(soon);
    offer_write(soon);
  }
  // After the read was sampled: it sees the old bytes, as in the simple model.
  if (in.w != nullptr) store(landing_at, *in.w);

  if (!out_.b_valid && filling_ != 0 && writes_.at(0).due <= soon) {
    out_.b_valid = true;
    out_.b_id = writes_.at(0).address.id;
  }
  out_.ar_ready = !reads_.full();
  out_.aw_ready = !writes_.full();

  sim::Cycle next = sim::kNever;
  const auto decide_before = [&](sim::Cycle offer) { next = std::min(next, std::max(soon, offer - 1)); };
  if (!out_.r_valid && reads_.size != 0) decide_before(std::max(reads_.at(0).due, bus_free_from()));
  if (!out_.w_ready && filling_ < writes_.size) decide_before(bus_free_from());
  if (!out_.b_valid && filling_ != 0) decide_before(writes_.at(0).due);
  return next;
}

void BankedDram::visit(sim::Archive& archive) {
  const auto queue = [&](std::string_view name, const Queue& q) {
    archive.scope(name, [&] {
      archive.computed("size", q.size, 16);
      if (!archive.walks_contents()) return;
      for (std::size_t i = 0; i < q.size; ++i) {
        archive.computed("addr", q.at(i).address.addr, arch::address::kBits);
        archive.computed("beat", q.at(i).beat, 9);
        archive.computed("due", q.at(i).due);
      }
    });
  };
  queue("reads", reads_);
  queue("writes", writes_);
  archive.state("filling", filling_, 16);
  archive.state("read_last", read_last_, 1);
  archive.state("bus_paid_until", bus_paid_until_);
  archive.state("r_valid", out_.r_valid, 1);
  archive.state("w_ready", out_.w_ready, 1);
  archive.state("b_valid", out_.b_valid, 1);
  archive.counter("row_hits", row_hits_, "bursts", "bursts that found their row open");
  archive.counter("row_opened", row_opened_, "bursts", "bursts that opened a row in a bank without one");
  archive.counter("row_conflicts", row_conflicts_, "bursts", "bursts that replaced another open row");
  archive.counter("bytes_read", bytes_read_, "bytes", "bytes of the read beats offered");
  archive.counter("bytes_written", bytes_written_, "bytes",
                  "bytes of the write beats taken, lanes that are not written included");
  if (!archive.is_checkpoint()) return;
  keep_outputs(archive);
  memory_.visit(archive);
  for (Bank& bank : banks_) {
    archive.kept("row", bank.row);
    archive.kept("free", bank.free);
    archive.kept("open", bank.open);
  }
  for (Queue* q : {&reads_, &writes_}) {
    archive.kept("head", q->head);
    archive.kept("size", q->size);
    for (Burst& burst : q->slots) {
      keep(archive, burst.address);
      archive.kept("beat", burst.beat);
      archive.kept("due", burst.due);
    }
  }
}

std::vector<sim::Wait> BankedDram::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits;
  if (filling_ < writes_.size && out_.w_ready)
    waits.push_back(
        {fmt::format("DRAM write at {:#x}: {} of {} data beats received", writes_.at(filling_).address.addr,
                     writes_.at(filling_).beat, writes_.at(filling_).address.beats)});
  if (reads_.size != 0 && reads_.at(0).due > now)
    waits.push_back({fmt::format("DRAM read at {:#x}: first beat in cycle {}", reads_.at(0).address.addr,
                                 reads_.at(0).due)});
  return waits;
}

}  // namespace ktpu::memory
