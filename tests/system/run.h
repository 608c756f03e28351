// SPDX-License-Identifier: Apache-2.0
// An example program on a shipped machine, in this process and without SystemC.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "arch/program/text.h"
#include "tests/support/plain_matmul.h"
#include "tlm/observe/registry.h"
#include "tlm/observe/standard_metrics.h"
#include "tlm/observe/statistics.h"
#include "tlm/platform/runner.h"
#include "topologies/reader.h"

namespace ktpu::test {

// C[m,n] = A[m,k] B[n,k]^T of an example: where its operands and result are, and how they lie there.
struct Example {
  const char* name;
  const char* machine;
  unsigned m, n, k;
  std::uint64_t a, b, c;
  unsigned a_groups, b_groups, blocks;  // entry:GxB
  unsigned rows, columns;               // tile:IxJ of instances
  unsigned sub_rows, sub_columns;       // :MxN
};
inline constexpr Example kExamples[] = {
    {"matmul_32x32x128", "mesh1", 32, 32, 128, 0, 0x2000, 0x4000, 8, 8, 4, 1, 1, 8, 8},
    {"matmul_32x32x128_round", "mesh1", 32, 32, 128, 0, 0x2000, 0x4000, 8, 8, 4, 1, 1, 8, 8},
    {"matmul_32x32x128_small", "reference_small", 32, 32, 128, 0, 0x2000, 0x4000, 8, 8, 4, 1, 1, 8, 8},
    {"matmul_32x32x128_staged", "staged", 32, 32, 128, 0, 0, 0x80000000, 8, 8, 4, 1, 1, 8, 8},
    {"matmul_ksplit", "mesh1", 64, 64, 512, 0, 0x10000, 0x20000, 16, 16, 4, 1, 1, 16, 16},
    {"matmul_fused_drain", "mesh1", 64, 64, 256, 0, 0x8000, 0x10000, 16, 16, 8, 1, 1, 16, 16},
    {"matmul_256x256x256", "mesh8", 256, 256, 256, 0x80000000, 0x80020000, 0x80040000, 16, 32, 8, 4, 2, 16,
     32},
    {"matmul_256x256x256_fused", "mesh8", 256, 256, 256, 0x80000000, 0x80020000, 0x80040000, 16, 32, 8, 4, 2,
     16, 32},
};
inline const Example& example(const std::string& name) {
  for (const Example& e : kExamples)
    if (name == e.name) return e;
  throw std::runtime_error("no example " + name);
}

inline arch::Program example_program(const std::string& name) {
  const std::string path = std::string(KTPU_SOURCE_DIR) + "/examples/" + name + ".kasm";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return arch::assemble(text.str(), path);
}

inline plain::Halves operand_a(const Example& e) { return plain::lcg(std::size_t{e.m} * e.k, 139, 10); }
inline plain::Halves operand_b(const Example& e) { return plain::lcg(std::size_t{e.n} * e.k, 151, 10); }
inline plain::Halves expected(const Example& e) {
  return plain::matmul(operand_a(e), operand_b(e), e.m, e.n, e.k);
}

// A machine with the example's program in it.
class ExampleRun {
 public:
  explicit ExampleRun(const Example& e, const topo::Overrides& sets = {}, const char* machine = nullptr)
      : example_(e), program_(example_program(e.name)) {
    platform::Registry models;
    platform::register_models(models);
    system_ = std::make_unique<platform::System>(
        topo::read_file(machine == nullptr ? e.machine : machine, sets), models);
    registry_.add(system_->timeline());
    observe::add_standard(statistics_);
    runner_ =
        std::make_unique<platform::Runner>(*system_, &program_, platform::RunLimits{5'000'000, 100'000});
  }
  // Runs to the end, which must be a good one with all books balanced.
  const platform::RunResult& finish() {
    const platform::RunResult& result = runner_->run();
    EXPECT_EQ(result.status, arch::ExitStatus::kOk) << example_.name << ": " << result.message;
    observe::RunFacts facts;
    facts.cycles = result.cycles;
    facts.clock_mhz = system_->machine().clocks.front().mhz;
    for (const sim::Timeline::Clock& clock : system_->timeline().clocks())
      facts.clocks.push_back({clock.name, static_cast<double>(clock.hertz) / 1e6, clock.engine});
    facts.machine_cycles = result.machine_cycles();
    statistics_.set_facts(facts);
    for (const observe::Violation& v : statistics_.check())
      ADD_FAILURE() << example_.name << ": " << v.text();
    EXPECT_FALSE(statistics_.invariants().empty());
    return result;
  }
  plain::Halves result() const {
    const Example& e = example_;
    return plain::from_tiles(platform::read_memory(system_->mesh(), e.c, std::uint64_t{e.m} * e.n * 2),
                             e.rows, e.columns, e.sub_rows, e.sub_columns);
  }
  std::uint64_t counter(const std::string& name) const { return registry_.at(name).read(); }
  const observe::Registry& registry() const { return registry_; }
  platform::System& system() { return *system_; }

 private:
  const Example& example_;
  arch::Program program_;
  std::unique_ptr<platform::System> system_;
  observe::Registry registry_;
  observe::Statistics statistics_{registry_};
  std::unique_ptr<platform::Runner> runner_;
};

}  // namespace ktpu::test
