// SPDX-License-Identifier: Apache-2.0
// A machine of models, and beside it the Verilated top that ktpu-rtlgen wrote for it: the same host accesses
// in the same cycles, a DRAM of its own. Every output of the top is compared in every cycle, every handover
// on the DRAM bus, and at the end the memories.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/memory_sockets.h"
#include "apps/common/top_pins.h"
#include "arch/error.h"
#include "rtl_models/twin.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/platform/runner.h"
#include "tlm/sim/lockstep.h"
#include "topologies/reader.h"

namespace ktpu::test {

// The links of a traffic node, whose place is outside the top.
struct OutsideLink {
  sim::FlitLink* into_mesh = nullptr;    // the node's output
  sim::FlitLink* out_of_mesh = nullptr;  // its input
};

template <class V>
class TopLockstep {
 public:
  // `machine`: one mesh, with control agent, host and a DRAM of the simple model.
  explicit TopLockstep(topo::Machine machine)
      : dram_(*machine.meshes.front().dram),
        twin_memory_({dram_.base, dram_.size_bytes, dram_.wrap}),
        twin_dram_(twin_memory_, params(), dram_.bus_bits),
        twin_socket_(twin_dram_),
        dram_pins_(dram_.bus_bits),
        top_("top") {
    platform::Registry models;
    platform::register_models(models);
    system_ = std::make_unique<platform::System>(
        std::move(machine), models, [this](const topo::Mesh&, memory::SparseMemory& memory) {
          real_ = std::make_unique<memory::SimpleDram>(memory, params(), dram_.bus_bits);
          auto recorded = std::make_unique<apps::RecordedDram>(*real_);
          recorded_ = recorded.get();
          return recorded;
        });
    compared_ = std::make_unique<apps::ComparedDram>("top", *recorded_);
    window_ = std::make_unique<apps::ComparedWindow>("top", *mesh().window_bus);
  }

  platform::System& system() { return *system_; }
  platform::MeshSystem& mesh() { return system_->mesh(); }
  V& pins() { return top_.pins(); }
  OutsideLink outside(arch::Coord at) {
    const std::string id = fmt::format("traffic@{},{}", at.x, at.y);
    auto* in = dynamic_cast<sim::FlitLink*>(system_->link(id + ".in"));
    auto* out = dynamic_cast<sim::FlitLink*>(system_->link(id + ".out"));
    KTPU_CHECK(in != nullptr && out != nullptr, "no links of {}", id);
    return {out, in};
  }
  std::uint64_t compared() const { return compared_values_ + compared_->compared(); }
  std::uint64_t dram_handovers() const { return compared_->compared(); }

  // After the images were loaded, before the first cycle.
  void start() {
    mesh().memory->for_each_page(
        [this](std::uint64_t at, std::span<const std::uint8_t> bytes) { twin_memory_.write(at, bytes); });
    apps::quiet_top(pins());
    twin_socket_.reset(0);
    top_.reset(0);
  }

  // The models have run cycle `now`; their wires still show it. Compares the top's outputs of that cycle, and
  // clocks the top. Throws sim::LockstepError. `links`: called with the pins to compare and to set those of
  // traffic nodes.
  template <class Links>
  void cycle(sim::Cycle now, Links&& links) {
    V& p = pins();
    host(now);
    links(now, p);
    window(now);
    dram(now);
    ++cycles_;
    top_.clock(now);
  }
  void cycle(sim::Cycle now) {
    cycle(now, [](sim::Cycle, V&) {});
  }

  // One flit link of a traffic node: outputs compared, inputs set.
  void compare_link(sim::Cycle now, const OutsideLink& link, const char* name, bool busy_out, bool valid_out,
                    const void* data_out) {
    check(now, name, "busy", link.into_mesh->busy(), busy_out);
    check(now, name, "valid", link.out_of_mesh->valid(), valid_out);
    if (!valid_out) return;
    arch::Flit flit;
    std::memcpy(flit.w.data(), data_out, arch::kFlitBits / 8);
    if (const auto difference = sim::first_difference(link.out_of_mesh->data(), flit))
      throw sim::LockstepError({"top", now, name, *difference});
  }

  void expect_equal_memories() const { EXPECT_EQ(twin_memory_.digest(), system_->mesh().memory->digest()); }
  sim::Cycle cycles() const { return cycles_; }

 private:
  memory::SimpleDramParams params() const {
    const topo::DramSimple& s = dram_.simple;
    return {s.first_read_beat, s.read_gaps, s.first_write_beat, s.write_gaps, s.write_response};
  }

  void check(sim::Cycle now, const char* port, const char* field, std::uint64_t expected, std::uint64_t got) {
    ++compared_values_;
    if (expected != got)
      throw sim::LockstepError(
          {"top", now, port, {field, fmt::format("{:#x}", expected), fmt::format("{:#x}", got)}});
  }

  void host(sim::Cycle now) {
    V& p = pins();
    check(now, "host", "read_data", mesh().host_bus->read_data, p.host_read_data_o);
    apps::set_host(p, beat_of(*mesh().host_bus));
    if constexpr (requires { p.engine_write_i; }) {
      check(now, "engine", "read_data", mesh().engine_slave_bus->read_data, p.engine_read_data_o);
      apps::set_engine(p, beat_of(*mesh().engine_slave_bus));
    }
  }
  static orchestrator::BusBeat beat_of(const orchestrator::RegisterBus& bus) {
    return bus.beat.valid() ? bus.beat.data() : orchestrator::BusBeat{};
  }

  void window(sim::Cycle now) {
    V& p = pins();
    rtl::WindowSocket::Outputs out;
    out.aw_busy = p.window_aw_busy_o;
    out.ar_busy = p.window_ar_busy_o;
    out.w_busy = p.window_w_busy_o;
    out.r_valid = p.window_r_valid_o;
    out.r_last = p.window_r_last_o;
    out.b_valid = p.window_b_valid_o;
    std::memcpy(out.r.data(), &p.window_r_data_o[0], sizeof out.r);
    compared_values_ += 6;
    const rtl::WindowSocket::Inputs in = window_->clock(now, out);
    p.window_aw_valid_i = in.aw.valid;
    p.window_aw_addr_i = in.aw.addr & ((1ull << 40) - 1);
    p.window_aw_beats_i = static_cast<std::uint16_t>(in.aw.beats & 0x1FFu);
    p.window_ar_valid_i = in.ar.valid;
    p.window_ar_addr_i = in.ar.addr & ((1ull << 40) - 1);
    p.window_ar_beats_i = static_cast<std::uint16_t>(in.ar.beats & 0x1FFu);
    p.window_w_valid_i = in.w != nullptr;
    if (in.w != nullptr) std::memcpy(&p.window_w_data_i[0], in.w, 32);
    p.window_r_busy_i = in.r_busy;
    p.window_b_busy_i = in.b_busy;
  }

  void dram(sim::Cycle now) {
    V& p = pins();
    const rtl::DramSocket::Shown shown = twin_socket_.shown(now), model = compared_->shown(now);
    check(now, "dram", "ar_ready", model.ar_ready, shown.ar_ready);
    check(now, "dram", "r_valid", model.r_valid, shown.r_valid);
    check(now, "dram", "b_valid", model.b_valid, shown.b_valid);
    const rtl::DramSocket::Moves moves = dram_pins_(p, shown);
    compared_->clock(now, moves);
    twin_socket_.clock(now, moves);
  }

  topo::Dram dram_;
  memory::SparseMemory twin_memory_;
  memory::SimpleDram twin_dram_;
  apps::DramOfTwin twin_socket_;
  apps::TopDram<V> dram_pins_;
  std::unique_ptr<memory::SimpleDram> real_;
  apps::RecordedDram* recorded_ = nullptr;
  std::unique_ptr<apps::ComparedDram> compared_;
  std::unique_ptr<apps::ComparedWindow> window_;
  std::unique_ptr<platform::System> system_;
  rtl::Twin<V> top_;
  sim::Cycle cycles_ = 0;
  std::uint64_t compared_values_ = 0;
};

// Runs `program` on the models with the top beside them, then goes on until what is left has landed.
template <class V, class Links>
platform::RunResult run_beside(TopLockstep<V>& pair, const arch::Program& program, Links&& links) {
  platform::Runner runner(pair.system(), &program, platform::RunLimits{5'000'000, 100'000});
  pair.start();
  sim::Engine& engine = pair.system().engine();
  bool finished = false;
  while (!finished) {
    const sim::Cycle now = engine.now();
    finished = runner.run_until(now + 1);
    if (engine.now() == now) break;
    pair.cycle(now, links);
  }
  constexpr sim::Cycle kLanding = 500;
  for (sim::Cycle n = 0; n < kLanding; ++n) {
    const sim::Cycle now = engine.now();
    engine.run_until(now + 1);
    pair.cycle(now, links);
  }
  return runner.result();
}

}  // namespace ktpu::test
