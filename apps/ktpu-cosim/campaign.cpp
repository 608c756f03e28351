// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/campaign.h"

#include <algorithm>
#include <fstream>

#include "apps/ktpu-cosim/minimise.h"

namespace ktpu::cosim {

namespace {

// Legal and wild episodes take turns.
Style style_of(std::uint64_t seed) { return seed % 2 == 1 ? Style::kLegal : Style::kWild; }
const char* style_name(Style style) { return style == Style::kLegal ? "legal" : "wild"; }

void report(const Campaign& campaign, const platform::Registry& registry, const Block& block,
            const Stimulus& stimulus, const Conditions& conditions, const Outcome& found) {
  fmt::print("{}\nSeed {}: ktpu-cosim {} --seed {} --cycles {} --episode {} --stalls {}\n", found.failure,
             conditions.seed, campaign.block, conditions.seed, conditions.cycles, conditions.cycles,
             conditions.stalls);
  // Cycles behind the failure are not worth running again; some slack, for what moves when messages go.
  Conditions shorter = conditions;
  shorter.cycles = std::min(conditions.cycles, 2 * found.cycles + 200);
  const Stimulus shortest = minimise(
      stimulus, [&](const Stimulus& s) { return run(block, registry, s, shorter).failed(); }, campaign.tries);
  std::ofstream waves;
  if (!campaign.waves.empty()) {
    waves.open(campaign.waves);
    if (!waves) throw arch::UserError::make("{}: cannot be written", campaign.waves);
  }
  const Outcome again = run(block, registry, shortest, shorter, campaign.waves.empty() ? nullptr : &waves);
  fmt::print("{}\nIts shortest stimulus, {} of {} messages:\n", block.text(), shortest.size(),
             stimulus.size());
  for (const Message& message : shortest) fmt::print("{}\n", text_of(block, message));
  fmt::print("With it: {}\nThe last transfers:\n", again.failure);
  for (const Transaction& transaction : again.last) fmt::print("{}\n", text_of(block, transaction));
  fmt::print("The last cycles of all ports:\n{}", again.history);
  if (!campaign.waves.empty()) fmt::print("Waves of both sides: {}\n", campaign.waves);
}

}  // namespace

arch::ExitStatus run_campaign(const Campaign& campaign, const platform::Registry& registry) {
  Outcome all;
  std::uint64_t seed = campaign.seed;
  for (sim::Cycle left = campaign.cycles; left != 0; ++seed) {
    const Conditions conditions{seed, campaign.stalls, std::min(left, campaign.episode)};
    left -= conditions.cycles;
    const Block block = make_block(campaign.block, seed);
    const Stimulus stimulus = make_stimulus(block, style_of(seed), seed, conditions.cycles);
    const Outcome outcome = run(block, registry, stimulus, conditions);
    if (outcome.failed()) {
      report(campaign, registry, block, stimulus, conditions, outcome);
      return outcome.status;
    }
    all.cycles += outcome.cycles;
    all.values += outcome.values;
    all.ports.resize(outcome.ports.size());
    std::uint64_t in = 0, out = 0;
    for (std::size_t p = 0; p < outcome.ports.size(); ++p) {
      in += outcome.ports[p].in, out += outcome.ports[p].out;
      all.ports[p].in += outcome.ports[p].in;
      all.ports[p].out += outcome.ports[p].out;
    }
    fmt::print("seed {} {}: {}; {} cycles, {} flits in, {} out, {} values equal\n", seed,
               style_name(style_of(seed)), block.text(), outcome.cycles, in, out, outcome.values);
  }
  const Block block = make_block(campaign.block, campaign.seed);
  for (std::size_t p = 0; p < all.ports.size(); ++p)
    fmt::print("{}.{}: {} flits in, {} out\n", campaign.block, block.ports[p], all.ports[p].in,
               all.ports[p].out);
  fmt::print("{}: {} episodes, {} cycles, stalls {} %, {} values compared, 0 differences\n", campaign.block,
             seed - campaign.seed, all.cycles, campaign.stalls, all.values);
  return arch::ExitStatus::kOk;
}

}  // namespace ktpu::cosim
