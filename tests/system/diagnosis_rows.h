// SPDX-License-Identifier: Apache-2.0
// The table of docs/diagnosis.md as programs, one or more a cause, with the end they come to.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/common/register_units.h"
#include "arch/encoding/payloads.h"
#include "arch/program/text.h"
#include "tlm/platform/runner.h"
#include "topologies/reader.h"

namespace ktpu::platform {

using arch::ExitStatus;

// A flit through the mailbox, bit for bit.
inline std::string mail(const arch::Flit& flit) {
  std::string text;
  for (unsigned w = 0; w < 5; ++w) text += fmt::format("write TX_FLIT[{}] = 0x{:x}\n", w, flit.w[w]);
  return text + "write TX_KICK = 1\nquiet 40\n";
}
inline arch::Flit plain(arch::Coord to, arch::Coord from, arch::FlitType type, bool last = true) {
  return arch::make_flit(to, from, type, 0x40, last);
}
inline arch::Flit write_request(unsigned beats, arch::Coord from = {0, 1}) {
  arch::MemReq request;
  request.addr = 0x8000;
  request.len = beats - 1;
  return arch::make_flit(arch::make_header({0, 1}, from, arch::FlitType::kMemWrReq, 0, false), request);
}
inline arch::Flit burst(arch::Coord from, unsigned buffer, unsigned flits, bool signal) {
  arch::CuDataDesc desc;
  desc.buf_id = buffer;
  desc.len = flits - 1;
  desc.flags = signal;
  desc.ack_x = 0;
  desc.ack_y = 1;
  return arch::make_flit(arch::make_header({1, 1}, from, arch::FlitType::kCuData, 0, false), desc);
}
// A flit of a burst for (1,1) of mesh 1, through the port of this one.
inline std::string remote(arch::Coord from, bool descriptor, bool last = false) {
  const std::uint32_t header =
      arch::make_header({0, 1}, from, arch::FlitType::kCuData, 0x11, last, arch::kRsvdRemote | 1);
  arch::CuDataDesc desc;
  desc.len = 1;
  desc.flags = arch::kCuDataSignal;
  desc.ack_y = 1;
  arch::Flit data;
  data.w[4] = header;
  return mail(descriptor ? arch::make_flit(header, desc) : data);
}
inline std::string repeat(unsigned n, const std::string& text) {
  std::string all;
  while (n-- != 0) all += text;
  return all;
}

// `instructions` on (1,1), all of them awaited.
inline std::string job(const std::string& instructions, unsigned count, const std::string& before = {},
                       unsigned credit = 64, unsigned awaited = 0) {
  std::string text = "baseline (1,1)\nstage 0 {\n" + instructions + "\n}\n";
  if (credit != 0) text += fmt::format("credit {}\n", credit);
  return text + before +
         fmt::format("kick (1,1) slots=0..{}\nawait (1,1) {}\n", count - 1, awaited == 0 ? count : awaited);
}
inline const std::string kWorks =
    "fill a n=4 from=0x0\nfill b n=4 from=0x1000\ngemm gm=2 gn=2 nk=2\ndrain n=4 to=0x4000 last";

// On mesh8: a loop of some 20000 cycles on a vector core, in which no flit moves.
inline const std::string kLongKernel =
    "unit vector_core (3,1)\nbaseline (3,1)\nstage 0 {\nkernel {\n go:\n VSETI S0, int 5000\n VLOOP S0, end\n"
    " VMOV v0, v1\n end:\n VHALT\n}\nrun go last\n}\ncredit 6\nkick (3,1) slots=0..5\nawait (3,1) 6\n";

// On mesh8: a kernel that comes to no VHALT (vector.md 10).
inline std::string kernel_without_halt(bool awaited) {
  return fmt::format(
      "unit vector_core (3,1)\nmemory 0x80000000..0x80000020\nbaseline (3,1)\nstage 0 {{\n"
      "kernel {{\n go:\n VFILL A0, 0\n VBAR\n}}\ndesc A0 base=0x80000000 dims=[(32,1)]\n"
      "run go last\n}}\ncredit 8\nkick (3,1) slots=0..7\nawait (3,1) {}\n",
      awaited ? 8 : 7);
}

struct Row {
  const char* name;  // of the test
  const char* cause;
  Verdict verdict;
  int status, strict;  // exit status without and with --strict
  const char* where;   // part of the place named
  std::string program;
  topo::Overrides sets = {};
  const char* machine = "mesh1";
};

inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }  // for gtest

inline RunResult run_text(const std::string& text, const topo::Overrides& sets = {},
                          const char* machine = "mesh1", RunLimits limits = {400'000, 4000},
                          const char* impl = nullptr) {
  const arch::Program program = arch::assemble(text, "row.kasm");
  Registry units;
  apps::register_units(units);
  topo::Machine description = topo::read_file(machine, sets);
  if (impl != nullptr) topo::apply_impl(description, impl);
  System system(std::move(description), units);
  Runner runner(system, &program, limits);
  return runner.run();
}
inline int strict_status(const RunResult& r) {  // as ktpu-sim
  return r.status == ExitStatus::kOk && !r.notes.empty() ? 7 : static_cast<int>(r.status);
}

inline std::vector<Row> table() {
  const arch::Coord agent{0, 1}, cluster{1, 1};
  const std::string two_kicks =
      "write PROG_DST = 0x11\nwrite PROG_LEN = 2\nwrite PROG_KICK = 1\nwrite PROG_BASE = 2\n"
      "write PROG_KICK = 1\n";
  const std::string staged = "stage 0 {\n" + kWorks + "\n}\ncredit 32\n";
  const auto dead = Verdict::kDeadlock;
  return {
      {"CreditNeverSeeded", "credit-never-seeded", dead, 4, 4, "dispatcher", job(kWorks, 4, "", 0)},
      {"CreditBelowThePrograms", "credit-below-programs", dead, 4, 4, "dispatcher",
       job(repeat(4, "fill a n=1 from=0x0 last\n"), 4, "", 2)},
      {"KickWhileRunning", "kick-while-running", dead, 4, 4, "dispatcher",
       staged + two_kicks + "poll SIG_DONE & 0xffff == 4\n"},
      {"KickWhileRunningUnawaited", "kick-while-running", Verdict::kFinished, 0, 7, "dispatcher",
       staged + two_kicks + "poll SIG_DONE & 0xffff == 2\n"},
      {"KickEmpty", "kick-empty", dead, 4, 4, "dispatcher",
       staged + "write PROG_DST = 0x11\nwrite PROG_KICK = 1\npoll SIG_DONE & 0xffff == 4\n"},
      {"KickEmptyUnawaited", "kick-empty", Verdict::kFinished, 0, 7, "dispatcher", "write PROG_KICK = 1\n"},
      {"PollThatNothingMeets", "poll-never-true", dead, 4, 4, "host", "poll STATUS & 2 == 2\n"},
      {"OneSignalTooMany", "signals-missing", dead, 4, 4, "host", job(kWorks, 4, "", 64, 5)},
      {"MoreSignalsThanAwaited", "signals-exceeded", dead, 4, 4, "host",
       staged + "kick (1,1) slots=0..3\nquiet 2000\npoll SIG_DONE & 0xffff == 3\n"},
      {"InstructionsToAnEmptySlot", "flit-to-empty-slot", dead, 4, 4, "router@1,1",
       staged + "kick (1,2) slots=0..3\npoll SIG_DONE & 0xffff == 4\n"},
      {"FlitToAnEmptySlot", "flit-to-empty-slot", Verdict::kFinished, 0, 7, "router@1,1",
       mail(plain({1, 2}, agent, arch::FlitType::kCuData))},
      {"InstructionsToACorner", "flit-to-corner", dead, 4, 4, "memory",
       staged + "kick (0,0) slots=0..3\npoll SIG_DONE & 0xffff == 4\n"},
      {"FlitToACorner", "flit-to-corner", Verdict::kFinished, 0, 7, "memory",
       mail(plain({0, 2}, agent, arch::FlitType::kCuData))},
      {"InstructionsOutsideTheGrid", "flit-outside-grid", dead, 4, 4, "router@1,1",
       staged + "kick (9,9) slots=0..3\npoll SIG_DONE & 0xffff == 4\n"},
      {"InstructionToAMemoryPort", "instruction-to-memory-port", dead, 4, 4, "memory",
       staged + "kick (0,1) slots=0..0\npoll SIG_DONE & 0xffff == 1\n"},
      {"ResponseOutsideAFill", "response-outside-fill", dead, 4, 4, "cluster@1,1 receiver",
       job("gemm gm=1 gn=1 nk=1\ndrain n=1 to=0x4000", 2,
           mail(plain(cluster, agent, arch::FlitType::kMemRdResp)), 64, 3)},
      {"ResponseOutsideAFillUnawaited", "response-outside-fill", Verdict::kOrphans, 0, 7,
       "cluster@1,1 receiver", mail(plain(cluster, agent, arch::FlitType::kMemRdResp))},
      {"EmitOnLoad", "emit-on-load", dead, 4, 4, "cluster@1,1",
       job("fill a n=2 from=0x0\nfill b n=2 from=0x1000\ngemm gm=2 gn=2 nk=1 emit to=0x4000\ndrain n=4 fuse "
           "to=0x4000 last",
           4)},
      {"FillOf256", "fill-of-256", dead, 4, 4, "cluster@1,1 sequencer", job("fill a n=256 from=0x0 last", 1)},
      {"FillOf256Unawaited", "fill-of-256", Verdict::kOrphans, 0, 7, "cluster@1,1 sequencer",
       "stage 0 {\nfill a n=256 from=0x0 last\n}\ncredit 4\nkick (1,1) slots=0..0\n"},
      {"FusedDrainOfTooMany", "fused-drain-count", dead, 4, 4, "cluster@1,1",
       job("fill a n=4 from=0x0\nfill b n=4 from=0x1000\ngemm gm=2 gn=2 nk=2 emit to=0x4000\ndrain n=5 fuse "
           "to=0x4000 last",
           4)},
      {"TwoSenders", "two-senders", dead, 4, 4, "cluster@1,1 receiver",
       mail(burst({2, 1}, 0, 2, true)) + mail(plain(cluster, {2, 1}, arch::FlitType::kCuData, false)) +
           mail(burst({2, 2}, 0, 2, true)) + mail(plain(cluster, {2, 1}, arch::FlitType::kCuData)) +
           mail(plain(cluster, {2, 2}, arch::FlitType::kCuData, false)) +
           mail(plain(cluster, {2, 2}, arch::FlitType::kCuData)) + "poll SIG_DONE & 0xffff == 2\n"},
      {"PeerBurstToItself",
       "peer-to-itself",
       dead,
       4,
       4,
       "cluster@1,1",
       job("fill a n=8 from=0x0\nfill b n=8 from=0x1000\ngemm gm=8 gn=8 nk=1\ndrain n=64 dnode dst=(1,1) "
           "dbuf=2 last",
           4),
       {"meshes.0.units.mat.recv_depth=16", "meshes.0.router.fifo_depth=4"}},
      {"PeerBurstShort", "peer-burst-short", dead, 4, 4, "cluster@1,1",
       job("gemm gm=1 gn=1 nk=1 last", 1,
           mail(burst({2, 1}, 2, 2, false)) + mail(plain(cluster, {2, 1}, arch::FlitType::kCuData)))},
      {"WriteBurstShort", "write-burst-short", Verdict::kOrphans, 0, 7, "write slots",
       mail(write_request(8)) + repeat(7, mail(plain(agent, agent, arch::FlitType::kMemWrData, false)))},
      {"WriteBurstShortAwaited", "write-burst-short", dead, 4, 4, "write slots",
       mail(write_request(8)) + repeat(7, mail(plain(agent, agent, arch::FlitType::kMemWrData, false))) +
           "poll AUX_STAT & 0xffff00 == 0x100\n"},
      {"WriteDataWithoutASlot", "write-data-without-slot", Verdict::kStopped, 3, 3, "",
       mail(plain(agent, agent, arch::FlitType::kMemWrData))},
      {"WriteSlotsExhausted", "write-slots-exhausted", dead, 4, 4, "write queue",
       job("fill a n=8 from=0x0\nfill b n=8 from=0x1000\ngemm gm=8 gn=8 nk=1\ndrain n=64 to=0x4000 last", 4,
           repeat(17, mail(write_request(8))))},
      {"CreditAboveTheDepth",
       "credit-above-depth",
       dead,
       4,
       4,
       "cluster@1,1 input",
       job(repeat(60, "fill a n=32 from=0x0\n"), 60, "", 512),
       {"meshes.0.units.mat.inst_depth=16", "meshes.0.dram.first_read_beat=400"}},
      {"MailboxFull", "mailbox-full", dead, 4, 4, "mailbox",
       "write TX_FLIT[4] = 0x11017018\n" + repeat(19, "write TX_KICK = 1\nquiet 40\n") +
           repeat(18, "write RX_POP = 1\n") + "poll RX_STATUS & 0x10000 == 0\n"},
      {"MailboxFullUnawaited", "mailbox-full", Verdict::kFinished, 0, 7, "mailbox",
       "write TX_FLIT[4] = 0x11017018\n" + repeat(19, "write TX_KICK = 1\nquiet 40\n")},
      {"MailboxSendIgnored", "mailbox-send-ignored", dead, 4, 4, "mailbox",
       staged + "write TX_FLIT[4] = 0x11017018\nkick (1,1) slots=0..3\nwrite TX_KICK = 1\npoll RX_STATUS & "
                "0x10000 == 0\n"},
      {"StagingReadPastItsEnd", "staging-past-end", Verdict::kFinished, 0, 7, "dispatcher",
       "stage 127 {\nfill a n=1 from=0x0\n}\ncredit 8\nwrite PROG_DST = 0x11\nwrite PROG_BASE = 127\nwrite "
       "PROG_LEN = 2\n"
       "write PROG_KICK = 1\npoll SIG_DONE & 0xffff == 1\n"},
      {"DestinationChanged", "destination-changed", Verdict::kFinished, 0, 7, "dispatcher",
       staged + "write PROG_DST = 0x11\nwrite PROG_LEN = 4\nwrite PROG_KICK = 1\nwrite PROG_DST = "
                "0x01\nquiet 100\n"},
      {"SharedFillAlone", "shared-fill-alone", dead, 4, 4, "cluster@1,1 sequencer",
       job("fill a n=1 from=0x0 npeer=1 peer0=0x01 last", 1)},
      {"UploadNotWhole",
       "upload-not-whole",
       dead,
       4,
       4,
       "host window",
       "window write 0x8480010000 size=320 { 00 }\n",
       {},
       "staged"},
      {"ApertureDropped",
       "aperture-dropped",
       dead,
       4,
       4,
       "sequencer",
       job("fill a n=1 from=0x8100000000 last", 1),
       {},
       "staged"},
      {"ResultsOverrun",
       "results-overrun",
       dead,
       4,
       4,
       "cluster@1,1 sequencer",
       job("fill a n=16 from=0x0\nfill b n=16 from=0x1000\ngemm gm=8 gn=8 nk=2 emit to=0x4000\n"
           "drain n=64 to=0x6000 last",
           4),
       {"meshes.0.dram.write_response=300"}},
      {"RemoteBurstsInterleaved",
       "remote-bursts-interleaved",
       dead,
       4,
       4,
       "memory",
       remote({2, 1}, true) + remote({2, 2}, true) + job(kWorks, 4),
       {},
       "quad"},
      {"SignalsCleared",
       "signals-cleared",
       dead,
       4,
       4,
       "completion count",
       "stage 0 {\n" + repeat(64, "cluster op=0\n") + "}\ncredit 64\nkick (1,1) slots=0..63\n" +
           repeat(80, "write SIG_DONE = 0\n") + "poll SIG_DONE & 0xffff == 64\n",
       {"host={kind: script, script: {write_cycles: 3, read_cycles: 3, start_cycles: 40}}"}},
      // Ways to be wrong that are in no row.
      {"OtherA_InstructionWhoseUnitSendsTheCompletionAway", "flit-outside-grid", dead, 4, 4, "router@1,1",
       "baseline (1,1)\n" + mail(plain(cluster, {3, 3}, arch::FlitType::kCuInst)) + "await (1,1) 1\n"},
      {"OtherB_ReplyThatNobodyWasAskedFor", "poll-never-true", dead, 4, 4, "host",
       "poll RX_STATUS & 0x10000 == 0\n"},
      {"OtherC_BurstAcknowledgeNotAskedFor", "signals-missing", dead, 4, 4, "host",
       mail(burst({2, 1}, 0, 1, false)) + mail(plain(cluster, {2, 1}, arch::FlitType::kCuData)) +
           "poll SIG_DONE & 0xffff == 1\n"},
      {"OtherD_WriteThatIsNeverIssued", "poll-never-true", dead, 4, 4, "host",
       "poll AUX_STAT & 0xffff00 == 0x100\n"},
      {"OtherE_DrainThatWaitsForAnEndlessBurst", "peer-burst-short", dead, 4, 4, "cluster@1,1",
       job("drain n=1 to=0x4000 last", 1, mail(burst({2, 1}, 2, 4, false)))},
      {"OtherF_TwoClustersThatSendToEachOther",
       "circular-wait",
       dead,
       4,
       4,
       "router@1,1",
       "baseline (1,1) (2,1)\nstage 0 {\nfill a n=8 from=0x80000000\nfill b n=8 from=0x80001000\ngemm gm=8 "
       "gn=8 nk=1\n"
       "drain n=64 dnode dst=(2,1) dbuf=2 last\ndrain n=64 dnode dst=(1,1) dbuf=2 last\n}\ncredit 32\n"
       "kick (1,1) slots=0..2\nkick (2,1) slots=0..2\nawait (1,1) 3\nawait (2,1) 3\nquiet 200\n"
       // Both drains start before the first burst of the other arrives.
       "write PROG_DST = 0x11\nwrite PROG_BASE = 3\nwrite PROG_LEN = 1\nwrite PROG_KICK = 1\nwrite CTRL = 0\n"
       "write PROG_BASE = 4\nwrite PROG_DST = 0x12\nwrite PROG_KICK = 1\nawait (1,1) 4\nawait (2,1) 4\n",
       {"meshes.0.units.mat.recv_depth=16", "meshes.0.router.fifo_depth=4"},
       "mesh8"},
  };
}

}  // namespace ktpu::platform
