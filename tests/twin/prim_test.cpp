// SPDX-License-Identifier: Apache-2.0
// The small modules that the blocks are made of, each alone beside a C++ reference, every output in every
// cycle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "Vprim_arbiter1.h"
#include "Vprim_arbiter2.h"
#include "Vprim_arbiter5.h"
#include "Vprim_arbiter7.h"
#include "Vprim_endpoint.h"
#include "Vprim_fifo_async.h"
#include "Vprim_fifo_one.h"
#include "Vprim_fifo_sync.h"
#include "arch/encoding/codes.h"
#include "rtl_models/twin.h"
#include "tlm/noc/endpoint_base.h"
#include "tlm/sim/fifo.h"
#include "tlm/sim/random.h"

namespace ktpu::test {
namespace {

struct FifoBuilt {
  unsigned max_depth, latency, extra, reset_cycles, width;
};

template <class V>
void check_fifo(const FifoBuilt& built, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  sim::Random random(seed);
  const unsigned depth = 1 + random.below(built.max_depth);
  const std::uint64_t mask = ~0ull >> (64 - built.width);
  sim::Fifo<std::uint64_t> model({depth, built.latency, built.extra});
  rtl::Twin<V> twin("fifo");
  V& pins = twin.pins();
  pins.depth_i = static_cast<std::remove_cvref_t<decltype(pins.depth_i)>>(depth);
  pins.wvalid_i = pins.rready_i = 0;
  twin.reset(0);
  std::uint64_t moved = 0;
  for (sim::Cycle now = 0; now < 4000; ++now) {
    const bool busy = model.full() || now < built.reset_cycles, readable = model.readable(now);
    ASSERT_EQ(pins.busy_o, busy) << "cycle " << now;
    ASSERT_EQ(pins.rvalid_o, readable) << "cycle " << now;
    if (readable) {
      ASSERT_EQ(pins.rdata_o, model.head()) << "cycle " << now;
    }
    const unsigned phase = static_cast<unsigned>(now / 200 % 4);  // balanced, filling, draining, full speed
    const std::uint64_t word = random.next() & mask;
    pins.wvalid_i = phase == 3 || random.below(phase == 1 ? 1 : 3) == 0;
    pins.rready_i = phase == 3 || random.below(phase == 2 ? 1 : 3) == 0;
    pins.wdata_i = static_cast<std::remove_cvref_t<decltype(pins.wdata_i)>>(word);
    const bool pop = readable && pins.rready_i;
    if (pins.wvalid_i && !busy) model.push(now, word);
    if (pop) model.pop(now);
    moved += pop;
    twin.clock(now);
  }
  EXPECT_GT(moved, 300u);
}

TEST(Prim, Fifo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    check_fifo<Vprim_fifo_sync>({9, 3, 2, 5, 40}, seed);
    check_fifo<Vprim_fifo_async>({16, 8, 1, 0, 64}, seed);
    check_fifo<Vprim_fifo_one>({1, 2, 1, 0, 1}, seed);
  }
}

// Every set of requests at every pointer.
template <class V>
void check_arbiter(unsigned requests) {
  SCOPED_TRACE(requests);
  rtl::Twin<V> twin("arbiter");
  V& pins = twin.pins();
  pins.request_i = pins.first_i = 0;
  twin.reset(0);
  for (unsigned first = 0; first < requests; ++first)
    for (unsigned set = 0; set < 1u << requests; ++set) {
      pins.request_i = static_cast<std::uint8_t>(set);
      pins.first_i = static_cast<std::uint8_t>(first);
      twin.clock(0);
      unsigned granted = 0;
      for (unsigned k = 0; k < requests && granted == 0; ++k)
        if (const unsigned r = (first + k) % requests; set >> r & 1) granted = 1u << r;
      ASSERT_EQ(pins.grant_o, granted) << fmt::format("{:#b} from {}", set, first);
    }
}

TEST(Prim, Arbiter) {
  check_arbiter<Vprim_arbiter1>(1);
  check_arbiter<Vprim_arbiter2>(2);
  check_arbiter<Vprim_arbiter5>(5);
  check_arbiter<Vprim_arbiter7>(7);
}

// What a unit does with its endpoint base, at random; both sides get the same.
class EndpointBench final : public sim::Unit {
 public:
  explicit EndpointBench(std::uint64_t seed)
      : Unit("endpoint"),
        random_(seed),
        params_{.at = {static_cast<std::uint8_t>(random_.below(16)),
                       static_cast<std::uint8_t>(random_.below(16))},
                .inst_depth = 1 + random_.below(16),
                .recv_depth = 1 + random_.below(16),
                .drops_acks = true},
        twin_("endpoint.rtl") {
    params_.caps = arch::make_cu_caps(static_cast<arch::UnitType>(0x4D47), 4, 2, params_.inst_depth);
    base_ = std::make_unique<noc::EndpointBase>(params_, sim::FlitPort{&in_, &out_}, *this);
    auto& pins = twin_.pins();
    pins.x_i = params_.at.x;
    pins.y_i = params_.at.y;
    pins.inst_depth_i = static_cast<std::uint8_t>(params_.inst_depth);
    pins.recv_depth_i = static_cast<std::uint8_t>(params_.recv_depth);
    pins.in_valid_i = pins.out_busy_i = pins.inst_accept_i = pins.done_i = pins.recv_pop_i =
        pins.send_valid_i = 0;
    twin_.reset(0);
    base_->reset(0);
  }
  void reset(sim::Cycle) override {}
  void drive(sim::Cycle) override {}
  sim::Cycle clock(sim::Cycle now) override {
    step(now);
    return now + 1;
  }
  std::uint64_t taken = 0, sent = 0, retired = 0;

 private:
  arch::Flit random_flit() {
    arch::Flit flit;
    for (std::uint64_t& word : flit.w) word = random_.next();
    flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
    const std::uint32_t kind = random_.below(8);
    if (kind < 3) flit.set(arch::header::kType, static_cast<unsigned>(arch::FlitType::kCuInst));
    if (kind == 3) flit.set(arch::header::kType, static_cast<unsigned>(arch::FlitType::kCuCtrl));
    if (kind == 3) flit.w[3] = std::uint64_t{random_.below(5)} << 48;  // its index
    if (kind == 4) flit.set(arch::header::kType, static_cast<unsigned>(arch::FlitType::kMemWrAck));
    return flit;
  }
  template <class Pins>
  static arch::Flit flit_of(const Pins& pins) {
    arch::Flit flit;
    std::memcpy(flit.w.data(), &pins[0], arch::kFlitBits / 8);
    return flit;
  }
  bool chance(unsigned percent) { return random_.below(100) < percent; }

  void step(sim::Cycle now) {
    auto& pins = twin_.pins();
    const unsigned slow = static_cast<unsigned>(now / 500 % 3);  // which side is
    base_->drive(now);
    if (!in_.valid() && chance(slow == 0 ? 30 : 90)) in_.offer(random_flit());
    out_.set_busy(chance(slow == 1 ? 70 : 10));
    base_->settle(now);
    pins.in_valid_i = in_.valid();
    if (in_.valid()) std::memcpy(&pins.in_data_i[0], in_.data().w.data(), arch::kFlitBits / 8);
    pins.out_busy_i = out_.busy();
    const std::uint64_t debug = pins.debug_i = random_.next();
    twin_.settle(now);
    ASSERT_EQ(pins.in_busy_o, in_.busy()) << "cycle " << now;
    ASSERT_EQ(pins.out_valid_o, out_.valid()) << "cycle " << now;
    if (out_.valid()) {
      ASSERT_EQ(flit_of(pins.out_data_o), out_.data()) << "cycle " << now;
    }

    const bool out_left = out_.transfers(), in_left = in_.transfers();
    base_->begin(now, debug);
    ASSERT_EQ(pins.inst_valid_o, base_->inst_valid()) << "cycle " << now;
    ASSERT_EQ(pins.recv_valid_o, base_->recv_valid()) << "cycle " << now;
    ASSERT_EQ(pins.send_ready_o, base_->send_ready()) << "cycle " << now;
    ASSERT_EQ(pins.recv_empty_o, base_->recv_count() == 0) << "cycle " << now;
    if (base_->inst_valid()) {
      ASSERT_EQ(flit_of(pins.inst_o), base_->inst()) << "cycle " << now;
    }
    if (base_->recv_valid()) {
      ASSERT_EQ(flit_of(pins.recv_o), base_->recv()) << "cycle " << now;
    }

    const unsigned eager = slow == 2 ? 10 : 60;
    pins.inst_accept_i = base_->inst_valid() && chance(eager);
    pins.done_i = base_->in_flight() && chance(eager);
    pins.done_fault_i = chance(30);
    pins.done_result_i = static_cast<std::uint32_t>(random_.next());
    pins.recv_pop_i = base_->recv_valid() && chance(eager);
    pins.send_valid_i = base_->send_ready() && chance(40);
    if (pins.inst_accept_i) base_->accept_inst();
    if (pins.done_i) base_->exec_done(pins.done_result_i, pins.done_fault_i);
    if (pins.recv_pop_i) base_->pop_recv();
    if (pins.send_valid_i) {
      const arch::Flit flit = random_flit();
      std::memcpy(&pins.send_i[0], flit.w.data(), arch::kFlitBits / 8);
      base_->send(flit);
    }
    base_->end(now);
    if (in_left) in_.withdraw();
    taken += in_left;
    sent += out_left;
    retired += pins.done_i;
    twin_.clock(now);
  }

  sim::Random random_;
  noc::EndpointParams params_;
  sim::FlitLink in_{"in", arch::kFlitBits}, out_{"out", arch::kFlitBits};
  rtl::Twin<Vprim_endpoint> twin_;
  std::unique_ptr<noc::EndpointBase> base_;
};

TEST(Prim, Endpoint) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    EndpointBench bench(seed);
    for (sim::Cycle now = 0; now < 5000 && !HasFatalFailure(); ++now) bench.clock(now);
    EXPECT_GT(bench.taken, 1000u);
    EXPECT_GT(bench.sent, 500u);
    EXPECT_GT(bench.retired, 200u);
  }
}

}  // namespace
}  // namespace ktpu::test
