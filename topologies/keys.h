// SPDX-License-Identifier: Apache-2.0
// The key table of the topology file: every key once, with its type, range and meaning. The reader, the
// printer and the JSON Schema are three visitors over these functions, so they cannot disagree. Internal to
// topologies/.
//
// A visitor has
//   integer(key, value&, Range, doc)          whole number
//   number(key, value&, lo, hi, unit, doc)    decimal number
//   boolean(key, value&, doc)
//   choice(key, value&, words, doc)           one of a closed set
//   implementation(key, Impl&, UserModule&, doc)   a word, or a map {WORD: FILE, top: MODULE}
//   integers(key, vector&, Range, doc)        list of whole numbers
//   coordinate(key, optional<Coord>&, need, doc)   "x,y"
//   section(key, struct&, doc)                a map, visited in turn; absent = as default-constructed
//   optional_section(key, optional<struct>&, doc)  a map, or the word `none`
//   group(key, word, active) .. end_group()   the keys between belong to one choice of `key` only
#pragma once

#include <cstdint>
#include <string_view>

#include "topologies/description.h"
#include "topologies/names.h"

namespace ktpu::topo {

enum class Need : bool { kOptional, kRequired };

inline constexpr std::size_t kMaxList = 4096;  // numbers in a list of gaps or runs

struct Range {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  std::string_view unit = {};
  bool power_of_two = false;
  Need need = Need::kOptional;
};

namespace range {
// FIFO depths are powers of two (fabric.md section 1.2); CU_STATUS.inst_space has 16 bits (section 10.1).
inline constexpr Range kDepth{1, 32768, "entries", true};
inline constexpr Range kDelay{1, 1'000'000, "cycles"};  // at least the register that makes it
inline constexpr Range kGap{0, 1'000'000, "cycles"};
}  // namespace range

// --- node kinds
// -----------------------------------------------------------------------------------------------

template <class V>
void visit(V& v, MatmulCluster& p) {
  // DRAIN counts sub-tiles in 16 bits (cluster.md section 4)
  v.integer("tiles", p.tiles, {1, 65536, "sub-tiles", true}, "resident 4x4 output sub-tiles (cluster.md 2)");
  // two banks a side, 8-bit offsets within a bank (cluster.md section 2)
  v.integer("l1_a", p.l1_a, {2, 512, "entries", true}, "L1 entries of operand A (cluster.md 2)");
  v.integer("l1_b", p.l1_b, {2, 512, "entries", true}, "L1 entries of operand B (cluster.md 2)");
  // the legal widths of a working peer path, number-formats.md section 2
  v.integer("acc_mw", p.acc_mw, {9, 24, "bits"}, "accumulator mantissa width ACC_MW (number-formats.md)");
  v.integer("inst_depth", p.inst_depth, range::kDepth, "instruction FIFO (fabric.md 8.1)");
  v.integer("recv_depth", p.recv_depth, range::kDepth, "receive FIFO (fabric.md 8.1)");
}

template <class V>
void visit(V& v, VectorCore& p) {
  v.integer("l1_words", p.l1_words, {1, 512, "words"}, "256-bit words of L1 (vector.md)");
  v.integer("inst_depth", p.inst_depth, range::kDepth, "instruction FIFO (fabric.md 8.1)");
  v.integer("recv_depth", p.recv_depth, range::kDepth, "receive FIFO (fabric.md 8.1)");
}

template <class V>
void visit(V&, MemoryPort&) {}

template <class V>
void visit(V& v, Controller& p) {
  v.integer("inst_depth", p.inst_depth, range::kDepth, "instruction FIFO (controller.md)");
}

template <class V>
void visit(V& v, Pe& p) {
  v.integer("inst_depth", p.inst_depth, range::kDepth, "instruction FIFO (composite.md 1)");
}

template <class V>
void visit(V& v, SinkBusy& p) {
  constexpr Range kCycles{0, 1'000'000'000, "cycles"};
  v.integer("period", p.period, kCycles,
            "the sink is busy in cycle c when (c + offset) mod period < duty; 0 = never");
  v.integer("duty", p.duty, kCycles, "busy cycles of each period");
  v.integer("offset", p.offset, kCycles, "phase of the period");
  v.integers("runs", p.runs, {0, 1'000'000'000, "cycles"},
             "lengths of free, busy, free, ... from cycle 0, repeated; instead of period, duty and offset");
}

template <class V>
void visit(V& v, Traffic& p) {
  v.choice("pattern", p.pattern, kPatternWords, "where this node sends flits");
  v.number("rate", p.rate, 0, 1, "flits per node and cycle", "injection rate of the random patterns");
  v.integer("seed", p.seed, {0, UINT64_MAX, ""}, "seed of the random stream");
  v.integer("flits", p.flits, {0, UINT64_MAX, "flits"}, "stop after so many flits; 0 = never");
  v.group("pattern", "hotspot", p.pattern == Pattern::kHotspot);
  v.coordinate("hotspot", p.hotspot, Need::kRequired, "the favoured traffic node, \"x,y\"");
  v.number("hotspot_share", p.hotspot_share, 0, 1, "share",
           "share of flits that go there; the rest is uniform");
  v.end_group();
  v.section("busy", p.busy, "when this node refuses flits");
}

template <class V>
void visit(V&, Null&) {}

// Calls `f` with a default-constructed parameter struct of every kind, in the order of Kind.
template <class F>
void for_each_kind(F&& f) {
  f(Kind::kMatmulCluster, MatmulCluster{});
  f(Kind::kVectorCore, VectorCore{});
  f(Kind::kMemoryPort, MemoryPort{});
  f(Kind::kController, Controller{});
  f(Kind::kPe, Pe{});
  f(Kind::kTraffic, Traffic{});
  f(Kind::kNull, Null{});
}

// --- keys that every unit has
// ---------------------------------------------------------------------------------

template <class V>
void visit(V& v, Adapter& p) {
  // L2_BITS = 5 + log2(lines) must leave address bits to compare (fabric.md section 12)
  v.integer("lines", p.lines, {16, 1u << 24, "lines", true}, "32-byte lines of the store (fabric.md 12)");
}

template <class V>
void visit(V& v, Crossing& p) {
  v.integer("depth", p.depth, {16, 65536, "flits", true},
            "depth of its FIFO in each direction (fabric.md 13)");
}

struct UnitCommon {
  Impl impl = Impl::kModel;
  UserModule module{};
  Quirks quirks = Quirks::kReference;
  std::optional<unsigned> port;
  std::optional<Adapter> adapter;
  std::string clock;  // empty: fabric
  std::optional<Crossing> crossing;
};

template <class V>
void visit(V& v, UnitCommon& p) {
  v.implementation("impl", p.impl, p.module,
                   "which implementation stands here: model, RTL twin, both, or a module of your own");
  v.choice("quirks", p.quirks, kQuirksWords,
           "reference: defects of the real machine included; none: as intended");
  v.optional_integer("port", p.port, {0, kMaxPorts - 1, ""},
                     "memory port by its number in row-major order; default the nearest (fabric.md 4)");
  v.optional_section("adapter", p.adapter, "staging adapter between unit and router (fabric.md 12), or none");
  v.word("clock", p.clock, "clock domain of this unit, one of `clocks`; default fabric");
  v.optional_section(
      "crossing", p.crossing,
      "clock crossing between unit and fabric (fabric.md 13); always there with another clock");
}

// --- mesh
// -----------------------------------------------------------------------------------------------------

struct RouterKeys {
  RouterConfig config;
  Impl impl = Impl::kModel;
  UserModule module{};
};

template <class V>
void visit(V& v, RouterKeys& p) {
  v.integer("fifo_depth", p.config.fifo_depth, {1, 65536, "flits", true},
            "input FIFO depth D (fabric.md 7.1)");
  v.integer("fifo_latency", p.config.fifo_latency, {1, 64, "cycles"},
            "write to readable, L_FIFO (fabric.md 1.2)");
  v.integer("fifo_extra", p.config.fifo_extra, {0, 64, "flits"},
            "capacity is D + this, FIFO_EXTRA (fabric.md 1.2)");
  v.implementation("impl", p.impl, p.module, "implementation of every router of this mesh");
}

// Of a block of the control plane, which is no node.
struct BlockKeys {
  Impl impl = Impl::kModel;
  UserModule module{};
};

template <class V>
void visit(V& v, BlockKeys& p) {
  v.implementation("impl", p.impl, p.module, "which implementation stands here");
}

template <class V>
void visit(V& v, Agent& p) {
  // the staging window of the register map holds 128 flits (orchestrator.md section 3.1)
  v.integer("staging_flits", p.staging_flits, {1, 128, "flits"},
            "staging RAM of the dispatcher (orchestrator.md 3)");
  // the program counter of the command engine has 7 bits (orchestrator.md section 8)
  v.integer("commands", p.commands, {1, 128, "commands"}, "RAM of the command engine (orchestrator.md)");
  v.integer("reads_in_flight", p.reads_in_flight, {1, 64, "bursts"},
            "reads in flight per requester at the DRAM port, RD_OUT; 1 = reference (memory.md 1)");
  BlockKeys agent{p.impl, p.module}, engine{p.engine_impl, p.engine_module};
  v.section("control_agent", agent, "the control agent (orchestrator.md 2); `agent` for --impl");
  v.section("command_engine", engine, "the command engine (orchestrator.md 8); `engine` for --impl");
  p.impl = agent.impl;
  p.module = agent.module;
  p.engine_impl = engine.impl;
  p.engine_module = engine.module;
}

template <class V>
void visit(V& v, DramSimple& p) {
  v.integer("first_read_beat", p.first_read_beat, range::kDelay,
            "address accepted to first beat (memory.md 15)");
  v.integers("read_gaps", p.read_gaps, range::kGap, "idle cycles after beat k, cyclic (memory.md 15)");
  v.integer("first_write_beat", p.first_write_beat, range::kDelay,
            "address accepted to data ready (memory.md 15)");
  v.integers("write_gaps", p.write_gaps, range::kGap, "not-ready cycles after beat k, cyclic (memory.md 15)");
  v.integer("write_response", p.write_response, range::kDelay,
            "last beat accepted to response (memory.md 15)");
}

template <class V>
void visit(V& v, DramBanked& p) {
  v.integer("banks", p.banks, {1, 1024, "banks", true}, "banks, each with one open row");
  v.integer("row_bytes", p.row_bytes, {64, 1u << 20, "bytes", true}, "bytes of one row of one bank");
  v.integer("row_hit", p.row_hit, range::kDelay, "address accepted to first beat, row open");
  v.integer("row_closed", p.row_closed, range::kDelay, "the same with no row open in the bank");
  v.integer("row_conflict", p.row_conflict, range::kDelay, "the same with another row open");
  v.integer("write_response", p.write_response, range::kDelay, "last beat accepted to response");
  v.integer("reads_outstanding", p.reads_outstanding, {1, 256, "bursts"},
            "read bursts accepted but not finished");
  v.integer("writes_outstanding", p.writes_outstanding, {1, 256, "bursts"},
            "write bursts accepted but not finished");
  v.number("bytes_per_cycle", p.bytes_per_cycle, 0.001, 1024, "bytes per cycle", "upper bound on data moved");
}

struct DramKeys {
  Dram dram;
  std::string clock;  // empty: fabric
  std::optional<std::uint64_t> size_mib;
  std::optional<std::uint64_t> size_bytes;
};

// The local space of a mesh is 64 GB (memory.md section 3).
inline constexpr std::uint64_t kLocalSpace = 1ull << 36;

template <class V>
void visit(V& v, DramKeys& p) {
  v.choice("model", p.dram.model, kDramModelWords,
           "simple: the reference's verification RAM; banked: banks and bandwidth");
  v.integer("bus_bits", p.dram.bus_bits, {256, 512, "bits", true, Need::kRequired},
            "width of the DRAM bus (memory.md 1)");
  v.integer("base", p.dram.base, {0, kLocalSpace - 1, "byte address"},
            "first byte address; default 0x80000000");
  v.optional_integer("size_mib", p.size_mib, {1, kLocalSpace >> 20, "MiB"}, "size; or give size_bytes");
  v.optional_integer("size_bytes", p.size_bytes, {64, kLocalSpace, "bytes"}, "size; or give size_mib");
  v.word("clock", p.clock, "clock domain of the DRAM and its bus, one of `clocks`; default fabric");
  v.boolean("wrap", p.dram.wrap, "true: the address is taken modulo the size; false: outside is misuse");
  v.group("model", "simple", p.dram.model == DramModel::kSimple);
  visit(v, p.dram.simple);
  v.end_group();
  v.group("model", "banked", p.dram.model == DramModel::kBanked);
  visit(v, p.dram.banked);
  v.end_group();
}

// --- machine
// --------------------------------------------------------------------------------------------------

template <class V>
void visit(V& v, ScriptHost& p) {
  v.integer("write_cycles", p.write_cycles, {3, 1'000'000, "cycles"}, "a register write to the next access");
  v.integer("read_cycles", p.read_cycles, {3, 1'000'000, "cycles"}, "a register read to the next access");
  v.integer("start_cycles", p.start_cycles, {0, 1'000'000, "cycles"},
            "first cycle without reset to the first access");
}

template <class V>
void visit(V& v, Host& p) {
  v.choice("kind", p.kind, kHostKindWords, "who drives the register map");
  v.group("kind", "script", p.kind == HostKind::kScript);
  v.section("script", p.script, "a host with a fixed period per access");
  v.end_group();
}

// `raw` keys hold what has its own reader code: grid, units, nodes, meshes, clocks.
template <class V, class MeshKeys>
void visit_mesh(V& v, MeshKeys& p) {
  v.optional_integer("id", p.id, {0, kMaxMeshes - 1, ""}, "mesh id; default its place in the list");
  v.raw("grid", p.grid, Need::kRequired,
        "picture of (X+2) x (Y+2) cells; the outer ring holds the edge slots");
  v.section("router", p.router, "all routers of this mesh");
  v.raw("units", p.units, Need::kOptional, "what the symbols of the picture stand for");
  v.raw("nodes", p.nodes, Need::kOptional,
        "other values for single nodes, by node id such as cluster@2,1 or router@1,1");
  v.optional_section("agent", p.agent, "control and memory agent, answers at the first memory port");
  v.optional_section("dram", p.dram, "the memory behind the agent");
  v.choice("staging", p.staging, kPresenceWords,
           "staging memory (memory.md 7.2); idle: there as in the reference, never addressed");
  v.choice("staging_placement", p.staging_placement, kStagingPlacementWords,
           "converged: one store in front of the DRAM port; port: a private one in each memory port");
  v.choice(
      "interlink", p.interlink, kPresenceWords,
      "links to the neighbours in the chain 0 - 1 - 3 - 2 of mesh ids (memory.md 11); idle: built, nothing "
      "arrives");
}

inline constexpr std::uint64_t kVersion = 1;

template <class V, class MachineKeys>
void visit_machine(V& v, MachineKeys& p) {
  v.integer("version", p.version, {kVersion, kVersion, "", false, Need::kRequired},
            "version of this file format");
  v.raw("name", p.name, Need::kRequired, "name of the machine");
  v.optional_number("clock_mhz", p.clock_mhz, 0.001, 100000, "MHz", "the one clock; or give clocks");
  v.raw("clocks", p.clocks, Need::kOptional, "several clocks, name: MHz; `fabric` is required");
  v.choice("quirks", p.quirks, kQuirksWords, "default of every unit");
  v.raw("meshes", p.meshes, Need::kRequired, "one to four meshes");
  v.raw("host", p.host, Need::kOptional, "who drives the register map; absent: nobody");
}

}  // namespace ktpu::topo
