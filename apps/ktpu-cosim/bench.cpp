// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-cosim/bench.h"

#include <deque>
#include <ostream>
#include <sstream>

#include "apps/ktpu-cosim/neighbour.h"
#include "arch/encoding/text.h"
#include "rtl_models/rtl_failure.h"
#include "tlm/sim/engine.h"
#include "tlm/sim/lockstep.h"

namespace ktpu::cosim {

namespace {

constexpr std::size_t kLast = 24;  // transfers kept for a report

arch::Dialect dialect_of(const Block& block) {
  return block.word == "vector" ? arch::Dialect::kVector : arch::Dialect::kCluster;
}

}  // namespace

Outcome run(const Block& block, const platform::Registry& registry, const Stimulus& stimulus,
            const Conditions& conditions, std::ostream* waves) {
  Outcome outcome;
  std::deque<Transaction> last;
  const auto tell = [&last](const Transaction& transaction) {
    last.push_back(transaction);
    if (last.size() > kLast) last.pop_front();
  };
  sim::Engine engine;
  std::deque<sim::FlitLink> links;
  std::deque<Neighbour> neighbours;
  std::vector<sim::FlitPort> ports;
  for (unsigned p = 0; p < block.ports.size(); ++p) {
    sim::FlitPort port;
    port.in = &links.emplace_back(block.ports[p] + ".in", arch::kFlitBits);
    port.out = &links.emplace_back(block.ports[p] + ".out", arch::kFlitBits);
    ports.push_back(port);
    neighbours.emplace_back(p, port, conditions, !block.is_router(), tell);
  }
  for (const Message& message : stimulus) neighbours.at(message.port).send(message);
  const std::unique_ptr<sim::Unit> unit = build(block, registry, ports);
  auto* pair = dynamic_cast<sim::Lockstep*>(unit.get());
  KTPU_CHECK(pair != nullptr, "{}: the lock-step implementation is no lock-step pair", block.word);
  engine.add(*unit);
  for (Neighbour& neighbour : neighbours) engine.add(neighbour);
  for (sim::FlitLink& link : links) engine.add(link);
  engine.elaborate();
  try {
    engine.run_until(conditions.cycles);
    pair->require_compared();
  } catch (const arch::UserError& error) {
    outcome.failure = error.what();
    outcome.status = error.status();
  } catch (const rtl::RtlFailure& error) {
    outcome.failure = error.what();
    outcome.status = arch::ExitStatus::kInternal;
  }
  outcome.cycles = engine.now();
  outcome.values = pair->compared_values();
  for (const sim::FlitPort& port : ports)
    outcome.ports.push_back({port.in->transferred(), port.out->transferred()});
  if (!outcome.failed()) return outcome;
  std::ostringstream history;
  pair->print_history(history);
  outcome.history = history.str();
  outcome.last.assign(last.begin(), last.end());
  if (waves != nullptr) pair->write_history_vcd(*waves);
  return outcome;
}

std::string text_of(const Block& block, const Transaction& t) {
  return fmt::format("{:>10} {} {:<3} {}", t.cycle, block.ports.at(t.port), t.into_block ? "in" : "out",
                     arch::flit_to_text(t.flit, dialect_of(block)));
}

std::string text_of(const Block& block, const Message& message) {
  std::string text;
  for (std::size_t n = 0; n < message.flits.size(); ++n)
    text += fmt::format("{}{} {}{}", n == 0 ? "  " : "\n    ", block.ports.at(message.port),
                        n == 0 && message.gap != 0 ? fmt::format("after {} ", message.gap) : "",
                        arch::flit_to_text(message.flits[n], dialect_of(block)));
  return text;
}

}  // namespace ktpu::cosim
