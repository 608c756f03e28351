// SPDX-License-Identifier: Apache-2.0
// What is going to happen, in order of time; in the order it was added at the same time.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "compiler/cost/machine.h"

namespace ktpu::cost {

struct Event {
  enum class Kind : std::uint8_t { kHost, kDispatch, kUnit, kArrive, kPort, kEntry, kGrant, kData, kPeer };
  Cycles t = 0;
  std::uint32_t order = 0;
  Kind kind = Kind::kHost;
  std::uint16_t who = 0;      // unit or port, by kind
  std::uint32_t what = 0;     // message or moment, by kind
  std::uint32_t entries = 0;  // kData
  bool operator>(const Event& o) const { return t != o.t ? t > o.t : order > o.order; }
};

class EventQueue {
 public:
  void add(Cycles t, Event::Kind kind, unsigned who, std::uint32_t what = 0, std::uint32_t entries = 0) {
    queue_.push({t, order_++, kind, static_cast<std::uint16_t>(who), what, entries});
  }
  bool empty() const { return queue_.empty(); }
  Event take() {
    const Event e = queue_.top();
    queue_.pop();
    ++taken_;
    return e;
  }
  std::uint64_t taken() const { return taken_; }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint32_t order_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace ktpu::cost
