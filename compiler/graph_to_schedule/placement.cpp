// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/placement.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/refusal.h"
#include "compiler/schedule/arena.h"
#include "compiler/schedule/lifetime.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::Phase;
using base::Refusal;
using schedule::BufferId;
using schedule::Role;

// Temporaries that neighbouring chains of one stage write lie side by side: a block each. A later stage's
// claim outweighs an earlier one.
std::vector<std::vector<std::string>> bands(const schedule::Schedule& schedule) {
  std::vector<std::vector<std::string>> found;
  for (const schedule::Stage& stage : schedule.stages) {
    std::vector<std::string> band;
    if (!stage.instances.empty())
      for (const schedule::Statement& statement : stage.instances.front().statements) {
        const auto* chain = std::get_if<schedule::Chain>(&statement);
        if (chain == nullptr || chain->reduce) continue;
        const schedule::Buffer& buffer = schedule.buffers[chain->result.buffer];
        if (buffer.role == Role::kTemp && std::find(band.begin(), band.end(), buffer.name) == band.end())
          band.push_back(buffer.name);
      }
    if (band.size() < 2) continue;
    for (std::vector<std::string>& earlier : found)
      std::erase_if(earlier, [&](const std::string& name) {
        return std::find(band.begin(), band.end(), name) != band.end();
      });
    found.push_back(band);
  }
  return found;
}

std::vector<schedule::StageAccess> accesses(const schedule::Schedule& schedule) {
  std::vector<schedule::StageAccess> all;
  for (const schedule::Stage& stage : schedule.stages) {
    std::set<std::string> reads, writes;
    const auto name = [&](BufferId id) { return schedule.buffers[id].name; };
    for (const schedule::Instance& instance : stage.instances)
      for (const schedule::Statement& statement : instance.statements) {
        if (const auto* fill = std::get_if<schedule::Fill>(&statement)) reads.insert(name(fill->buffer));
        if (const auto* drain = std::get_if<schedule::Drain>(&statement))
          if (drain->buffer) writes.insert(name(*drain->buffer));
        const auto* chain = std::get_if<schedule::Chain>(&statement);
        if (chain == nullptr) continue;
        writes.insert(name(chain->result.buffer));
        for (const schedule::Leaf& leaf : chain->leaves)
          if (leaf.kind == schedule::Leaf::Kind::kMemory || leaf.kind == schedule::Leaf::Kind::kChannel)
            reads.insert(name(leaf.stretch.buffer));
      }
    all.push_back({{reads.begin(), reads.end()}, {writes.begin(), writes.end()}});
  }
  return all;
}

// One block for all temporaries. What a band writes is one unit of it; units that live all the time come
// first.
struct Scratch {
  schedule::ScratchBlock block;
  std::map<std::string, std::pair<std::string, std::uint64_t>> member;  // buffer -> its unit, bytes into it
};

Scratch pack_temps(const schedule::Schedule& schedule, const std::vector<BufferId>& temps) {
  const std::uint64_t alignment = schedule.resources.alignment;
  const auto aligned = [&](std::uint64_t bytes) {
    return std::max<std::uint64_t>(1, (bytes + alignment - 1) / alignment) * alignment;
  };
  Scratch scratch;
  std::vector<schedule::ScratchBuffer> units;
  std::map<std::string, std::uint64_t> bytes;
  for (const BufferId id : temps) bytes[schedule.buffers[id].name] = aligned(schedule.buffers[id].nbytes);
  for (const std::vector<std::string>& band : bands(schedule)) {
    if (band.empty()) continue;
    std::uint64_t at = 0;
    for (const std::string& name : band) {
      scratch.member[name] = {band.front(), at};
      at += bytes.at(name);
    }
    units.push_back({band.front(), at});
  }
  for (const BufferId id : temps) {
    const std::string& name = schedule.buffers[id].name;
    if (scratch.member.contains(name)) continue;
    scratch.member[name] = {name, 0};
    units.push_back({name, bytes.at(name)});
  }
  std::vector<schedule::StageAccess> stages = accesses(schedule);
  for (schedule::StageAccess& stage : stages)
    for (std::vector<std::string>* names : {&stage.reads, &stage.writes})
      for (std::string& name : *names)
        if (const auto found = scratch.member.find(name); found != scratch.member.end())
          name = found->second.first;
  const auto lives = schedule::lifetimes(stages, units);
  const std::size_t last = stages.empty() ? 0 : stages.size() - 1;
  std::stable_partition(units.begin(), units.end(), [&](const schedule::ScratchBuffer& unit) {
    const schedule::Lifetime life = lives.at(unit.name);
    return life.first == 0 && life.last == last;
  });
  scratch.block = schedule::pack(stages, units, alignment);
  return scratch;
}

}  // namespace

void place_buffers(schedule::Schedule& schedule, const graph::Graph& graph, bool reuse_temps) {
  std::map<std::string, BufferId> ids;
  for (BufferId id = 0; id < schedule.buffers.size(); ++id) ids[schedule.buffers[id].name] = id;
  // Ports, tables and temporaries in the order the kernel names them, then constants as stages meet them.
  std::vector<BufferId> temps;
  for (const graph::Role role :
       {graph::Role::kIn, graph::Role::kOut, graph::Role::kTable, graph::Role::kTemp})
    for (const graph::Buffer& buffer : graph.buffers) {
      const auto found = ids.find(buffer.name);
      if (buffer.role != role || found == ids.end()) continue;
      (role == graph::Role::kTemp ? temps : schedule.allocation).push_back(found->second);
    }
  const std::size_t before_temps = schedule.allocation.size();
  schedule.allocation.insert(schedule.allocation.end(), temps.begin(), temps.end());
  for (BufferId id = 0; id < schedule.buffers.size(); ++id)
    if (schedule.buffers[id].role == Role::kConstant) schedule.allocation.push_back(id);

  const bool scratch = reuse_temps && !temps.empty();
  const Scratch packed = scratch ? pack_temps(schedule, temps) : Scratch{};
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < schedule.allocation.size(); ++i) {
    const bool in_block = scratch && i >= before_temps && i < before_temps + temps.size();
    if (in_block && i == before_temps) sizes.push_back(packed.block.bytes);
    if (!in_block) sizes.push_back(schedule.buffers[schedule.allocation[i]].nbytes);
  }
  const schedule::Resources& machine = schedule.resources;
  schedule::Arena arena(machine.arena_base, machine.arena_bytes, machine.alignment);
  try {
    arena.footprint(sizes);
  } catch (const schedule::OutOfMemory& full) {
    throw Refusal(Phase::kAllocate, "OUT_OF_MEMORY", full.what(),
                  "split the call, or let temporaries share memory");
  }
  std::optional<schedule::Address> block;
  for (std::size_t i = 0; i < schedule.allocation.size(); ++i) {
    schedule::Buffer& buffer = schedule.buffers[schedule.allocation[i]];
    if (scratch && i >= before_temps && i < before_temps + temps.size()) {
      if (!block) block = arena.allocate(packed.block.bytes);
      const auto& [unit, offset] = packed.member.at(buffer.name);
      buffer.address = block->at(packed.block.find(unit)->offset + offset);
    } else {
      buffer.address = arena.allocate(buffer.nbytes);
    }
  }
}

}  // namespace ktpu::graph_to_schedule
