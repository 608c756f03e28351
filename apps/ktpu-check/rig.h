// SPDX-License-Identifier: Apache-2.0
// A machine with every recorder attached, ready to run a program or flits from its injection port.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/ktpu-check/logs.h"
#include "tlm/platform/runner.h"
#include "tlm/platform/system.h"

namespace ktpu::check {

// A shipped topology by name.
topo::Machine shipped_machine(const std::string& name);

// Whether recorders sit inside the clusters too, or only on wires and buses.
enum class Watch : std::uint8_t { kInside, kOutside };

class Rig {
 public:
  // `program` may be null (nothing but injected flits); it must outlive the rig.
  explicit Rig(topo::Machine machine, const arch::Program* program = nullptr, Watch watch = Watch::kInside);
  ~Rig();

  // Offers `flits` back to back at the traffic node `at`, from cycle `from` on.
  void inject(arch::Coord at, std::span<const arch::Flit> flits, Cycle from);
  void inject(arch::Coord at, const arch::Flit& flit, Cycle cycle);

  void write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes);
  std::vector<std::uint8_t> read_memory(std::uint64_t address, std::uint64_t bytes) const;

  // Until nothing is left to do. Throws UserError with the reason if it does not end well; a program that
  // hangs is the caller's business, see run_unchecked().
  void run();
  // Until nothing is left to do or `nodes` have taken `flits` flits in all: sinks with a busy pattern never
  // rest.
  void run_until_delivered(topo::Kind nodes, std::uint64_t flits);
  const platform::RunResult& run_unchecked(const platform::RunLimits& limits);

  platform::System& system() { return system_; }
  const topo::Mesh& mesh() const { return system_.machine().meshes.front(); }
  // The endpoint nodes of a kind, in coordinate order; the only one of its kind.
  std::vector<const topo::Node*> nodes(topo::Kind kind) const;
  const topo::Node& only(topo::Kind kind) const;

  // What went into the unit at `at` and out of it, as seen at the unit.
  const LinkLog::Watched& in(arch::Coord at) const;
  const LinkLog::Watched& out(arch::Coord at) const;
  // The same for a memory port, whose two directions are named from the mesh's side.
  const LinkLog::Watched& out_of_mesh(arch::Coord port) const { return in(port); }
  const LinkLog::Watched& into_mesh(arch::Coord port) const { return out(port); }
  // Flits that went from router to router.
  std::uint64_t hops(arch::FlitType type) const;
  const ClusterLog& cluster(arch::Coord at) const;
  const VectorLog& vector(arch::Coord at) const;

  DramLog dram;
  AgentLog agent;
  HostLog host;
  // Of a program that is "quiet before every round"; 0: not.
  void set_quiet_before_round(std::uint32_t cycles) { quiet_before_round_ = cycles; }

 private:
  platform::Runner& start(const platform::RunLimits& limits);
  // Of a run that is over. Throws UserError if a pair in lock-step compared nothing.
  void count_compared();

  platform::System system_;
  LinkLog links_;
  std::map<arch::Coord, std::pair<std::size_t, std::size_t>> ports_;  // in, out
  std::vector<std::size_t> between_routers_;
  std::map<arch::Coord, std::unique_ptr<ClusterLog>> clusters_;
  std::map<arch::Coord, std::unique_ptr<VectorLog>> vectors_;
  const arch::Program* program_;
  std::uint32_t quiet_before_round_ = 0;
  std::unique_ptr<platform::Runner> runner_;
};

}  // namespace ktpu::check
