// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/simple_dram.h"

#include <algorithm>
#include <bit>

#include "arch/encoding/address_map.h"
#include "arch/error.h"

namespace ktpu::memory {

SimpleDram::SimpleDram(SparseMemory& memory, SimpleDramParams params, unsigned bus_bits)
    : DramDevice(bus_bits), memory_(memory), params_(std::move(params)) {
  if (params_.first_read_beat == 0 || params_.first_write_beat == 0 || params_.write_response == 0)
    throw arch::UserError(
        "first_read_beat, first_write_beat and write_response of a DRAM are at least 1: its outputs are "
        "registers");
}

void SimpleDram::reset(sim::Cycle /*start*/) {
  out_ = {};
  out_.r_data = {};
  out_.ar_ready = out_.aw_ready = true;
  read_ = write_ = {};
  respond_ = false;
}

void SimpleDram::check_range(sim::Cycle now, const DramAddress& burst, bool write) {
  const std::uint64_t bytes = std::uint64_t{burst.beats} * bus_bytes();
  if (misuse_ != nullptr && !memory_.contains(burst.addr, bytes))
    record(out_of_range(now, burst, bytes, write, memory_.config()));
}

sim::Cycle SimpleDram::clock(sim::Cycle now, const DramInputs& in) {
  // Reads before writes: a beat sampled at the end of the cycle in which a write beat lands sees the old
  // bytes.
  if (in.ar != nullptr) {
    read_ = {*in.ar, 0, now + params_.first_read_beat, true};
    out_.ar_ready = false;
    check_range(now, *in.ar, false);
  }
  if (in.r_taken) {
    out_.r_valid = false;
    if (out_.r_last) {
      read_.active = false;
      out_.ar_ready = true;
    } else {
      read_.due = now + 1 + gap(params_.read_gaps, read_.beat - 1);
    }
  }
  if (read_.active && !out_.r_valid && read_.due <= now + 1) {
    const std::uint64_t addr =
        (read_.address.addr + std::uint64_t{read_.beat} * bus_bytes()) & arch::address::kMask;
    memory_.read(addr, {reinterpret_cast<std::uint8_t*>(out_.r_data.words.data()), bus_bytes()});
    out_.r_valid = true;
    out_.r_id = read_.address.id;
    out_.r_last = ++read_.beat == read_.address.beats;
  }

  if (in.aw != nullptr) {
    write_ = {*in.aw, 0, now + params_.first_write_beat, true};
    out_.aw_ready = false;
    respond_ = false;
    check_range(now, *in.aw, true);
  }
  if (in.w != nullptr) {
    const std::uint64_t addr =
        (write_.address.addr + std::uint64_t{write_.beat} * bus_bytes()) & arch::address::kMask;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.w->data.words.data());
    if (bus_bytes() <= arch::kWordBytes) {
      if (in.w->lanes & 1) memory_.write(addr, {bytes, bus_bytes()});
    } else {
      for (std::uint32_t lanes = in.w->lanes; lanes != 0; lanes &= lanes - 1) {
        const unsigned at = static_cast<unsigned>(std::countr_zero(lanes)) * arch::kWordBytes;
        memory_.write(addr + at, {bytes + at, arch::kWordBytes});
      }
    }
    out_.w_ready = false;
    if (++write_.beat == write_.address.beats) {
      respond_ = true;
      write_.due = now + params_.write_response;
    } else {
      write_.due = now + 1 + gap(params_.write_gaps, write_.beat - 1);
    }
  }
  if (in.b_taken) {
    out_.b_valid = false;
    out_.aw_ready = true;
    write_.active = respond_ = false;
  }
  if (write_.active && write_.due <= now + 1) {
    if (respond_) {
      out_.b_valid = true;
      out_.b_id = write_.address.id;
    } else {
      out_.w_ready = true;
    }
  }

  // Offers that still lie ahead are decided one cycle before they show.
  sim::Cycle next = sim::kNever;
  if (read_.active && !out_.r_valid) next = read_.due - 1;
  if (write_.active && !out_.w_ready && !out_.b_valid) next = std::min(next, write_.due - 1);
  return next;
}

void SimpleDram::visit(sim::Archive& archive) {
  const auto side = [&](std::string_view name, Burst& burst) {
    archive.scope(name, [&] {
      archive.state("active", burst.active, 1);
      archive.state("addr", burst.address.addr, arch::address::kBits);
      archive.state("beats", burst.address.beats, 9);
      archive.state("id", burst.address.id, 4);
      archive.state("beat", burst.beat, 9);
      archive.state("due", burst.due);
    });
  };
  side("read", read_);
  side("write", write_);
  archive.state("ar_ready", out_.ar_ready, 1);
  archive.state("r_valid", out_.r_valid, 1);
  archive.state("aw_ready", out_.aw_ready, 1);
  archive.state("w_ready", out_.w_ready, 1);
  archive.state("b_valid", out_.b_valid, 1);
  if (!archive.is_checkpoint()) return;
  keep_outputs(archive);
  keep(archive, read_.address);
  keep(archive, write_.address);
  archive.kept("respond", respond_);
  memory_.visit(archive);
}

std::vector<sim::Wait> SimpleDram::waits(sim::Cycle now) const {
  std::vector<sim::Wait> waits;
  if (write_.active && !respond_ && write_.due <= now)
    waits.push_back({fmt::format("DRAM write at {:#x}: {} of {} data beats received", write_.address.addr,
                                 write_.beat, write_.address.beats)});
  return waits;
}

}  // namespace ktpu::memory
