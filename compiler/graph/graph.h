// SPDX-License-Identifier: Apache-2.0
// Level L3: which buffers exist, which statements read and write them, in which tilings and loops
// (compiler.md sections 1 and 14). Nothing of byte order, placement or time. Indices stay symbolic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/base/expr.h"
#include "compiler/base/index.h"

namespace ktpu::graph {

enum class Role : std::uint8_t { kIn, kOut, kTemp, kTable };

struct Buffer {
  std::string name;
  Role role = Role::kIn;
  std::vector<std::uint32_t> shape;   // of one batch element
  bool batched = false;               // one block per batch element; else shared by all
  std::vector<std::uint16_t> values;  // of a table: FP16, row-major

  std::uint64_t elements() const;  // of one batch element
};
using BufferId = std::uint32_t;
using TileId = std::uint32_t;

// A matmul operand as one FILL names it.
struct FillOrder {
  enum class Kind : std::uint8_t { kEntry, kConv };
  Kind kind = Kind::kEntry;
  std::uint32_t groups = 1;  // row groups of 4 a fill brings; for a convolution's image: a tile's
  std::uint32_t blocks = 1;  // K blocks of 32
  bool operator==(const FillOrder&) const = default;
};
enum class Side : std::uint8_t { kA, kB };

// The chunk (tile, chunk) of the buffer's entries goes to L1.
struct Fill {
  BufferId buffer = 0;
  Side side = Side::kA;
  FillOrder order;
  std::uint32_t operand = 0;  // which of the tiling's operands of this side: each keeps its own L1 region
  base::Index tile, chunk;
  std::uint32_t chunks = 1;  // chunks of one tile
  base::Index lane;          // rows further on, of 64 bytes: the taps of a convolution
  base::Index step;          // counter of the innermost loop: chooses the bank
};
// tile (+)= A * B of what the last fills of the two operands brought.
struct Gemm {
  TileId tile = 0;
  std::uint32_t gm = 1, gn = 1, nk = 1;
  std::uint32_t a_operand = 0, b_operand = 0;
  base::Index acc;  // 0 clears the tile; also the bank
};
// The tile leaves as it is.
struct Drain {
  TileId tile = 0;
  std::uint32_t gm = 1, gn = 1;
  BufferId buffer = 0;
  base::Index row, column;  // tile coordinates in the buffer
};

// How an operand is read again and again: `take` elements out of every `period`.
struct Spread {
  std::uint64_t period = 0, take = 0;
  bool whole = false;  // the buffer's own period: a per-channel operand
  bool operator==(const Spread&) const = default;
};
// What a lane expression reads.
struct Leaf {
  enum class Kind : std::uint8_t {
    kPart,      // part `part` of the buffer, `offset` elements further on
    kTile,      // the (row, column) tile of the buffer: an operand beside a resident accumulator
    kChannel,   // the values of the columns of tile column `column`: a bias beside a resident accumulator
    kConstant,  // `value`
    kResident,  // accumulator `tile`
  };
  Kind kind = Kind::kPart;
  BufferId buffer = 0;
  base::Index part;
  std::uint64_t offset = 0;
  std::optional<Spread> spread;
  base::Index row, column;
  double value = 0;
  TileId tile = 0;
  bool operator==(const Leaf&) const = default;
};
// Where it goes: a part of a buffer, or one of its tiles (only with resident leaves).
struct Target {
  enum class Kind : std::uint8_t { kPart, kTile };
  Kind kind = Kind::kPart;
  BufferId buffer = 0;
  base::Index part;
  std::uint64_t offset = 0;
  base::Index row, column;
};
// target <- expression, lane by lane. `leaves` in the order the expression first meets them.
struct Apply {
  Target target;
  base::Expr expr;
  std::vector<Leaf> leaves;
  std::uint64_t part = 8192;  // elements of a part (section 2, PART)
  // The `reduce` statement of section 15: one row fold of one leaf, written as a statement of its own
  // (ops.row_sum, the folds of the wide rows). The same fold within `<<=` is an ordinary apply (attention's
  // row_sum(weights)).
  bool reduce = false;
  bool has_resident() const;
};

struct Axis {
  std::string name;  // unique in the graph
  base::Index extent;
};
struct Node;
using Body = std::vector<Node>;
// A tiling opened at top level is a stage (with `barrier`: nothing may be merged over its border). One inside
// another is a view: its body is repeated.
struct Tiling {
  std::vector<Axis> axes;
  bool barrier = false;
  bool formed = false;  // around one whole-buffer statement, by the compiler
  std::shared_ptr<Body> body;
};
// Inside a tiling it repeats statements, at top level whole stages.
struct Loop {
  Axis axis;
  std::shared_ptr<Body> body;
};
// An accumulator begins: gm x gn sub-tiles of 4 x 4. `land` is the name its landed buffer takes when an
// epilogue of it is staged.
struct OpenTile {
  TileId tile = 0;
  std::uint32_t gm = 1, gn = 1;
  std::string land;
};
struct Node {
  std::variant<Tiling, Loop, OpenTile, Fill, Gemm, Drain, Apply> it;
};

struct Graph {
  std::string name;
  std::uint64_t batch = 1;  // independent elements of every batched buffer
  bool batched = false;
  std::vector<std::uint32_t> lead;  // the batch axes
  std::vector<Buffer> buffers;      // in the order they were named: ports first
  Body body;
  std::uint64_t part = 8192;  // knob: elements of an instance of a formed pass
  bool fuse = true;           // knob: epilogues may run fused

  BufferId find(std::string_view name) const;  // throws UserError
};

// What a statement reads and writes; nothing for OpenTile, tilings and loops.
std::vector<BufferId> reads(const Node& node);
std::vector<BufferId> writes(const Node& node);

// Throws base::Refusal (phase kTrace or kStages), or UserError, with the statement's text.
void verify(const Graph& graph);
// MLIR-like text; parse(print(g)) prints the same again.
std::string print(const Graph& graph);
std::string print_statement(const Graph& graph, const Node& node);
Graph parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::graph
