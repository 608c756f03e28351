// SPDX-License-Identifier: Apache-2.0
// What a recorded program's file says about a run, measured on a rig that has run it.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/ktpu-check/program_import.h"
#include "apps/ktpu-check/rig.h"

namespace ktpu::check {

class ProgramMeasure {
 public:
  // All three must outlive the measure. Cycle 0 is the host's first transaction.
  ProgramMeasure(const nlohmann::json& file, const ImportedProgram& program, Rig& rig);

  // Per recorded step: an object with the measured fields, empty for writes.
  nlohmann::json steps() const;
  nlohmann::json cycles() const;
  nlohmann::json dram_totals() const;
  nlohmann::json memory_port_stall_cycles() const;
  nlohmann::json outputs() const;
  std::string memory_sha256() const;

 private:
  struct Relayout {
    Cycle cycle = 0;
    std::string before, after;
  };
  // Events of the round that owns [begin, end); the last round owns what comes later.
  struct Window {
    Cycle begin = 0, end = 0;
    bool holds(Cycle c) const { return begin <= c && c < end; }
  };

  nlohmann::json relative(Cycle cycle) const {
    return static_cast<std::int64_t>(cycle) - static_cast<std::int64_t>(origin_);
  }
  nlohmann::json relative(const Cycles& cycles) const;
  std::optional<Cycle> step_cycle(std::size_t program_step) const;
  std::optional<Cycle> end_of(const ImportedProgram::Place& place) const;
  Window window(std::size_t place) const;

  nlohmann::json round(std::size_t place) const;
  nlohmann::json relayout(const ImportedProgram::Place& place) const;
  void agent_events(const Window& window, nlohmann::json& out) const;
  void unit_flits(const Window& window, nlohmann::json& out) const;
  void vector_events(const Window& window, nlohmann::json& out) const;
  void cluster_events(const Window& window, nlohmann::json& out) const;

  const nlohmann::json& file_;
  const ImportedProgram& program_;
  Rig& rig_;
  Cycle origin_;
  std::map<std::size_t, Relayout> relayouts_;  // by program step
};

}  // namespace ktpu::check
