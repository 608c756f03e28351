// SPDX-License-Identifier: Apache-2.0
#include "tlm/platform/causes.h"

#include <algorithm>

#include "tlm/platform/cause_predicates.h"

namespace ktpu::platform {

namespace {

using Role = Cause::Role;
namespace is = predicate;

// id, role, told at the end of a good run, program, message, fix, section, predicate
constexpr Cause kCauses[] = {
    // --- What a unit stands at, and cannot leave.
    {"fill-of-256", Role::kBlocks, false, "a FILL of more than 255 entries",
     "the FILL never completes: memory is asked for n mod 256 entries and the unit counts in 8 bits",
     "split the FILL: at most 255 entries each", "cluster.md 5.1", is::fill_of_256},
    {"emit-on-load", Role::kBlocks, false, "an emitting GEMM with acc=0 and nk=1",
     "the sweep loads its tiles, emits nothing and is counted as emitting, so the drain stays busy for good",
     "emit from the last of several K blocks (nk >= 2), or with acc=1; else use an explicit DRAIN",
     "cluster.md 5.2", is::emit_on_load},
    {"fused-drain-count", Role::kBlocks, false, "a fused DRAIN of more results than its sweep emits",
     "the barrier of the fused DRAIN waits for results that no command makes",
     "give the fused DRAIN n = gm*gn of the emitting GEMM before it", "cluster.md 5.4",
     is::fused_drain_count},
    {"results-overrun", Role::kBlocks, false,
     "an emitting GEMM or explicit DRAIN on top of results still queued",
     "the count of outstanding results was restarted while results were queued; it wraps and never comes to "
     "0",
     "one fused DRAIN between two emitting GEMMs, and before an explicit DRAIN", "cluster.md 9.1",
     is::results_overrun},
    {"peer-to-itself", Role::kBlocks, false, "a DRAIN to buffer 2 of the cluster itself",
     "the drain waits for its own receiver, and the receiver for the drain",
     "a cluster cannot add its own sub-tiles by a burst: send to another one, or use acc=1",
     "cluster.md 15.8", is::peer_to_itself},
    {"two-senders", Role::kBlocks, false, "CU_DATA bursts of two senders into one receiver at once",
     "flits of a second sender were taken as data of the open burst, so one burst ends early and another "
     "stays open",
     "let one sender finish (DATA_RECEIVED) before the next one starts", "cluster.md 9.3", is::two_senders},
    {"response-outside-fill", Role::kBlocks, true, "a read response that reaches a cluster outside a FILL",
     "the response stays at the head of the receive FIFO and blocks every flit behind it",
     "send read requests by FILL only; peers of a shared FILL must all be executing it", "cluster.md 5.1",
     is::response_outside_fill},
    {"write-data-without-slot", Role::kBlocks, false,
     "a MEM_WR_DATA flit with no open MEM_WR_REQ of its source",
     "the flit stays at the head of the port's write queue for good, and everything behind it",
     "send the descriptor first, and exactly len+1 data flits with the same source", "memory.md 4.5",
     is::data_without_slot},
    {"write-slots-exhausted", Role::kBlocks, false, "more open write bursts at a port than it has slots",
     "a descriptor at the head of the write queue finds no free slot, and the data that would free one is "
     "behind it",
     "finish bursts: one incomplete write a source, and no more sources than slots", "memory.md 4.5",
     is::slots_exhausted},
    {"write-burst-short", Role::kBlocks, true, "a write burst with fewer data flits than its descriptor says",
     "the write stays open: it never reaches memory, and later data of the same source would be taken for it",
     "send exactly len+1 data flits a descriptor, len at most 7", "memory.md 4.5", is::write_short},
    {"credit-above-depth", Role::kBlocks, false, "a credit above the node's instruction FIFO",
     "the instruction FIFO is full, so the port is busy, and the responses the running instruction waits for "
     "cannot "
     "come in",
     "seed at most the smallest inst_depth of the nodes addressed", "fabric.md 11", is::credit_above_depth},
    {"peer-burst-short", Role::kBlocks, true,
     "a CU_DATA burst with fewer data flits than its descriptor says",
     "the burst stays open and keeps every GEMM and DRAIN of the receiver from starting",
     "send exactly len+1 data flits after the descriptor", "cluster.md 9.3", is::peer_short},
    {"shared-fill-alone", Role::kBlocks, false, "a shared FILL whose leader does not execute its part",
     "only the cluster with the lowest node id asks memory; the others wait for it",
     "give the FILL to every cluster of the group, with the same peers", "cluster.md 5.1", is::shared_fill},
    {"credit-never-seeded", Role::kBlocks, false, "a kick without a write of PROG_CRED",
     "the dispatcher has flits to send and no credit, and nobody ever wrote PROG_CRED",
     "write PROG_CRED before the first kick of every round", "orchestrator.md 6", is::credit_never_seeded},
    {"credit-below-programs", Role::kBlocks, false,
     "a credit below what a round keeps: each program keeps one, for its flit marked last",
     "the dispatcher has flits to send and no credit, and every instruction sent is complete: flits marked "
     "last, and "
     "faults, return none",
     "seed at least the number of programs of a round (and at most inst_depth), once a round",
     "orchestrator.md 11", is::credit_below_programs},
    {"upload-not-whole", Role::kBlocks, false,
     "an upload through the memory window that is no multiple of 8 beats",
     "the quantiser has a part of an entry and waits for the rest, so the window never answers",
     "upload whole entries: multiples of 256 bytes", "memory.md 8", is::upload_not_whole},
    {"aperture-dropped", Role::kBlocks, false,
     "an access to an aperture that a port with staging memory does not serve",
     "the port dropped the request, so no response ever comes", "correct the address (memory.md 3)",
     "memory.md 3", is::aperture_dropped},
    {"remote-bursts-interleaved", Role::kBlocks, false, "two open bursts to other meshes at once in one mesh",
     "the interlink collects one burst at a time; a flit of the other one blocks the open burst's, for good",
     "one open remote burst a mesh: start the next one after the last flit of the one before",
     "memory.md 11.7", is::remote_interleaved},
    {"kernel-without-halt", Role::kBlocks, false, "a vector kernel that comes to no VHALT",
     "the kernel runs past its last word and round the instruction memory, so the RUN never completes",
     "end the kernel with VHALT, and begin the RUN at its first word", "vector.md 10",
     is::kernel_without_halt},
    {"sink-refuses", Role::kBlocks, false, "a traffic node whose busy pattern never lets a flit in",
     "flits for the node stand in the network, and what is behind them too",
     "give the node a duty below its period", "fabric.md 5", is::sink_refuses},
    // --- What went away without a word, while somebody waits for its effect.
    {"kick-while-running", Role::kLost, true, "a kick while a dispatch is running",
     "the kick was ignored: its flits were never sent", "poll PROG_STAT until run == 0 before each kick",
     "orchestrator.md 5", is::kick_while_running},
    {"kick-empty", Role::kLost, true, "a kick with PROG_LEN 0",
     "the kick was ignored: there was nothing to send", "write PROG_LEN before the kick", "orchestrator.md 5",
     is::kick_empty},
    {"staging-past-end", Role::kLost, true, "a kick of slots behind the end of the staging RAM",
     "the words there read as 0, which is a read request for address 0 and no instruction",
     "keep base + count within the staging RAM", "orchestrator.md 3.3", is::staging_past_end},
    {"destination-changed", Role::kLost, true, "a write of PROG_DST while a dispatch is running",
     "the rest of the flits went to the new destination", "poll PROG_STAT until run == 0 before it",
     "orchestrator.md 3.1", is::destination_changed},
    {"flit-to-corner", Role::kLost, true, "a flit to a corner of the ring, where no unit can be",
     "the mesh delivered it to the slot beside the corner, and the unit there took it",
     "correct the destination", "fabric.md 6.1", is::flit_to_corner},
    {"flit-outside-grid", Role::kLost, true, "a flit to a place outside the ring",
     "the mesh delivered it to the nearest slot, and an empty one loses it", "correct the destination",
     "fabric.md 6.1", is::flit_outside},
    {"flit-to-empty-slot", Role::kLost, true, "a flit to a slot where nothing is attached",
     "nothing is attached there: the router lost the flit, without fault or reply", "correct the destination",
     "fabric.md 6.1", is::flit_to_empty_slot},
    {"instruction-to-memory-port", Role::kLost, true, "an instruction to a memory port",
     "the port gave it to the control agent, where it lies in the receive mailbox", "correct the destination",
     "memory.md 2", is::instruction_to_port},
    {"mailbox-full", Role::kLost, true,
     "more flits to the control agent than its receive mailbox holds (16 + 2)",
     "the memory agent took the flits and dropped them", "pop (RX_POP) before asking for more",
     "orchestrator.md 3.4", is::mailbox_full},
    {"mailbox-send-ignored", Role::kLost, true, "a TX_KICK while a dispatch runs or the TX FIFO is full",
     "the mailbox flit was never sent", "poll PROG_STAT run == 0 and TX_STATUS before it",
     "orchestrator.md 2", is::send_ignored},
    {"control-request-lost", Role::kLost, true, "a CU_CTRL request while a reply of the same node is pending",
     "the second request was taken and dropped", "wait for each reply before the next request to a node",
     "fabric.md 10.3", is::control_lost},
    {"signals-cleared", Role::kLost, true, "a write of SIG_DONE while signals arrive",
     "signals that came in the cycle of the clear are missing in SIG_DONE", "clear SIG_DONE only when idle",
     "orchestrator.md 7", is::signals_cleared},
    // --- Polls that nothing can meet any more.
    {"poll-impossible", Role::kLost, false, "a poll for a value with bits outside its mask",
     "whatever is read, the comparison never holds", "make the wanted value a part of the mask",
     "orchestrator.md 8", is::poll_impossible},
    {"signals-exceeded", Role::kLost, false, "a poll of SIG_DONE or NODE_STATUS for fewer signals than came",
     "signals of all nodes count, DATA_RECEIVED and faults too; the count has passed the wanted value",
     "count every signal, or poll NODE_STATUS of each node", "orchestrator.md 11", is::signals_exceeded},
    {"signals-missing", Role::kLost, false, "a poll for more signals than were asked for",
     "every instruction that was sent is complete, so no further signal comes",
     "await one signal an instruction, the last one of a program too", "orchestrator.md 11",
     is::signals_missing},
    {"poll-never-true", Role::kLost, false, "a poll that nothing in the machine can make true",
     "nothing that is under way changes this register", "poll for a value the register can take",
     "orchestrator.md 11", is::poll_never_true},
    // --- Whatever else it is.
    {"circular-wait", Role::kGeneral, false, "units that wait for each other in a circle",
     "each waits for the next, and the last for the first", "break the circle: order the steps named",
     "fabric.md 8.2", is::circle},
    {"rtl-untold", Role::kGeneral, false, "a program that stands on a machine with RTL alone",
     "a unit is there as RTL, which does not tell what it waits for",
     "run it with the models, which tell (--impl '*=model'), or with both (--impl '*=lockstep')",
     "orchestrator.md 11", is::rtl_untold},
    {"dead-wait", Role::kGeneral, false, "a unit that waits for one that has nothing to do",
     "who should act has nothing to act on", "see what the waiting unit was promised, and by whom",
     "fabric.md 8.2", is::dead_wait},
};

}  // namespace

std::span<const Cause> causes() { return kCauses; }

const Cause* find_cause(std::string_view id) {
  const auto* it =
      std::find_if(std::begin(kCauses), std::end(kCauses), [&](const Cause& c) { return c.id == id; });
  return it == std::end(kCauses) ? nullptr : it;
}

std::string_view told_by(const Cause& cause) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {"kick-while-running", "kick-lost"},
      {"kick-empty", "kick-empty"},
      {"destination-changed", "dst-live"},
      {"flit-to-corner", "destination"},
      {"flit-outside-grid", "destination"},
      {"flit-to-empty-slot", "destination"},
      {"instruction-to-memory-port", "destination"},
      {"mailbox-full", "mailbox-lost"},
      {"mailbox-send-ignored", "send-lost"},
      {"control-request-lost", "control-overlap"},
      {"signals-cleared", "done-live"},
      {"staging-past-end", "stage-capacity"},
  };
  for (const auto& [id, rule] : kRules)
    if (id == cause.id) return rule;
  return {};
}

std::optional<std::string> explain_cause(std::string_view id) {
  const Cause* cause = find_cause(id);
  if (cause == nullptr) return std::nullopt;
  return fmt::format(
      "cause {} ({})\n  program:  {}\n  happens:  {}\n  fix:      {}\n  exit:     4 if something waits for "
      "it for good{}\n",
      cause->id, cause->section, cause->program, cause->message, cause->fix,
      cause->told_at_end ? "; else 0 with a note, 7 with --strict" : "");
}

}  // namespace ktpu::platform
