// SPDX-License-Identifier: Apache-2.0
// Seeded random load: one Bernoulli trial a cycle decides whether a flit is born, and the pattern where it
// goes. The gap to the next birth is drawn at once, so that a node at a low rate can sleep until then.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/flit.h"
#include "tlm/sim/archive.h"
#include "tlm/sim/cycle.h"
#include "tlm/sim/random.h"

namespace ktpu::traffic {

enum class Pattern : std::uint8_t {
  kUniform,    // every destination but the node itself with equal chance
  kHotspot,    // `hotspot` with probability `hotspot_share`, else uniform
  kTranspose,  // (x,y) sends to (y,x); a node on the diagonal or without such a peer is silent
};

struct RandomTraffic {
  Pattern pattern = Pattern::kUniform;
  double rate = 0;         // births per cycle, 0..1
  std::uint64_t seed = 1;  // of the mesh; each node mixes its coordinate in
  std::vector<arch::Coord>
      destinations;          // all nodes that may be addressed; the node itself may be among them
  arch::Coord hotspot;       // kHotspot
  double hotspot_share = 1;  // 0..1
  std::uint64_t flits = 0;   // stop after so many, 0 = never
  sim::Cycle first = 8;      // no birth before this cycle after reset; the spec asks for 8 after reset
  arch::FlitType type = static_cast<arch::FlitType>(0x9);  // reserved to the fabric: every endpoint drops it
};

// The number of failures before the first success of trials with one success probability, drawn in a few
// comparisons whatever the probability: the binary digits of such a number are independent, digit j being 1
// with probability q^(2^j) / (1 + q^(2^j)), q the chance of failure. Only multiplications of doubles, hence
// the same on every machine.
class GapDraw {
 public:
  explicit GapDraw(double rate);  // > 0, <= 1
  std::uint64_t draw(sim::Random& random) const {
    std::uint64_t gap = 0;
    for (unsigned j = 0; j < digits_; j += 2) {
      const std::uint64_t bits = random.next();  // 32 for each of two digits
      gap |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits) < threshold_[j]) << j |
             static_cast<std::uint64_t>((bits >> 32) < threshold_[j + 1]) << (j + 1);
    }
    return gap;
  }

 private:
  static constexpr unsigned kMaxDigits = 40;  // rates down to about 1e-10
  unsigned digits_ = 0;
  std::array<std::uint32_t, kMaxDigits> threshold_{};
};

class Generator {
 public:
  Generator(const RandomTraffic& traffic, arch::Coord self);

  void reset();
  // Cycle after reset of the birth of the next flit, kNever when there is none.
  sim::Cycle birth() const { return birth_; }
  // The next flit's destination; call once per flit, then advance().
  arch::Coord destination();
  std::uint64_t filler() { return random_.next(); }  // payload bits that toggle
  void advance();

  std::uint64_t born() const { return born_; }
  arch::FlitType type() const { return type_; }
  sim::Random& random() { return random_; }
  void visit(sim::Archive& archive) {
    archive.state("random", random_.state());
    archive.kept("birth", birth_);
    archive.kept("born", born_);
  }

 private:
  sim::Random random_{0};
  sim::Cycle birth_ = sim::kNever;
  std::uint64_t born_ = 0;
  std::uint64_t limit_;
  std::vector<arch::Coord> destinations_;
  Pattern pattern_;
  arch::FlitType type_;
  arch::Coord hotspot_;
  bool silent_;
  GapDraw gap_;

  std::uint64_t seed_;
  std::uint64_t share_;  // threshold of hotspot_share
  sim::Cycle first_;
};

}  // namespace ktpu::traffic
