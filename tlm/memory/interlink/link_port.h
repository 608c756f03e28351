// SPDX-License-Identifier: Apache-2.0
// One end of an interlink: an output register with credits of the far receiver, an input register with a
// buffer a class, and the credits this end owes (memory.md sections 11.2 and 11.6).
//
// A packet asks with its header, is granted when the link rests and the far end has room for all of it, and
// then moves a beat a cycle: a grant in c puts beat k on the link in c+2+k. A credit packet likewise.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tlm/memory/interlink/beat.h"
#include "tlm/memory/memory_cycles.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

class LinkPort {
 public:
  // Where a packet on this link comes from: this mesh, or the mesh's other link.
  enum class Source : std::uint8_t { kLocal, kTransit };
  static constexpr unsigned kSources = 2;
  // A packet that asks for this link; the request of the present cycle, made by registers.
  struct Request {
    bool valid = false;
    unsigned beats = 0;
    unsigned traffic_class = 0;
  };

  LinkPort();
  void connect(sim::Unit& owner, BeatLink* out, BeatLink* in);
  bool connected() const { return out_ != nullptr; }
  void reset(sim::Cycle start);
  void sync(sim::Cycle now) { cycles_.sync(now); }
  void drive();

  // --- Output side, clock phase: begin(), arbitrate(), then move() if a source is moving.
  void begin() {
    was_ = state_;
    did_ = state_ == State::kData ? LinkCycle::kStarved : LinkCycle::kIdle;
  }
  // Decides what the link does next if it rests. Returns the source granted, -1 if none.
  int arbitrate(const std::array<Request, kSources>& requests);
  // The source whose beat is due in this cycle, -1: none. move() puts it into the output register.
  bool taking_transit() const { return state_ == State::kData && source_ == Source::kTransit; }
  int moving() const { return was_ == State::kData ? static_cast<int>(source_) : -1; }
  void move(const Beat& beat);

  // --- Input side, clock phase.
  // Whether the buffer of a class has a beat to read, and that beat.
  bool readable(sim::Cycle now, unsigned traffic_class) const {
    return buffers_[traffic_class].readable(now);
  }
  const Beat& head(unsigned traffic_class) const { return buffers_[traffic_class].head(); }
  sim::Cycle readable_from(unsigned traffic_class) const { return buffers_[traffic_class].readable_from(); }
  // Whether what leaves the buffer is a flit for a mesh.
  bool pop(sim::Cycle now, unsigned traffic_class);

  // End of the clock phase: registers take what was decided and what is on the wires. `own_mesh` tells what
  // stops here.
  void finish(sim::Cycle now, unsigned own_mesh);
  // Whether it must be clocked in the next cycle, apart from requests and beats to read.
  bool active() const;
  bool arriving() const { return in_ != nullptr && in_->valid(); }
  bool idle() const;

  // Numbers of the status words.
  unsigned credit(unsigned traffic_class) const { return credit_[traffic_class]; }
  unsigned owed(unsigned traffic_class) const { return owed_[traffic_class]; }
  std::uint64_t beats_sent() const { return beats_sent_; }
  std::uint64_t packets_sent() const { return packets_sent_; }
  std::uint64_t beats_received() const { return beats_received_; }
  std::uint64_t packets_received() const { return packets_received_; }
  std::uint64_t busy_cycles() const { return beats_sent_ + credits_sent_; }
  std::uint64_t stalled_cycles() const { return stalled_cycles_; }

  void visit(sim::Archive& archive);
  void waits(std::string_view name, std::vector<sim::Wait>& waits) const;

 private:
  enum class State : std::uint8_t { kRest, kData, kCredit };
  bool grant_credit(bool urgent);

  BeatLink* out_ = nullptr;
  BeatLink* in_ = nullptr;

  State state_ = State::kRest, was_ = State::kRest;
  LinkCycle did_ = LinkCycle::kIdle;  // in the present cycle
  Source source_ = Source::kLocal;
  std::uint32_t left_ = 0;  // beats of the packet still to move
  std::uint8_t turn_ = 0;   // source that goes first among equals
  Beat credit_beat_{};
  bool out_valid_ = false;
  bool next_valid_ = false;  // the output register in the next cycle
  bool shown_ = false;       // the wires show out_beat_
  Beat out_beat_{};
  std::array<std::uint32_t, arch::interlink::kClasses> credit_{};

  bool in_valid_ = false;
  Beat in_beat_{};
  std::uint8_t in_class_ = 0;  // of the packet that is arriving
  std::array<sim::Fifo<Beat>, arch::interlink::kClasses> buffers_;
  std::array<std::uint32_t, arch::interlink::kClasses> owed_{};
  std::array<std::uint8_t, arch::interlink::kClasses> popped_{};  // in this cycle

  // Beats that are flits for a mesh, which none may get lost of.
  bool sends_flits_ = false, receives_flits_ = false;         // the packet that leaves, that arrives
  bool out_flit_ = false, next_flit_ = false;                 // the output register holds one, now and then
  std::array<bool, arch::interlink::kClasses> pops_flits_{};  // the packet that is read from a buffer
  std::uint32_t held_flits_ = 0;                              // in the buffers
  bool in_flit() const;

  sim::Attribution<LinkCycle, kLinkCycles> cycles_;
  std::uint64_t flits_sent_ = 0, flits_received_ = 0;
  std::uint64_t beats_sent_ = 0, packets_sent_ = 0, beats_received_ = 0, packets_received_ = 0;
  std::uint64_t credits_sent_ = 0, credits_received_ = 0, stalled_cycles_ = 0;
};

}  // namespace ktpu::memory
