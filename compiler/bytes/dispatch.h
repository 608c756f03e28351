// SPDX-License-Identifier: Apache-2.0
// The words of a stage's instances -> rounds of one staging load each (compiler.md section 12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/bytes/artifact.h"
#include "compiler/bytes/units.h"

namespace ktpu::bytes {

// Signals that a unit other than the instance's own sends on its behalf: the receiver of its last data.
struct Ack {
  Node from;
  std::uint32_t count = 0;
  // Which word causes how many; empty: the last one all of them. They come in the round of that word.
  std::vector<std::pair<std::size_t, std::uint32_t>> caused = {};
};
struct Instance {
  std::vector<std::int32_t> key;  // place in the stage's grid; instances run in the order of their keys
  std::vector<arch::Flit> words;
  std::optional<Ack> ack;
};

// A round may need more commands than the engine holds.
enum class CommandLimit : std::uint8_t {
  kReport,  // whoever runs it cuts the list (arch::split_commands): the rounds of the reference
  kCut,     // the next kick opens a new round
};
// Why a round ended where it did.
enum class Bound : std::uint8_t { kEnd, kStaging, kCredit, kCommands };

std::string_view name(Bound bound);

struct Round {
  Artifact artifact;
  Bound bound = Bound::kEnd;
  std::size_t commands = 0;  // of its control program
};
struct Plan {
  Limits limits;
  std::vector<Round> rounds;
};

// Throws UserError: no units, limits nothing fits under, two instances with one key, an acknowledgement
// without words to cause it.
Plan plan_dispatch(std::vector<Instance> instances, const Units& units, const Limits& limits,
                   CommandLimit command_limit = CommandLimit::kReport);
void verify(const Plan& plan);
std::string print(const Plan& plan);

}  // namespace ktpu::bytes
