// SPDX-License-Identifier: Apache-2.0
#include "tlm/orchestrator/dispatch_ledger.h"

#include <utility>

namespace ktpu::orchestrator {

void DispatchLedger::visit(sim::Archive& a) {
  a.counter("kicks_in_run", kicks_in_run.count, "kicks", "Kicks ignored because a dispatch was running");
  a.counter("kicks_empty", kicks_empty.count, "kicks", "Kicks ignored because PROG_LEN was 0");
  a.counter("sends_ignored", sends_ignored.count, "kicks",
            "Mailbox sends ignored: a dispatch was running, or the TX FIFO was full");
  a.counter("redirects", redirects.count, "writes",
            "Changes of PROG_DST during a dispatch, which redirect its rest");
  a.counter("signals_cleared", signals_cleared.count, "flits",
            "Signals missing in SIG_DONE because it was cleared in the cycle they came");
  a.counter("mailbox_lost", rx_lost.count, "flits", "Flits dropped because the receive mailbox was full");
  a.counter("stage_overruns", stage_overruns.count, "words",
            "Words the dispatcher read behind the end of the staging RAM, where it finds 0");
  a.scope("ledger", [&] {
    for (const auto& [name, event] : {std::pair<const char*, Event*>{"kicks_in_run", &kicks_in_run},
                                      {"kicks_empty", &kicks_empty},
                                      {"sends_ignored", &sends_ignored},
                                      {"redirects", &redirects},
                                      {"signals_cleared", &signals_cleared},
                                      {"mailbox_lost", &rx_lost},
                                      {"stage_overruns", &stage_overruns}})
      a.scope(name, [&, found = event] { a.state("first", found->first); });
    a.state("seeds", seeds);
    a.state("seed", seed, 16);
    a.state("seeded_at", seeded_at);
    a.state("pushed", pushed);
    a.state("returned", returned);
    a.state("kept", kept);
    a.memory("outstanding", outstanding.data(), outstanding.size());
    a.memory("sent", sent.data(), sent.size());
  });
}

}  // namespace ktpu::orchestrator
