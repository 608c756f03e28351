// SPDX-License-Identifier: Apache-2.0
// A little machine for the tests of observe: a source that offers numbered flits now and then, and a sink
// that queues them and takes one out of the queue every few cycles. Both sleep when they can.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/observe/registry.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/fifo.h"

namespace ktpu::test {

// Offers flit number n in cycle first + n * gap or, while the sink is busy, as soon as it can.
class Source final : public sim::Unit {
 public:
  Source(std::string name, sim::FlitLink& out, unsigned count, sim::Cycle gap, sim::Cycle first = 3)
      : Unit(std::move(name)), out_(out), count_(count), gap_(gap), first_(first) {
    out_.bind_sender(*this);
  }
  void reset(sim::Cycle start) override {
    sent_ = 0;
    due_ = start + first_;
    on_wire_ = kNothing;
  }
  void drive(sim::Cycle now) override {
    const unsigned wanted = sent_ < count_ && now >= due_ ? sent_ : kNothing;
    if (wanted == on_wire_) return;
    on_wire_ = wanted;
    if (wanted == kNothing) {
      out_.withdraw();
      return;
    }
    arch::Flit flit = arch::make_flit({2, 1}, {1, 1}, arch::FlitType::kCuData, sent_, sent_ + 1 == count_);
    flit.w[0] = 0x1000 + sent_;
    flit.w[3] = static_cast<std::uint64_t>(sent_ & 1) << 63;
    out_.offer(flit);
  }
  sim::Cycle clock(sim::Cycle now) override {
    if (on_wire_ != kNothing) {
      if (out_.sample_sent()) {
        ++sent_;
        ++flits_;
        due_ = now + gap_;
      } else {
        ++blocked_;
      }
      return now + 1;
    }
    return sent_ == count_ ? sim::kNever : due_;
  }
  void visit(sim::Archive& archive) override {
    archive.state("sent", sent_, 8);
    archive.counter("flits", flits_, "flits", "Flits that left this source");
    archive.counter("blocked", blocked_, "cycles", "Cycles in which the sink refused a flit");
  }

 private:
  sim::FlitLink& out_;
  unsigned count_;
  sim::Cycle gap_, first_;
  unsigned sent_ = 0;
  sim::Cycle due_ = 0;
  static constexpr unsigned kNothing = ~0u;
  unsigned on_wire_ = kNothing;  // number of the flit offered
  std::uint64_t flits_ = 0, blocked_ = 0;
};

class Sink final : public sim::Unit {
 public:
  Sink(std::string name, sim::FlitLink& in, sim::Cycle service)
      : Unit(std::move(name)), in_(in), service_(service) {
    in_.bind_receiver(*this);
  }
  void reset(sim::Cycle) override {
    queue_.reset();
    last_ = 0;
    next_pop_ = 0;
  }
  void drive(sim::Cycle) override { in_.set_busy(queue_.full()); }
  sim::Cycle clock(sim::Cycle now) override {
    const bool take = in_.transfers();
    if (queue_.readable(now) && now >= next_pop_) {
      last_ = static_cast<std::uint32_t>(queue_.head().w[0]);
      queue_.pop(now);
      next_pop_ = now + service_;
      ++served_;
    }
    if (take) queue_.push(now, in_.data());
    return queue_.empty() ? sim::kNever : now + 1;
  }
  void visit(sim::Archive& archive) override {
    archive.scope("queue_side", [&] {
      archive.state("last", last_, 16);
      queue_.visit(archive, "fifo");
    });
    archive.memory("table", table_, 4);
    archive.counter("served", served_, "flits", "Flits taken out of the queue", "one a served flit");
  }
  std::uint32_t table_[4] = {7, 8, 9, 10};
  std::uint64_t served_ = 0;

 private:
  sim::FlitLink& in_;
  sim::Cycle service_;
  sim::Fifo<arch::Flit> queue_{sim::FifoShape::sync(4)};
  std::uint32_t last_ = 0;
  sim::Cycle next_pop_ = 0;
};

struct TestMachine {
  explicit TestMachine(unsigned count = 12, sim::Cycle gap = 9, sim::Cycle service = 2, bool idle_skip = true)
      : link("source@1,1.out", arch::kFlitBits),
        source("source@1,1", link, count, gap),
        sink("sink@2,1", link, service) {
    engine.add(source);
    engine.add(sink);
    engine.add(link);
    engine.set_idle_skip(idle_skip);
    engine.elaborate();
    registry.add(engine);
  }
  sim::FlitLink link;
  Source source;
  Sink sink;
  sim::Engine engine;
  observe::Registry registry;
};

}  // namespace ktpu::test
