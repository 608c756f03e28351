// SPDX-License-Identifier: Apache-2.0
// Level L2: where things live and run. Stages of instances with every index resolved, buffers with their
// orders and addresses, the relayouts between stages (compiler.md sections 15, 16 and 24). No bit positions,
// no flits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/expr.h"
#include "compiler/schedule/address.h"
#include "compiler/schedule/layout.h"

namespace ktpu::schedule {

enum class UnitType : std::uint8_t { kCluster, kVector };  // printed as MG and VC

// What this level knows of the machine.
struct Resources {
  std::uint32_t clusters = 0, vector_cores = 0;
  bool agent = true;  // acknowledgements of data sent between units have somewhere to go
  std::uint32_t bank_entries = 256, banks = 2;  // of a cluster's L1, per side
  std::uint32_t tiles = 4096;                   // sub-tiles a cluster's accumulator holds
  std::uint32_t vector_l1_words = 512;
  std::uint64_t arena_base = 0x8010'0000, arena_bytes = 16u << 20, alignment = 2048;
  bool operator==(const Resources&) const = default;
};

enum class Role : std::uint8_t { kIn, kOut, kTemp, kTable, kConstant, kScratch };

struct Buffer {
  std::string name;
  Role role = Role::kIn;
  std::vector<std::uint32_t> shape;  // with the batch axis in front where there is one
  bool batched = false;
  std::uint64_t batch_stride = 0;     // bytes from one batch element to the next; 0: shared
  Layout first = Layout::flat();      // in which it is uploaded or first written
  Layout last = Layout::flat();       // in which it is read back
  std::uint64_t nbytes = 0;           // of the allocation, before alignment
  std::uint64_t held = 0;             // elements of one batch element in its first order
  std::uint64_t held_widest = 0;      // in its widest order
  std::optional<Address> address;     // none before allocation
  std::vector<std::uint16_t> values;  // of a table (FP16, row-major)
  double value = 0;                   // of a constant: `held` copies of it
};
using BufferId = std::uint32_t;

enum class Side : std::uint8_t { kA, kB };

struct Fill {
  BufferId buffer = 0;
  Side side = Side::kA;
  std::uint32_t tile_id = 0, operand = 0;
  std::uint32_t groups = 1, blocks = 1;
  std::uint64_t tile = 0, chunk = 0, chunks = 1;
  std::uint64_t lane = 0;  // further rows of 64 bytes
  std::uint64_t step = 0;
  bool operator==(const Fill&) const = default;
};
struct Gemm {
  std::uint32_t tile_id = 0;
  std::uint32_t gm = 1, gn = 1, nk = 1;
  std::uint32_t a_operand = 0, b_operand = 0;
  std::uint64_t acc = 0;
};
struct Drain {
  std::uint32_t tile_id = 0;
  std::uint32_t gm = 1, gn = 1;
  // To memory: sub-tile number `word` of the buffer. To the vector core that runs the instance of the same
  // place of the next stage: slot `slot` of its L1.
  std::optional<BufferId> buffer;
  std::uint64_t word = 0;
  std::uint32_t slot = 0;
};

// A stretch of a buffer, in elements of one batch element.
struct Stretch {
  BufferId buffer = 0;
  std::uint64_t at = 0;
  bool operator==(const Stretch&) const = default;
};
struct Leaf {
  enum class Kind : std::uint8_t { kMemory, kConstant, kResident, kChannel };
  Kind kind = Kind::kMemory;
  Stretch stretch;  // kMemory; kChannel: the first value of the tile column
  // Read again and again: `take` elements out of every `period`; 0: no.
  std::uint64_t period = 0, take = 0;
  bool whole = false;             // `take` is the whole buffer, over and over
  double value = 0;               // kConstant
  std::optional<BufferId> array;  // kConstant: the array in memory that holds it, if there is one
  std::uint32_t slot = 0;         // kResident: as Drain::slot
  std::uint64_t asked_at = 0;     // kMemory: `stretch.at` if the stride were the part knob
  bool operator==(const Leaf&) const = default;
};
// result <- expression over `span` elements (apply), leaves by number.
struct Chain {
  Stretch result;
  base::Expr expr;
  std::vector<Leaf> leaves;
  std::uint64_t span = 0;
  // Section 18.6 asks whether statements fit one program with the part knob as the stride.
  std::uint64_t asked_span = 0, asked_at = 0;
  bool last = false;             // nothing of the result lies behind `span`, only padding
  bool reduce = false;           // one fold of one leaf: the `reduce` of section 15
  std::uint32_t gm = 0, gn = 0;  // of a resident epilogue's tile; 0: none
  bool resident() const { return gm != 0; }
};
using Statement = std::variant<Fill, Gemm, Drain, Chain>;
std::string_view kind_name(const Statement& statement);  // fill, gemm, drain, apply, reduce

struct Instance {
  std::vector<std::int32_t> key;  // place in the grid, batch in front
  std::uint64_t batch = 0;        // batch element
  std::vector<Statement> statements;
};
struct Relayout {
  BufferId buffer = 0;
  Layout from, to;
};
struct Stage {
  UnitType unit = UnitType::kCluster;
  std::vector<std::uint32_t> grid, body_grid;  // with and without the batch axis
  bool batched = false;
  std::vector<Relayout> before;
  std::vector<Instance> instances;  // in the order of their keys
  // Its node drains go to the vector cores that run the next stage, instance by instance.
  bool feeds_next = false;
  // Reads what an earlier stage wrote to memory: it must have landed (policy best).
  bool waits = false;
};

enum class Policy : std::uint8_t { kCompat, kBest };

struct Schedule {
  std::string name;
  Policy policy = Policy::kBest;
  std::uint64_t batch = 1;
  Resources resources;
  std::vector<Buffer> buffers;  // in the order they are first touched
  // Of `buffers`, in the order of allocation.
  std::vector<BufferId> allocation;
  std::vector<Stage> stages;
  std::uint64_t part = 8192;
  bool relaxed = false;  // an epilogue was staged after its fused form had been refused

  BufferId find(std::string_view name) const;  // throws UserError
};

// Throws UserError that names stage, instance and statement: an address outside its buffer, overlapping
// buffers, a result element written twice or not at all in a stage that owns it, a read of what nobody wrote.
void verify(const Schedule& schedule);
std::string print(const Schedule& schedule);
Schedule parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::schedule
