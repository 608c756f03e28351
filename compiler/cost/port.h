// SPDX-License-Identifier: Apache-2.0
// A memory port as servers (memory.md section 4): one that streams entries, one that writes and does plain
// reads, and the queues in front of them. What arrives on one input of its router stays in order, so a burst
// that finds the queues full holds back whatever comes behind it.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "compiler/cost/dram.h"
#include "compiler/cost/events.h"
#include "compiler/cost/wires.h"

namespace ktpu::cost {

struct PortBooks {
  Cycles reads = 0, plain_reads = 0, writes = 0;  // bursts
  Cycles read_busy = 0;                           // entry engine, cycles
  Cycles write_busy = 0;                          // write machine, plain reads included
};

class Port {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    virtual void at_agent(const Message& message, Moment at) = 0;
    virtual void pass(const Message& message, Moment at) = 0;
    // The last word of a read is on the port's output.
    virtual void answered(const Message& message, unsigned destination, Moment out) = 0;
  };

  Port(unsigned index, const PortCost& cost, const PathCost& path, Dram& dram, Ledger& ledger,
       EventQueue& events, Client& client)
      : index_(index),
        cost_(cost),
        path_(path),
        dram_(dram),
        ledger_(ledger),
        events_(events),
        client_(client) {}

  void arrive(const Message& message);
  // Event::Kind::kPort and kEntry.
  void wake(Cycles now);
  void entry(Moment address);
  // The DRAM has answered: a read's last word is taken, or a write's response is there.
  void answer(bool write, Moment moment);

  const PortBooks& books() const { return books_; }

 private:
  static constexpr Cycles kNever = INT64_MAX;
  bool blocked() const;
  void admit(const Message& message, Moment at);
  // Takes what may come in; `why`: the moment that made room.
  void pump(Moment why);
  // The next to be offered; the router's pointer runs free (fabric.md section 7.2).
  void select(Cycles cycle);
  void serve(Cycles now);
  bool start_read(Cycles now, Cycles& wake);
  bool start_write(Cycles now, Cycles& wake);
  void release();
  void ask(bool write, Moment address, std::uint64_t addr, unsigned words);
  void entry_taken(Moment taken);
  void plain_taken(Moment taken);
  // `t`, or when the output is free of entries.
  Cycles output_free(Cycles t) const;

  unsigned index_;
  const PortCost& cost_;
  const PathCost& path_;
  Dram& dram_;
  Ledger& ledger_;
  EventQueue& events_;
  Client& client_;
  std::array<std::deque<Message>, 5> inputs_;
  std::optional<Message> offered_;  // in the router's output register
  std::deque<Message> reads_, writes_, ready_;
  unsigned write_flits_ = 0, slots_ = 0;
  bool reading_ = false, writing_ = false, releasing_ = false;
  Message run_;         // being read
  unsigned entry_ = 0;  // of it
  Moment emitted_;      // the entry before it can be done with the emitter
  Moment run_began_;
  Moment write_began_;
  // Cycles in which entries leave, the last ones: an acknowledgement waits for them.
  std::array<std::pair<Cycles, Cycles>, 4> leaving_{};
  std::size_t left_ = 0;
  Moment read_free_, write_free_;
  Cycles wake_ = kNever;
  PortBooks books_;
};

}  // namespace ktpu::cost
