// SPDX-License-Identifier: Apache-2.0
// ktpu-bench-top: how fast the RTL of a whole machine is without this simulator, one module out of
// ktpu-rtlgen and Verilator. The host's accesses are those of the models' run, the DRAM is the same.
// README.md of this folder.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "apps/common/memory_sockets.h"
#include "apps/common/top_pins.h"
#include "arch/error.h"
#include "bench/cases.h"
#include "bench/measure.h"
#include "bench/workload.h"
#include "bench_top_mesh8.inc"  // generated: the Verilated class
#include "rtl_models/twin.h"
#include "tlm/memory/simple_dram.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"
#include "topologies/reader.h"

namespace {

using namespace ktpu;
using Top = Vmesh8_top;

constexpr unsigned kRepeats = 3;
constexpr sim::Cycle kLanding = 500;  // cycles after the program in which its last writes arrive

// The host's accesses of a run, and the cycles it took.
class Recording final : public sim::Observer {
 public:
  struct Access {
    sim::Cycle at;
    orchestrator::BusBeat host, engine;
  };
  explicit Recording(platform::MeshSystem& mesh) : mesh_(mesh) {}
  void on_cycle(sim::Cycle now) override {
    Access access{now, beat(*mesh_.host_bus), beat(*mesh_.engine_slave_bus)};
    if (access.host != orchestrator::BusBeat{} || access.engine != orchestrator::BusBeat{})
      accesses_.push_back(access);
  }
  const std::vector<Access>& accesses() const { return accesses_; }

 private:
  static orchestrator::BusBeat beat(const orchestrator::RegisterBus& bus) {
    return bus.beat.valid() ? bus.beat.data() : orchestrator::BusBeat{};
  }
  platform::MeshSystem& mesh_;
  std::vector<Access> accesses_;
};

// The top with a DRAM of its own, from reset to `cycles`.
class Machine {
 public:
  Machine(const topo::Dram& dram, const memory::SparseMemory& image)
      : memory_({dram.base, dram.size_bytes, dram.wrap}),
        device_(memory_,
                {dram.simple.first_read_beat, dram.simple.read_gaps, dram.simple.first_write_beat,
                 dram.simple.write_gaps, dram.simple.write_response},
                dram.bus_bits),
        socket_(device_),
        pins_(dram.bus_bits),
        top_("top") {
    image.for_each_page(
        [this](std::uint64_t at, std::span<const std::uint8_t> bytes) { memory_.write(at, bytes); });
    apps::quiet_top(top_.pins());
    socket_.reset(0);
    top_.reset(0);
  }
  void run(const std::vector<Recording::Access>& accesses, sim::Cycle cycles) {
    Top& p = top_.pins();
    auto next = accesses.begin();
    bool quiet = true;
    for (sim::Cycle now = 0; now < cycles; ++now) {
      const bool access = next != accesses.end() && next->at == now;
      if (access || !quiet) {
        apps::set_host(p, access ? next->host : orchestrator::BusBeat{});
        apps::set_engine(p, access ? next->engine : orchestrator::BusBeat{});
        quiet = !access;
        if (access) ++next;
      }
      socket_.clock(now, pins_(p, socket_.shown(now)));
      top_.clock(now);
    }
  }
  std::uint64_t digest() const { return memory_.digest(); }

 private:
  memory::SparseMemory memory_;
  memory::SimpleDram device_;
  apps::DramOfTwin socket_;
  apps::TopDram<Top> pins_;
  rtl::Twin<Top> top_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const bench::Case& c) {
  const topo::Machine machine = topo::read_file(c.topology, c.sets);
  const arch::Program program = c.program(machine, false);
  platform::Registry models;
  platform::register_models(models);
  platform::System system(machine, models);
  platform::Runner runner(system, &program, {});
  Recording recording(system.mesh());
  system.engine().add(recording);
  memory::SparseMemory image(
      {machine.meshes.front().dram->base, machine.meshes.front().dram->size_bytes, false});
  system.mesh().memory->for_each_page(
      [&](std::uint64_t at, std::span<const std::uint8_t> bytes) { image.write(at, bytes); });
  runner.run_until(sim::kNever - 1);
  if (runner.result().status != arch::ExitStatus::kOk) throw arch::UserError(runner.result().message);
  const sim::Cycle cycles = system.engine().now() + kLanding;
  system.engine().run_until(cycles);

  std::vector<double> speeds, ratios;
  for (unsigned i = 0; i < kRepeats; ++i) {
    const double models_speed = bench::repeat(c, {}, 1.0).cycles_per_second;
    Machine top(*machine.meshes.front().dram, image);
    const double begin = bench::user_seconds();
    top.run(recording.accesses(), cycles);
    speeds.push_back(static_cast<double>(cycles) / (bench::user_seconds() - begin));
    ratios.push_back(models_speed / speeds.back());
    if (top.digest() != system.mesh().memory->digest())
      throw arch::UserError::make("{}: the memory of the generated top is not that of the models", c.name);
  }
  fmt::print("{:<20} {:>10} cycles  {:>8.1f} k cycles/s  models x{:.1f}\n", c.name, cycles,
             median(speeds) / 1e3, median(ratios));
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    for (const bench::Case& c : bench::cases())
      if (c.name.starts_with("rtl/") && c.name.ends_with("/models")) measure(c);
    return 0;
  } catch (const arch::UserError& e) {
    fmt::print(stderr, "ktpu-bench-top: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ktpu-bench-top: internal error: {}\n", e.what());
    return static_cast<int>(arch::ExitStatus::kInternal);
  }
}
