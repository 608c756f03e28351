// SPDX-License-Identifier: Apache-2.0
// What a program costs on a machine, modelled, not measured (compiler.md section 23.2).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/cost/dram.h"
#include "compiler/cost/port.h"

namespace ktpu::cost {

using Spent = std::array<Cycles, kCauses>;

// Consecutive rounds of one name ("stage 0 MG round 3" counts as "stage 0 MG").
struct Band {
  std::string name;
  unsigned rounds = 0;
  Cycles begin = 0, end = 0;  // of the run; a band ends where the next one begins
  Spent spent{};              // its cycles on the critical path, by cause; they add up to end - begin
  Cycles cycles() const { return end - begin; }
  // The cause with most of its cycles.
  Cause limiter() const;
};

struct UnitUse {
  unsigned mesh = 0;
  arch::Coord at;
  UnitKind kind = UnitKind::kCluster;
  UnitBooks books;
};
struct PortUse {
  unsigned mesh = 0;
  arch::Coord at;
  PortBooks books;
};
struct DramUse {
  unsigned mesh = 0;
  DramBooks books;
};

struct Report {
  std::string program, machine;
  double fabric_mhz = 300;
  Cycles machine_cycles = 0;  // first kick to the last completion or write beat, as ktpu-sim counts
  Cycles total_cycles = 0;    // to the end of the host's last transaction, or of the last write beat
  Spent spent{};              // of the whole run
  std::vector<Band> bands;
  std::vector<UnitUse> units;  // those that had an instruction
  std::vector<PortUse> ports;
  std::vector<DramUse> drams;
  std::vector<std::string> notes;  // what is not in the numbers
  std::uint64_t events = 0;        // the model took: its own effort
  Cause limiter() const;
};

// Tables for people; every one says that its numbers are modelled.
std::string text(const Report& report);
std::string json(const Report& report);

// `b` against `a`, band by band (by name, else by place), and the ratio b / a.
struct Comparison {
  struct Row {
    std::string name;
    Cycles a = 0, b = 0;  // 0: no such band
    Cause limiter_a = Cause::kHost, limiter_b = Cause::kHost;
    double ratio() const { return a == 0 ? 0 : static_cast<double>(b) / static_cast<double>(a); }
  };
  std::string program_a, program_b;
  std::vector<Row> bands;
  Row machine, total;
};
Comparison compare(const Report& a, const Report& b);
std::string text(const Comparison& comparison);
std::string json(const Comparison& comparison);

}  // namespace ktpu::cost
