// SPDX-License-Identifier: Apache-2.0
// The way out of a mesh: one packet at a time from the encapsulator, the mover's remote writes or a doorbell
// to the link that leads to its destination (memory.md section 11.6). A request in c puts the header before
// the link in c+1, which grants it in c+2 at the earliest.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/memory/interlink/encapsulator.h"
#include "tlm/memory/interlink/link_port.h"
#include "tlm/memory/interlink/write_split.h"
#include "tlm/memory/memory_cycles.h"

namespace ktpu::memory {

class Sender {
 public:
  // `quirks`: I1 as in the reference.
  explicit Sender(bool quirks) : quirks_(quirks) {}
  void reset(sim::Cycle start);
  void sync(sim::Cycle now) { cycles_.sync(now); }

  // --- Registers of the present cycle.
  // What this mesh asks of `link`.
  LinkPort::Request request(unsigned link) const;
  Beat beat() const;

  // --- Clock phase, after the links' arbitration.
  void granted() { granted_ = true; }
  struct Doorbell {
    bool pending = false;
    std::uint8_t mesh = 0, tag = 0;
  };
  struct Way {
    unsigned own_mesh = 0;
    std::array<bool, arch::interlink::kLinks> links{};  // which may be used
  };
  // `moved`: the link took beat() in this cycle. Returns whether a packet is dropped because no link of `way`
  // leads to its mesh.
  bool clock(sim::Cycle now, bool moved, const Way& way, Encapsulator& encapsulator, WriteSplit& writes,
             Doorbell& doorbell);

  bool idle() const { return state_ == State::kIdle; }
  const arch::interlink::Header& header() const { return header_; }
  std::uint64_t doorbells() const { return doorbells_; }
  std::uint64_t single_flits() const { return single_flits_; }  // met I1
  sim::Cycle first_single_flit() const { return first_single_; }

  void visit(sim::Archive& archive);
  void waits(std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kOffer,  // the header is before the link; the first word is fetched
    kSend,   // granted or waiting for it, then a beat a cycle
    kDrop,   // no link leads there: a beat a cycle goes nowhere
  };
  enum class From : std::uint8_t { kFlits, kWrite, kDoorbell };
  SenderCycle doing(bool moved) const;
  // Flits of the packet on its way that have left the encapsulator's count behind.
  std::uint32_t flits_moved() const {
    return state_ >= State::kSend && from_ == From::kFlits ? header_.beats - left_ : 0;
  }
  void choose(const Way& way, Encapsulator& encapsulator, WriteSplit& writes, Doorbell& doorbell);
  bool fetch(sim::Cycle now, Encapsulator& encapsulator, WriteSplit& writes);

  bool quirks_;
  State state_ = State::kIdle;
  From from_ = From::kFlits;
  arch::interlink::Header header_{};
  bool reachable_ = false;
  std::uint8_t link_ = 0;   // that leads there
  std::uint8_t class_ = 0;  // traffic class on it
  bool granted_ = false;
  bool first_ = false;  // no beat has moved yet
  std::uint32_t left_ = 0;
  arch::Flit word_{};
  sim::Attribution<SenderCycle, kSenderCycles> cycles_;
  std::uint64_t doorbells_ = 0, writes_ = 0, flits_ = 0, dropped_ = 0, single_flits_ = 0;
  sim::Cycle first_single_ = 0;
};

}  // namespace ktpu::memory
