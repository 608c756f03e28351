// SPDX-License-Identifier: Apache-2.0
// What the cost model must know of a machine: every number by name, with the place in the specification that
// says it. The defaults are the reference's; a machine that does not exist (twice the lanes, a wider bus, a
// faster sweep) is costed by changing a number. Durations are in cycles of the fabric's clock unless said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/flit.h"

namespace ktpu::cost {

using Cycles = std::int64_t;

// Who executes the steps of a program (orchestrator.md section 8; vectors/programs/README.md, Host).
struct HostCost {
  bool engine = false;             // lists of commands go to a command engine, else the host executes them
  Cycles start = 40;               // address of the first transaction, counted from the end of reset
  Cycles write = 3;                // a register write to the next transaction; orchestrator.md 2
  Cycles read = 3;                 // a register read to the next transaction; orchestrator.md 2
  Cycles beat = 1;                 // address to W beat, or to the sample of a read; orchestrator.md 2
  Cycles engine_go = 2;            // W beat of GO to the first fetch; orchestrator.md 8
  Cycles engine_command = 5;       // a command to the next, polls that are met included; orchestrator.md 8
  Cycles engine_beat = 3;          // fetch to W beat or sample; orchestrator.md 8
  Cycles engine_retry = 36;        // failed poll to its next read; orchestrator.md 8
  unsigned engine_commands = 128;  // entries of the engine; orchestrator.md 8
  bool operator==(const HostCost&) const = default;
};

// The control agent (orchestrator.md sections 5 and 6).
struct DispatchCost {
  Cycles first_flit = 11;     // W beat of PROG_KICK to flit 0 on the agent's output
  Cycles flit = 5;            // flit to flit
  Cycles run_clear = 7;       // W beat of PROG_KICK to run = 0, of a program of one flit
  Cycles signal_visible = 1;  // signal taken by the agent to NODE_STATUS and SIG_DONE
  bool operator==(const DispatchCost&) const = default;
};

// An asynchronous FIFO, from write to readable (fabric.md section 1.2).
struct CrossingCost {
  double write = 1;         // cycles of the writing clock
  double sync = 3;          // synchronisation, cycles of the reading clock, both clocks being one
  double sync_apart = 2.5;  // the same for two clocks: 2 to 3
  double read = 4;          // cycles of the reading clock
  // For clocks whose cycles take so many cycles of the fabric's, in those.
  Cycles cycles(double writer, double reader) const;
  bool operator==(const CrossingCost&) const = default;
};

// Routers and links (fabric.md sections 7.3, 12, 13).
struct FabricCost {
  Cycles hop = 5;      // through one router
  Cycles adapter = 1;  // staging adapter, unit to router
  CrossingCost crossing;
  bool operator==(const FabricCost&) const = default;
};

// A memory port (memory.md section 4).
struct PortCost {
  unsigned queue = 64;          // of reads, and of write flits; memory.md 1
  unsigned queue_margin = 4;    // busy so many before it is full; memory.md 4.2
  unsigned write_slots = 16;    // reassembly slots; memory.md 1
  Cycles read_address = 4;      // request accepted to address valid; memory.md 4.3
  Cycles write_ready = 4;       // last data flit accepted to slot ready; memory.md 4.5
  Cycles write_address = 3;     // slot ready to address valid; memory.md 4.5
  Cycles quant_emit = 13;       // last beat taken to word 0 on the wire, through the quantiser; memory.md 4.3
  Cycles raw_emit = 3;          // the same without it; memory.md 4.3
  Cycles quant_period = 20;     // entry to entry when memory is never the limit; memory.md 4.3
  Cycles raw_gap = 1;           // raw entries: words and this; memory.md 4.3
  Cycles plain_emit = 1;        // beat taken to the response on the wire, plain reads; memory.md 4.4
  unsigned entry_bytes = 256;   // FP16 entry in memory; memory.md 1
  unsigned packed_bytes = 128;  // MXFP7 entry in memory; memory.md 1
  bool operator==(const PortCost&) const = default;
};

// From the ports to the DRAM's own bus and back, beside the clock crossings there (memory.md sections 7.3 and
// 4.5).
struct PathCost {
  Cycles grant = 2;           // address valid at the port to pushed into the address FIFO
  Cycles port_skid = 1;       // internal beat to taken by the port
  Cycles write_data = 6;      // write address valid at the port to the first beat taken
  Cycles write_response = 1;  // response out of its FIFO to the port's
  Cycles ack = 1;             // the port's response to the acknowledgement on the wire; memory.md 4.5
  CrossingCost crossing;
  bool operator==(const PathCost&) const = default;
};

// memory.md section 15, and this project's banked model. In cycles of the DRAM's clock.
struct DramCost {
  unsigned bus_bits = 512;      // MW, a multiple of 256
  double fabric_per_cycle = 1;  // fabric cycles a DRAM cycle takes
  unsigned in_flight =
      1;  // bursts of one direction at the device; 1: the next address waits for the last beat
  Cycles first_read_beat = 1;     // D: read address accepted to beat 0
  std::vector<Cycles> read_gaps;  // between beats, repeated
  Cycles first_write_beat = 1;
  std::vector<Cycles> write_gaps;
  Cycles write_response = 1;    // Dw
  unsigned banks = 0;           // 0: no banks, the numbers above are all
  unsigned row_bytes = 2048;    // of one bank
  Cycles row_hit = 20;          // address to first beat, row open
  Cycles row_closed = 34;       // no row open
  Cycles row_conflict = 48;     // another row open
  double bytes_per_cycle = 64;  // bound on both directions together; banked only
  bool operator==(const DramCost&) const = default;
};

// The matmul cluster (cluster.md section 13). In cycles of the unit's clock.
struct ClusterCost {
  Cycles visible = 3;             // flit accepted to visible at the sequencer; 13.2
  Cycles fill_request = 3;        // visible to the request on the output; 13.3
  Cycles fill_request_busy = 4;   // the same directly behind another completion; 13.3
  Cycles fill_done = 6;           // last word accepted to exec_done; 13.3
  Cycles start_test = 1;          // visible to the first start test of GEMM and DRAIN; 13.3
  Cycles gemm_issue = 2;          // start test passes to the first issue; 13.3
  Cycles gemm_done = 4;           // start test passes to exec_done; 13.3
  Cycles unknown_done = 2;        // visible to exec_done of an unknown opcode; 13.3
  Cycles signal = 4;              // exec_done to the completion on the output; 13.3
  double issues_per_cycle = 1;    // sub-tile steps (4 x 4 x 32 MACs) a cycle; section 1
  Cycles reuse = 5;               // REUSE_MIN, steps on one tile at least so far apart; section 8
  unsigned wide = 5;              // gm * gn from which a sweep waits only for the cascade; 5.2
  Cycles sweep_free = 21;         // last issue to sweep_busy low; 13.3
  Cycles gemm_free = 32;          // last issue to gemm_busy low; 13.3
  unsigned burst = 8;             // granules of a write burst; section 2
  Cycles burst_period = 10;       // burst to burst, 9 flits and one empty cycle; 13.4
  Cycles drain_first = 25;        // start test to the descriptor of burst 0, 8 granules or more; 13.4
  Cycles drain_first_short = 17;  // the same with fewer, plus the granules; 13.4
  Cycles drain_done = 27;         // start test to exec_done, beside bursts and granules; 13.4
  Cycles drain_done_short = 19;   // the same with one burst, plus twice the granules; 13.4
  Cycles emit_first = 42;         // first ADD_EMIT issue to the descriptor of burst 0; 13.4
  Cycles emit_first_short = 36;   // last issue to the only descriptor, fewer than 8 granules; 13.4
  Cycles drain_tail = 2;          // last data flit on the output to exec_done; 13.3
  Cycles fused_done = 5;          // visible to exec_done, batch already written out; 13.3
  unsigned drain_limit = 112;     // granules outstanding that stop an emitting sweep; 9.1
  Cycles peer_taken = 3;          // CU_DATA flit accepted to taken; 13.3
  Cycles peer_ack = 2;            // last data flit taken to the acknowledgement on the output; 13.3
  Cycles peer_tile = 3;           // sub-tile to sub-tile of a peer sum; 13.3
  Cycles peer_busy = 12;          // ADD_PEER keeps gemm_busy high; section 11
  bool operator==(const ClusterCost&) const = default;
};

// The vector core (vector.md section 12). In cycles of the unit's clock.
struct VectorCost {
  unsigned lanes = 16;          // elements of a beat; section 1
  Cycles visible = 3;           // flit accepted to visible at the sequencer; 12.6
  Cycles envelope = 2;          // visible to exec_done of IMEM and DESC, and to kernel cycle 0; 12.6
  Cycles signal = 4;            // exec_done to the completion on the output; 12.6
  Cycles fetch = 3;             // F to E; 12.1
  Cycles first_execute = 2;     // E of the first instruction; 12.1
  Cycles chain_word = 4;        // each further word of a chain group; 12.3
  Cycles alu = 15;              // latency of a stage; 12.2
  Cycles ready = 3;             // last beat to the result, beside the stages; 12.3
  Cycles pipe = 79;             // last beat to "pipe empty"; 12.2
  Cycles set_immediate = 3;     // VSETI; 12.3
  Cycles load_chunk = 4;        // VLD, each L1 word; 12.3
  Cycles store_chunk = 3;       // VST FP16; 12.3
  Cycles store_chunk_wide = 4;  // VST FP32; 12.3
  Cycles move_chunk = 3;        // VCVT, VSHUF, VBCAST of a scalar; 12.3
  Cycles move_base = 2;         // fixed part of all of these; 12.3
  Cycles to_scalar = 5;         // VBCAST to a scalar; 12.3
  Cycles reduce_tail = 63;      // VRED: tail beat to the next fetch; 12.3
  unsigned scoreboard = 32;     // pending writes it counts before it wraps; vector.md 14 Q6. 0: never wraps
  Cycles fill_first = 6;        // VFILL: start to the first request decided; 12.3
  Cycles fill_link = 3;         // request decided to the node's link; 12.5
  Cycles word = 3;              // fill and drain: word to word; 12.3
  Cycles fill_base = 5;         // VFILL: next fetch beside the words; 12.3
  Cycles landed = 5;            // response accepted to "no fill outstanding"; 12.3
  Cycles drain_base = 7;        // VDRAIN: next fetch beside the words; 12.3
  Cycles drain_first = 12;      // VDRAIN: E to the data flit of word 0 on the link; 12.3
  Cycles halt = 2;              // VHALT: pipe empty to `cycles`; 12.3
  Cycles data_received = 6;     // last data flit of a peer burst to the acknowledgement; 12.5
  bool operator==(const VectorCost&) const = default;
};

enum class UnitKind : std::uint8_t { kCluster, kVectorCore };

struct UnitCost {
  arch::Coord at;
  arch::Coord router;  // the one it hangs on
  UnitKind kind = UnitKind::kCluster;
  unsigned port = 0;            // index of its memory port
  bool adapter = false;         // staging adapter on its link
  bool crossing = false;        // clock crossing on its link
  double fabric_per_cycle = 1;  // fabric cycles a cycle of the unit takes
  ClusterCost cluster;          // kCluster
  VectorCost vector;            // kVectorCore
  bool operator==(const UnitCost&) const = default;
};

struct PortPlace {
  arch::Coord at;
  arch::Coord router;
  bool operator==(const PortPlace&) const = default;
};

struct MeshCost {
  unsigned id = 0;  // 0..3, what remote flits name
  std::vector<UnitCost> units;
  std::vector<PortPlace> ports;  // the control agent answers at the first
  DispatchCost dispatch;
  FabricCost fabric;
  PortCost port;
  PathCost path;
  DramCost dram;
  bool operator==(const MeshCost&) const = default;
};

struct CostMachine {
  std::string name;
  double fabric_mhz = 300;  // turns cycles into time in reports
  HostCost host;
  std::vector<MeshCost> meshes;
  bool operator==(const CostMachine&) const = default;
};

}  // namespace ktpu::cost
