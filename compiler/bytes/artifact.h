// SPDX-License-Identifier: Apache-2.0
// What compiler and driver meet at (compiler.md section 12): one round as plain data, the words to stage and
// the steps to take. Everything in a round is relative to nothing: it stages from slot 0 and can be run
// again.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arch/flit.h"
#include "arch/program/program.h"

namespace ktpu::bytes {

// What the machine allows a round.
struct Limits {
  std::uint32_t staging_flits = 128;
  std::uint32_t commands = 128;    // of the command engine
  std::uint32_t inst_depth = 512;  // of a unit's instruction FIFO; also the credit a round is seeded with
};

// A place in the staging RAM. Only Staging gives one out, and only one that exists.
class Slot {
 public:
  std::uint32_t index() const { return index_; }
  bool operator==(const Slot&) const = default;

 private:
  friend class Staging;
  explicit Slot(std::uint32_t index) : index_(index) {}
  std::uint32_t index_;
};

class Staging {
 public:
  explicit Staging(std::uint32_t flits) : flits_(flits) {}
  // Throws UserError when `count` flits from `index` on do not fit.
  Slot slot(std::uint32_t index, std::uint32_t count) const;

 private:
  std::uint32_t flits_;
};

struct Seed {
  std::uint32_t credit = 0;
};
struct Kick {
  arch::Coord to;
  Slot base;
  std::uint32_t count = 0;
};
struct Await {
  arch::Coord node;
  std::uint32_t count = 0;  // signals of this round
};
using RoundStep = std::variant<Seed, Kick, Await>;

struct Artifact {
  std::string machine;  // its name; informative
  // By slot: the payload, and whatever header bits the unit's encoder has set itself. Type and `last` come
  // with the staging.
  std::vector<arch::Flit> words;
  std::vector<RoundStep> steps;
  std::uint32_t round = 0, of = 1;
};

// Throws UserError: a kick past the words or the staging RAM or with no flit, kicks that share some but not
// all of their slots (one flit can't be the last of one kick and not of the other), a kick before the seed.
void verify(const Artifact& artifact, const Limits& limits);
std::string print(const Artifact& artifact);

// The flits as staged, by slot.
std::vector<arch::Flit> staged_flits(const Artifact& artifact);
// The round as steps of a program file, to be run by any host.
std::vector<arch::Step> program_steps(const Artifact& artifact, std::uint8_t mesh);

}  // namespace ktpu::bytes
