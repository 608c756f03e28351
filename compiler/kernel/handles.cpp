// SPDX-License-Identifier: Apache-2.0
// Views of buffers, regions, accumulators and products (compiler.md section 14).
#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/trace.h"
#include "compiler/kernel/trace_state.h"

namespace ktpu::kernel {

using base::Phase;
using base::Refusal;

namespace {

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& fix) {
  throw Refusal(Phase::kTrace, code, what, fix);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

const std::string& name_of(const Ref& ref) { return ref.trace()->kernel.buffers.at(ref.view().buffer).name; }

void require_positive(std::int64_t n, const Ref& ref, const char* method) {
  if (n < 1)
    refuse("KNOB_NOT_POSITIVE", fmt::format("{}.{}({})", name_of(ref), method, n), "give it 1 or more");
}

[[noreturn]] void refuse_product_store() {
  refuse("CONTRACTION_WITHOUT_TILE", "a product stored without an accumulator",
         "open one: acc = tile(gm, gn, nk); acc += matmul(a(i, k), b(j, k)); c(i, j) <<= acc");
}

}  // namespace

std::int64_t Ref::columns() const {
  if (view_.shape.empty()) return 1;
  const std::int64_t last = view_.shape.back();
  return view_.kind == View::Kind::kTaps ? 9 * last : last;
}
std::int64_t Ref::rows() const {
  if (view_.kind != View::Kind::kTaps) return elements() / columns();
  // From the window of the first pixel to that of the last, the padding between two lines included.
  const std::int64_t height = view_.shape[0], width = view_.shape[1];
  return (height - 1) * (width + 2) + width;
}
std::int64_t Ref::elements() const { return static_cast<std::int64_t>(kernel::elements(view_.shape)); }

Extent Ref::tiles(std::int64_t g) const {
  require_positive(g, *this, "tiles");
  return {ceil_div(ceil_div(rows(), 4), g)};
}
Extent Ref::chunks32(std::int64_t nk) const {
  require_positive(nk, *this, "chunks32");
  return {ceil_div(ceil_div(columns(), 32), nk)};
}
Extent Ref::parts(std::int64_t p) const {
  require_positive(p, *this, "parts");
  return {base::Index(ceil_div(elements(), p)), static_cast<std::uint64_t>(p)};
}

Ref Ref::rows_from(std::int64_t row) const {
  if (view_.kind != View::Kind::kPlain || view_.shape.size() < 2)
    refuse("VIEW_OF_VIEW", fmt::format("rows_from on {}, which has no rows of its own", name_of(*this)),
           "take the rows of the buffer, as_rows(width) first when it is one block");
  if (row < 0 || row >= rows())
    refuse("ROWS_OUT_OF_RANGE", fmt::format("{} has {} rows, none is row {}", name_of(*this), rows(), row),
           "begin at one of its rows");
  View view = view_;
  view.offset += static_cast<std::uint64_t>(row * columns());
  view.shape = {static_cast<std::uint32_t>(rows() - row), static_cast<std::uint32_t>(columns())};
  return {trace_, std::move(view)};
}
Ref Ref::as_rows(std::int64_t width) const {
  if (view_.kind != View::Kind::kPlain)
    refuse("VIEW_OF_VIEW", fmt::format("as_rows on a spread of {}", name_of(*this)),
           "take the rows first, then the spread");
  if (width < 1 || elements() % width != 0)
    refuse("ROWS_NOT_WHOLE",
           fmt::format("{} elements of {} are no whole rows of {}", elements(), name_of(*this), width),
           "give a width that divides the elements");
  View view = view_;
  view.shape = {static_cast<std::uint32_t>(elements() / width), static_cast<std::uint32_t>(width)};
  return {trace_, std::move(view)};
}
Ref Ref::repeated() const {
  if (view_.kind != View::Kind::kPlain)
    refuse("VIEW_OF_VIEW", fmt::format("repeated on a spread of {}", name_of(*this)), "spread it once");
  View view = view_;
  view.kind = View::Kind::kSpread;
  view.spread = {kernel::elements(view.shape), kernel::elements(view.shape)};
  return {trace_, std::move(view)};
}
Ref Ref::per_group(std::int64_t group) const {
  if (view_.kind != View::Kind::kPlain || view_.shape.size() < 2)
    refuse("VIEW_OF_VIEW", fmt::format("per_group on {}, which has no rows of its own", name_of(*this)),
           "take the groups of the buffer, as_rows(width) first when it is one block");
  require_positive(group, *this, "per_group");
  View view = view_;
  view.kind = View::Kind::kSpread;
  const auto width = static_cast<std::uint64_t>(columns());
  view.spread = {static_cast<std::uint64_t>(group) * width, width};
  return {trace_, std::move(view)};
}
Ref Ref::taps() const {
  if (view_.kind != View::Kind::kPlain || view_.shape.size() != 3)
    refuse("CONV_RANK", fmt::format("{} is no image of height, width, channels", name_of(*this)),
           "give a port of three axes");
  // The reference notices when it packs the image; nothing depends on the earlier word.
  if (view_.shape[2] % 32 != 0)
    throw Refusal(Phase::kPack, "CONV_CHANNELS",
                  fmt::format("{} has {} channels, blocks have 32", name_of(*this), view_.shape[2]),
                  "pad the channels with zeros to a multiple of 32");
  View view = view_;
  view.kind = View::Kind::kTaps;
  return {trace_, std::move(view)};
}

At Ref::operator()(const base::Index& part) const {
  require_open(trace_);
  return {trace_, {view_, {part}}};
}
At Ref::operator()(const base::Index& row, const base::Index& column) const {
  require_open(trace_);
  return {trace_, {view_, {row, column}}};
}
void Ref::operator<<=(const Value& value) const {
  require_same(trace_, value.node()->trace);
  trace_->store({view_, {}}, value, false);
}
void Ref::operator<<=(const Product& product) const {
  require_same(trace_, product.a.trace);
  refuse("WHOLE_BUFFER_CONTRACTION", fmt::format("{} <<= a whole product", name_of(*this)),
         "tile it: units(a.tiles(gm), b.tiles(gn), ...) with a tile() and a loop over chunks32(nk)");
}
void Ref::refuse_add() {
  refuse("ADD_TO_EXPRESSION", "`+=` on a buffer", "write y <<= y + x; contractions go to an accumulator");
}

void At::operator<<=(const Value& value) const {
  require_same(trace_, value.node()->trace);
  trace_->store(access_, value, false);
}
void At::operator<<=(const Product&) const { refuse_product_store(); }
void At::refuse_add() {
  refuse("ADD_TO_EXPRESSION", "`+=` on a part of a buffer",
         "write y(e) <<= y(e) + x(e); contractions go to an accumulator");
}

void RegionRef::operator<<=(const At& source) const {
  require_same(trace_, source.trace());
  trace_->add({FillRegion{region_.region, source.access()}});
}

const Accumulator& Accumulator::operator+=(const Product& product) const {
  require_same(trace_, product.a.trace);
  if (product.a.whole || product.b.whole)
    refuse("WHOLE_BUFFER_CONTRACTION", "a whole buffer in a product",
           "name a tile and a chunk of it: a(i, k)");
  trace_->add({Contraction{tile_, product.a.factor, product.b.factor}});
  return *this;
}
const Accumulator& Accumulator::operator+=(const Value&) const {
  refuse("ADD_TO_EXPRESSION", "an accumulator takes products only",
         "add the rest in its epilogue: y(i, j) <<= acc + x(i, j)");
}

Product::Side::Side(const Ref& ref) : trace(ref.trace()), factor(Access{ref.view(), {}}), whole(true) {}
Product::Side::Side(const At& part) : trace(part.trace()), factor(part.access()) {}
Product::Side::Side(const RegionRef& ref) : trace(ref.trace()), factor(ref.region().region) {}
Product::Side::Side(const Accumulator&) {
  refuse("TILE_IN_PRODUCT", "an accumulator as a factor of a product",
         "store it first, then multiply what it was stored to");
}
Product::Side::Side(const Value&) {
  refuse("EXPRESSION_IN_PRODUCT", "an expression as a factor of a product",
         "store it in a temp() first, the cluster reads memory only");
}

Product matmul(const Product::Side& a, const Product::Side& b) {
  require_same(a.trace, b.trace);
  return {{}, a, b};
}

}  // namespace ktpu::kernel
