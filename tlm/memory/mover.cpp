// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/mover.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/error.h"

namespace ktpu::memory {

Mover::Mover(bool quirks, arch::Coord origin, MisuseLog& misuse) : issue_(quirks, origin, misuse) {
  wires_.ar_origin = wires_.aw_origin = origin;
}

void Mover::reset(sim::Cycle start) {
  const arch::Coord origin = wires_.ar_origin;
  wires_ = {};
  wires_.ar_origin = wires_.aw_origin = origin;
  registers_.reset();
  issue_.reset(start);
  writer_.reset(start);
  writes_ = 0;
  busy_ = false;
  moves_ = 0;
  next_ = sim::kNever;
}

void Mover::write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) {
  KTPU_CHECK(writes_ < pending_.size(), "{} register writes in a cycle", writes_ + 1);
  pending_[writes_++] = {offset, data};
  next_ = now;
}

void Mover::clock(sim::Cycle now) {
  const bool events = wires_.events();
  // What the status shows is one cycle behind.
  busy_ = !issue_.idle();
  moves_ = issue_.moves();

  writer_.account(now, wires_);
  issue_.clock(now, wires_, registers_, writer_);
  if (writer_.clock(now, wires_, registers_)) issue_.release();
  if (wires_.r_valid && issue_.arrive(wires_.r_data, wires_.r_last)) writer_.arrive(now, wires_.r_data);
  for (unsigned i = 0; i < writes_; ++i)
    if (registers_.write(pending_[i].offset, pending_[i].data)) issue_.go(now);
  const bool written = writes_ != 0;
  writes_ = 0;
  writer_.offer(now, wires_, registers_);
  wires_.clear_events();
  writer_.account(now + 1, wires_);

  if (events || written || busy_ != !issue_.idle() || moves_ != issue_.moves())
    next_ = now + 1;
  else
    next_ = std::min(issue_.next(now), writer_.next(now, wires_));
}

void Mover::visit(sim::Archive& archive) {
  archive.scope("registers", [&] { registers_.visit(archive); });
  archive.scope("issue", [&] { issue_.visit(archive); });
  archive.scope("writer", [&] { writer_.visit(archive); });
  archive.state("writes", writes_, 2);
  for (unsigned i = 0; i < pending_.size(); ++i) {
    archive.state(fmt::format("write_offset{}", i), pending_[i].offset, 8);
    archive.state(fmt::format("write_data{}", i), pending_[i].data);
  }
  archive.state("busy", busy_, 1);
  archive.state("moves", moves_, 24);
  archive.state("ar_valid", wires_.ar_valid, 1);
  archive.state("ar_addr", wires_.ar_addr, arch::address::kBits);
  archive.state("aw_valid", wires_.aw_valid, 1);
  archive.state("aw_addr", wires_.aw_addr, arch::address::kBits);
  wires_.visit(archive);
  bool offers = wires_.w_data != nullptr;
  archive.kept("offers", offers);
  archive.kept("next", next_);
  if (archive.restores()) writer_.show(wires_, offers);
}

void Mover::waits(std::vector<sim::Wait>& waits) const {
  issue_.waits(waits);
  writer_.waits(waits);
}

}  // namespace ktpu::memory
