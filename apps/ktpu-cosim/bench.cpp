// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/bench.h"

#include <ostream>
#include <sstream>

#include "apps/ktpu-cosim/kinds.h"
#include "arch/encoding/text.h"
#include "rtl_models/rtl_failure.h"
#include "tlm/orchestrator/register_bus_wires.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::cosim {

namespace {

constexpr std::size_t kLast = 24;  // transfers kept for a report

}  // namespace

Outcome run(const Block& block, const platform::Registry& registry, const Stimulus& stimulus,
            const Conditions& conditions, const Watch& watch) {
  Outcome outcome;
  Transfers transfers(block.ports.size(), watch.transactions ? kLast : 0);
  const std::unique_ptr<Bench> bench =
      kind_of(block.word).bench({block, registry, stimulus, conditions, transfers});
  try {
    bench->run(conditions.cycles);
  } catch (const arch::UserError& error) {
    outcome.failure = error.what();
    outcome.status = error.status();
  } catch (const rtl::RtlFailure& error) {
    outcome.failure = error.what();
    outcome.status = arch::ExitStatus::kInternal;
  }
  outcome.cycles = bench->now();
  outcome.values = bench->values();
  outcome.ports = transfers.counts();
  if (!outcome.failed()) return outcome;
  std::ostringstream history;
  bench->print_history(history);
  outcome.history = history.str();
  outcome.last.assign(transfers.last().begin(), transfers.last().end());
  if (watch.waves != nullptr) bench->write_waves(*watch.waves);
  return outcome;
}

std::string text_of(const Block& block, const Transaction& t) {
  return fmt::format("{:>10} {} {:<3} {}", t.cycle, block.ports.at(t.port).name, t.into_block ? "in" : "out",
                     t.text);
}

std::string text_of(const Block& block, const Message& message) {
  const arch::Dialect dialect = block.word == "vector" ? arch::Dialect::kVector : arch::Dialect::kCluster;
  std::vector<std::string> pieces;
  for (const arch::Flit& flit : message.flits) pieces.push_back(arch::flit_to_text(flit, dialect));
  for (const orchestrator::BusBeat& beat : message.beats) pieces.push_back(orchestrator::wire_words(beat));
  if (message.burst)
    pieces.push_back(fmt::format("{} {} words at {:#x}", message.burst->write ? "write" : "read",
                                 message.burst->address.beats, message.burst->address.addr));
  if (message.entry)
    pieces.push_back(fmt::format(
        "entry layout={} beats={}{} halves {:04x}", message.entry->b_layout ? "B" : "A", message.entry->beats,
        message.entry->waits ? "" : " abandoned", fmt::join(message.entry->halves, " ")));
  std::string text;
  for (std::size_t n = 0; n < pieces.size(); ++n)
    text += fmt::format("{}{} {}{}", n == 0 ? "  " : "\n    ", block.ports.at(message.port).name,
                        n == 0 && message.gap != 0 ? fmt::format("after {} ", message.gap) : "", pieces[n]);
  return text;
}

}  // namespace ktpu::cosim
