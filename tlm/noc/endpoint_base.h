// SPDX-License-Identifier: Apache-2.0
// What every compute unit has between the mesh and its own logic (fabric.md sections 8.1, 9 and 10):
// instruction, receive and completion queues, the CU_CTRL registers, the outbound register and its
// priorities, and the common counters. A part of the unit that embeds it, not a unit of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/encoding/codes.h"
#include "arch/encoding/quirks.h"
#include "arch/flit.h"
#include "tlm/noc/misaddressed.h"
#include "tlm/noc/write_observer.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/link.h"
#include "tlm/sim/occurrence_log.h"
#include "tlm/sim/unit.h"

namespace ktpu::noc {

struct EndpointParams {
  arch::Coord at;            // own coordinate: the source of every flit sent
  std::uint64_t caps = 0;    // CU_CTRL register 0 (arch::make_cu_caps)
  unsigned inst_depth = 32;  // instruction FIFO words before the two extra ones
  unsigned recv_depth = 64;  // receive FIFO words
  bool drops_acks =
      false;  // the cluster's face: MEM_WR_ACK is taken and dropped even while busy (section 8.2)
};

// What a program did to a unit that no program may do. Recorded as it happens; who runs the machine judges
// it.
struct EndpointMisuse {
  std::string kind;  // its id in arch/misuse.h: "tile-unloaded"
  sim::Cycle cycle = 0;
  std::string text;  // one sentence for the user, without place and cycle
};

inline bool same_finding(const EndpointMisuse& a, const EndpointMisuse& b) { return a.kind == b.kind; }
void visit_occurrence(sim::Archive& archive, EndpointMisuse& misuse);

using EndpointMisuseLog = sim::OccurrenceLog<EndpointMisuse>;

// A known defect of the reference machine that a run met (quirks.md).
struct QuirkHits {
  arch::QuirkId id{};
  std::uint64_t count = 0;  // since the start
  sim::Cycle first = 0;
  std::string text;  // instruction and effect of the first one
};

// What the program did to a unit, for reports: every compute unit is one of these beside being a sim::Unit.
class EndpointReports {
 public:
  virtual ~EndpointReports() = default;
  virtual const EndpointMisuseLog& misuse() const = 0;
  virtual std::vector<QuirkHits> quirk_hits() const { return {}; }  // only those met
  // The part every compute unit has (misaddressed flits, lost CU_CTRL requests).
  virtual const class EndpointBase* endpoint_base() const { return nullptr; }
  // Elaboration: who wants to know of the unit's writes.
  virtual void set_write_observer(WriteObserver*) {}
};

// A CU_SIGNAL flit (fabric.md sections 3.5 and 9).
arch::Flit make_signal(arch::Coord to, arch::Coord from, unsigned txn, arch::SignalCode code,
                       std::uint32_t arg);

// Use within the unit's clock(now): begin(), then the questions and at most one of each action, then end().
// All questions are about the registers of cycle `now`, so the order between begin() and end() is free.
class EndpointBase {
 public:
  // Elaboration. Where misuse is recorded (null: nowhere), and who is told of the unit's writes.
  void report_to(EndpointMisuseLog* log) { log_ = log; }
  void set_write_observer(WriteObserver* observer) { writes_ = observer; }

  // Binds `owner` as receiver of links.in and sender of links.out.
  EndpointBase(const EndpointParams& params, sim::FlitPort links, sim::Unit& owner);

  void reset(sim::Cycle start);
  void drive(sim::Cycle now);
  // The acknowledge bypass; only with drops_acks. Returns whether the busy wire changed.
  bool settle(sim::Cycle now);
  const sim::FlitPort& links() const { return links_; }
  const EndpointParams& params() const { return params_; }

  // `debug`: CU_CTRL register 3, counted over the cycles before `now`.
  void begin(sim::Cycle now, std::uint64_t debug);

  bool inst_valid() const { return inst_valid_; }
  const arch::Flit& inst() const { return inst_.head(); }
  void accept_inst() { accept_ = true; }  // inst_ready; needs inst_valid()

  bool recv_valid() const { return recv_valid_; }
  const arch::Flit& recv() const { return recv_.head(); }
  void pop_recv() { recv_pop_ = true; }

  bool send_ready() const { return send_ready_; }
  void send(const arch::Flit& flit) {  // needs send_ready(); on the output in the next cycle
    out_ = flit;
    unit_sent_ = true;
    if (writes_ != nullptr && flit.type() == arch::FlitType::kMemWrReq)
      writes_->write_sent(accounted_ - 1, flit);
  }

  // Pulse: retires the instruction in flight.
  void exec_done(std::uint32_t result, bool fault);

  // Commits the cycle. Returns when the base itself has to run next, as sim::Unit::clock(); whether the unit
  // can take the head of the receive FIFO is the unit's own question (recv_from()).
  sim::Cycle end(sim::Cycle now);

  // After end(): the cycle from which the head can be read; kNever when empty.
  sim::Cycle recv_from() const { return recv_.readable_from(); }
  const arch::Flit* recv_head() const { return recv_.empty() ? nullptr : &recv_.head(); }
  std::uint32_t recv_count() const { return recv_.size(); }
  std::uint32_t inst_count() const { return inst_.size(); }

  bool in_flight() const { return in_flight_; }
  arch::Coord inst_source() const { return inst_source_; }  // of the instruction in flight
  unsigned inst_txn() const { return inst_txn_; }
  // Nothing queued in either direction and nothing in flight.
  bool idle() const;

  // Flits taken that were sent to another place, and CU_CTRL requests lost because a reply was pending.
  const Misaddressed& misaddressed() const { return misaddressed_; }
  std::uint64_t replies_lost() const { return replies_lost_; }

  void sync(sim::Cycle now) { account(now); }
  void visit(sim::Archive& archive);
  // Whether a full queue keeps every flit out (but an acknowledge of a cluster).
  bool input_blocked(sim::Cycle now) const { return now >= ready_at_ && (inst_.full() || recv_.full()); }
  // Adds what the base waits for: parts `output` (blocked) and `input` (a full queue).
  void waits(sim::Cycle now, std::vector<sim::Wait>& list) const;

 private:
  // Routers and endpoint FIFOs leave their own reset late: busy in cycles 0..4 (fabric.md section 7.2).
  static constexpr sim::Cycle kResetBusy = 5;

  void account(sim::Cycle end);
  void take_inbound(sim::Cycle now);
  std::uint64_t ctrl_word(unsigned index, sim::Cycle now, std::uint64_t debug) const;
  bool busy_wire(sim::Cycle now) const { return now < ready_at_ || inst_.full() || recv_.full(); }

  EndpointParams params_;
  sim::FlitPort links_;
  EndpointMisuseLog* log_ = nullptr;
  WriteObserver* writes_ = nullptr;
  sim::Fifo<arch::Flit> inst_, recv_, signal_;
  arch::Flit out_{};
  arch::Flit reply_{};
  arch::Flit completion_{};  // pushed by end() when done_
  bool out_valid_ = false;
  bool reply_valid_ = false;
  bool in_flight_ = false;
  bool inst_pop_ = false;  // the instruction FIFO pops in this cycle
  arch::Coord inst_source_{};
  std::uint8_t inst_txn_ = 0;
  bool inst_last_ = false;
  std::uint16_t inst_used_ = 0;
  sim::Cycle ready_at_ = 0;

  // Within one clock().
  bool inst_valid_ = false, recv_valid_ = false, send_ready_ = false, signal_ready_ = false, free_ = false;
  bool reply_was_valid_ = false;
  bool accept_ = false, recv_pop_ = false, unit_sent_ = false, done_ = false;
  // What the wires show.
  bool shown_busy_ = false, out_fresh_ = false;

  Misaddressed misaddressed_;
  sim::Cycle accounted_ = 0;  // cycles below are in busy_cycles_
  std::uint64_t retired_ = 0, busy_cycles_ = 0, signals_ = 0, replies_ = 0, replies_lost_ = 0, acks_ = 0,
                completions_lost_ = 0;
};

}  // namespace ktpu::noc
