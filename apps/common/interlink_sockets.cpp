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

// The header of a packet's first beat; its data is a flit, or a part of one that the words of a flit do not
// fit.
std::string wire_words(const Beat& beat, const sim::DialectAt& dialect) {
  namespace il = arch::interlink;
  if (!beat.first()) return "beat " + sim::wire_text(beat.data);
  const il::Header header = il::unpack(beat.header);
  const std::string way = fmt::format("from mesh {} to mesh {}", header.source, header.destination);
  switch (header.kind) {
    case il::Kind::kMemoryWrite:
      return fmt::format("write {}: {} beats to {:#x}", way, header.beats, header.address);
    case il::Kind::kFlits:
      return fmt::format("flits {}: {} beats, first {}", way, header.beats,
                         sim::wire_words(beat.data, dialect));
    case il::Kind::kDoorbell:
      return fmt::format("doorbell {}: tag {}", way, header.txn);
    case il::Kind::kCredit:
      return fmt::format("credit: {} beats of class {}", header.txn, header.address);
  }
  return fmt::format("packet of kind {} {}", static_cast<unsigned>(header.kind), way);
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
