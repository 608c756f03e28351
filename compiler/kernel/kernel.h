// SPDX-License-Identifier: Apache-2.0
// Level L4: a kernel whose body has run once with symbolic indices and solved extents (compiler.md sections 1
// and 14): tilings, loops, accumulators, regions, contractions, stores. Nothing of addresses, nodes, bits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/base/expr.h"
#include "compiler/base/index.h"
#include "compiler/kernel/knobs.h"

namespace ktpu::kernel {

using Shape = std::vector<std::uint32_t>;
std::uint64_t elements(const Shape& shape);
std::string print(const Shape& shape);  // "32x64"

using BufferId = std::uint32_t;
using TileId = std::uint32_t;
using RegionId = std::uint32_t;

enum class Role : std::uint8_t { kIn, kOut, kTemp, kTable };
struct Buffer {
  std::string name;
  Role role = Role::kIn;
  Shape shape;                        // of one batch element
  bool batched = false;               // one block per batch element; else shared by all
  bool flat = false;                  // a port of any rank: one contiguous block
  std::vector<std::uint16_t> values;  // of a table: FP16, row-major
  bool operator==(const Buffer&) const = default;
};

// `take` elements out of every `period` elements, again and again.
struct Spread {
  std::uint64_t period = 0, take = 0;
  bool operator==(const Spread&) const = default;
};
// A buffer as a statement sees it.
struct View {
  enum class Kind : std::uint8_t {
    kPlain,
    kSpread,  // repeated(), per_group()
    kTaps,    // the 3x3 windows of an image of H x W x C, padded by one: row y * (W+2) + x of the matrix is
              // the window of (y, x), its columns are (tap, channel block, channel)
  };
  Kind kind = Kind::kPlain;
  BufferId buffer = 0;
  std::uint64_t offset = 0;  // elements skipped
  Shape shape;               // as the view counts; its elements may be fewer than the buffer's
  Spread spread;             // of kSpread
  bool operator==(const View&) const = default;
};
// A view between brackets: a[i, k], y[e]; without an index the whole of it.
struct Access {
  View view;
  std::vector<base::Index> index;
  bool operator==(const Access&) const = default;
};

// What an expression reads.
struct Leaf {
  enum class Kind : std::uint8_t { kAccess, kConstant, kTile };
  Kind kind = Kind::kAccess;
  Access access;
  double value = 0;
  TileId tile = 0;
  bool operator==(const Leaf&) const = default;
};

// An accumulator begins: gm x gn sub-tiles of 4 x 4, swept in chunks of nk blocks of 32. `land` is the name
// of the buffer it lands in when its epilogue is staged; empty without an epilogue.
struct OpenTile {
  TileId tile = 0;
  std::uint32_t gm = 1, gn = 1, nk = 1;
  std::string land;
};
// A window of L1: `groups` x `blocks` entries.
struct OpenRegion {
  RegionId region = 0;
  std::uint32_t groups = 1, blocks = 1;
};
struct FillRegion {
  RegionId region = 0;
  Access source;
};
// tile += a @ b^T. An operand named in place takes the tile's own window.
using Factor = std::variant<Access, RegionId>;
struct Contraction {
  TileId tile = 0;
  Factor a, b;
};
// target <<= expression. `leaves` are distinct, in the order the expression first meets them.
struct Store {
  Access target;
  base::Expr expr;
  std::vector<Leaf> leaves;
  std::uint64_t part = 8192;  // elements of a part
  bool reduce = false;        // one row fold of one view, written as a statement of its own
};

struct Axis {
  std::string name;  // unique in the kernel
  base::Index extent;
};
struct Node;
using Body = std::vector<Node>;
struct Tiling {
  std::vector<Axis> axes;
  bool barrier = false;  // `units`; else `grid`
  std::shared_ptr<Body> body;
};
struct Loop {
  Axis axis;
  std::shared_ptr<Body> body;
};
struct Node {
  std::variant<Tiling, Loop, OpenTile, OpenRegion, FillRegion, Contraction, Store> it;
};

struct Kernel {
  std::string name;
  Knobs knobs;                                               // effective: defaults with what was given
  std::map<std::string, std::int64_t, std::less<>> extents;  // by symbol
  Shape lead;                                                // what the ports' ellipses absorbed
  std::uint64_t flat = 0;                                    // elements of a flat port; 0 when there is none
  std::uint64_t batch = 1;                                   // independent elements of every batched buffer
  std::vector<Buffer> buffers;  // ports in the order of their declaration, then as they are made
  Body body;
  std::uint64_t part = 8192;  // knob `part`, or what section 2 gives
  bool fuse = true;           // knob `fuse`
};

// Throws base::Refusal (phase kTrace; kLayout for a port that nothing touches) or UserError.
void verify(const Kernel& kernel);
// MLIR-like text; parse(print(k)) prints the same again. Throws UserError with the place.
std::string print(const Kernel& kernel);
Kernel parse(std::string_view text, std::string_view file_name);

}  // namespace ktpu::kernel
