// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/port.h"

#include <algorithm>

namespace ktpu::cost {

bool Port::blocked() const {
  const unsigned limit = cost_.queue - cost_.queue_margin;
  return reads_.size() >= limit || write_flits_ >= limit;
}

void Port::arrive(const Message& message) {
  inputs_[message.input].push_back(message);
  pump(message.at);
  serve(message.at.t);
}

void Port::select(Cycles cycle) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::deque<Message>& input = inputs_[(static_cast<std::size_t>(cycle) + i) % inputs_.size()];
    if (input.empty()) continue;
    offered_ = input.front();
    input.pop_front();
    return;
  }
}

void Port::pump(Moment why) {
  for (Cycles cycle = why.t;; ++cycle) {
    if (!offered_) select(cycle);
    if (!offered_) return;
    const bool agent = offered_->kind == Message::Kind::kSignal || offered_->kind == Message::Kind::kPass;
    if (!agent && blocked()) return;
    const Message message = *offered_;
    offered_.reset();
    admit(message, latest(message.at, why));
  }
}

void Port::admit(const Message& message, Moment at) {
  switch (message.kind) {
    case Message::Kind::kSignal:
      client_.at_agent(message, at);
      return;
    case Message::Kind::kPass:
      client_.pass(message, at);
      return;
    case Message::Kind::kEntries:
    case Message::Kind::kPlain:
      reads_.push_back(message);
      reads_.back().at = at;
      return;
    case Message::Kind::kWrite:
      break;
  }
  Message write = message;
  if (slots_ < cost_.write_slots && writes_.empty()) {
    ++slots_;
    write.at = ledger_.after(at, cost_.write_ready, Cause::kPort);
    ready_.push_back(write);
    return;
  }
  write.at = at;
  writes_.push_back(write);
  write_flits_ += write.flits;
}

// A slot is free again: the next burst of the queue moves into it, a flit a cycle.
void Port::release() {
  releasing_ = false;
  --slots_;
  if (!writes_.empty()) {
    Message write = writes_.front();
    writes_.pop_front();
    write_flits_ -= write.flits;
    ++slots_;
    write.at = latest(ledger_.after(write.at, cost_.write_ready, Cause::kPort),
                      ledger_.after(write_free_, write.flits, Cause::kPort));
    ready_.push_back(write);
  }
  pump(write_free_);
}

// Event::Kind::kPort, and behind a grant.
void Port::wake(Cycles now) {
  if (now >= wake_) wake_ = kNever;
  serve(now);
}

void Port::serve(Cycles now) {
  Cycles wake = kNever;
  for (bool again = true; again;) {
    wake = kNever;
    if (releasing_) {
      if (write_free_.t <= now)
        release();
      else
        wake = write_free_.t;
    }
    // A plain read goes before a write (section 4.4).
    again = start_read(now, wake) || start_write(now, wake);
  }
  if (wake < wake_) {
    wake_ = wake;
    events_.add(wake, Event::Kind::kPort, index_);
  }
}

void Port::ask(bool write, Moment address, std::uint64_t addr, unsigned words) {
  dram_.ask(index_ & 255, write, {address, addr, words});
  events_.add(address.t, Event::Kind::kGrant, index_);
}

void Port::answer(bool write, Moment moment) {
  if (write) {
    const Cycles ack = output_free(moment.t + path_.ack);
    write_free_ = ledger_.after(moment, ack + 1 - moment.t, Cause::kPort);
    writing_ = false;
    releasing_ = true;
    ++books_.writes;
    books_.write_busy += write_free_.t - write_began_.t;
  } else if (run_.kind == Message::Kind::kPlain) {
    plain_taken(moment);
  } else {
    entry_taken(moment);
  }
}

bool Port::start_read(Cycles now, Cycles& wake) {
  if (reading_ || reads_.empty()) return false;
  const Message& head = reads_.front();
  const bool plain = head.kind == Message::Kind::kPlain;
  if (plain && writing_) return false;
  Cycles begin = std::max(head.at.t + cost_.read_address, read_free_.t);
  if (plain) begin = std::max(begin, write_free_.t);
  if (begin > now) {
    wake = std::min(wake, begin);
    return false;
  }
  Moment address = latest(ledger_.after(head.at, cost_.read_address, Cause::kPort), read_free_);
  if (plain) address = latest(address, write_free_);
  run_ = head;
  reads_.pop_front();
  reading_ = true;
  run_began_ = address;
  if (plain) {
    writing_ = true;  // the write machine does it
    ask(false, address, run_.addr, 1);
  } else {
    entry_ = 0;
    emitted_ = address;
    ++books_.reads;
    entry(address);
  }
  pump(address);
  return true;
}

void Port::plain_taken(Moment taken) {
  const Moment out = ledger_.after(taken, cost_.plain_emit, Cause::kPort);
  read_free_ = write_free_ = ledger_.after(out, 1, Cause::kPort);
  reading_ = writing_ = false;
  ++books_.plain_reads;
  books_.write_busy += read_free_.t - run_began_.t;
  client_.answered(run_, 0, out);
}

// Entry i of a run (section 4.3).
void Port::entry(Moment address) {
  const unsigned bytes = run_.quant ? cost_.entry_bytes : cost_.packed_bytes;
  ask(false, address, run_.addr + std::uint64_t{entry_} * bytes, bytes / arch::kWordBytes);
}

// When the next one's address is valid, or the run is over.
void Port::entry_taken(Moment taken) {
  const Cycles words = cost_.packed_bytes / arch::kWordBytes;  // of an entry on the wire
  const Cycles emitting = words * (1 + run_.peers);
  const Cycles period = std::max(run_.quant ? cost_.quant_period : words + cost_.raw_gap, emitting + 1);
  if (entry_ != 0) taken = latest(taken, ledger_.after(emitted_, period, Cause::kPort));
  emitted_ = taken;
  const Moment first = ledger_.after(taken, run_.quant ? cost_.quant_emit : cost_.raw_emit, Cause::kPort);
  leaving_[left_++ % leaving_.size()] = {first.t, first.t + emitting};
  if (++entry_ < run_.count) {
    const Moment next = ledger_.after(taken, 1, Cause::kPort);
    events_.add(next.t, Event::Kind::kEntry, index_, next.id);
    return;
  }
  for (unsigned d = 0; d <= run_.peers; ++d)
    client_.answered(run_, d, ledger_.after(first, words * (d + 1) - 1, Cause::kPort));
  read_free_ = ledger_.after(first, emitting, Cause::kPort);
  reading_ = false;
  books_.read_busy += read_free_.t - run_began_.t;
}

Cycles Port::output_free(Cycles t) const {
  for (const auto& [begin, end] : leaving_)
    if (begin <= t && t < end) return end;
  return t;
}

bool Port::start_write(Cycles now, Cycles& wake) {
  if (writing_ || ready_.empty()) return false;
  const Cycles begin = std::max(ready_.front().at.t + cost_.write_address, write_free_.t);
  if (begin > now) {
    wake = std::min(wake, begin);
    return false;
  }
  const Message write = ready_.front();
  ready_.pop_front();
  write_began_ = latest(ledger_.after(write.at, cost_.write_address, Cause::kPort), write_free_);
  writing_ = true;
  ask(true, write_began_, write.addr, write.words);
  return true;
}

}  // namespace ktpu::cost
