// SPDX-License-Identifier: Apache-2.0
#include "tlm/noc/endpoint_base.h"

#include <algorithm>

#include "arch/encoding/latencies.h"
#include "arch/encoding/payloads.h"

namespace ktpu::noc {

using arch::Flit;
using arch::FlitType;
using sim::Cycle;
using sim::FifoShape;
using sim::kNever;

Flit make_signal(arch::Coord to, arch::Coord from, unsigned txn, arch::SignalCode code, std::uint32_t arg) {
  constexpr auto& kFields = arch::Layout<arch::Signal>::fields;
  Flit flit = arch::make_flit(to, from, FlitType::kCuSignal, txn, true);
  flit.set(kFields[0].field, static_cast<std::uint64_t>(code));
  flit.set(kFields[1].field, arg);
  return flit;
}

EndpointBase::EndpointBase(const EndpointParams& params, sim::FlitPort links, sim::Unit& owner)
    : params_(params),
      links_(links),
      inst_(FifoShape::sync(params.inst_depth)),
      recv_(FifoShape::sync(params.recv_depth)),
      signal_(FifoShape::sync(arch::latency::kSignalDepth)) {
  KTPU_CHECK(links.in != nullptr && links.out != nullptr, "unit {} has no link", owner.name());
  links_.in->bind_receiver(owner);
  links_.out->bind_sender(owner);
}

void EndpointBase::reset(Cycle start) {
  inst_.reset();
  recv_.reset();
  signal_.reset();
  out_valid_ = reply_valid_ = in_flight_ = inst_pop_ = inst_last_ = false;
  inst_used_ = 0;
  ready_at_ = start + kResetBusy;
  accept_ = recv_pop_ = unit_sent_ = done_ = out_fresh_ = false;
  accounted_ = start;
  retired_ = busy_cycles_ = signals_ = replies_ = replies_lost_ = acks_ = completions_lost_ = 0;
}

void EndpointBase::drive(Cycle now) {
  shown_busy_ = busy_wire(now);
  links_.in->set_busy(shown_busy_);
  if (out_fresh_) {
    links_.out->offer(out_);
    out_fresh_ = false;
  } else if (!out_valid_ && links_.out->valid()) {
    links_.out->withdraw();
  }
}

bool EndpointBase::settle(Cycle now) {
  const bool ack = links_.in->valid() && links_.in->data().type() == FlitType::kMemWrAck;
  shown_busy_ = busy_wire(now) && !ack;
  return links_.in->set_busy(shown_busy_);
}

// busy = in flight, or an instruction or a completion at the head of its queue (section 8.1). Between two
// clocks nothing but the passage of time changes it, so the cycles slept through are counted here in one go.
void EndpointBase::account(Cycle end) {
  if (end <= accounted_) return;
  const Cycle from = in_flight_ ? accounted_ : std::min(inst_.readable_from(), signal_.readable_from());
  if (from < end) busy_cycles_ += end - std::max(from, accounted_);
  accounted_ = end;
}

std::uint64_t EndpointBase::ctrl_word(unsigned index, Cycle now, std::uint64_t debug) const {
  switch (static_cast<arch::CtrlIndex>(index)) {
    case arch::CtrlIndex::kCaps:
      return params_.caps;
    case arch::CtrlIndex::kStatus: {
      std::uint64_t word = 0;
      arch::set(&word, arch::cu_status::kBusy, in_flight_ || inst_.readable(now) || signal_.readable(now));
      arch::set(&word, arch::cu_status::kInstSpace,
                static_cast<std::uint16_t>(params_.inst_depth - inst_used_));
      return word;
    }
    case arch::CtrlIndex::kCounters:
      return retired_ << 32 | (busy_cycles_ & 0xFFFFFFFF);
    case arch::CtrlIndex::kDebug:
      return debug;
    default:
      return 0;
  }
}

void EndpointBase::begin(Cycle now, std::uint64_t debug) {
  account(now);
  free_ = !out_valid_ || links_.out->sample_sent();
  inst_valid_ = inst_.readable(now) && !in_flight_ && !signal_.full();
  recv_valid_ = recv_.readable(now);
  signal_ready_ = signal_.readable(now);
  reply_was_valid_ = reply_valid_;
  send_ready_ = free_ && !signal_ready_ && !reply_valid_;
  if (links_.in->transfers() && links_.in->data().type() == FlitType::kCuCtrl) {
    // One reply may be pending; a request that meets it is lost, also in the cycle the reply leaves (10.3).
    if (reply_valid_) {
      ++replies_lost_;
      if (log_ != nullptr)
        log_->add(
            {"control-overlap", now,
             fmt::format("a CU_CTRL request from ({},{}) was lost: the reply to the one before had not left",
                         links_.in->data().src_x(), links_.in->data().src_y())});
    } else {
      const Flit& request = links_.in->data();
      const auto ctrl = arch::unpack<arch::Ctrl>(request);
      arch::Ctrl out;
      out.op = arch::kCtrlReply;
      out.index = ctrl.index;
      out.value = ctrl_word(ctrl.index, now, debug);
      reply_ = arch::make_flit(
          arch::make_header(request.src(), params_.at, FlitType::kCuCtrl, request.txn(), true), out);
      reply_valid_ = true;  // of the next cycle; this one goes by reply_was_valid_
    }
  }
  account(now + 1);
}

void EndpointBase::exec_done(std::uint32_t result, bool fault) {
  ++retired_;
  if (!in_flight_) {
    ++completions_lost_;
    return;
  }
  done_ = true;
  const arch::SignalCode code = fault        ? arch::SignalCode::kFault
                                : inst_last_ ? arch::SignalCode::kBatchComplete
                                             : arch::SignalCode::kInstComplete;
  completion_ =
      make_signal(inst_source_, params_.at, inst_txn_, code, !fault && inst_last_ ? inst_txn_ : result);
}

Cycle EndpointBase::end(Cycle now) {
  // Outbound register: completions, then CU_CTRL replies, then the unit (section 8.1).
  const bool was_valid = out_valid_;
  bool loaded = false;
  if (free_) {
    if (signal_ready_) {
      out_ = signal_.head();
      signal_.pop(now);
      ++signals_;
      loaded = true;
    } else if (reply_was_valid_) {
      out_ = reply_;
      reply_valid_ = false;
      ++replies_;
      loaded = true;
    } else {
      loaded = unit_sent_;
    }
    out_valid_ = loaded;
  }
  out_fresh_ |= loaded;
  if (done_) {
    signal_.push(now, completion_);
    in_flight_ = false;
  }
  if (inst_pop_) {
    inst_.pop(now);
    --inst_used_;
    inst_pop_ = false;
  }
  if (accept_) {
    const Flit& flit = inst_.head();
    inst_source_ = flit.src();
    inst_txn_ = static_cast<std::uint8_t>(flit.txn());
    inst_last_ = flit.last();
    in_flight_ = true;
    inst_pop_ = true;
  }
  if (recv_pop_) recv_.pop(now);
  accept_ = recv_pop_ = unit_sent_ = done_ = false;
  take_inbound(now);

  if (out_valid_ || was_valid || reply_valid_ || inst_pop_ || shown_busy_ != busy_wire(now + 1))
    return now + 1;
  Cycle next = now + 1 < ready_at_ ? ready_at_ : kNever;
  next = std::min(next, signal_.readable_from());
  if (!in_flight_) next = std::min(next, inst_.readable_from());
  return next == kNever ? kNever : std::max(next, now + 1);
}

void EndpointBase::take_inbound(Cycle now) {
  if (!links_.in->transfers()) return;
  const Flit& flit = links_.in->data();
  if (flit.dst() != params_.at) misaddressed_.add(now, flit);
  switch (flit.type()) {
    case FlitType::kCuInst:
      inst_.push(now, flit);
      ++inst_used_;
      break;
    case FlitType::kCuCtrl:  // answered in begin()
      break;
    case FlitType::kMemWrAck:
      if (params_.drops_acks) {
        ++acks_;
        break;
      }
      [[fallthrough]];
    default:
      recv_.push(now, flit);
  }
}

bool EndpointBase::idle() const {
  return !in_flight_ && !inst_pop_ && inst_.empty() && recv_.empty() && signal_.empty() && !out_valid_ &&
         !reply_valid_;
}

void visit_occurrence(sim::Archive& a, EndpointMisuse& misuse) {
  a.kept("kind", misuse.kind);
  a.kept("cycle", misuse.cycle);
  a.kept("text", misuse.text);
}

void EndpointBase::visit(sim::Archive& a) {
  inst_.visit(a, "inst_fifo");
  recv_.visit(a, "recv_fifo");
  signal_.visit(a, "signal_fifo");
  a.state("in_flight", in_flight_, 1);
  a.state("inst_pop", inst_pop_, 1);
  a.state("inst_src_x", inst_source_.x, 4);
  a.state("inst_src_y", inst_source_.y, 4);
  a.state("inst_txn", inst_txn_, 8);
  a.state("inst_last", inst_last_, 1);
  a.state("inst_used", inst_used_, 16);
  a.state("out_valid", out_valid_, 1);
  a.flit("out", out_);
  a.state("reply_valid", reply_valid_, 1);
  a.flit("reply", reply_);
  a.counter("retired", retired_, "instructions", "Instructions whose execution ended.");
  a.counter("busy_cycles", busy_cycles_, "cycles",
            "Cycles with an instruction in flight, or an instruction or a completion ready in its queue.");
  a.counter("signals_sent", signals_, "flits", "Completion signals loaded into the output register.");
  a.counter("ctrl_replies", replies_, "flits", "CU_CTRL requests answered.");
  a.counter("ctrl_lost", replies_lost_, "flits", "CU_CTRL requests lost because a reply was pending.");
  a.counter("acks_dropped", acks_, "flits", "Write acknowledges dropped at the mesh face.");
  a.counter("misaddressed", misaddressed_.count, "flits",
            "Flits taken that were sent to a place where no unit is, or to another one.");
  a.scope("misaddressed", [&] { misaddressed_.visit(a); });
  a.counter("completions_lost", completions_lost_, "instructions",
            "Retirements with no instruction in flight.");
  a.kept("ready_at", ready_at_);
  a.kept("out_fresh", out_fresh_);
  a.kept("shown_busy", shown_busy_);
  a.kept("accounted", accounted_);
}

void EndpointBase::waits(Cycle now, std::vector<sim::Wait>& list) const {
  if (out_valid_ && links_.out->valid() && links_.out->busy())
    list.push_back({.what = fmt::format("its output to be taken: a {} flit for ({},{})",
                                        arch::flit_type_name(out_.type_code()), out_.dst_x(), out_.dst_y()),
                    .part = "output",
                    .kind = "output",
                    .over = links_.out});
  if (now < ready_at_) return;
  if (inst_.full())
    list.push_back(
        {.what = fmt::format("room in its instruction FIFO ({} flits); its input is blocked", inst_.size()),
         .part = "input",
         .on_part = "sequencer",
         .kind = "inst-fifo-full"});
  if (recv_.full())
    list.push_back(
        {.what = fmt::format("room in its receive FIFO ({} flits); its input is blocked", recv_.size()),
         .part = "input",
         .on_part = "receiver",
         .kind = "recv-fifo-full"});
}

}  // namespace ktpu::noc
