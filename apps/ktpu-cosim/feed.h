// SPDX-License-Identifier: Apache-2.0
// When a port's messages are sent, piece by piece; and when a neighbour pauses. Both are functions of seed,
// port and cycle, so they do not move when messages are left out.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "apps/ktpu-cosim/bench.h"
#include "tlm/sim/random.h"

namespace ktpu::cosim {

// Windows of 32 cycles that are free, calm, average or dense, so that queues fill and run empty. `channel`:
// one that pauses by itself.
inline bool stalled(const Conditions& conditions, unsigned channel, sim::Cycle now) {
  if (conditions.stalls == 0) return false;
  const std::uint64_t seed = conditions.seed * 64 + channel;
  constexpr std::array<unsigned, 4> kHalves{0, 1, 2, 5};
  const unsigned percent = conditions.stalls * kHalves[sim::Random::nth(~seed, now / 32) % 4] / 2;
  return sim::Random::nth(seed, now) % 100 < std::min(percent, 97u);
}

// Pieces of the messages of one port: flits or beats.
template <class Piece>
class Feed {
 public:
  Feed(std::vector<Piece> Message::*pieces, std::uint64_t seed) : pieces_(pieces), seed_(seed) {}

  void add(const Message& message) { lanes_[message.lane].messages.push_back(&message); }
  bool empty() const { return lanes_.empty(); }
  // Whether the next piece of take(now), if any, is the first of its message.
  bool ready(sim::Cycle now) const { return pick(now) != lanes_.end(); }
  bool starts(sim::Cycle now) const {
    const auto lane = pick(now);
    return lane != lanes_.end() && lane->second.cursor == 0;
  }
  // What is sent from cycle `now` on; nothing if no message is due.
  std::optional<Piece> take(sim::Cycle now) {
    const auto at = pick(now);
    if (at == lanes_.end()) return std::nullopt;
    Lane& lane = lanes_.at(at->first);
    const std::vector<Piece>& pieces = lane.messages.front()->*pieces_;
    const Piece piece = pieces[lane.cursor];
    if (++lane.cursor == pieces.size()) {
      lane.messages.pop_front();
      lane.cursor = 0;
      lane.free_from = now + 1;
      if (lane.messages.empty()) lanes_.erase(at->first);
    }
    return piece;
  }

 private:
  struct Lane {
    std::deque<const Message*> messages;
    std::size_t cursor = 0;    // next piece of the first message
    sim::Cycle free_from = 0;  // when its gap starts
  };
  using Lanes = std::map<unsigned, Lane>;

  // A lane that is due, a different one in each cycle.
  typename Lanes::const_iterator pick(sim::Cycle now) const {
    const auto due = [now](const Lane& lane) {
      return lane.cursor != 0 || lane.free_from + lane.messages.front()->gap <= now;
    };
    if (lanes_.empty()) return lanes_.end();
    const auto first =
        std::next(lanes_.begin(), static_cast<std::ptrdiff_t>(sim::Random::nth(seed_, now) % lanes_.size()));
    for (auto lane = first; lane != lanes_.end(); ++lane)
      if (due(lane->second)) return lane;
    for (auto lane = lanes_.begin(); lane != first; ++lane)
      if (due(lane->second)) return lane;
    return lanes_.end();
  }

  std::vector<Piece> Message::*pieces_;
  std::uint64_t seed_;
  Lanes lanes_;
};

}  // namespace ktpu::cosim
