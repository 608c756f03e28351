// SPDX-License-Identifier: Apache-2.0
// Predicate registers as the lanes see them. With the reference's quirks nothing waits for a compare: what
// reads its predicate before the bits have landed gets the old ones (vector.md section 12.4, quirk V3). That
// depends on the cycle in which a beat is decided, so beats keep their time here (section 12.3), relative to
// the start of the kernel. A wait for memory counts as long enough for everything to land.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

namespace ktpu::interpret {

inline constexpr unsigned kMaxLength = 128;  // elements of a vector register
using PredicateBits = std::bitset<kMaxLength>;

class Predicates {
 public:
  explicit Predicates(bool quirks) : quirks_(quirks) {}

  // A kernel begins; registers keep their bits.
  void start();
  // An instruction other than beats: `cycles` from its fetch to the next one's, or the pipe has run empty.
  void pass(unsigned cycles) { fetch_ += cycles; }
  void drain();
  // A group of arithmetic words: registers it names, depth, beats. Then reads and writes see its first beat.
  void issue(const std::array<unsigned, 4>& registers, unsigned depth, unsigned beats, unsigned vd,
             bool compare);

  const PredicateBits& bits(unsigned p) const { return bits_[p]; }
  // What the group issued last reads of predicate p.
  const PredicateBits& read(unsigned p) const;
  // What ANY and ALL read in the execute cycle of the instruction at hand.
  PredicateBits read_now(unsigned p) const;
  // The group issued last compares: its bits, of elements below `count`.
  void write(unsigned p, const PredicateBits& bits, unsigned count);

 private:
  using Cycle = std::int64_t;
  struct Compare {
    Cycle first = 0;  // its first beat
    unsigned depth = 1;
    unsigned predicate = 0;
    PredicateBits before;
  };

  bool quirks_;
  std::array<PredicateBits, 4> bits_;
  std::vector<Compare> landing_;
  Cycle fetch_ = 0, first_ = 0;
  unsigned depth_ = 1;
  std::array<Cycle, 16> ready_{};
};

}  // namespace ktpu::interpret
