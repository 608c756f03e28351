// SPDX-License-Identifier: Apache-2.0
#include "compiler/planner/rounds.h"

#include <array>
#include <span>
#include <string_view>

#include "compiler/base/refusal.h"
#include "compiler/bytes/control_program.h"
#include "compiler/bytes/encode.h"

namespace ktpu::planner {
namespace {

constexpr unsigned kTxn = 0x40;
constexpr std::uint64_t kDoneCode = 0xC0DE;

std::size_t flits_of(std::span<const Pass> passes) {
  std::size_t flits = 0;
  for (const Pass& pass : passes) flits += pass.steps.size();
  return flits;
}

// The whole control program of a round.
std::vector<arch::Command> control(std::span<const Pass> passes, const bytes::Limits& limits) {
  const bytes::Staging staging(limits.staging_flits);
  bytes::ControlProgram program;
  program.clear_done();
  program.seed_credits(limits.inst_depth);
  std::uint32_t base = 0;
  for (const Pass& pass : passes) {
    const auto count = static_cast<std::uint32_t>(pass.steps.size());
    program.kick({pass.at, staging.slot(base, count), count});
    base += count;
  }
  program.await_all(base);  // every instruction signals once
  program.done(kDoneCode);
  return program.commands();
}

std::vector<arch::Flit> flits(std::span<const Pass> passes) {
  std::vector<arch::Flit> flits;
  for (const Pass& pass : passes)
    for (const arch::ClusterInst& inst : pass.steps) {
      arch::Flit flit = bytes::encode(inst);
      flit.w[4] = arch::make_header({}, {}, arch::FlitType::kCuInst, kTxn, inst.is(arch::ClusterOp::kDrain));
      flits.push_back(flit);
    }
  return flits;
}

// The first limit that the passes do not keep together; kEnd: they keep all.
bytes::Bound broken(std::span<const Pass> passes, const bytes::Limits& limits) {
  if (flits_of(passes) > limits.staging_flits) return bytes::Bound::kStaging;
  if (passes.size() + 1 > limits.inst_depth) return bytes::Bound::kCredit;
  if (control(passes, limits).size() > limits.commands) return bytes::Bound::kCommands;
  return bytes::Bound::kEnd;
}

[[noreturn]] void refuse(const Pass& pass, bytes::Bound bound, const bytes::Limits& limits) {
  const std::string who = fmt::format("the pass of tile {},{}, {} instructions", pass.tile.row,
                                      pass.tile.column, pass.steps.size());
  if (bound == bytes::Bound::kStaging)
    throw base::Refusal(base::Phase::kBuild, "PASS_OVER_STAGING",
                        fmt::format("{}; the staging RAM holds {}", who, limits.staging_flits),
                        "take more blocks of K in a chunk");
  throw base::Refusal(base::Phase::kBuild, "PASS_OVER_COMMANDS",
                      fmt::format("{} alone does not fit {} commands and a credit of {}", who,
                                  limits.commands, limits.inst_depth),
                      "a round takes 9 commands and a credit of 2 at least");
}

}  // namespace

std::vector<GemmRound> cut_rounds(const GemmPasses& plan, const bytes::Limits& limits) {
  const std::span<const Pass> all = plan.passes;
  std::vector<GemmRound> rounds;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t count = 1;
    bytes::Bound bound = broken(all.subspan(first, count), limits);
    if (bound != bytes::Bound::kEnd) refuse(all[first], bound, limits);
    while (first + count < all.size()) {
      bound = broken(all.subspan(first, count + 1), limits);
      if (bound != bytes::Bound::kEnd) break;
      ++count;
    }
    const auto passes = all.subspan(first, count);
    rounds.push_back({count, flits(passes), control(passes, limits), bound});
    first += count;
  }
  return rounds;
}

void verify(const std::vector<GemmRound>& rounds, const bytes::Limits& limits) {
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const auto check = [&](std::size_t have, std::size_t limit, std::string_view what) {
      if (have > limit)
        throw arch::UserError::make("round {} of {}: {} {}, the limit is {}", r, rounds.size(), have, what,
                                    limit);
    };
    check(rounds[r].flits.size(), limits.staging_flits, "flits");
    check(rounds[r].passes + 1, limits.inst_depth, "credits, one to spare");
    check(rounds[r].commands.size(), limits.commands, "commands");
  }
}

std::string print(const std::vector<GemmRound>& rounds) {
  std::string text;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    text += fmt::format("round {} of {}: {} passes, {} flits, {} commands; ended by: {}\n", r, rounds.size(),
                        rounds[r].passes, rounds[r].flits.size(), rounds[r].commands.size(),
                        bytes::name(rounds[r].bound));
  return text;
}

std::vector<arch::Step> program_steps(const std::vector<GemmRound>& rounds, std::uint8_t mesh) {
  std::vector<arch::Step> steps;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    steps.push_back({mesh, arch::StepRound{fmt::format("{} of {}", r, rounds.size())}});
    steps.push_back({mesh, arch::StepStage{0, rounds[r].flits}});
    steps.push_back({mesh, arch::StepCommands{rounds[r].commands}});
  }
  return steps;
}

}  // namespace ktpu::planner
