// SPDX-License-Identifier: Apache-2.0
// Flash attention (compiler.md section 20): keys come in blocks, a running maximum and a running sum make the
// softmax independent of their order. So the one block that is masked goes first, where its extra pass costs
// nothing of the running state.
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernels/library.h"

namespace ktpu::kernels {

using base::Index;
using kernel::Accumulator;
using kernel::Extent;
using kernel::in;
using kernel::out;
using kernel::Ref;
using kernel::Trace;
using kernel::Value;

namespace {

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix,
                         base::Phase phase = base::Phase::kTrace) {
  throw base::Refusal(phase, code, what, fix);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct Sizes {
  std::int64_t block = 0, span = 0;  // keys, queries of a block
  std::int64_t query_blocks = 0, key_blocks = 0;
  std::int64_t ragged = 0;  // keys that count in the last, masked block; 0: none is masked for it
  bool causal = false;
};

// Block j begins at tile, and at chunk of K, j times those of a block: they have to be whole. The phases are
// those in which the levels below see the same in most shapes; they do not in all.
void check_grain(Trace& L, const Sizes& s) {
  const std::int64_t gm = L.whole("gm"), gn = L.whole("gn"), nk = L.whole("nk");
  if (gm < 1 || gn < 1 || nk < 1) return;  // said where they are used
  if (s.query_blocks > 1 && s.span % (4 * gm) != 0)
    refuse("ATTENTION_GRAIN", fmt::format("blocks of {} queries in tiles of {}", s.span, 4 * gm),
           "give a qblock of whole tiles, 4 gm rows each", base::Phase::kLayout);
  const std::int64_t visited = s.causal ? s.query_blocks : s.key_blocks + (s.ragged != 0 ? 1 : 0);
  if (visited > 1 && s.block % (4 * gn) != 0)
    refuse("ATTENTION_GRAIN", fmt::format("blocks of {} keys in tiles of {}", s.block, 4 * gn),
           "give a block of whole tiles, 4 gn columns each", base::Phase::kLayout);
  // A chunk past the end of v is seen when its fill is built.
  const std::int64_t chunks = ceil_div(ceil_div(s.block, 32), nk);
  if (visited > 1 && s.block % (32 * nk) != 0 && visited * chunks <= ceil_div(ceil_div(L.dim("Lkv"), 32), nk))
    refuse("ATTENTION_GRAIN", fmt::format("blocks of {} keys in chunks of {}", s.block, 32 * nk),
           "give a block of whole chunks, 32 nk keys each", base::Phase::kBuild);
}

// Running sums have a place for every key of a block, and scale results of Dv columns place by place.
void check_width(Trace& L, const Sizes& s) {
  const std::int64_t width = L.dim("Dv"), whole = ceil_div(width, 32) * 32;
  if (s.block == width) return;
  const std::string pad = whole == width ? "" : fmt::format("pad v with rows of zeros to {} and ", whole);
  refuse("REACH_DIFFERS", fmt::format("blocks of {} keys, and v has {} rows", s.block, width),
         fmt::format("{}give block={}, and k and v whole blocks of keys", pad, whole), base::Phase::kLayout);
}

Sizes sizes_of(Trace& L) {
  Sizes s;
  s.block = L.whole("block");
  s.causal = L.flag("causal");
  const std::int64_t queries = L.dim("Lq"), length = L.dim("Lkv");
  const std::int64_t keys = L.given("keys") ? L.whole("keys") : length;
  if (s.block < 1) refuse("KNOB_NOT_POSITIVE", fmt::format("block of {}", s.block), "give it 1 or more");
  if (length % s.block != 0)
    refuse("ATTENTION_KEYS", fmt::format("{} keys are no whole blocks of {}", length, s.block),
           "pad k and v to whole blocks and name the true count with the knob keys");
  if (keys < 1 || keys > length)
    refuse("ATTENTION_KEYS", fmt::format("{} of {} keys", keys, length), "give keys 1 .. the rows of k");
  s.key_blocks = keys / s.block;
  s.ragged = keys % s.block;
  if (s.causal && s.ragged != 0)
    refuse("CAUSAL_KEYS", fmt::format("causal over {} keys, blocks have {}", keys, s.block),
           "give whole blocks of keys, or leave causal out");
  if (s.causal && L.whole("groups") != 1)
    refuse("CAUSAL_GROUPS", fmt::format("causal with {} query heads stacked", L.whole("groups")),
           "call it once for each query head");
  // A mask is one table for all query blocks, as high as a block of keys.
  const bool masked = s.causal || s.ragged != 0;
  s.span = L.given("qblock") ? L.whole("qblock") : masked ? s.block : queries;
  if (s.causal && s.span != s.block)
    refuse("CAUSAL_QBLOCK", fmt::format("causal with qblock {} and block {}", s.span, s.block),
           "give both the same: the mask is the triangle of one block");
  if (s.span < 1 || queries % s.span != 0)
    refuse("ATTENTION_QBLOCK", fmt::format("{} queries are no whole blocks of {}", queries, s.span),
           "give a qblock that divides the rows of q");
  s.query_blocks = queries / s.span;
  // No block of keys is the diagonal one's: the reference notices when it builds that fill.
  if (s.causal && s.query_blocks > s.key_blocks)
    refuse("CAUSAL_KEYS", fmt::format("causal with {} queries over {} keys", queries, keys),
           "give at least one key a query", base::Phase::kBuild);
  check_grain(L, s);
  check_width(L, s);
  return s;
}

class Attention {
 public:
  explicit Attention(Trace& trace)
      : L(trace),
        s(sizes_of(trace)),
        q(L.port("q")),
        k(L.port("k")),
        v(L.port("v")),
        o(L.port("o")),
        top(temp(s.block)),
        total(temp(s.block)),
        corr(temp(s.block)),
        scores(temp(s.block)),
        weights(temp(s.block)),
        part_o(temp(L.dim("Dv"))),
        acc_o(temp(L.dim("Dv"))) {}

  void run() {
    std::optional<Ref> mask;
    if (s.causal) mask = table([](std::int64_t row, std::int64_t column) { return column <= row; });
    if (s.ragged != 0) mask = table([&](std::int64_t, std::int64_t column) { return column < s.ragged; });
    // Each block of queries has its place in the result, so this loop is the host's.
    for (std::int64_t i = 0; i < s.query_blocks; ++i) {
      for_each_part(L, total, [&](const Index& e) {
        total(e) <<= 0.0;
        acc_o(e) <<= 0.0;
        top(e) <<= -60000.0;
      });
      if (mask) block(i, s.causal ? i : s.key_blocks, &*mask);
      const std::int64_t open = s.causal ? i : s.key_blocks;
      if (open > 0) L.loop(open, [&](const Index& j) { block(i, j, nullptr); });
      const Ref result = o.rows_from(i * s.span);
      for_each_part(L, acc_o, [&](const Index& e) { result(e) <<= acc_o(e) / total(e); });
    }
  }

 private:
  Ref temp(std::int64_t columns) {
    return L.temp({static_cast<std::uint32_t>(s.span), static_cast<std::uint32_t>(columns)});
  }
  Ref table(const std::function<bool(std::int64_t, std::int64_t)>& counts) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < s.span; ++row)
      for (std::int64_t column = 0; column < s.block; ++column)
        values.push_back(counts(row, column) ? 1.0 : 0.0);
    return L.table({static_cast<std::uint32_t>(s.span), static_cast<std::uint32_t>(s.block)}, values);
  }

  // Block j of the keys for block i of the queries.
  void block(std::int64_t i, const Index& j, const Ref* mask) {
    const std::int64_t gm = L.whole("gm"), gn = L.whole("gn"), nk = L.whole("nk");
    const Extent span_tiles = scores.tiles(gm);
    const std::int64_t key_tiles = ceil_div(ceil_div(s.block, 4), gn);
    const Index first_query = Index(i) * span_tiles.count;
    L.units(span_tiles, key_tiles, [&](const Index& a, const Index& b) {
      const Accumulator acc = L.tile(gm, gn, nk);
      L.loop(q.chunks32(nk),
             [&](const Index& c) { acc += matmul(q(first_query + a, c), k(j * key_tiles + b, c)); });
      scores(a, b) <<= acc;
    });
    for_each_part(L, total, [&](const Index& e) {
      const Value top_now = maximum(top(e), row_max(scores(e)));
      const Value c = exp2(top(e) - top_now), p = exp2(scores(e) - top_now);
      corr(e) <<= c;
      weights(e) <<= p;
      total(e) <<= total(e) * c + row_sum(p);
      top(e) <<= top_now;
    });
    if (mask)
      for_each_part(L, total, [&](const Index& e) {
        const Value p = weights(e) * (*mask)(e);
        weights(e) <<= p;
        total(e) <<= row_sum(p);
      });
    const Extent chunks = weights.chunks32(nk);
    L.units(span_tiles, v.tiles(gn), [&](const Index& a, const Index& b) {
      const Accumulator acc = L.tile(gm, gn, nk);
      L.loop(chunks, [&](const Index& c) { acc += matmul(weights(a, c), v(b, j * chunks.count + c)); });
      part_o(a, b) <<= acc;
    });
    for_each_part(L, acc_o, [&](const Index& e) { acc_o(e) <<= acc_o(e) * corr(e) + part_o(e); });
  }

  Trace& L;
  Sizes s;
  Ref q, k, v, o;
  Ref top, total, corr, scores, weights, part_o, acc_o;
};

// The largest number from `most` down of which `length` is a whole number of `unit` times; else `most`.
std::int64_t dividing(std::int64_t most, std::int64_t unit, std::int64_t length) {
  for (std::int64_t n = most; n >= 1; --n)
    if (length % (unit * n) == 0) return n;
  return most;
}

// Blocks of whole tiles, chunks and parts.
void settle(const kernel::Kernel& bound, kernel::Knobs& knobs) {
  const std::int64_t queries = bound.extents.at("Lq"), length = bound.extents.at("Lkv"),
                     width = bound.extents.at("Dv");
  // No other block goes with the rows of v: see check_width().
  if (knob_of(knobs, "block") != 0 && length % width == 0 && (width % 32 == 0 || width == length))
    knobs.insert_or_assign("block", width);
  const std::int64_t block = knob_of(knobs, "block");
  const std::int64_t keys = knob_of(knobs, "keys") == 0 ? length : knob_of(knobs, "keys");
  if (block == 0) return;
  settle_part(knobs, block);
  const auto causal = knobs.find("causal");
  const bool is_causal = causal != knobs.end() && causal->second == kernel::Knob(true);
  const bool ragged = keys % block != 0;
  // A mask of columns is as high as it has to be.
  if (ragged && !is_causal && knob_of(knobs, "qblock") == 0 && queries % block != 0)
    knobs.insert_or_assign("qblock", queries);
  const std::int64_t qblock = knob_of(knobs, "qblock");
  const std::int64_t span = qblock != 0 ? qblock : is_causal || ragged ? block : queries;
  const auto settle = [&](const char* name, std::int64_t unit, std::int64_t of) {
    if (const std::int64_t most = knob_of(knobs, name); most != 0)
      knobs.insert_or_assign(name, dividing(std::min(most, of), unit, of));
  };
  if (queries > span) settle("gm", 4, span);
  if (length > block) {
    settle("gn", 4, block);
    settle("nk", 32, block);
  }
}

}  // namespace

void add_attention(Definitions& all) {
  all.push_back({"kernels.flash_attention",
                 {in("q", {"...", "Lq", "Dqk"}), in("k", {"...", "Lkv", "Dqk"}),
                  in("v", {"...", "Dv", "Lkv"}), out("o", {"...", "Lq", "Dv"})},
                 {{"block", 64},
                  {"qblock", {}},
                  {"causal", false},
                  {"keys", {}},
                  {"groups", 1},
                  {"gm", 8},
                  {"gn", 8},
                  {"nk", 2},
                  {"part", 8192}},
                 [](Trace& L) { Attention(L).run(); },
                 settle});
}

}  // namespace ktpu::kernels
