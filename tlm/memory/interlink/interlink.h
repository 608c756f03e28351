// SPDX-License-Identifier: Apache-2.0
// The interlink of one mesh, a part of its memory agent: what leaves (encapsulator, the mover's remote
// writes, doorbells), what arrives, what passes through, and its registers (memory.md section 11).
//
// Where the reference's choice among several packets at once is not recorded: remote writes go before flits
// before doorbells within a mesh, and equals on a link (a packet of this mesh and one passing through, or two
// links into one mesh) take turns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/interlink/encapsulator.h"
#include "tlm/memory/interlink/ingress.h"
#include "tlm/memory/interlink/link_port.h"
#include "tlm/memory/interlink/sender.h"
#include "tlm/memory/interlink/write_split.h"
#include "tlm/memory/misuse.h"
#include "tlm/noc/endpoint_base.h"

namespace ktpu::memory {

struct InterlinkConfig {
  unsigned mesh_id = 0;
  arch::Coord port;    // of the mesh's first memory port, for messages
  bool quirks = true;  // I1 and I2 as in the reference
};

class Interlink {
 public:
  Interlink(const InterlinkConfig& config, WriteSplit& writes, MisuseLog& misuse);

  // Elaboration: the wires to and from the neighbour on `link` (0 or 1). `owner`: the memory agent.
  void connect(unsigned link, sim::Unit& owner, BeatLink* out, BeatLink* in) {
    links_[link].connect(owner, out, in);
  }
  void reset(sim::Cycle start);
  void sync(sim::Cycle now);
  void drive();

  // --- Inbound flits with the remote mark (section 2).
  static bool is_remote(const arch::Flit& flit) { return (flit.rsvd() & 4) != 0; }
  // Whether this flit would be taken, or dropped, in the present cycle.
  bool takes(const arch::Flit& flit) const { return !enabled_ || encapsulator_.takes(flit); }
  bool keeps_bursts_apart() const { return !config_.quirks; }  // quirk I2
  // Clock phase, before clock(): the flit taken at memory port `port` in this cycle, or the selected one that
  // could not be taken.
  void take(const arch::Flit& flit, unsigned port) { taken_ = &flit, at_port_ = port; }
  void refuse(const arch::Flit& flit, unsigned port) { refused_ = &flit, at_port_ = port; }
  // A request for this mesh's memory was accepted: one that names another mesh sets sticky fault 0.
  void check_local(const arch::Flit& flit);

  // --- Flits for the mesh: the injection register.
  const arch::Flit* out() const { return ingress_.out(); }
  bool fresh() const { return ingress_.fresh(); }
  void shown() { ingress_.shown(); }

  // The inbound requester at the DRAM path.
  DramWires& wires() { return ingress_.wires(); }

  // --- Registers (section 11.5); both before clock().
  void write(sim::Cycle now, std::uint32_t offset, std::uint64_t data);
  std::uint64_t status(sim::Cycle now, unsigned word) const;

  // One cycle, after the DRAM path's and before the mover's.
  void clock(sim::Cycle now, bool out_taken);
  // The next cycle in which clock() must run without anything from outside. `due()`: it must run now.
  sim::Cycle next() const { return next_; }
  bool due(sim::Cycle now) const {
    return next_ <= now || unmarked_ || taken_ != nullptr || refused_ != nullptr || links_[0].arriving() ||
           links_[1].arriving() || writes_.active() || ingress_.events();
  }
  bool idle() const;
  std::uint64_t progress() const { return links_[0].beats_sent() + links_[1].beats_sent(); }

  std::vector<noc::QuirkHits> quirk_hits() const;
  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  void collect(sim::Cycle now, const arch::Flit& flit);
  void note_refused(sim::Cycle now, const arch::Flit& flit);
  void move_links(sim::Cycle now, bool& moved);
  void fault(unsigned bit, sim::Cycle now, arch::Coord who, MisuseKind kind, std::string text);
  void drop_transit(sim::Cycle now, LinkPort& from);
  void no_way(sim::Cycle now, unsigned mesh);
  void check_ack(sim::Cycle now, const arch::Flit& flit);
  sim::Cycle work_ahead(sim::Cycle now) const;

  InterlinkConfig config_;
  WriteSplit& writes_;
  MisuseLog& misuse_;
  sim::Cycle start_ = 0;

  bool enabled_ = true;
  std::uint8_t mesh_id_;
  std::uint8_t faults_ = 0;
  Sender::Doorbell doorbell_, rung_;   // rung_: written in this cycle
  const arch::Flit* taken_ = nullptr;  // inputs of clock()
  const arch::Flit* refused_ = nullptr;
  unsigned at_port_ = 0;
  bool unmarked_ = false;  // a request of this cycle is to set fault 0
  Encapsulator encapsulator_;
  Sender sender_;
  std::array<LinkPort, arch::interlink::kLinks> links_;
  std::array<bool, arch::interlink::kLinks> transit_{};  // link l may send on what came on the other one
  Ingress ingress_;
  std::uint8_t open_port_ = 0;  // where the open burst comes in
  bool burst_open_ = false;     // its last flit has not come
  sim::Cycle next_ = 0;

  std::uint64_t cut_off_ = 0, dropped_ = 0, forwarded_ = 0, transit_blocked_ = 0, interleaved_ = 0;
  bool was_interleaved_ = false;
  sim::Cycle first_interleaved_ = 0;
  arch::Coord interleaved_by_, interleaved_into_;
};

}  // namespace ktpu::memory
