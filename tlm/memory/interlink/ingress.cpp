// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/ingress.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/encoding/address_map.h"

namespace ktpu::memory {

namespace il = arch::interlink;

void Ingress::reset(sim::Cycle start) {
  cycles_.reset(start);
  busy_ = false;
  link_ = turn_ = 0;
  left_ = 0;
  out_valid_ = fresh_ = false;
  wires_ = {};
  in_flight_ = 0;
  doorbells_.fill({});
}

// One word a write burst, at the low 32 bits of its address in this mesh.
bool Ingress::take_write(const Beat& beat) {
  const bool register_free = wires_.w_data == nullptr || wires_.w_taken;
  if (!register_free || in_flight_ == il::kWritesInFlight) return false;
  std::copy_n(beat.data.w.begin(), 4, word_.begin());
  wires_.aw_valid = true;
  wires_.aw_beats = 1;
  wires_.aw_origin = port_;
  wires_.aw_addr = std::uint64_t{mesh_id_} << arch::address::kMesh.lsb | (header_.address & 0xFFFFFFFF);
  header_.address += arch::kWordBytes;
  ++in_flight_;
  ++written_;
  return true;
}

void Ingress::clock(sim::Cycle now, std::array<LinkPort, il::kLinks>& links, bool out_taken) {
  const std::uint32_t in_flight = in_flight_;  // as registered
  const bool write_done = wires_.w_taken, response = wires_.b;
  IngressCycle did = busy_ ? IngressCycle::kArriving : waiting();
  if (wires_.aw_granted) wires_.aw_valid = false;
  if (out_taken) out_valid_ = false;
  bool word_loaded = false;

  if (!busy_) {
    for (unsigned i = 0; i < il::kLinks; ++i) {
      const unsigned l = (turn_ + i) % il::kLinks;
      if (!links[l].readable(now, il::kStops)) continue;
      header_ = il::unpack(links[l].head(il::kStops).header);
      busy_ = true;
      link_ = static_cast<std::uint8_t>(l);
      turn_ = static_cast<std::uint8_t>((l + 1) % il::kLinks);
      left_ = header_.beats;
      did = IngressCycle::kStep;
      break;
    }
  } else if (links[link_].readable(now, il::kStops)) {
    const Beat& beat = links[link_].head(il::kStops);
    bool taken = false;
    switch (header_.kind) {
      case il::Kind::kFlits:
        taken = !out_valid_;
        did = IngressCycle::kMesh;
        if (taken) {
          const arch::Coord to = arch::Coord::from_node_byte(header_.txn);
          out_ = beat.data;
          out_.w[4] = arch::make_header(to, beat.data.src(), beat.data.type(), 0, beat.data.last());
          out_valid_ = fresh_ = true;
          ++injected_;
        }
        break;
      case il::Kind::kMemoryWrite:
        taken = word_loaded = take_write(beat);
        did = IngressCycle::kMemory;
        break;
      default: {  // a doorbell: after every write before it has landed
        taken = in_flight == 0;
        did = IngressCycle::kOrder;
        if (taken) {
          Doorbells& d = doorbells_[header_.source];
          ++d.received;
          d.last_tag = static_cast<std::uint8_t>(header_.txn);
          ++rung_;
        }
        break;
      }
    }
    if (taken) {
      did = IngressCycle::kTaking;
      links[link_].pop(now, il::kStops);
      busy_ = --left_ != 0;
    } else {
      ++blocked_;
    }
  }
  if (word_loaded)
    wires_.w_data = word_.data();
  else if (write_done)
    wires_.w_data = nullptr;
  if (response) --in_flight_;
  wires_.clear_events();
  cycles_.enter(now, did);
  cycles_.enter(now + 1, busy_ ? IngressCycle::kArriving : waiting());
}

void Ingress::visit(sim::Archive& archive) {
  archive.state("busy", busy_, 1);
  cycles_.visit(archive);
  archive.state("link", link_, 1);
  archive.state("turn", turn_, 1);
  archive.state("left", left_, 6);
  archive.state("kind", header_.kind, 4);
  archive.state("source", header_.source, 2);
  archive.state("txn", header_.txn, 8);
  archive.state("address", header_.address, 40);
  archive.state("out_valid", out_valid_, 1);
  archive.flit("out", out_);
  archive.state("aw_valid", wires_.aw_valid, 1);
  archive.state("aw_addr", wires_.aw_addr, 40);
  archive.memory("word", word_.data(), word_.size());
  archive.computed("w_valid", wires_.w_data != nullptr, 1);
  archive.state("in_flight", in_flight_, 4);
  for (unsigned m = 0; m < il::kMeshes; ++m) {
    archive.state(fmt::format("doorbells{}", m), doorbells_[m].received, 32);
    archive.state(fmt::format("last_tag{}", m), doorbells_[m].last_tag, 8);
  }
  archive.counter("injected", injected_, "flits", "flits of other meshes put into this one");
  archive.counter("words_written", written_, "words", "words that other meshes wrote into this memory");
  archive.counter("doorbells", rung_, "packets", "doorbells received");
  archive.counter("blocked", blocked_, "cycles",
                  "cycles in which a beat for this mesh waited for the port, the DRAM or earlier writes");
  archive.kept("fresh", fresh_);
  wires_.visit(archive);
  bool offered = wires_.w_data != nullptr;
  archive.kept("word_offered", offered);
  if (archive.restores()) wires_.w_data = offered ? word_.data() : nullptr;
}

void Ingress::waits(std::vector<sim::Wait>& waits) const {
  if (out_valid_)
    waits.push_back({fmt::format("interlink: a {} for ({},{}) from another mesh to enter this one",
                                 arch::flit_type_name(out_.type_code()), out_.dst_x(), out_.dst_y())});
  if (in_flight_ != 0)
    waits.push_back({fmt::format("interlink: {} words of other meshes to land in memory", in_flight_)});
}

}  // namespace ktpu::memory
