// SPDX-License-Identifier: Apache-2.0
// The interlink's links at the memory agent's RTL twin: those of the machine, or their shadows in lock-step.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "rtl_models/memory/memory_sockets.h"
#include "tlm/memory/interlink/beat.h"
#include "tlm/sim/lockstep_shadow.h"
#include "tlm/sim/unit.h"

namespace ktpu::memory {

// For sim::Shadow; found by their argument.
std::optional<sim::FieldDifference> first_difference(const Beat& expected, const Beat& got);
std::string wire_text(const Beat& beat);
std::string wire_bits(const Beat& beat);
std::string wire_words(const Beat& beat, const sim::DialectAt& dialect);

}  // namespace ktpu::memory

namespace ktpu::apps {

class InterlinkOfTwin final : public rtl::InterlinkSocket {
 public:
  // Elaboration: the wires to and from the neighbour on link 0 or 1, and the unit they end at.
  void bind(unsigned link, memory::BeatLink* out, memory::BeatLink* in, sim::Unit& agent);

  bool connected(unsigned link) const override { return links_[link].out != nullptr; }
  void drive(unsigned link, const Beat* out) override;
  const Beat* clock(unsigned link) override;

 private:
  struct Wires {
    memory::BeatLink* out = nullptr;
    memory::BeatLink* in = nullptr;
    Beat arrived{};
  };
  std::array<Wires, arch::interlink::kLinks> links_{};
};

// Both directions of link `link`, mirrored for the twin of a lock-step pair.
struct BeatPort {
  memory::BeatLink* out = nullptr;
  memory::BeatLink* in = nullptr;
};
BeatPort mirror(sim::Shadows& shadows, unsigned link, const BeatPort& real);

}  // namespace ktpu::apps
