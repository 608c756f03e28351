// SPDX-License-Identifier: Apache-2.0
#include "apps/common/interlink_sockets.h"

#include <fmt/format.h>

namespace ktpu::memory {

std::optional<sim::FieldDifference> first_difference(const Beat& expected, const Beat& got) {
  for (const arch::Field& field : arch::interlink::header::kFields) {
    const std::uint64_t e = arch::get(expected.header.data(), field);
    const std::uint64_t g = arch::get(got.header.data(), field);
    if (e != g) return sim::FieldDifference{std::string(field.name), std::to_string(e), std::to_string(g)};
  }
  return sim::first_difference(expected.data, got.data);
}

std::string wire_text(const Beat& beat) {
  return fmt::format("{:08x}{:016x} {}", beat.header[1] & 0xFFFFFFFF, beat.header[0],
                     sim::wire_text(beat.data));
}

std::string wire_bits(const Beat& beat) {
  return fmt::format("{:032b}{:064b}{}", beat.header[1] & 0xFFFFFFFF, beat.header[0],
                     sim::wire_bits(beat.data));
}

}  // namespace ktpu::memory

namespace ktpu::apps {

void InterlinkOfTwin::bind(unsigned link, memory::BeatLink* out, memory::BeatLink* in, sim::Unit& agent) {
  links_[link].out = out;
  links_[link].in = in;
  out->bind_sender(agent);
  in->bind_receiver(agent);
}

void InterlinkOfTwin::drive(unsigned link, const Beat* out) {
  memory::BeatLink& wires = *links_[link].out;
  if (out != nullptr)
    wires.offer({out->data, out->header});
  else if (wires.valid())
    wires.withdraw();
}

const rtl::InterlinkSocket::Beat* InterlinkOfTwin::clock(unsigned link) {
  Wires& wires = links_[link];
  if (wires.out->valid()) wires.out->sample_sent();
  if (!wires.in->valid()) return nullptr;
  wires.arrived = {wires.in->data().data, wires.in->data().header};
  return &wires.arrived;
}

BeatPort mirror(sim::Shadows& shadows, unsigned link, const BeatPort& real) {
  const std::string name = fmt::format("link{}", link);
  return {shadows.mirror(name + ".out", sim::Shadow::Role::kOutput, real.out),
          shadows.mirror(name + ".in", sim::Shadow::Role::kInput, real.in)};
}

}  // namespace ktpu::apps
