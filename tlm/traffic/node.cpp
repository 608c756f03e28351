// SPDX-License-Identifier: Apache-2.0
#include "tlm/traffic/node.h"

#include <algorithm>
#include <bit>

#include "arch/error.h"

namespace ktpu::traffic {

namespace {

// Payload of a random flit: w[0] = mark and sequence number of the (source, destination) pair, w[1] = cycle
// of birth, w[2] = cycle of the first offer (both from reset), w[3] = filler.
constexpr std::uint64_t kMark = 0x6B747075ull << 32;
constexpr std::uint64_t kMarkMask = 0xFFFFFFFFull << 32;

}  // namespace

void Latency::add(std::uint64_t cycles) {
  ++count;
  sum += cycles;
  max = std::max(max, cycles);
  ++log2[std::min<unsigned>(static_cast<unsigned>(std::bit_width(cycles)), kBuckets - 1)];
}

Node::Node(std::string name, const NodeParams& params, const sim::FlitPort& port)
    : Unit(std::move(name)),
      in_(*port.in),
      out_(*port.out),
      position_(params.position),
      record_(params.record),
      script_(params.script),
      busy_(params.busy) {
  changing_ = busy_.next_change(0) != sim::kNever;
  KTPU_CHECK(script_.empty() || !params.random, "{}: both a script and random traffic", this->name());
  if (params.random) generator_.emplace(*params.random, position_);
  in_.bind_receiver(*this, &in_valid_, 1);
  out_.bind_sender(*this);
}

void Node::reset(sim::Cycle start) {
  start_ = start;
  cursor_ = 0;
  offering_ = false;
  sent_ = {};
  expected_ = {};
  accepted_.clear();
  deliveries_.clear();
  if (generator_) generator_->reset();
  schedule();
}

void Node::schedule() {
  sim::Cycle due = sim::kNever;
  if (generator_)
    due = generator_->birth();
  else if (cursor_ < script_.size())
    due = script_[cursor_].cycle;
  due_ = due == sim::kNever ? due : start_ + due;
}

void Node::inject(const Injection& injection) {
  KTPU_CHECK(!generator_, "{}: a script entry for a random source", name());
  script_.push_back(injection);
  if (offering_) return;
  schedule();
  wake_next();
}

void Node::offer_next(sim::Cycle now) {
  offering_ = true;
  if (!generator_) {
    out_.offer(script_[cursor_].flit);
    return;
  }
  const arch::Coord to = generator_->destination();
  const std::uint32_t sequence = sent_[to.node_byte()]++;
  arch::Flit flit = arch::make_flit(to, position_, generator_->type(), sequence & 255, true);
  flit.w[0] = kMark | sequence;
  flit.w[1] = generator_->birth();
  flit.w[2] = now - start_;
  flit.w[3] = generator_->filler();
  out_.offer(flit);
}

void Node::drive(sim::Cycle now) {
  if (changing_ || now == start_) in_.set_busy(busy_.busy(now - start_));
  if (offering_) return;
  if (due_ <= now)
    offer_next(now);
  else if (out_.valid())
    out_.withdraw();
}

sim::Cycle Node::clock(sim::Cycle now) {
  const bool shown = offering_;
  if (offering_ && out_.sample_sent()) {
    offering_ = false;
    ++injected_;
    if (record_) accepted_.push_back(now - start_);
    ++cursor_;
    if (generator_) generator_->advance();
    schedule();
  }
  if (in_valid_ != 0) {
    if (in_.busy())
      ++refused_cycles_;
    else
      deliver(now, in_.data());
  }
  // A flit that is on the wires needs the next cycle: to be sampled again, or to be taken off.
  if (shown || (in_valid_ != 0 && in_.busy())) return now + 1;
  if (!changing_) return std::max(due_, now + 1);
  if (done()) return now + 1;  // free running: a timer would count as something left to do
  const sim::Cycle change = busy_.next_change(now - start_);
  return std::min(std::max(due_, now + 1), change == sim::kNever ? change : start_ + change);
}

void Node::deliver(sim::Cycle now, const arch::Flit& flit) {
  ++delivered_;
  if (record_) deliveries_.push_back({now - start_, flit});
  if ((flit.w[0] & kMarkMask) != kMark) return;
  if (flit.dst() != position_) {
    ++misdelivered_;
    return;
  }
  std::uint32_t& expected = expected_[flit.src().node_byte()];
  const std::uint32_t sequence = static_cast<std::uint32_t>(flit.w[0]);
  out_of_order_ += sequence != expected;
  expected = sequence + 1;
  total_.add(now - start_ - flit.w[1]);
  network_.add(now - start_ - flit.w[2]);
}

void Node::visit(sim::Archive& archive) {
  archive.state("offering", offering_, 1);
  archive.state("due", due_);
  archive.state("cursor", cursor_);
  archive.state("in_valid", in_valid_, 1);
  if (generator_) generator_->visit(archive);
  archive.memory("sent", sent_.data(), sent_.size());
  archive.memory("expected", expected_.data(), expected_.size());
  archive.counter("injected", injected_, "flits", "Flits of this node that the mesh accepted");
  archive.counter("delivered", delivered_, "flits", "Flits taken from the mesh at this node");
  archive.counter("refused_cycles", refused_cycles_, "cycles",
                  "Cycles in which a flit stood at this node and the busy pattern refused it");
  archive.counter("out_of_order", out_of_order_, "flits",
                  "Random flits that were not the next one of their source");
  archive.counter("misdelivered", misdelivered_, "flits", "Random flits that were sent to another node");
  const auto latency = [&archive](const char* name, Latency& l, const char* sentence) {
    archive.scope(name, [&] {
      archive.counter("flits", l.count, "flits", "Random flits whose latency was measured");
      archive.counter("sum", l.sum, "cycles", sentence);
      archive.counter("max", l.max, "cycles", "The longest of them");
      archive.kept_memory("log2", l.log2.data(), l.log2.size());
    });
  };
  latency("total_latency", total_, "Sum over random flits of the cycles from birth to delivery");
  latency("network_latency", network_, "Sum over random flits of the cycles from first offer to delivery");
  archive.kept("start", start_);
  archive.kept_list("script", script_, [&](Injection& injection) {
    archive.kept("cycle", injection.cycle);
    archive.flit("flit", injection.flit);
  });
  archive.kept_list("accepted", accepted_, [&](sim::Cycle& cycle) { archive.kept("cycle", cycle); });
  archive.kept_list("deliveries", deliveries_, [&](Delivery& delivery) {
    archive.kept("cycle", delivery.cycle);
    archive.flit("flit", delivery.flit);
  });
}

std::vector<sim::Wait> Node::waits(sim::Cycle now) const {
  std::vector<sim::Wait> list;
  if (offering_ && out_.busy())
    list.push_back(
        {.what = fmt::format("its flit for ({},{}) to be taken", out_.data().dst_x(), out_.data().dst_y()),
         .on = out_.receiver(),
         .part = "output",
         .kind = "output",
         .over = &out_});
  else if (due_ != sim::kNever)
    list.push_back(
        {.what = fmt::format("cycle {}, when its next flit is due", due_), .part = "output", .kind = "time"});
  if (in_valid_ != 0 && in_.busy() && now >= start_)
    list.push_back({.what = changing_ ? "a cycle in which the busy pattern of the node lets a flit in"
                                      : "the busy pattern of the node to let a flit in",
                    .part = "input",
                    .kind = changing_ ? "time" : "busy-pattern"});
  return list;
}

}  // namespace ktpu::traffic
