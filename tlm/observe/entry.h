// SPDX-License-Identifier: Apache-2.0
// One named, typed value of a machine. Statistics, waves, lock-step reports and `inspect` all use these, so a
// name is the same everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "arch/flit.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"

namespace ktpu::observe {

enum class EntryKind : std::uint8_t {
  kState,    // a register of the machine, or something worked out from registers (an occupancy)
  kMemory,   // a block of memory; read() gives its first word
  kCounter,  // a statistic; may be kept lazily: Engine::sync() before reading
  kWire,     // a wire of a link, valid once the cycle is settled
};
std::string_view kind_name(EntryKind kind);  // "state", "memory", "counter", "wire"

// Where the value lives. Exactly one of the four forms.
struct Location {
  const void* address = nullptr;         // a value (or memory) at a fixed address ...
  std::uint8_t bytes = 0;                // ... of this many bytes an element, 1, 2, 4 or 8 for values
  std::size_t elements = 1;              // memories: their number
  const sim::LinkBase* link = nullptr;   // a wire of this link ...
  const sim::FlitLink* flits = nullptr;  // ... inside the flit on it, or null: valid or busy
  unsigned lsb = 0;                      // bit of the flit; without a flit: 0 valid, 1 busy
  sim::Unit* rewalk = nullptr;           // worked out by visiting this unit again ...
  std::size_t ordinal = 0;               // ... as this one of its worked-out values
  std::function<std::uint64_t()> function;
};

struct Entry {
  std::string path;  // "cluster@2,1.dispatch.credit"
  EntryKind kind = EntryKind::kState;
  unsigned width = 64;         // bits, 1..64; 256 for a flit's payload
  std::string_view unit;       // counters: "cycles", "flits", "bytes", ...; empty for states and wires
  std::string_view sentence;   // what it means
  std::string_view formula;    // how it is worked out, when it is
  std::string_view source;     // which implementation it came from: "model", "rtl", ...
  std::string_view node;       // the unit or link it belongs to
  unsigned priority = 0;       // of an exclusive state of an engine: 1 wins over 2; 0: it is none
  sim::Unit* owner = nullptr;  // the unit that visits it; null for wires and values of the platform
  Location location;

  // The value now, low 64 bits, masked to `width`; 0 for the fields of a flit that is not valid. Wires and
  // states: within a cycle or between steps.
  std::uint64_t read() const;
  // Whether read() is a plain load (false: it visits a unit or calls a function).
  bool is_direct() const { return location.rewalk == nullptr && location.function == nullptr; }
  // Exclusive states: the name of the engine whose cycles these are, "cluster@2,1.sweep".
  std::string_view engine() const;
  // Everything known about it, in a few lines: kind, width, unit, sentence, formula, source.
  std::string describe() const;
};

}  // namespace ktpu::observe
