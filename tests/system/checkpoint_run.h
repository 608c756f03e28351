// SPDX-License-Identifier: Apache-2.0
// A run in this process that can be saved, restored and compared with another one.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "arch/program/program_file.h"
#include "tests/system/run.h"
#include "tlm/observe/report.h"
#include "tlm/observe/waves.h"
#include "tlm/platform/checkpoint.h"

namespace ktpu::test {

// A machine and what it runs.
struct Subject {
  const char* machine;
  const char* program;  // an example; empty: traffic alone
  std::vector<std::string> sets = {};
  sim::Cycle cycles = 20'000;  // traffic without an end stops here
};

class CheckpointRun {
 public:
  explicit CheckpointRun(const Subject& subject, const topo::Overrides& more = {}) {
    if (*subject.program != 0) {
      program_ = example_program(subject.program);
      id_ = {program_->name, arch::program_hash(arch::serialize_program(*program_), subject.program)};
    }
    platform::Registry models;
    platform::register_models(models);
    topo::Overrides sets(subject.sets);
    sets.insert(sets.end(), more.begin(), more.end());
    system_ = std::make_unique<platform::System>(topo::read_file(subject.machine, sets), models);
    registry_.add(system_->timeline());
    fabric_.add(system_->engine());
    observe::add_standard(statistics_);
    runner_ = std::make_unique<platform::Runner>(*system_, program_ ? &*program_ : nullptr,
                                                 platform::RunLimits{subject.cycles, 100'000});
  }

  platform::System& system() { return *system_; }
  platform::Runner& runner() { return *runner_; }
  const platform::ProgramId& id() const { return id_; }
  sim::Cycle now() { return system_->engine().now(); }
  bool run_until(sim::Cycle end) { return runner_->run_until(end); }
  std::string save() { return platform::save_state(*system_, *runner_); }
  void restore(const std::string& state) { platform::restore_state(*system_, *runner_, state); }
  std::uint64_t digest() { return platform::state_digest(*system_); }

  // Waves of cycles from..to in `path`; finish_waves() ends them.
  void watch(const std::filesystem::path& path, sim::Cycle from, sim::Cycle to) {
    observe::WaveOptions options;
    options.from = from;
    options.to = to;
    waves_ = std::make_unique<observe::WaveFile>(fabric_, path.string(), options);
    system_->engine().add(*waves_);
  }
  void finish_waves() {
    waves_->finish(now());
    system_->engine().remove(*waves_);
    waves_.reset();
  }

  // To the end: everything a run gives but waves, as text.
  std::string finish() {
    const platform::RunResult& result = runner_->run();
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = 300;
    facts.machine_cycles = result.machine_cycles();
    if (result.host_end != 0) facts.total_cycles = result.host_end;
    statistics_.set_facts(facts);
    std::string text = observe::json_report(statistics_);
    text += fmt::format("status {} end {} kick {} write {} read {} completion {}\n{}\n",
                        static_cast<int>(result.status), result.host_end, result.first_kick.value_or(0),
                        result.last_write_beat.value_or(0), result.last_read_beat.value_or(0),
                        result.last_completion.value_or(0), result.message);
    for (const std::string& note : result.notes) text += note + '\n';
    for (const platform::MeshSystem& mesh : system_->meshes())
      if (mesh.memory != nullptr) text += fmt::format("memory {:016x}\n", mesh.memory->digest());
    return text;
  }

 private:
  std::optional<arch::Program> program_;
  platform::ProgramId id_;
  std::unique_ptr<platform::System> system_;
  observe::Registry registry_;
  observe::Registry fabric_;  // units on the fabric clock: what the waves show
  observe::Statistics statistics_{registry_};
  std::unique_ptr<observe::WaveFile> waves_;
  std::unique_ptr<platform::Runner> runner_;
};

}  // namespace ktpu::test
