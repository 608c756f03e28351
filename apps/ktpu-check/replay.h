// SPDX-License-Identifier: Apache-2.0
// Compiled kernels (vectors/compiler/live) executed on the machine and held against FP64.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/ktpu-check/live_import.h"
#include "topologies/description.h"

namespace ktpu::check {

struct ReplayOptions {
  LiveOptions import;
  topo::Quirks quirks = topo::Quirks::kReference;
};

enum class Outcome : std::uint8_t { kCompleted, kHang, kFault, kRefused, kError };

// Largest absolute differences from FP64, over all outputs.
struct Accuracy {
  // Where a file has neither its model's error nor all of its model's outputs, the model's error is that of
  // the elements it has; the others, whose worst one may be worse, may be twice as far off.
  static constexpr double kUnseen = 2;

  double error = 0;       // of the machine
  double error_seen = 0;  // over the elements for which the recorded model's values are known
  double allowed = 0;     // 1.25 times the recorded model's error, and one FP16 ulp of the largest value
  bool sampled = false;   // the model's error is known for some elements only
  bool holds() const {
    return sampled ? error_seen <= allowed && error <= kUnseen * allowed : error <= allowed;
  }
};

struct Replayed {
  std::string name;
  Outcome outcome = Outcome::kError;
  std::uint64_t machine_cycles = 0;  // without staging, see replay() below
  std::uint64_t total_cycles = 0;
  std::map<std::string, std::uint64_t> quirks;  // id -> hits
  std::optional<Accuracy> accuracy;
  bool known_wrong = false;  // compiled wrongly by the reference: not judged
  bool fine = false;
  std::string verdict;  // in words: "holds", "quirk V3: ...", ...
};

// Executes a compiled kernel and judges it. An error beyond the bound is traced by running again: with
// `quirks: none`, and with a host that waits for quiet memory between rounds. Machine cycles: for each round
// from its first kick to the last signal at the agent or the last DRAM write beat before the next round's
// first kick, whichever is later; summed. Staging, commands, waits and relayouts are in the total only.
// Throws nothing but InternalError.
Replayed replay(const nlohmann::json& file, const ReplayOptions& options);

}  // namespace ktpu::check
