// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule_to_program/runs.h"

#include <algorithm>

#include "compiler/base/refusal.h"
#include "compiler/schedule_to_program/band.h"
#include "compiler/schedule_to_program/epilogue.h"
#include "compiler/schedule_to_program/pass_program.h"
#include "compiler/schedule_to_program/row_reduce.h"

namespace ktpu::schedule_to_program {
namespace {

using base::Phase;
using base::Refusal;
using schedule::Chain;
using schedule::Leaf;
using Run = std::vector<const Chain*>;

bool reads(const Chain& reader, const Chain& writer) {
  return std::any_of(reader.leaves.begin(), reader.leaves.end(), [&](const Leaf& leaf) {
    if (leaf.kind != Leaf::Kind::kMemory || leaf.stretch.buffer != writer.result.buffer) return false;
    const std::uint64_t reach = leaf.whole ? leaf.take : reader.span;  // a spread skips some of it
    return leaf.stretch.at < writer.result.at + writer.span && writer.result.at < leaf.stretch.at + reach;
  });
}

// Handed on in a register: the very stretch the writer made.
bool hands_on(const Chain& writer, const Leaf& leaf) {
  return leaf.kind == Leaf::Kind::kMemory && leaf.period == 0 && leaf.stretch == writer.result;
}

bool can_be_one(const schedule::Schedule& schedule, const Run& run) {
  // Operands are filled before anything is stored.
  Chain rest = *run.back();
  for (auto writer = run.begin(); writer + 1 != run.end(); ++writer)
    std::erase_if(rest.leaves, [&](const Leaf& leaf) { return hands_on(**writer, leaf); });
  for (auto writer = run.begin(); writer + 1 != run.end(); ++writer)
    if (reads(rest, **writer)) return false;
  try {
    const Band band(schedule, run, Extents::kAsked);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

bool need_passes(const Run& run) {
  return std::any_of(run.begin(), run.end(), [](const Chain* s) { return needs_passes(*s); });
}

std::vector<program::VectorStep> program_of(const schedule::Schedule& schedule, const Run& run,
                                            std::uint64_t batch) {
  const bool best = schedule.policy == schedule::Policy::kBest;
  if (best && need_passes(run)) return pass_program(schedule, run, batch);
  try {
    return run.size() == 1 && run.front()->reduce ? row_reduction(schedule, *run.front(), batch)
                                                  : Band(schedule, run, Extents::kReal).steps(batch);
  } catch (const Refusal&) {
    if (!best) throw;
    return pass_program(schedule, run, batch);
  }
}

// Whether statements that one Band does not hold are one program in passes.
bool can_be_passes(const schedule::Schedule& schedule, const Run& run) {
  if (schedule.policy == schedule::Policy::kCompat) return false;
  try {
    pass_program(schedule, run, 0);
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

std::vector<Run> runs_of(const schedule::Schedule& schedule, const Run& statements) {
  std::vector<Run> runs;
  for (const Chain* statement : statements) {
    if (!runs.empty()) {
      Run with = runs.back();
      with.push_back(statement);
      if (need_passes(with) ? can_be_passes(schedule, with) : can_be_one(schedule, with)) {
        runs.back() = std::move(with);
        continue;
      }
    }
    // A drain does not wait for memory, so a later program may not fill what this one stores.
    const std::size_t first =
        runs.empty() || schedule.policy == schedule::Policy::kBest ? 0 : runs.size() - 1;
    const Chain* read = nullptr;
    Run together;
    for (std::size_t r = first; r < runs.size(); ++r) {
      for (const Chain* earlier : runs[r])
        if (read == nullptr && reads(*statement, *earlier)) read = earlier;
      if (read != nullptr) together.insert(together.end(), runs[r].begin(), runs[r].end());
    }
    if (read != nullptr) {
      const std::size_t merged = together.size();
      together.push_back(statement);
      if (!can_be_passes(schedule, together))
        throw Refusal(Phase::kBuild, "RUN_CUT_READS_RESULT",
                      fmt::format("a statement reads '{}', which one before it writes, and both do not fit "
                                  "one vector program",
                                  schedule.buffers.at(read->result.buffer).name),
                      "write them in stages of their own");
      for (std::size_t left = merged; left > 0;) {
        left -= runs.back().size();
        runs.pop_back();
      }
      runs.push_back(std::move(together));
      continue;
    }
    runs.push_back({statement});
  }
  return runs;
}

void require_group_starts(const Run& statements, const Run& first) {
  KTPU_CHECK(statements.size() == first.size(), "instances of one stage differ in their statements");
  for (std::size_t s = 0; s < statements.size(); ++s)
    for (std::size_t l = 0; l < statements[s]->leaves.size(); ++l) {
      const Leaf& leaf = statements[s]->leaves[l];
      if (leaf.period == 0) continue;
      // A buffer that is read over and over begins with every instance.
      const std::uint64_t moved = leaf.whole ? statements[s]->result.at - first[s]->result.at
                                             : leaf.stretch.at - first[s]->leaves.at(l).stretch.at;
      if (moved % leaf.period != 0)
        throw Refusal(Phase::kBuild, "SPREAD_START",
                      fmt::format("an instance begins inside a group of {} elements", leaf.period),
                      "make part a multiple of the group");
    }
}

Run chains_of(const schedule::Instance& instance) {
  Run run;
  for (const schedule::Statement& statement : instance.statements) {
    const Chain* chain = std::get_if<Chain>(&statement);
    KTPU_CHECK(chain != nullptr, "a cluster's statement in a vector stage");
    run.push_back(chain);
  }
  return run;
}

}  // namespace

std::vector<program::VectorStep> vector_program(const schedule::Schedule& schedule,
                                                const schedule::Instance& instance,
                                                const schedule::Instance& first) {
  const Run statements = chains_of(instance);
  if (std::any_of(statements.begin(), statements.end(), [](const Chain* s) { return s->resident(); })) {
    if (statements.size() != 1)
      throw base::CannotFuse(Phase::kLayout, "EPILOGUE_STATEMENTS",
                             "more than one statement on a delivered tile", "stage the epilogue");
    return epilogue_program(schedule, *statements.front(), instance.batch);
  }
  require_group_starts(statements, chains_of(first));
  // An instance behind the end of its operands: the reference loads its program and never runs it.
  if (schedule.policy == schedule::Policy::kBest &&
      std::all_of(statements.begin(), statements.end(), [](const Chain* s) { return s->span == 0; }))
    return {};
  std::vector<program::VectorStep> steps;
  for (const Run& run : runs_of(schedule, statements)) {
    const std::vector<program::VectorStep> made = program_of(schedule, run, instance.batch);
    steps.insert(steps.end(), made.begin(), made.end());
  }
  return steps;
}

}  // namespace ktpu::schedule_to_program
