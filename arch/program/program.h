// SPDX-License-Identifier: Apache-2.0
// The program file as a plain value: everything a host does to a machine, in order (design.md section 6).
// program_file.h reads and writes it, validate.h says whether it makes sense, text.h prints and parses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arch/flit.h"

namespace ktpu::arch {

// ---- Contents of memory
// -----------------------------------------------------------------------------------------

// `data`, repeated (the last copy cut) until `size` bytes are reached; size 0 means data.size(). Empty data:
// zeros.
struct ImageBytes {
  std::vector<std::uint8_t> data;
  std::uint64_t size = 0;
  bool operator==(const ImageBytes&) const = default;
};
// The portable test-tensor generator, `count` FP16 elements in memory order (2 bytes each, little endian):
// x0 = seed; per element x = 1664525 x + 1013904223 (mod 2^32), value = ((x >> 20) - 2048) * 2^-shift, then
// the absolute value if `abs`, then + offset, rounded to FP16.
struct ImageLcg {
  std::uint64_t count = 0;
  std::uint32_t seed = 0;
  std::uint32_t shift = 10;  // 0..31
  double offset = 0;
  bool abs = false;
  bool operator==(const ImageLcg&) const = default;
};
// A row-major tensor of that generator stored in a named layout (layout.h of this folder), e.g. "entry:8x4".
struct ImageTensor {
  ImageLcg values;                   // count = product of shape
  std::vector<std::uint32_t> shape;  // outermost first
  std::string layout;
  bool operator==(const ImageTensor&) const = default;
};
struct MemoryImage {
  std::uint64_t address = 0;  // 40-bit byte address, memory.md section 3
  std::variant<ImageBytes, ImageLcg, ImageTensor> content;
  bool operator==(const MemoryImage&) const = default;
};

// ---- Steps
// ------------------------------------------------------------------------------------------------------

// Starts a round: forgets the baseline counts and which PROG_DST/BASE/LEN values were written, so that the
// first kick of the round writes all three again.
struct StepRound {
  std::string name;  // for reports
  bool operator==(const StepRound&) const = default;
};
// Reads NODE_STATUS of each node in order; bits [23:8] become the node's baseline for the awaits of this
// round.
struct StepBaseline {
  std::vector<Coord> nodes;
  bool operator==(const StepBaseline&) const = default;
};
// Writes the flits to staging slots base, base+1, ...: five 64-bit writes each, low word first.
struct StepStage {
  std::uint32_t base = 0;
  std::vector<Flit> flits;
  bool operator==(const StepStage&) const = default;
};
// Writes PROG_CRED.
struct StepCredit {
  std::uint32_t seed = 0;
  bool operator==(const StepCredit&) const = default;
};
// Polls PROG_STAT run == 0; writes PROG_DST, PROG_BASE, PROG_LEN in this order, each only if this round has
// not yet written that value to it; writes PROG_KICK = 1.
struct StepKick {
  Coord to;
  std::uint32_t base = 0;   // first staging slot
  std::uint32_t count = 0;  // flits
  bool operator==(const StepKick&) const = default;
};
// Polls NODE_STATUS of the node until its count is baseline + count (16 bits, wrapping) and its valid bit is
// set.
struct StepAwait {
  Coord node;
  std::uint32_t count = 0;
  bool operator==(const StepAwait&) const = default;
};
// One write of a control agent register.
struct StepWrite {
  std::uint32_t offset = 0;  // from the agent's base, registers.h
  std::uint64_t value = 0;
  bool operator==(const StepWrite&) const = default;
};
// Reads the register until (value & mask) == want.
struct StepPoll {
  std::uint32_t offset = 0;
  std::uint64_t mask = ~0ull;
  std::uint64_t want = 0;
  bool operator==(const StepPoll&) const = default;
};
// A list for the command engine (orchestrator.md section 8). Longer than the engine holds: cut before a poll
// of PROG_STAT run == 0. A machine without the engine has its host execute the list.
struct Command {
  std::uint32_t op = 0;       // engine::CommandOp
  std::uint32_t address = 0;  // address space of the two-slave map, address_map.h
  std::uint64_t data = 0;
  std::uint64_t mask = 0;
  bool operator==(const Command&) const = default;
};
struct StepCommands {
  std::vector<Command> commands;
  bool operator==(const StepCommands&) const = default;
};
// A timed burst through the host memory window (memory.md section 8), upload apertures included. Reads
// discard.
struct StepWindow {
  bool write = true;
  std::uint64_t address = 0;
  std::uint64_t read_bytes = 0;  // reads only; multiple of 32
  ImageBytes data;               // writes only; multiple of 32 bytes
  bool operator==(const StepWindow&) const = default;
};
// Host writes memory in no time, behind the machine's back (operand and constant images between rounds).
struct StepLoad {
  MemoryImage image;
  bool operator==(const StepLoad&) const = default;
};
// Idles until `cycles` cycles without any DRAM handshake have passed, counted from the later of the last
// handshake and the end of the previous step.
struct StepQuiet {
  std::uint32_t cycles = 256;
  bool operator==(const StepQuiet&) const = default;
};
// `count` halfwords source, source+step, ...; the whole `times` times with source moving on by `advance`.
// source -1: zeros.
struct GatherRun {
  std::int64_t source = 0;
  std::uint32_t count = 0;
  std::int32_t step = 1;
  std::uint32_t times = 1;
  std::int64_t advance = 0;
  bool operator==(const GatherRun&) const = default;
};
// Waits like StepQuiet, then reorders memory in place in no time: destination halfword i of `address` gets
// the i-th halfword the runs name, all read before any is written. Halfwords are 2 bytes.
struct StepRelayout {
  std::uint64_t address = 0;
  std::uint32_t quiet_cycles = 256;
  std::vector<GatherRun> gather;
  std::string from_layout;  // for reports
  std::string to_layout;
  bool operator==(const StepRelayout&) const = default;
};
// Resets the mesh for `cycles` cycles.
struct StepReset {
  std::uint32_t cycles = 20;
  bool operator==(const StepReset&) const = default;
};
// Recorded command stream `index` for the PE at a node; opaque here.
struct StepPeStream {
  Coord node;
  std::uint32_t index = 0;
  std::vector<std::uint8_t> data;
  bool operator==(const StepPeStream&) const = default;
};
// Firmware image for the controller at a node: bytes for its window at `address`.
struct StepFirmware {
  Coord node;
  std::uint32_t address = 0;
  std::vector<std::uint8_t> data;
  bool operator==(const StepFirmware&) const = default;
};

using Action = std::variant<StepRound, StepBaseline, StepStage, StepCredit, StepKick, StepAwait, StepWrite,
                            StepPoll, StepCommands, StepWindow, StepLoad, StepQuiet, StepRelayout, StepReset,
                            StepPeStream, StepFirmware>;

struct Step {
  std::uint8_t mesh = 0;
  Action action;
  bool operator==(const Step&) const = default;
};
// "kick", "stage", ...: the word of the text form and of messages.
std::string_view step_name(const Action& action);

// ---- What surrounds them
// ----------------------------------------------------------------------------------------

enum class DType : std::uint8_t { kFp16, kFp32, kU8, kU16, kU32, kI8, kI16, kI32, kMxfp7 };
inline constexpr std::size_t kDTypes = 9;
// Bits an element takes, 0 for block formats (MXFP7).
unsigned dtype_bits(DType type);
std::string_view dtype_name(DType type);
std::optional<DType> dtype_from_name(std::string_view name);

struct Tensor {
  std::string name;
  std::uint8_t mesh = 0;
  std::uint64_t address = 0;
  DType dtype = DType::kFp16;
  std::vector<std::uint32_t> shape;  // outermost first
  std::string layout = "flat";       // layout.h of this folder
  bool operator==(const Tensor&) const = default;
};

// A unit the program uses and what it must hold; 0 = no requirement.
struct UnitNeed {
  std::uint8_t mesh = 0;
  Coord at;
  std::string kind;  // topology kind, e.g. "matmul_cluster"
  std::uint32_t tiles = 0;
  std::uint32_t l1_a = 0;
  std::uint32_t l1_b = 0;
  std::uint32_t inst_depth = 0;
  bool operator==(const UnitNeed&) const = default;
};
// Memory the program touches: [begin, end) byte addresses.
struct MemoryNeed {
  std::uint8_t mesh = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const MemoryNeed&) const = default;
};
struct MachineNeeds {
  std::string machine;            // topology it was made for; informative
  std::uint64_t fingerprint = 0;  // of that machine; 0 = any machine that meets the needs below
  std::uint32_t meshes = 1;
  std::uint32_t staging_flits = 0;
  std::uint32_t commands = 0;  // command engine entries a list can't be cut below; 0 = none
  std::vector<UnitNeed> units;
  std::vector<MemoryNeed> memory;
  bool operator==(const MachineNeeds&) const = default;
};

struct DebugText {
  std::string name;  // e.g. "schedule", "source"
  std::string text;
  bool operator==(const DebugText&) const = default;
};

struct Program {
  std::string name;
  MachineNeeds needs;
  std::vector<std::pair<std::uint8_t, MemoryImage>> images;  // mesh and image, in memory before cycle 0
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Step> steps;
  std::vector<DebugText> debug;
  bool operator==(const Program&) const = default;
};

}  // namespace ktpu::arch
