// SPDX-License-Identifier: Apache-2.0
// A machine as plain values: what the reader makes of a YAML file, and all that the simulator, the compiler
// and the RTL parameters know about it. A `Machine` that came out of the reader is complete and consistent:
// every default is filled in, every reference resolved, every range checked. Nothing here knows YAML or
// SystemC.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/flit.h"

namespace ktpu::topo {

using arch::Coord;

inline constexpr unsigned kGridLo = 1;     // GRID_LO: first router row and column (fabric.md section 4)
inline constexpr unsigned kMaxGrid = 14;   // routers per axis (fabric.md section 4)
inline constexpr unsigned kMaxMeshes = 4;  // mesh ids 0..3 (memory.md section 3)
inline constexpr unsigned kMaxPorts = 4;   // memory ports of a mesh (memory.md section 1)

// Where a description came from. Compares equal to any other: two machines from two files may be the same
// machine.
struct Place {
  std::string file;  // as the user wrote it, or "--set key=value"
  int line = 0;      // from 1; 0 = the place has no line
  int column = 0;    // from 1
  constexpr bool operator==(const Place&) const { return true; }
  std::string text() const;  // "file:line:column"
};

// Which implementation stands in a node's socket (design.md section 3).
enum class Impl : std::uint8_t { kModel, kRtl, kLockstep, kPins };
// A module from outside that stands there as `rtl` or `pins`, or beside the model in `lockstep`: its source,
// or the plugin built from it (docs/rtl.md), and the name of the module. No file: what the product has
// itself.
struct UserModule {
  std::string file;  // absolute
  std::string top;
  bool given() const { return !file.empty(); }
  bool operator==(const UserModule&) const = default;
};
// `kReference`: as the real machine, defects included. `kNone`: as intended (quirks.md).
enum class Quirks : std::uint8_t { kReference, kNone };
// The router port an endpoint hangs on; the number is the router's port number (fabric.md section 6).
enum class Side : std::uint8_t { kNorth = 0, kEast = 1, kSouth = 2, kWest = 3, kLocal = 4 };

// --- Node kinds
// -----------------------------------------------------------------------------------------------

struct MatmulCluster {        // cluster.md section 2
  unsigned tiles = 4096;      // resident 4x4 sub-tiles; power of two
  unsigned l1_a = 512;        // L1 entries of operand A; power of two, at most 512
  unsigned l1_b = 512;        // L1 entries of operand B
  unsigned acc_mw = 14;       // accumulator mantissa bits
  unsigned inst_depth = 512;  // instruction FIFO; power of two
  unsigned recv_depth = 512;  // receive FIFO; power of two
  bool operator==(const MatmulCluster&) const = default;
};

struct VectorCore {         // vector.md section 2
  unsigned l1_words = 512;  // 256-bit words of L1
  unsigned inst_depth = 512;
  unsigned recv_depth = 512;
  bool operator==(const VectorCore&) const = default;
};

struct MemoryPort {  // no parameters of its own: `Agent` and `Dram` of the mesh serve all ports
  bool operator==(const MemoryPort&) const = default;
};

struct Controller {  // controller.md; not run by this version
  unsigned inst_depth = 16;
  bool operator==(const Controller&) const = default;
};

struct Pe {  // composite.md section 1; not run by this version
  unsigned inst_depth = 32;
  bool operator==(const Pe&) const = default;
};

enum class Pattern : std::uint8_t {
  kScript,     // injects only what the program or a tool gives it
  kUniform,    // every other traffic node with equal chance
  kHotspot,    // `hotspot` for a share of the flits, else uniform
  kTranspose,  // (x,y) sends to the traffic node at (y,x); a node without such a peer is silent
};

// When a sink refuses flits. Periodic: busy in cycle c when ((c + offset) mod period) < duty; period 0 =
// never. Runs: lengths in cycles of free, busy, free, ... from cycle 0, starting over when used up; empty =
// never. At most one of the two forms is in use. Same meaning as sink_busy_* of vectors/rtl/noc.jsonl.
struct SinkBusy {
  std::uint32_t period = 0;
  std::uint32_t duty = 0;
  std::uint32_t offset = 0;
  std::vector<std::uint32_t> runs;
  bool operator==(const SinkBusy&) const = default;
};

struct Traffic {
  Pattern pattern = Pattern::kScript;
  double rate = 0;  // flits per node and cycle, 0..1; without meaning for kScript
  std::uint64_t seed =
      1;  // of the mesh's random stream; each node derives its own from this and its coordinate
  std::uint64_t flits = 0;       // stop after so many; 0 = never
  std::optional<Coord> hotspot;  // present iff kHotspot
  double hotspot_share =
      1;  // 0..1: share of flits that go to `hotspot`, the rest is uniform; 1 unless kHotspot
  SinkBusy busy;
  bool operator==(const Traffic&) const = default;
};

struct Null {  // an endpoint that swallows everything
  bool operator==(const Null&) const = default;
};

// Order = Kind.
using Params = std::variant<MatmulCluster, VectorCore, MemoryPort, Controller, Pe, Traffic, Null>;
enum class Kind : std::uint8_t {
  kMatmulCluster,
  kVectorCore,
  kMemoryPort,
  kController,
  kPe,
  kTraffic,
  kNull
};

std::string_view kind_name(Kind kind);   // as in YAML: "matmul_cluster"
std::string_view kind_short(Kind kind);  // as in node ids: "cluster"
std::string_view impl_name(Impl impl);   // "model", "rtl", "lockstep", "pins"
std::string_view quirks_name(Quirks quirks);
std::string_view pattern_name(Pattern pattern);

// The staging adapter between an endpoint and its router (fabric.md section 12).
struct Adapter {
  unsigned lines = 8192;  // 32-byte lines of its store; power of two
  bool operator==(const Adapter&) const = default;
};

// The clock crossing on the local link of a unit (fabric.md section 13).
struct Crossing {
  unsigned depth = 16;  // flits of each of its two FIFOs; power of two, at least 16 (fabric.md section 1.2)
  bool operator==(const Crossing&) const = default;
};

struct Node {
  std::string symbol;        // of the grid picture
  Coord at;                  // the endpoint's coordinate
  Coord router;              // the router it hangs on
  Side side = Side::kLocal;  // which of that router's ports
  Params params;
  Impl impl = Impl::kModel;
  UserModule module{};
  Quirks quirks = Quirks::kReference;
  std::optional<unsigned>
      port;  // index into Mesh::ports; present for kinds that use memory (uses_memory_port)
  std::optional<Adapter> adapter;
  unsigned clock = 0;                // index into Machine::clocks
  std::optional<Crossing> crossing;  // present whenever `clock` is not the fabric's
  Place place;                       // the unit's definition

  Kind kind() const { return static_cast<Kind>(params.index()); }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&params);
  }
  bool operator==(const Node&) const = default;
};

bool uses_memory_port(Kind kind);

// --- Mesh
// -----------------------------------------------------------------------------------------------------

struct Router {
  Coord at;
  Impl impl = Impl::kModel;
  UserModule module{};
  bool operator==(const Router&) const = default;
};

struct RouterConfig {         // of all routers of a mesh (fabric.md sections 1.2 and 7.1)
  unsigned fifo_depth = 512;  // D; power of two
  unsigned fifo_latency = 3;  // L_FIFO: write to readable, cycles
  unsigned fifo_extra = 2;    // FIFO_EXTRA: capacity is D + this
  bool operator==(const RouterConfig&) const = default;
};

// Optional blocks of the memory agent. kIdle: built as in the reference tops but never used by a program.
enum class Presence : std::uint8_t { kAbsent, kIdle, kBuilt };
std::string_view presence_name(Presence presence);
// Where staging memory is, if built (memory.md section 7.2): one store in front of the DRAM port, or a
// private one in each memory port.
enum class StagingPlacement : std::uint8_t { kConverged, kPort };
std::string_view staging_placement_name(StagingPlacement placement);

struct Agent {                   // control agent and memory agent (orchestrator.md, memory.md)
  unsigned staging_flits = 128;  // staging RAM of the dispatcher, flits
  unsigned commands = 128;       // command engine's RAM
  unsigned reads_in_flight = 1;  // RD_OUT, per requester at the DRAM port; 1 = reference
  // Of control agent and command engine, which are no nodes.
  Impl impl = Impl::kModel, engine_impl = Impl::kModel;
  UserModule module{}, engine_module{};
  bool operator==(const Agent&) const = default;
};

enum class DramModel : std::uint8_t { kSimple, kBanked };
std::string_view dram_model_name(DramModel model);

struct DramSimple {  // the five numbers of memory.md section 15, all in DRAM-port cycles
  std::uint32_t first_read_beat = 1;
  std::vector<std::uint32_t> read_gaps;
  std::uint32_t first_write_beat = 1;
  std::vector<std::uint32_t> write_gaps;
  std::uint32_t write_response = 1;
  bool operator==(const DramSimple&) const = default;
};

struct DramBanked {     // this project's own model; latencies in cycles from address accepted to first beat
  unsigned banks = 16;  // power of two
  unsigned row_bytes = 2048;        // of one bank; power of two
  unsigned row_hit = 20;            // row already open
  unsigned row_closed = 34;         // no row open in the bank
  unsigned row_conflict = 48;       // another row open
  unsigned write_response = 10;     // last beat accepted to response
  unsigned reads_outstanding = 8;   // bursts
  unsigned writes_outstanding = 8;  // bursts
  double bytes_per_cycle = 64;      // upper bound on data moved, both directions together
  bool operator==(const DramBanked&) const = default;
};

struct Dram {
  DramModel model = DramModel::kSimple;
  unsigned bus_bits = 512;                // MW: 256 or 512
  std::uint64_t base = 0x8000'0000;       // first byte address
  std::uint64_t size_bytes = 1ull << 30;  // multiple of the bus width
  unsigned clock = 0;                     // index into Machine::clocks
  bool wrap = false;  // true: byte address modulo size_bytes, never outside (base is then a multiple of it)
  DramSimple simple;  // meaningful iff kSimple, else as default-constructed
  DramBanked banked;  // meaningful iff kBanked, else as default-constructed
  bool operator==(const Dram&) const = default;
};

struct Mesh {
  unsigned id = 0;             // 0..3, unique
  Coord lo{kGridLo, kGridLo};  // the rectangle that routers clamp to, both ends included
  Coord hi{kGridLo, kGridLo};
  RouterConfig router;
  std::vector<Router>
      routers;  // those that exist, row-major; may be fewer than the rectangle (fabric.md section 6.1)
  std::vector<Node> nodes;     // row-major by coordinate: smaller y first, then smaller x
  std::vector<Coord> ports;    // memory ports in their numbering order (row-major)
  std::optional<Agent> agent;  // answers at ports[0]
  std::optional<Dram> dram;
  Presence staging = Presence::kAbsent;
  StagingPlacement staging_placement = StagingPlacement::kConverged;  // meaningful iff staging is kBuilt
  Presence interlink = Presence::kAbsent;
  Place place;

  const Node* node_at(Coord at) const;      // nullptr: nothing there
  const Router* router_at(Coord at) const;  // nullptr: no router there
  // Requesters at the DRAM port: ports, host window, mover, and inbound remote when the interlink is built
  // (memory.md section 1).
  unsigned requesters() const;
  bool operator==(const Mesh&) const = default;
};

// The memory port that `node` is bound to unless its description says otherwise: nearest by Manhattan
// distance between coordinates clamped into the rectangle, on a tie the first in row-major order (fabric.md
// section 4). The mesh must have one.
unsigned nearest_port(const Mesh& mesh, const Node& node);

// --- Host and machine
// -----------------------------------------------------------------------------------------

enum class HostKind : std::uint8_t { kNone, kCommandEngine, kScript, kExternal, kFirmware };
std::string_view host_kind_name(HostKind kind);

// A host with a fixed period per access (vectors/programs/README.md, Host).
struct ScriptHost {
  unsigned write_cycles = 3;   // one register write to the next access
  unsigned read_cycles = 3;    // one register read to the next access
  unsigned start_cycles = 40;  // first access, counted from the first cycle with reset low
  bool operator==(const ScriptHost&) const = default;
};

struct Host {
  HostKind kind = HostKind::kNone;
  ScriptHost script;  // meaningful iff kScript, else as default-constructed
  Place place;
  bool operator==(const Host&) const = default;
};

struct Clock {
  std::string name;
  double mhz = 0;
  std::uint64_t hertz() const;  // to the nearest: what the simulator counts in
  bool operator==(const Clock&) const = default;
};

struct Machine {
  std::string name;
  std::vector<Clock> clocks;  // [0] is "fabric": routers, agent, DRAM port
  std::vector<Mesh> meshes;   // ascending id
  Host host;
  bool operator==(const Machine&) const = default;
};

// "cluster@2,1", or "m1.cluster@2,1" when `machine` has several meshes.
std::string node_id(const Machine& machine, const Mesh& mesh, const Node& node);
// "router@2,1", or "m1.router@2,1".
std::string node_id(const Machine& machine, const Mesh& mesh, const Router& router);
// Every node id, routers last within their mesh.
std::vector<std::string> node_ids(const Machine& machine);

// The module `top` of `file`, a path relative to the current folder; no `top`: the one named like the file.
UserModule user_module(const std::filesystem::path& file, std::string top);
// "FILE" or "FILE:TOP"; `shown`: the option, for the message of the UserError.
UserModule parse_user_module(std::string_view text, const std::string& shown);

// `--impl 'WHAT=IMPL'`. WHAT is a node id, or a pattern in which `*` stands for a kind of hardware (not
// traffic or null) or a coordinate (`cluster@*`, `*@2,1`, `router`); without the `mN.` prefix it matches in
// every mesh. IMPL is model, rtl, lockstep or pins; the last three may be followed by `:FILE` or `:FILE:TOP`,
// a UserModule. A mesh's control agent is `agent` and its command engine `engine`, both at its first memory
// port. Throws UserError listing the valid node ids when nothing matches.
void apply_impl(Machine& machine, std::string_view spec);
// The same, but answers whether anything matches.
bool apply_impl_where_present(Machine& machine, std::string_view spec);

}  // namespace ktpu::topo
