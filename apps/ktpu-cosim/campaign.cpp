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
  const Outcome again =
      run(block, registry, shortest, shorter, {true, campaign.waves.empty() ? nullptr : &waves});
  fmt::print("{}\nIts shortest stimulus, {} of {} messages:\n", block.text(), shortest.size(),
             stimulus.size());
  for (const Message& message : shortest) fmt::print("{}\n", text_of(block, message));
  fmt::print("With it: {}\nThe last transfers:\n", again.failure);
  for (const Transaction& transaction : again.last) fmt::print("{}\n", text_of(block, transaction));
  if (!again.history.empty()) fmt::print("The last cycles of all ports:\n{}", again.history);
  if (!campaign.waves.empty()) fmt::print("Waves of both sides: {}\n", campaign.waves);
}

// Adds the counts of one episode to those of the same names.
void add(Totals& all, const Block& block, const Outcome& outcome) {
  ++all.episodes;
  all.cycles += outcome.cycles;
  all.values += outcome.values;
  for (std::size_t p = 0; p < block.ports.size(); ++p) {
    const auto same = [&](const Totals::Count& count) { return count.port.name == block.ports[p].name; };
    auto count = std::find_if(all.ports.begin(), all.ports.end(), same);
    if (count == all.ports.end()) count = all.ports.insert(count, {block.ports[p], {}});
    count->transfers.in += outcome.ports[p].in;
    count->transfers.out += outcome.ports[p].out;
  }
}

void print(const Campaign& campaign, const Totals& all) {
  for (const Totals::Count& count : all.ports)
    fmt::print("{}.{}: {}\n", campaign.block, count.port.name,
               !count.port.out  ? fmt::format("{} in", count.transfers.in)
               : !count.port.in ? fmt::format("{} out", count.transfers.out)
                                : fmt::format("{} in, {} out", count.transfers.in, count.transfers.out));
  fmt::print("{}: {} episodes from seed {}, {} cycles, stalls {} %, {} values compared, 0 differences\n",
             campaign.block, all.episodes, campaign.seed, all.cycles, campaign.stalls, all.values);
}

}  // namespace

std::uint64_t Totals::least() const {
  std::uint64_t least = ~0ull;
  for (const Count& count : ports) {
    if (count.port.in) least = std::min(least, count.transfers.in);
    if (count.port.out) least = std::min(least, count.transfers.out);
  }
  return least;
}

Totals run_campaign(const Campaign& campaign, const platform::Registry& registry) {
  Totals all;
  std::uint64_t seed = campaign.seed;
  for (sim::Cycle left = campaign.cycles; left != 0; ++seed) {
    const Conditions conditions{seed, campaign.stalls, std::min(left, campaign.episode)};
    left -= conditions.cycles;
    const Block block = make_block(campaign.block, seed);
    const Stimulus stimulus = make_stimulus(block, style_of(seed), seed, conditions.cycles);
    const Outcome outcome = run(block, registry, stimulus, conditions);
    if (outcome.failed()) {
      report(campaign, registry, block, stimulus, conditions, outcome);
      all.status = outcome.status;
      return all;
    }
    add(all, block, outcome);
    std::uint64_t in = 0, out = 0;
    for (const PortCount& count : outcome.ports) in += count.in, out += count.out;
    if (!campaign.quiet)
      fmt::print("seed {} {}: {}; {} cycles, {} transfers in, {} out, {} values equal\n", seed,
                 style_name(style_of(seed)), block.text(), outcome.cycles, in, out, outcome.values);
  }
  print(campaign, all);
  if (all.least() >= campaign.least) return all;
  fmt::print("{}: a port saw {} transfers, fewer than {}: run more cycles\n", campaign.block, all.least(),
             campaign.least);
  all.status = arch::ExitStatus::kLockstepMismatch;
  return all;
}

}  // namespace ktpu::cosim
