// SPDX-License-Identifier: Apache-2.0
// Staging adapter model and SystemVerilog adapter: every wire of every cycle under random load from both
// sides.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <deque>
#include <memory>

#include "Vktpu_adapter.h"
#include "arch/encoding/codes.h"
#include "arch/encoding/payloads.h"
#include "rtl_models/twin.h"
#include "tlm/noc/staging_adapter.h"
#include "tlm/sim/random.h"

namespace ktpu::test {
namespace {

using arch::Flit;
using arch::FlitType;

class AdapterBench {
 public:
  explicit AdapterBench(std::uint64_t seed)
      : random_(seed),
        params_{{static_cast<std::uint8_t>(random_.below(16)), static_cast<std::uint8_t>(random_.below(16))},
                1u << (seed % 5 == 0 ? 13 : 4 + random_.below(8))},
        model_("adapter", params_, {&down_, &up_}, {&in_, &out_}),
        twin_("adapter.rtl") {
    auto& pins = twin_.pins();
    pins.x_i = params_.at.x;
    pins.y_i = params_.at.y;
    pins.lines_log2_i = static_cast<std::uint8_t>(std::countr_zero(params_.lines));
    pins.up_valid_i = pins.out_busy_i = pins.in_valid_i = pins.down_busy_i = 0;
    twin_.reset(0);
    model_.reset(0);
  }

  void step(sim::Cycle now) {
    auto& pins = twin_.pins();
    const unsigned slow = static_cast<unsigned>(now / 400 % 4);  // which side is, if any
    model_.drive(now);
    if (!up_.valid() && random_.below(100) < (slow == 0 ? 30 : 85)) {
      if (messages_.empty()) next_message();
      up_.offer(messages_.front());
      messages_.pop_front();
    }
    if (!in_.valid() && random_.below(100) < (slow == 1 ? 60 : 15)) in_.offer(from_router());
    model_.parts().front()->settle(now);
    down_.set_busy(random_.below(100) < (slow == 2 ? 80 : 15));
    out_.set_busy(random_.below(100) < (slow == 3 ? 80 : 15));
    model_.settle(now);

    pins.up_valid_i = up_.valid();
    pins.in_valid_i = in_.valid();
    if (up_.valid()) std::memcpy(&pins.up_data_i[0], up_.data().w.data(), arch::kFlitBits / 8);
    if (in_.valid()) std::memcpy(&pins.in_data_i[0], in_.data().w.data(), arch::kFlitBits / 8);
    pins.down_busy_i = down_.busy();
    pins.out_busy_i = out_.busy();
    twin_.settle(now);
    ASSERT_EQ(pins.out_valid_o, out_.valid()) << "cycle " << now;
    if (out_.valid()) {
      ASSERT_EQ(flit_of(pins.out_data_o), out_.data()) << "cycle " << now;
    }
    ASSERT_EQ(pins.down_valid_o, down_.valid()) << "cycle " << now;
    if (down_.valid()) {
      ASSERT_EQ(flit_of(pins.down_data_o), down_.data()) << "cycle " << now;
    }
    ASSERT_EQ(pins.in_busy_o, in_.busy()) << "cycle " << now;
    ASSERT_EQ(pins.up_busy_o, up_.busy()) << "cycle " << now;

    answers += down_.transfers() && !(in_.valid() && !in_.busy());
    sent += out_.transfers();
    const bool up_left = up_.transfers(), in_left = in_.transfers();
    model_.clock(now);
    twin_.clock(now);
    if (up_left) up_.withdraw();
    if (in_left) in_.withdraw();
  }
  std::uint64_t answers = 0, sent = 0;
  std::uint64_t served() const { return model_.served(); }
  std::uint64_t forwarded() const { return model_.forwarded(); }

 private:
  template <class Pins>
  static Flit flit_of(const Pins& pins) {
    Flit flit;
    std::memcpy(flit.w.data(), &pins[0], arch::kFlitBits / 8);
    return flit;
  }
  arch::Coord place() {
    return {static_cast<std::uint8_t>(random_.below(16)), static_cast<std::uint8_t>(random_.below(16))};
  }
  Flit noise() {
    Flit flit;
    for (std::uint64_t& word : flit.w) word = random_.next();
    flit.w[4] = static_cast<std::uint32_t>(flit.w[4]);
    return flit;
  }
  // In the window mostly, or at another place that its low bits name as well.
  std::uint64_t address() {
    std::uint64_t at =
        base_ + random_.below(params_.lines) * 32ull + random_.below(8) / 7 * random_.below(32);
    if (random_.below(8) == 0) at ^= 1ull << (10 + random_.below(30));
    return at & ((1ull << 40) - 1);
  }
  void next_message() {
    const std::uint32_t kind = random_.below(10);
    const unsigned rsvd = random_.below(12) == 0 ? 4 : 0;  // for another mesh
    const arch::Coord src = place(), dst = place();
    arch::MemReq request;
    request.addr = address();
    if (kind < 5) {
      request.len = random_.below(random_.below(6) == 0 ? 256 : 6);
      request.flags = random_.below(3) == 0 ? 0 : random_.below(8) << 4;
      request.count = random_.below(random_.below(6) == 0 ? 256 : 5);
      request.entry_words = random_.below(6);
      request.n_peer = random_.below(8) == 0;
      messages_.push_back(arch::make_flit(
          arch::make_header(dst, src, FlitType::kMemRdReq, random_.below(256), true, rsvd), request));
    } else if (kind < 8) {
      request.len = random_.below(8);
      messages_.push_back(arch::make_flit(
          arch::make_header(dst, src, FlitType::kMemWrReq, random_.below(256), false, rsvd), request));
      for (unsigned n = 0; n <= request.len; ++n) {
        if (random_.below(60) == 0) continue;  // loses one
        Flit data = noise();
        data.w[4] = arch::make_header(dst, src, FlitType::kMemWrData, 2, n == request.len, rsvd);
        messages_.push_back(data);
      }
    } else {
      messages_.push_back(noise());
    }
  }
  Flit from_router() {
    if (random_.below(6) != 0) return noise();
    arch::Ctrl control;
    control.op = random_.below(3);
    control.index = 0xE0 + random_.below(random_.below(3) == 0 ? 10 : 4);
    control.value = random_.next();
    if (control.index == 0xE1 && control.op == 1) base_ = (control.value &= ~0x3FFFFull & ((1ull << 40) - 1));
    if (control.index == 0xE2 && random_.below(4) != 0) control.value |= 1;
    return arch::make_flit(arch::make_header(place(), place(), FlitType::kCuCtrl, random_.below(256), true),
                           control);
  }

  sim::Random random_;
  noc::AdapterParams params_;
  sim::FlitLink up_{"up", arch::kFlitBits}, down_{"down", arch::kFlitBits}, in_{"in", arch::kFlitBits},
      out_{"out", arch::kFlitBits};
  noc::StagingAdapter model_;
  rtl::Twin<Vktpu_adapter> twin_;
  std::deque<Flit> messages_;
  std::uint64_t base_ = 0;
};

TEST(AdapterTwin, LockstepUnderRandomLoad) {
  std::uint64_t served = 0, forwarded = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    AdapterBench bench(seed);
    for (sim::Cycle now = 0; now < 8000 && !HasFatalFailure(); ++now) bench.step(now);
    served += bench.served();
    forwarded += bench.forwarded();
    EXPECT_GT(bench.sent, 300u);
    EXPECT_GT(bench.answers, 100u);
  }
  EXPECT_GT(served, 5000u);
  EXPECT_GT(forwarded, 5000u);
  std::printf("160000 cycles, %llu requests served, %llu passed on, 0 mismatches\n",
              static_cast<unsigned long long>(served), static_cast<unsigned long long>(forwarded));
}

}  // namespace
}  // namespace ktpu::test
