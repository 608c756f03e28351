// SPDX-License-Identifier: Apache-2.0
#include "bench/workload.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/register_units.h"
#include "arch/error.h"
#include "arch/formats/simd.h"
#include "tlm/observe/digest.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/report.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::bench {

namespace {

// As often as the SystemC shell of ktpu-sim is activated while nothing outside happens.
constexpr sim::Cycle kQuantum = 4096;

class Fnv {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ at[i]) * 0x100000001B3ull;
  }
  void add(std::uint64_t value) { add(&value, sizeof value); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ull;
};

void run_program(platform::Runner& runner) {
  sim::Cycle end = 0;
  while (!runner.run_until(end += kQuantum)) {
  }
  if (runner.result().status != arch::ExitStatus::kOk) throw arch::UserError(runner.result().message);
}

void run_cycles(platform::System& system, platform::Runner& runner, sim::Cycle cycles) {
  for (sim::Cycle end = 0; end < cycles;) {
    end = std::min(end + kQuantum, cycles);
    if (runner.run_until(end))
      system.engine().run_until(end);  // nothing left to do: time passes all the same
  }
  system.engine().sync();
}

std::vector<std::uint8_t> results_of(const platform::MeshSystem& mesh, const arch::Program& program) {
  const auto& need = program.needs.memory.front();
  const std::uint64_t begin = program.outputs.front().address;
  return platform::read_memory(mesh, begin, need.end - begin);
}

}  // namespace

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

Outcome run_workload(const Case& c, const Variant& variant, bool quick) {
  arch::set_simd(variant.simd);
  topo::Machine machine = topo::read_file(c.topology, c.sets);
  for (const std::string& impl : c.impls) topo::apply_impl(machine, impl);
  std::optional<arch::Program> program;
  if (c.program) program = c.program(machine, quick);
  platform::Registry units;
  apps::register_units(units);
  platform::System system(machine, units);
  system.engine().set_idle_skip(variant.idle_skip);
  platform::Runner runner(system, program ? &*program : nullptr, {});

  Outcome out;
  const double begin = user_seconds();
  if (program)
    run_program(runner);
  else
    run_cycles(system, runner, quick ? c.quick_cycles : c.cycles);
  out.seconds = user_seconds() - begin;
  out.cycles = system.engine().now();

  observe::Registry names;
  names.add(system.engine(), [&](const sim::Unit& unit) { return system.source_of(unit); });
  for (const observe::Entry* entry : names.match("cluster@*.commands")) {
    out.commands += entry->read();
    ++out.clusters;
  }
  for (const sim::LinkBase* link : system.engine().links())
    out.flits += const_cast<sim::LinkBase*>(link)->transferred();

  observe::Statistics statistics(names);
  observe::add_standard(statistics);
  observe::RunFacts facts;
  facts.cycles = out.cycles;
  facts.clock_mhz = machine.clocks.front().mhz;
  facts.machine_cycles = runner.result().machine_cycles();
  statistics.set_facts(std::move(facts));
  for (const observe::Violation& violation : statistics.check())
    throw arch::UserError::make("{}: {}", c.name, violation.text());

  Fnv hash;
  hash.add(out.cycles);
  const std::string report = observe::csv_report(statistics);
  hash.add(report.data(), report.size());
  hash.add(observe::digest(system.engine()));
  if (program) {
    const std::vector<std::uint8_t> bytes = results_of(system.mesh(program->outputs.front().mesh), *program);
    Fnv results;
    results.add(bytes.data(), bytes.size());
    out.results = results.value();
    hash.add(bytes.data(), bytes.size());
  }
  out.digest = hash.value();
  return out;
}

}  // namespace ktpu::bench
