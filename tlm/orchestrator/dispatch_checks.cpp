// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/dispatch_checks.h"

#include <numeric>

#include "arch/encoding/registers.h"

namespace ktpu::orchestrator {

namespace {

std::string node_text(unsigned node) {
  const arch::Coord at = arch::Coord::from_node_byte(node);
  return fmt::format("({},{})", at.x, at.y);
}

}  // namespace

void DispatchChecks::report(sim::Cycle now, const char* id, std::string text) {
  misuse_.add({id, now, std::move(text)});
}

// The staging RAM keeps its contents.
void DispatchChecks::reset() { kept_ = 0; }

void DispatchChecks::staged(sim::Cycle now, std::size_t word, std::size_t next, std::size_t end) {
  const std::size_t slot = word / arch::agent::kWordsPerFlit;
  if (slot < staged_.size()) staged_[slot] = 1;
  if (word >= next && word < end)
    report(
        now, "stage-overwrite",
        fmt::format("slot {} was written while a dispatch still had to send it: the new word is sent", slot));
}

void DispatchChecks::kicked(sim::Cycle now, const Kick& kick) {
  if (kick.running)
    return report(
        now, "kick-lost",
        fmt::format("a kick for {} was ignored: {} flits of the dispatch before were still to be sent",
                    node_text(kick.dst), kick.left));
  if (kick.length == 0) return report(now, "kick-empty", "a kick was ignored because PROG_LEN is 0");
  std::uint32_t unstaged = 0, first = 0;
  for (std::uint32_t slot = kick.base; slot < kick.base + kick.length; ++slot)
    if ((slot >= staged_.size() || staged_[slot] == 0) && unstaged++ == 0) first = slot;
  if (unstaged != 0)
    report(
        now, "kick-unstaged",
        fmt::format("a kick of slots {}..{} sends {} that {}, the first of them {}", kick.base,
                    kick.base + kick.length - 1, unstaged,
                    first >= staged_.size() ? "the staging RAM does not have" : "were never staged", first));
  if (ledger_.seeds == 0)
    report(now, "credit-missing", "a kick before PROG_CRED was written: there is no credit");
}

void DispatchChecks::pushed(sim::Cycle now, const arch::Flit& flit) {
  if (flit.type() != arch::FlitType::kCuInst || flit.last()) ++kept_;
  if (flit.type() != arch::FlitType::kCuInst) return;
  const unsigned node = flit.dst().node_byte();
  if (ledger_.outstanding[node] > inst_depth_[node] && inst_depth_[node] != 0)
    report(now, "credit-depth",
           fmt::format("{} instructions of {} are not complete, its instruction FIFO holds {}",
                       ledger_.outstanding[node], node_text(node), inst_depth_[node]));
}

// Nothing that is under way gives a credit back: the stall has no end.
void DispatchChecks::starved(sim::Cycle now, std::uint32_t left) {
  if (ledger_.seeds != 0 && kept_ >= ledger_.seed)
    report(
        now, "credit-low",
        fmt::format("{} flits are left and no credit comes back: seeded {}, and {} flits marked last (or no "
                    "instructions) kept one each",
                    left, ledger_.seed, kept_));
}

void DispatchChecks::done_cleared(sim::Cycle now, bool lost, bool running) {
  const std::uint32_t outstanding =
      std::accumulate(ledger_.outstanding.begin(), ledger_.outstanding.end(), 0u);
  if (lost)
    report(now, "done-live", "SIG_DONE was cleared in the cycle a signal came: it is missing in the count");
  else if (running)
    report(now, "done-live",
           "SIG_DONE was cleared during a dispatch: how many signals it counts depends on time");
  else if (outstanding != 0)
    report(
        now, "done-live",
        fmt::format("SIG_DONE was cleared while {} instructions were not complete: how many of their signals "
                    "it counts depends on time",
                    outstanding));
}

void DispatchChecks::redirected(sim::Cycle now, unsigned from, unsigned to, std::uint32_t left) {
  report(now, "dst-live",
         fmt::format("PROG_DST was changed from {} to {} during a dispatch: its last {} flits go there",
                     node_text(from), node_text(to), left));
}

void DispatchChecks::send_ignored(sim::Cycle now, bool running) {
  report(now, "send-lost",
         fmt::format("a mailbox send was ignored: {}", running ? "a dispatch runs" : "the TX FIFO is full"));
}

void DispatchChecks::mailbox_lost(sim::Cycle now, const arch::Flit& flit) {
  report(now, "mailbox-lost",
         fmt::format("a {} from ({},{}) was dropped: the receive mailbox is full",
                     arch::flit_type_name(flit.type_code()), flit.src_x(), flit.src_y()));
}

void DispatchChecks::visit(sim::Archive& a) {
  a.memory("staged", staged_.data(), staged_.size());
  a.state("kept", kept_);
  misuse_.visit(a);
}

}  // namespace ktpu::orchestrator
