// SPDX-License-Identifier: Apache-2.0
// The host with a fixed period an access: orchestrator.md section 2 and vectors/programs/README.md, Host.
#include "tlm/orchestrator/host.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "arch/error.h"
#include "tlm/sim/engine.h"

namespace ktpu::orchestrator::test {
namespace {

using sim::Cycle;
using Kind = HostAction::Kind;

// Answers with a number that grows every cycle, one cycle after the sample.
class Slave final : public sim::Unit {
 public:
  explicit Slave(RegisterBus& bus) : Unit("slave"), bus_(bus) { bus.beat.bind_receiver(*this); }
  struct Beat {
    Cycle cycle;
    bool write;
    std::uint32_t offset;
    std::uint64_t data;
    bool operator==(const Beat&) const = default;
  };
  std::vector<Beat> beats;

  void reset(Cycle) override {}
  void drive(Cycle) override { bus_.read_data = read_q_; }
  Cycle clock(Cycle now) override {
    read_q_ = 0;
    if (!bus_.beat.valid()) return sim::kNever;
    const BusBeat& b = bus_.beat.data();
    beats.push_back({now, b.write, b.write ? b.write_offset : b.read_offset, b.write ? b.data : 0});
    if (b.read) read_q_ = 1000 + now;
    return now + 1;
  }

 private:
  RegisterBus& bus_;
  std::uint64_t read_q_ = 0;
};

class ListScript final : public HostScript {
 public:
  std::deque<HostAction> actions;
  std::vector<Cycle> asked;
  std::vector<std::pair<Cycle, std::uint64_t>> values;
  HostAction next(Cycle now) override {
    asked.push_back(now);
    if (actions.empty()) return {};
    const HostAction action = actions.front();
    actions.pop_front();
    return action;
  }
  void read_data(Cycle now, std::uint64_t value) override { values.emplace_back(now, value); }
  std::string waiting_for() const override { return "a test"; }
};

struct FakeQuiet final : QuietSource {
  std::optional<Cycle> last;
  Cycle last_dram_handshake() const override { return last.value_or(0); }
  bool any_dram_handshake() const override { return last.has_value(); }
};

struct Bench {
  explicit Bench(const HostParams& params = {}, const QuietSource* source = nullptr)
      : slave(bus), second_slave(second), host("host", params, {&bus, &second}, source) {
    engine.add(slave);
    engine.add(second_slave);
    engine.add(host);
    engine.add(bus.beat);
    engine.add(second.beat);
    host.set_script(&script);
    engine.elaborate();
  }
  RegisterBus bus{"bus"}, second{"second"};
  Slave slave, second_slave;
  ListScript script;
  Host host;
  sim::Engine engine;
};

HostAction write(std::uint32_t offset, std::uint64_t data, std::uint8_t bus = 0) {
  return {Kind::kWrite, bus, offset, data, 0, 0};
}
HostAction read(std::uint32_t offset, std::uint8_t bus = 0) { return {Kind::kRead, bus, offset, 0, 0, 0}; }

TEST(Orchestrator_S2_Axi, SingleWritesAndReadsEveryThreeCycles) {
  Bench b;
  b.script.actions = {write(0x40, 1), write(0x48, 2), read(0x58), read(0x70)};
  b.engine.run_until(100);
  const std::vector<Slave::Beat> want{
      {41, true, 0x40, 1}, {44, true, 0x48, 2}, {47, false, 0x58, 0}, {50, false, 0x70, 0}};
  EXPECT_EQ(b.slave.beats, want);
  EXPECT_EQ(b.script.asked, (std::vector<Cycle>{40, 43, 46, 49, 52}));
  const std::vector<std::pair<Cycle, std::uint64_t>> values{{48, 1047}, {51, 1050}};  // data in c+2
  EXPECT_EQ(b.script.values, values);
  EXPECT_TRUE(b.host.done());
  EXPECT_EQ(b.host.end_cycle(), 52u);
}

TEST(Host_Script, PeriodsAndStartAreParameters) {
  Bench b({7, 5, 2});
  b.script.actions = {write(8, 1), read(16), write(8, 2, 1)};
  b.engine.run_until(100);
  EXPECT_EQ(b.script.asked, (std::vector<Cycle>{2, 9, 14, 21}));
  ASSERT_EQ(b.second_slave.beats.size(), 1u);
  EXPECT_EQ(b.second_slave.beats[0].cycle, 15u);
}

TEST(Host_Script, WaitsUntilACycle) {
  Bench b;
  b.script.actions = {{Kind::kWait, 0, 0, 0, 77, 0}, write(8, 1)};
  b.engine.run_until(200);
  EXPECT_EQ(b.script.asked, (std::vector<Cycle>{40, 77, 80}));
}

TEST(Host_Script, IdlesUntilPoked) {
  Bench b;
  b.engine.set_idle_skip(false);
  b.script.actions = {{Kind::kIdle, 0, 0, 0, 0, 0}, write(8, 1)};
  b.engine.run_until(500);
  EXPECT_EQ(b.script.asked.size(), 1u);
  b.host.poke();
  b.engine.run_until(600);
  EXPECT_EQ(b.script.asked, (std::vector<Cycle>{40, 500, 503}));
}

// Counted from the later of the last handshake and the end of the step before.
TEST(Host_Quiet, FromTheStepBeforeWhenMemoryIsQuiet) {
  FakeQuiet quiet;
  Bench b({}, &quiet);
  b.script.actions = {{Kind::kQuiet, 0, 0, 0, 0, 256}, write(8, 1)};
  b.engine.run_until(1000);
  EXPECT_EQ(b.script.asked, (std::vector<Cycle>{40, 296, 299}));
}

TEST(Host_Quiet, EveryHandshakeStartsItAgain) {
  FakeQuiet quiet;
  Bench b({}, &quiet);
  b.script.actions = {{Kind::kQuiet, 0, 0, 0, 0, 256}, write(8, 1)};
  for (const Cycle handshake : {30u, 100u, 340u}) {
    b.engine.run_until(handshake);
    quiet.last = handshake;
  }
  b.engine.run_until(2000);
  ASSERT_EQ(b.script.asked.size(), 3u);
  EXPECT_EQ(b.script.asked[1], 340u + 256);
}

TEST(Host_Params, ShorterThanTheBusIsRefused) {
  RegisterBus bus{"bus"};
  EXPECT_THROW(Host("h", {2, 3, 0}, {&bus}, nullptr), arch::InternalError);
}

}  // namespace
}  // namespace ktpu::orchestrator::test
