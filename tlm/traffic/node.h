// SPDX-License-Identifier: Apache-2.0
// Endpoint kind `traffic`: injects a script or a random load, swallows what arrives (with an optional busy
// pattern), measures, and checks that random flits of each source arrive once and in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/flit.h"
#include "tlm/sim/link.h"
#include "tlm/sim/unit.h"
#include "tlm/traffic/busy_pattern.h"
#include "tlm/traffic/generator.h"

namespace ktpu::traffic {

// All cycles of this interface count from the first cycle with reset low.
struct Injection {
  sim::Cycle cycle = 0;  // first cycle of the offer; later if the one before is still held
  arch::Flit flit;       // sent as it is
};

struct Delivery {
  sim::Cycle cycle = 0;  // in which it was taken
  arch::Flit flit;
};

struct NodeParams {
  arch::Coord position;
  BusyPattern busy;
  std::vector<Injection> script;        // sent in list order
  std::optional<RandomTraffic> random;  // instead of a script
  bool record = false;                  // keep accepted() and deliveries()
};

// Latency of random flits in cycles.
struct Latency {
  static constexpr unsigned kBuckets = 20;
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t max = 0;
  std::array<std::uint64_t, kBuckets> log2{};  // [k]: 2^(k-1) <= latency < 2^k; [0]: zero; last: and above

  void add(std::uint64_t cycles);
  double mean() const { return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count); }
};

class Node final : public sim::Unit {
 public:
  Node(std::string name, const NodeParams& params, const sim::FlitPort& port);

  void reset(sim::Cycle start) override;
  void drive(sim::Cycle now) override;
  sim::Cycle clock(sim::Cycle now) override;
  void visit(sim::Archive& archive) override;
  std::vector<sim::Wait> waits(sim::Cycle now) const override;
  // A busy pattern goes on for ever; a run that has nothing else left is over.
  bool free_running() const override { return changing_; }
  bool resting() const override { return done() && !out_.valid() && in_valid_ == 0; }

  // Appends to the script, also during a run: an offer whose cycle has passed comes in the next cycle.
  void inject(const Injection& injection);
  // Everything scripted or limited by RandomTraffic::flits has been accepted.
  bool done() const { return !offering_ && due_ == sim::kNever; }

  arch::Coord position() const { return position_; }
  std::uint64_t injected() const { return injected_; }    // flits accepted by the mesh
  std::uint64_t delivered() const { return delivered_; }  // flits that arrived here
  // Random flits that came twice, late or after one of their source that was sent later; 0 in a sound mesh.
  std::uint64_t out_of_order() const { return out_of_order_; }
  // Random flits that arrived at a node they were not sent to.
  std::uint64_t misdelivered() const { return misdelivered_; }
  const Latency& total_latency() const { return total_; }      // birth to delivery
  const Latency& network_latency() const { return network_; }  // first offer to delivery

  // With `record`: cycle in which each injected flit was accepted, in order; and what arrived.
  const std::vector<sim::Cycle>& accepted() const { return accepted_; }
  const std::vector<Delivery>& deliveries() const { return deliveries_; }

 private:
  void schedule();  // due_ from script or generator
  void offer_next(sim::Cycle now);
  void deliver(sim::Cycle now, const arch::Flit& flit);

  // What every flit needs first, in few cache lines; the tables by node last.
  sim::FlitLink& in_;
  sim::FlitLink& out_;
  std::uint32_t in_valid_ = 0;  // mirror of the input's valid
  arch::Coord position_;
  bool changing_;  // the busy pattern is not the same for ever
  bool record_;
  bool offering_ = false;
  sim::Cycle start_ = 0;
  sim::Cycle due_ = sim::kNever;  // absolute cycle of the next offer
  std::size_t cursor_ = 0;        // next script entry
  std::uint64_t injected_ = 0;
  std::uint64_t delivered_ = 0;
  std::optional<Generator> generator_;
  std::vector<Injection> script_;
  BusyPattern busy_;

  std::uint64_t refused_cycles_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t misdelivered_ = 0;
  Latency total_;
  Latency network_;
  std::vector<sim::Cycle> accepted_;
  std::vector<Delivery> deliveries_;
  std::array<std::uint32_t, 256> sent_{};      // random flits so far, by destination node byte
  std::array<std::uint32_t, 256> expected_{};  // next sequence number, by source node byte
};

}  // namespace ktpu::traffic
