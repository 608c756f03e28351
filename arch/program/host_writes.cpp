// SPDX-License-Identifier: Apache-2.0
#include "arch/program/host_writes.h"

#include "arch/encoding/address_map.h"
#include "arch/encoding/registers.h"
#include "arch/error.h"

namespace ktpu::arch {
namespace {

bool starts_kick(const Command& c) {  // the poll a kick begins with
  return c.op == static_cast<std::uint32_t>(engine::CommandOp::kPoll) &&
         c.address == address::kAgentBase + agent::kProgStat && c.mask == 1 && c.data == 0;
}

}  // namespace

std::vector<HostWrite> staging_writes(const StepStage& stage) {
  std::vector<HostWrite> writes;
  writes.reserve(stage.flits.size() * agent::kWordsPerFlit);
  for (std::size_t i = 0; i < stage.flits.size(); ++i)
    for (unsigned w = 0; w < agent::kWordsPerFlit; ++w)
      writes.push_back({address::kAgentBase + agent::stage_word(stage.base + static_cast<unsigned>(i), w),
                        stage.flits[i].w[w]});
  return writes;
}

std::vector<HostWrite> command_writes(std::span<const Command> commands) {
  std::vector<HostWrite> writes;
  writes.reserve(commands.size() * 4);
  for (unsigned n = 0; n < commands.size(); ++n) {
    const Command& c = commands[n];
    const std::uint64_t fields[4] = {c.op, c.address, c.data, c.mask};
    for (unsigned f = 0; f < 4; ++f)
      writes.push_back({address::kCommandEngineBase + engine::command_field(n, f), fields[f]});
  }
  return writes;
}

std::vector<std::vector<Command>> split_commands(std::span<const Command> commands, std::size_t capacity) {
  const Command done{static_cast<std::uint32_t>(engine::CommandOp::kDone), 0, 0, 0};
  std::vector<std::vector<Command>> parts;
  std::size_t first = 0;
  while (commands.size() - first > capacity) {
    std::size_t cut = first + capacity - 1;  // room for the DONE
    while (cut > first && !starts_kick(commands[cut])) --cut;
    if (cut == first)
      throw UserError::make(
          "command list: no poll of PROG_STAT run=0 within {} commands from command {}, so it can't be cut "
          "for the "
          "engine's {} entries",
          capacity, first, capacity);
    parts.emplace_back(commands.begin() + static_cast<std::ptrdiff_t>(first),
                       commands.begin() + static_cast<std::ptrdiff_t>(cut));
    parts.back().push_back(done);
    first = cut;
  }
  parts.emplace_back(commands.begin() + static_cast<std::ptrdiff_t>(first), commands.end());
  return parts;
}

}  // namespace ktpu::arch
