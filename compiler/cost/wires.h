// SPDX-License-Identifier: Apache-2.0
// What travels between units, memory ports and the control agent, and the faces the parts of the model show
// each other.
#pragma once

#include <cstdint>

#include "arch/flit.h"
#include "compiler/cost/ledger.h"

namespace ktpu::cost {

// A message on its way to a memory port: requests, write bursts, and signals that leave the mesh there.
struct Message {
  enum class Kind : std::uint8_t { kEntries, kPlain, kWrite, kSignal, kPass };
  enum class Signal : std::uint8_t { kComplete, kBatch, kDataReceived };
  Kind kind = Kind::kWrite;
  Signal signal = Signal::kComplete;
  bool quant = false;   // kEntries: through the quantiser
  bool answer = false;  // kPlain: the requester wants to know when this one is answered
  std::uint8_t flits = 1;
  std::uint8_t words = 1;  // kWrite: data flits
  std::uint8_t peers = 0;  // kEntries: further destinations
  std::uint8_t input = 0;  // of the port's router
  std::uint8_t peer[3] = {0, 0, 0};
  std::uint16_t unit = 0;   // sender
  std::uint16_t count = 1;  // kEntries
  std::uint64_t addr = 0;
  Cycles later = 0;  // kPass: from here to the agent's port
  Moment at;         // its last flit is at the port
};

// A burst from unit to unit (CU_DATA).
struct PeerBurst {
  arch::Coord to, ack, from;
  std::uint8_t buffer = 0;
  std::uint16_t flits = 1;  // of data
  bool signal = false;
};

// What a unit can do to the mesh around it. Moments are when the (last) flit is on the unit's output.
class Mesh {
 public:
  virtual ~Mesh() = default;
  virtual void request(unsigned unit, Message message, Moment out) = 0;
  virtual void write(unsigned unit, std::uint64_t addr, unsigned words, Moment last_out) = 0;
  virtual void signal(unsigned unit, Message::Signal signal, arch::Coord to, Moment out) = 0;
  virtual void peer(unsigned unit, const PeerBurst& burst, Moment last_out) = 0;
  virtual void wake(unsigned unit, Cycles t) = 0;
};

// Cycles a unit was busy, of the fabric's clock.
struct UnitBooks {
  Cycles instructions = 0;  // number of them
  Cycles compute = 0;       // clusters: sweep steps issued; vector cores: beats
  Cycles fill = 0;          // clusters: in FILL; vector cores: waiting for a fill
  Cycles drain = 0;         // clusters: in DRAIN; vector cores: VLD, VST, VFILL, VDRAIN
  Cycles busy = 0;          // clusters: an instruction is held; vector cores: a kernel runs
};

// A unit of a mesh.
class Unit {
 public:
  virtual ~Unit() = default;
  // An instruction has been accepted at the link.
  virtual void instruction(Moment accepted, const arch::Flit& flit) = 0;
  virtual void wake(Cycles now) = 0;
  // The last word of a read has been accepted; `entries`: that came with it.
  virtual void data(Moment accepted, unsigned entries) = 0;
  // The last flit of a burst has been accepted.
  virtual void burst(Moment accepted, const PeerBurst& burst) = 0;
  virtual const UnitBooks& books() const = 0;
};

}  // namespace ktpu::cost
