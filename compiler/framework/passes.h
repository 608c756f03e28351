// SPDX-License-Identifier: Apache-2.0
// The generic passes: Place, Pack, Coalesce, Emit (compiler.md section 13). Each takes what the one before
// made and is verified by itself.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/framework/machine.h"
#include "compiler/framework/tasks.h"

namespace ktpu::framework {

// ---- Place: which unit --------------------------------------------------------------------------------
struct Place {
  unsigned mesh = 0;
  arch::Coord at;
  auto operator<=>(const Place&) const = default;
};
// By task. Throws UserError: units of several meshes in question, a type the mesh lacks, a pin where there is
// no such unit.
std::vector<Place> place(const TaskGraph& graph, const Machine& machine);
void verify(const std::vector<Place>& places, const TaskGraph& graph, const Machine& machine);

// ---- Pack: which round --------------------------------------------------------------------------------
using Rounds = std::vector<std::vector<TaskId>>;
// A task joins the open round when all it waits for is in earlier ones, and staging RAM, command RAM and its
// unit's FIFO have room. Throws UserError for a task that fits no round.
Rounds pack(const TaskGraph& graph, const std::vector<Place>& places, const Machine& machine);
void verify(const Rounds& rounds, const TaskGraph& graph, const std::vector<Place>& places,
            const Machine& machine);

// ---- Coalesce: who could share a fetch ----------------------------------------------------------------
// Recorded, not required: nothing below has to make use of it.
struct Sharing {
  std::map<TaskId, std::vector<arch::Coord>> peers;  // of a leader: who else reads what it reads
  std::vector<bool> leads;                           // by task: it fetches for itself
  std::uint64_t bytes_saved = 0;
};
Sharing coalesce(const TaskGraph& graph, const std::vector<Place>& places, const Rounds& rounds);
void verify(const Sharing& sharing, const TaskGraph& graph, const std::vector<Place>& places);

// ---- Emit: the words and the steps ---------------------------------------------------------------------
struct Seed {
  std::uint32_t credit = 0;
};
struct Kick {
  Place to;
  std::uint32_t base = 0, count = 0;  // slots; they go on counting from round to round
};
struct Await {
  Place node;
  std::uint32_t count = 0;
};
struct Barrier {};
using ArtifactStep = std::variant<Seed, Kick, Await, Barrier>;
struct Artifact {
  std::string machine;
  std::vector<arch::Flit> flits;
  std::vector<ArtifactStep> steps;
  std::size_t rounds = 0, tasks = 0;
  std::uint64_t coalesced_bytes = 0;
};
// A task's words on its unit: `flits` of them, else emit throws UserError.
using Encoder = std::function<std::vector<arch::Flit>(TaskId, const Task&, const Place&)>;
Artifact emit(const TaskGraph& graph, const std::vector<Place>& places, const Rounds& rounds,
              const Sharing& sharing, const Machine& machine, const Encoder& encoder);
void verify(const Artifact& artifact, const TaskGraph& graph, const Machine& machine);
std::string print(const Artifact& artifact);

// ---- All of them, each verified ------------------------------------------------------------------------
struct Compiled {
  TaskGraph graph;  // with the edges that follow from memory
  std::vector<Place> places;
  Rounds rounds;
  Sharing sharing;
  Artifact artifact;
};
Compiled compile(TaskGraph graph, const Machine& machine, const Encoder& encoder);
std::string print(const Compiled& compiled);

}  // namespace ktpu::framework
