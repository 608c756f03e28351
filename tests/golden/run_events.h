// SPDX-License-Identifier: Apache-2.0
// A run as text: everything seen from outside, in order, to compare two runs byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "apps/ktpu-check/rig.h"
#include "apps/ktpu-check/sha256.h"
#include "arch/program/lint.h"
#include "tlm/platform/findings.h"

namespace ktpu::check {

inline const std::string kFound = "found: ";

inline std::string run_events(const topo::Machine& machine, const arch::Program& program, Watch watch,
                              bool idle_skip) {
  Rig rig(machine, &program, watch);
  rig.system().engine().set_idle_skip(idle_skip);
  rig.run();
  std::string text;
  const auto add = [&](const char* what, const Cycles& cycles) {
    text += what;
    for (const Cycle c : cycles) text += fmt::format(" {}", c);
    text += "\n";
  };
  const auto flits = [&](const std::string& what, const LinkLog::Watched& w) {
    text += fmt::format("{} stalled {}", what, w.stalled);
    for (const FlitEvent& e : w.flits) text += fmt::format(" {}:{}", e.cycle, arch::to_hex(e.flit));
    text += "\n";
  };
  add("read bursts", rig.dram.read_bursts);
  add("read beats", rig.dram.read_beats);
  add("write bursts", rig.dram.write_bursts);
  add("write beats", rig.dram.write_beats);
  add("kicks", rig.agent.kicks);
  for (const topo::Node& node : rig.mesh().nodes) {
    flits(fmt::format("in {},{}", node.at.x, node.at.y), rig.in(node.at));
    flits(fmt::format("out {},{}", node.at.x, node.at.y), rig.out(node.at));
  }
  text += fmt::format("end {} of {}\n", rig.host.end_cycle, rig.system().engine().now());
  rig.system().engine().sync();
  for (const platform::Finding& finding : platform::findings(rig.system()))
    text += kFound + finding.line() + "\n";
  const topo::Dram& dram = *rig.mesh().dram;
  text += sha256_hex(rig.read_memory(dram.base, dram.size_bytes));
  return text;
}

// No legal program has anything to tell: neither in its run, whose events these are, nor before. `but`: the
// one id that the programs are known to have.
inline void expect_no_findings(const std::string& events, const arch::Program& program,
                               const std::string& what, const std::string& but = "none") {
  std::string mark = "[";
  mark += but;
  mark += "]";
  std::istringstream lines(events);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kFound)) {
      EXPECT_NE(line.find(mark), std::string::npos) << what << ": " << line;
    }
  for (const arch::LintFinding& finding : arch::lint(program))
    EXPECT_TRUE(!finding.error() || finding.rule->id == but) << what << ": " << arch::to_text(finding);
}

inline std::string first_difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const std::size_t line = a.rfind('\n', at) == std::string::npos ? 0 : a.rfind('\n', at) + 1;
  const std::size_t from = std::max(line, at < 100 ? 0 : at - 100);
  return a.substr(line, 30) + " ... " + a.substr(from, 200) + "\nagainst\n" + b.substr(from, 200);
}

}  // namespace ktpu::check
