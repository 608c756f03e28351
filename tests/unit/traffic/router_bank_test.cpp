// SPDX-License-Identifier: Apache-2.0
// A mesh of routers that run together against one of routers that run alone, and against one of routers
// written down as fabric.md section 7 reads: the same traffic, cycle for cycle, under random back-pressure,
// with FIFOs of every shape, watched or not.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/traffic/traffic_mesh.h"
#include "tlm/sim/random.h"

namespace ktpu::test {
namespace {

// Sections 7.1, 7.2 and 7.4 step by step, with no thought of speed.
class PlainRouter final : public sim::Unit {
 public:
  PlainRouter(std::string name, const noc::RouterParams& params, const noc::Router::Ports& ports)
      : Unit(std::move(name)), params_(params), ports_(ports) {
    for (const sim::FlitPort& port : ports_) {
      port.in->bind_receiver(*this);
      port.out->bind_sender(*this);
    }
  }
  void reset(sim::Cycle start) override { start_ = start; }
  void drive(sim::Cycle now) override {
    const sim::FifoShape& fifo = params_.fifo;
    for (unsigned p = 0; p < noc::kPorts; ++p) {
      ports_[p].in->set_busy(now < start_ + 5 || in_[p].words.size() >= fifo.depth + fifo.extra);
      if (out_[p])
        ports_[p].out->offer(*out_[p]);
      else if (ports_[p].out->valid())
        ports_[p].out->withdraw();
    }
  }
  sim::Cycle clock(sim::Cycle now) override {
    std::array<bool, noc::kPorts> granted{};
    for (unsigned o = 0; o < noc::kPorts; ++o) {
      if (out_[o] && !ports_[o].out->sample_sent()) continue;
      out_[o].reset();
      for (unsigned k = 0; k < noc::kPorts && !out_[o]; ++k) {
        const auto i = static_cast<unsigned>((now - start_ + k) % noc::kPorts);
        if (!in_[i].hold || in_[i].request != static_cast<noc::Direction>(o) ||
            noc::turn_suppressed(params_.position, params_.grid, static_cast<noc::Direction>(i),
                                 static_cast<noc::Direction>(o)))
          continue;
        out_[o] = in_[i].hold;
        granted[i] = true;
      }
    }
    for (unsigned i = 0; i < noc::kPorts; ++i) {
      Input& in = in_[i];
      if (granted[i]) in.hold.reset();
      if (!in.hold && !in.words.empty() &&
          std::max(in.words.front().written + params_.fifo.latency, in.popped + 1) <= now) {
        in.hold = in.words.front().flit;
        in.request = noc::route(params_.position, params_.grid, in.hold->dst());
        in.words.pop_front();
        in.popped = now;
      }
      if (ports_[i].in->transfers()) in.words.push_back({ports_[i].in->data(), now});
    }
    return now + 1;
  }
  void visit(sim::Archive&) override {}

 private:
  struct Word {
    arch::Flit flit;
    sim::Cycle written;
  };
  struct Input {
    std::deque<Word> words;
    sim::Cycle popped = 0;
    std::optional<arch::Flit> hold;
    noc::Direction request = noc::kNorth;
  };
  noc::RouterParams params_;
  noc::Router::Ports ports_;
  std::array<Input, noc::kPorts> in_;
  std::array<std::optional<arch::Flit>, noc::kPorts> out_;
  sim::Cycle start_ = 0;
};

enum class How { kPlain, kAlone, kTogether };

struct Case {
  sim::FifoShape fifo;
  unsigned busy_length;  // longest run of a sink's pattern, in cycles; 0: never busy
};

traffic::NodeParams random_node(sim::Random& random, const noc::Grid& grid, unsigned busy_length) {
  traffic::NodeParams params;
  params.record = true;
  const auto slots = all_slots(grid);
  std::uint64_t number = 0;
  // From cycle 0 on: the first offers stand while the inputs leave reset.
  for (sim::Cycle c = 0; c < 300; c += random.below(5) == 0 ? random.below(12) : random.below(2)) {
    // Also to nowhere: such flits end at a border or are lost, or wedge an input for good.
    const arch::Coord to = random.below(50) == 0
                               ? arch::Coord::from_node_byte(random.below(256))
                               : slots[random.below(static_cast<std::uint32_t>(slots.size()))];
    arch::Flit flit = arch::make_flit(to, {0, 0}, arch::FlitType::kCuData, 0, false);
    flit.w[0] = ++number;
    flit.w[3] = random.next();
    params.script.push_back({c, flit});
  }
  std::vector<std::uint32_t> runs;
  for (int k = 0; k < 40 && busy_length != 0; ++k) runs.push_back(random.below(busy_length + 1));
  params.busy = traffic::BusyPattern::runs(runs);
  return params;
}

struct Mesh {
  std::unique_ptr<noc::RouterBank> bank;
  std::unique_ptr<TrafficMesh> mesh;

  Mesh(std::uint64_t seed, const noc::Grid& grid, const Case& c, How how) {
    if (how == How::kTogether) bank = std::make_unique<noc::RouterBank>("bank");
    sim::Random random(seed);
    mesh = std::make_unique<TrafficMesh>(
        grid, c.fifo.depth,
        [&](std::size_t, arch::Coord) { return random_node(random, grid, c.busy_length); },
        [&](const std::string& name, noc::RouterParams params,
            const noc::Router::Ports& ports) -> std::unique_ptr<sim::Unit> {
          params.fifo = c.fifo;
          if (bank != nullptr) return bank->add(name, params, ports);
          if (how == How::kPlain) return std::make_unique<PlainRouter>(name, params, ports);
          return std::make_unique<noc::Router>(name, params, ports);
        },
        bank.get());
  }
};

std::uint64_t compare(std::uint64_t seed, const Case& c, How how, bool watched, bool asleep) {
  const noc::Grid grid{1, 3, 1, 3};
  Mesh alone(seed, grid, c, how), together(seed, grid, c, How::kTogether);
  for (Mesh* m : {&alone, &together}) {
    if (!watched) m->mesh->engine.remove(m->mesh->checker);
    m->mesh->engine.set_idle_skip(asleep);
  }
  std::uint64_t delivered = 0;
  for (const sim::Cycle until : {sim::Cycle{4}, sim::Cycle{77}, sim::Cycle{250}, sim::Cycle{2500}}) {
    for (Mesh* m : {&alone, &together}) {
      m->mesh->engine.run_until(until);
      m->mesh->engine.sync();
    }
    delivered = 0;
    for (std::size_t n = 0; n < alone.mesh->nodes().size(); ++n) {
      const traffic::Node &a = *alone.mesh->nodes()[n], &b = *together.mesh->nodes()[n];
      EXPECT_EQ(a.accepted(), b.accepted()) << a.name();
      EXPECT_EQ(a.deliveries().size(), b.deliveries().size()) << a.name();
      if (::testing::Test::HasFailure()) return 0;
      for (std::size_t k = 0; k < a.deliveries().size(); ++k) {
        EXPECT_EQ(a.deliveries()[k].cycle, b.deliveries()[k].cycle) << a.name() << " flit " << k;
        EXPECT_EQ(a.deliveries()[k].flit, b.deliveries()[k].flit) << a.name() << " flit " << k;
      }
      delivered += a.delivered();
    }
    for (std::size_t k = 0; k < alone.mesh->links().size(); ++k) {
      sim::FlitLink &a = alone.mesh->links()[k], &b = together.mesh->links()[k];
      EXPECT_EQ(a.transferred(), b.transferred()) << a.name();
      EXPECT_EQ(a.stalled_cycles(), b.stalled_cycles()) << a.name();
    }
    if (::testing::Test::HasFailure()) return 0;
  }
  for (std::size_t k = 0; k < alone.mesh->routers().size() && how == How::kAlone; ++k)
    EXPECT_EQ(dynamic_cast<noc::Router&>(*alone.mesh->routers()[k]).lost(),
              dynamic_cast<noc::RouterBank::View&>(*together.mesh->routers()[k]).lost());
  if (watched) {
    EXPECT_EQ(together.mesh->checker.violations(), 0u);
  }
  return delivered;
}

TEST(RouterBank, EqualsRoutersAloneAndByTheBook) {
  const std::vector<Case> cases{{sim::FifoShape::sync(1), 6},
                                {sim::FifoShape::sync(2), 20},
                                {sim::FifoShape::sync(3), 3},
                                {sim::FifoShape::sync(8), 60},
                                {sim::FifoShape::sync(32), 0},
                                {{1, 1, 0}, 5},
                                {{2, 2, 1}, 9},
                                {{1, 8, 1}, 4},
                                {{4, 17, 0}, 30}};
  std::uint64_t seed = 1;
  for (const Case& c : cases)
    for (const bool watched : {false, true})
      for (const bool asleep : {false, true}) {
        SCOPED_TRACE(fmt::format("seed {}: depth {} latency {} extra {} busy {} watched {} asleep {}", seed,
                                 c.fifo.depth, c.fifo.latency, c.fifo.extra, c.busy_length, watched, asleep));
        for (const How how : {How::kAlone, How::kPlain})
          EXPECT_GT(compare(seed, c, how, watched, asleep), 100u);
        ++seed;
        if (HasFailure()) return;
      }
}

}  // namespace
}  // namespace ktpu::test
