// SPDX-License-Identifier: Apache-2.0
#include "tlm/memory/interlink/interlink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/encoding/address_map.h"
#include "arch/encoding/payloads.h"

namespace ktpu::memory {

namespace il = arch::interlink;

Interlink::Interlink(const InterlinkConfig& config, WriteSplit& writes, MisuseLog& misuse)
    : config_(config),
      writes_(writes),
      misuse_(misuse),
      mesh_id_(static_cast<std::uint8_t>(config.mesh_id)),
      sender_(config.quirks),
      ingress_(config.mesh_id, config.port) {}

void Interlink::reset(sim::Cycle start) {
  start_ = start;
  enabled_ = true;
  mesh_id_ = static_cast<std::uint8_t>(config_.mesh_id);
  writes_.set_mesh_id(mesh_id_);
  faults_ = 0;
  doorbell_ = rung_ = {};
  taken_ = refused_ = nullptr;
  unmarked_ = false;
  encapsulator_.reset();
  sender_.reset(start);
  for (LinkPort& link : links_) link.reset(start);
  transit_.fill(false);
  ingress_.reset(start);
  burst_open_ = was_interleaved_ = false;
  next_ = sim::kNever;
}

void Interlink::sync(sim::Cycle now) {
  sender_.sync(now);
  for (LinkPort& link : links_) link.sync(now);
  ingress_.sync(now);
}

void Interlink::drive() {
  for (LinkPort& link : links_) link.drive();
}

void Interlink::fault(unsigned bit, sim::Cycle now, arch::Coord who, MisuseKind kind, std::string text) {
  if ((faults_ >> bit & 1) == 0) misuse_.add({kind, now, who, 0, std::move(text)});
  faults_ |= static_cast<std::uint8_t>(1u << bit);
}

// A CU_DATA burst's acknowledgement must name a node of the far mesh, else it goes to the far node with the
// sender's coordinates (section 11.7 X4).
void Interlink::check_ack(sim::Cycle now, const arch::Flit& flit) {
  if (flit.type() != arch::FlitType::kCuData) return;
  const auto descriptor = arch::unpack<arch::CuDataDesc>(flit);
  if (descriptor.ack() != arch::Coord{}) return;
  fault(il::kNoAck, now, flit.src(), MisuseKind::kRemoteWithoutAck,
        fmt::format(
            "a CU_DATA burst for mesh {} names no node for its acknowledgement, which would go to ({},{}) "
            "there",
            flit.rsvd() & arch::kRsvdMeshMask, flit.src_x(), flit.src_y()));
}

// The DRAM path reports the access itself. Plain reads are never checked (section 3).
void Interlink::check_local(const arch::Flit& flit) {
  if (flit.type() == arch::FlitType::kMemWrData) return;
  const auto request = arch::unpack<arch::MemReq>(flit);
  if (flit.type() == arch::FlitType::kMemRdReq && !request.stream() && !request.quant()) return;
  unmarked_ |= !arch::address::special(request.addr) && arch::address::mesh(request.addr) != config_.mesh_id;
}

void Interlink::collect(sim::Cycle now, const arch::Flit& flit) {
  was_interleaved_ = false;
  if (!enabled_) {
    ++dropped_;
    fault(il::kFlitDropped, now, flit.src(), MisuseKind::kInterlinkOff,
          fmt::format("a {} for mesh {} was dropped: the interlink is disabled",
                      arch::flit_type_name(flit.type_code()), flit.rsvd() & arch::kRsvdMeshMask));
    return;
  }
  if (!burst_open_) check_ack(now, flit);
  burst_open_ = !flit.last();
  open_port_ = static_cast<std::uint8_t>(at_port_);
  encapsulator_.take(now, flit);
}

// Another burst's flit while one is open: with the reference's quirk I2 nobody gets on from here unless the
// open burst's next flit comes first at the selected port.
void Interlink::note_refused(sim::Cycle now, const arch::Flit& flit) {
  if (!encapsulator_.open() || encapsulator_.takes(flit)) return;
  if (!was_interleaved_ && interleaved_++ == 0) {
    first_interleaved_ = now;
    interleaved_by_ = flit.src();
    interleaved_into_ = encapsulator_.source();
  }
  was_interleaved_ = true;
  if (keeps_bursts_apart() && at_port_ == open_port_) encapsulator_.close();
}

void Interlink::move_links(sim::Cycle now, bool& moved) {
  for (LinkPort& link : links_) link.begin();
  for (unsigned l = 0; l < il::kLinks; ++l) {
    LinkPort& other = links_[1 - l];
    std::array<LinkPort::Request, LinkPort::kSources> requests{sender_.request(l), {}};
    if (transit_[l]) {
      const il::Header header = il::unpack(other.head(il::kForwarded).header);
      requests[1] = {true, header.beats,
                     il::neighbour(mesh_id_, l) == header.destination ? il::kStops : il::kForwarded};
    }
    const int granted = links_[l].arbitrate(requests);
    if (granted == 0) sender_.granted();
    transit_blocked_ += transit_[l] && granted != 1;
  }
  for (unsigned l = 0; l < il::kLinks; ++l) {
    LinkPort& link = links_[l];
    LinkPort& other = links_[1 - l];
    const int source = link.moving();
    if (source == static_cast<int>(LinkPort::Source::kLocal)) {
      link.move(sender_.beat());
      moved = true;
    } else if (source >= 0 && other.readable(now, il::kForwarded)) {
      const Beat& beat = other.head(il::kForwarded);
      forwarded_ += beat.first();
      link.move(beat);
      other.pop(now, il::kForwarded);
    }
    if (!link.connected()) {
      drop_transit(now, other);
      continue;
    }
    // A header that can be read asks in the next cycle.
    transit_[l] = source != static_cast<int>(LinkPort::Source::kTransit) && !link.taking_transit() &&
                  other.readable(now, il::kForwarded);
  }
}

// The chain ends here: what was to be passed on goes nowhere.
void Interlink::drop_transit(sim::Cycle now, LinkPort& from) {
  if (!from.readable(now, il::kForwarded)) return;
  const Beat& beat = from.head(il::kForwarded);
  if (beat.first()) no_way(now, il::unpack(beat.header).destination);
  cut_off_ += from.pop(now, il::kForwarded);
}

void Interlink::no_way(sim::Cycle now, unsigned mesh) {
  fault(il::kSwitch, now, config_.port, MisuseKind::kNoWay,
        fmt::format("a packet for mesh {} was dropped: no link of mesh {} leads there", mesh, mesh_id_));
}

void Interlink::clock(sim::Cycle now, bool out_taken) {
  faults_ |= static_cast<std::uint8_t>(unsigned{unmarked_} << il::kUnmarked);
  unmarked_ = false;
  bool moved = false;
  move_links(now, moved);
  Sender::Way way{mesh_id_, {}};
  for (unsigned l = 0; l < il::kLinks; ++l) way.links[l] = enabled_ && links_[l].connected();
  if (sender_.clock(now, moved, way, encapsulator_, writes_, doorbell_)) {
    const unsigned mesh = sender_.header().destination;
    if (enabled_)
      no_way(now, mesh);
    else
      fault(il::kFlitDropped, now, config_.port, MisuseKind::kInterlinkOff,
            fmt::format("a packet for mesh {} was dropped: the interlink is disabled", mesh));
  }
  if (taken_ != nullptr) collect(now, *taken_);
  if (refused_ != nullptr) note_refused(now, *refused_);
  taken_ = refused_ = nullptr;
  if (rung_.pending) doorbell_ = std::exchange(rung_, {});
  ingress_.clock(now, links_, out_taken);
  for (LinkPort& link : links_) link.finish(now, mesh_id_);
  next_ = work_ahead(now);
}

sim::Cycle Interlink::work_ahead(sim::Cycle now) const {
  const sim::Cycle soon = now + 1;
  if (!sender_.idle() || encapsulator_.closed() || doorbell_.pending || ingress_.active() || writes_.active())
    return soon;
  sim::Cycle next = sim::kNever;
  for (unsigned l = 0; l < il::kLinks; ++l) {
    if (links_[l].active() || transit_[l]) return soon;
    for (unsigned c = 0; c < il::kClasses; ++c) next = std::min(next, links_[l].readable_from(c));
  }
  return std::max(next, soon);
}

bool Interlink::idle() const {
  return sender_.idle() && !encapsulator_.closed() && !encapsulator_.open() && !doorbell_.pending &&
         ingress_.idle() && !writes_.active() && links_[0].idle() && links_[1].idle();
}

void Interlink::write(sim::Cycle now, std::uint32_t offset, std::uint64_t data) {
  switch (offset) {
    case il::kControl:
      enabled_ = arch::get(&data, il::control::kEnable) != 0;
      if (arch::get(&data, il::control::kClearDoorbells) != 0) ingress_.clear_doorbells();
      if (arch::get(&data, il::control::kClearFaults) != 0) faults_ = 0;
      break;
    case il::kMeshId:
      mesh_id_ = data & 3;
      writes_.set_mesh_id(mesh_id_);
      break;
    case il::kDoorbell:
      rung_ = {true, static_cast<std::uint8_t>(arch::get(&data, il::doorbell::kDestination)),
               static_cast<std::uint8_t>(arch::get(&data, il::doorbell::kTag))};
      break;
    default:
      return;  // nothing there
  }
  next_ = std::min(next_, now);
}

std::uint64_t Interlink::status(sim::Cycle now, unsigned word) const {
  const auto halves = [](std::uint64_t high, std::uint64_t low) { return high << 32 | (low & 0xFFFFFFFF); };
  if (word >= il::kReceived && word < il::kReceived + il::kMeshes) {
    const Ingress::Doorbells& d = ingress_.doorbells(word - il::kReceived);
    return halves(d.last_tag, d.received);
  }
  const LinkPort& link = links_[(word >= il::kIdleStalled ? word : (word - il::kSentBy) / 2) % il::kLinks];
  switch (word) {
    case il::kCapability:
      return enabled_ ? std::uint64_t{1} << 40 | std::uint64_t{il::kMeshes} << 32 |
                            std::uint64_t{mesh_id_} << 24 | std::uint64_t{il::kLinks} << 16 | il::kMagic
                      : 0;
    case il::kFaults:
      return faults_;
    case il::kSentBy:
    case il::kSentBy + 2:
      return halves(link.beats_sent(), link.packets_sent());
    case il::kSentBy + 1:
    case il::kSentBy + 3:
      return halves(link.beats_received(), link.packets_received());
    case il::kIdleStalled:
    case il::kIdleStalled + 1:
      return halves(now - start_ - link.busy_cycles(), link.stalled_cycles());
    case il::kBlockedForwarded:
      return halves(transit_blocked_, forwarded_);
    case il::kCredit: {
      std::uint64_t value = 0;
      for (unsigned l = il::kLinks; l-- > 0;)
        for (const unsigned byte :
             {links_[l].credit(1), links_[l].credit(0), links_[l].owed(1), links_[l].owed(0)})
          value = value << 8 | byte;
      return value;
    }
    case il::kDoorbellsSent:
      return sender_.doorbells();
    case il::kEgressBlocked:
      return ingress_.blocked_cycles();
    default:
      return 0;
  }
}

std::vector<noc::QuirkHits> Interlink::quirk_hits() const {
  std::vector<noc::QuirkHits> hits;
  if (config_.quirks && sender_.single_flits() != 0)
    hits.push_back(
        {arch::QuirkId::kI1, sender_.single_flits(), sender_.first_single_flit(),
         "a remote packet of one flit sent the word before it again; every later packet of this mesh is one "
         "flit late. A burst must not have 32 k + 1 flits"});
  if (config_.quirks && interleaved_ != 0)
    hits.push_back(
        {arch::QuirkId::kI2, interleaved_, first_interleaved_,
         fmt::format(
             "a remote flit of ({},{}) came while a burst of ({},{}) was open; the two may block each "
             "other for good. One remote burst at a time may be open in a mesh",
             interleaved_by_.x, interleaved_by_.y, interleaved_into_.x, interleaved_into_.y)});
  return hits;
}

void Interlink::visit(sim::Archive& archive) {
  archive.state("enabled", enabled_, 1);
  archive.state("mesh_id", mesh_id_, 2);
  archive.state("faults", faults_, 5);
  archive.state("doorbell_pending", doorbell_.pending, 1);
  archive.state("doorbell_mesh", doorbell_.mesh, 2);
  archive.state("doorbell_tag", doorbell_.tag, 8);
  archive.scope("encapsulator", [&] { encapsulator_.visit(archive); });
  archive.scope("sender", [&] { sender_.visit(archive); });
  for (unsigned l = 0; l < il::kLinks; ++l) {
    archive.scope(fmt::format("link{}", l), [&] { links_[l].visit(archive); });
    archive.state(fmt::format("transit{}", l), transit_[l], 1);
  }
  archive.scope("ingress", [&] { ingress_.visit(archive); });
  archive.state("open_port", open_port_, 2);
  archive.state("burst_open", burst_open_, 1);
  archive.state("was_interleaved", was_interleaved_, 1);
  archive.counter("dropped", dropped_, "flits", "remote flits dropped because the interlink was disabled");
  archive.counter("cut_off", cut_off_, "flits",
                  "flits dropped on their way because no link leads on to their mesh");
  archive.counter("forwarded", forwarded_, "packets", "packets passed on from one link to the other");
  archive.counter("transit_blocked", transit_blocked_, "cycles",
                  "cycles in which a packet to be passed on waited for its link");
  archive.counter("interleaved", interleaved_, "bursts",
                  "remote bursts that came while another one was open (quirk I2)");
  archive.kept("start", start_);
  archive.kept("next", next_);
  archive.kept("first_interleaved", first_interleaved_);
  archive.kept("interleaved_by", interleaved_by_);
  archive.kept("interleaved_into", interleaved_into_);
  if (archive.restores()) writes_.set_mesh_id(mesh_id_);
}

void Interlink::waits(std::vector<sim::Wait>& waits) const {
  const std::size_t before = waits.size();
  encapsulator_.waits(waits);
  if (was_interleaved_ && encapsulator_.open())
    waits.push_back(
        {.what = fmt::format("interlink: a remote flit of ({},{}) came into the open burst of ({},{}): the "
                             "two block each other "
                             "(quirk I2); one remote burst at a time may be open in a mesh",
                             interleaved_by_.x, interleaved_by_.y, interleaved_into_.x, interleaved_into_.y),
         .kind = "remote-interleaved"});
  sender_.waits(waits);
  for (unsigned l = 0; l < il::kLinks; ++l) links_[l].waits(fmt::format("interlink link {}", l), waits);
  ingress_.waits(waits);
  for (std::size_t k = before; k < waits.size(); ++k) waits[k].part = "interlink";
}

}  // namespace ktpu::memory
