// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernel/trace.h"

#include <algorithm>

#include "arch/error.h"
#include "arch/program/image.h"
#include "compiler/base/refusal.h"
#include "compiler/kernel/definition.h"
#include "compiler/kernel/trace_state.h"

namespace ktpu::kernel {

using base::LaneOp;
using base::Phase;
using base::Refusal;

namespace {

// A traced expression as plain data. Leaves are numbered as a walk, arguments left to right, first meets
// them.
class Flattener {
 public:
  explicit Flattener(Store& store) : store_(store) {}
  base::Expr::Id add(const std::shared_ptr<const Value::Node>& node) {
    const auto known = done_.find(node.get());
    if (known != done_.end()) return known->second;
    base::Expr::Id id = 0;
    if (node->op == LaneOp::kLeaf) {
      const auto found = std::find(store_.leaves.begin(), store_.leaves.end(), node->leaf);
      id = store_.expr.leaf(static_cast<std::uint32_t>(found - store_.leaves.begin()));
      if (found == store_.leaves.end()) store_.leaves.push_back(node->leaf);
    } else {
      std::array<base::Expr::Id, 3> args{};
      for (unsigned i = 0; i < info(node->op).arguments; ++i) args[i] = add(node->args[i]);
      id = store_.expr.op(node->op, args, is_fold(node->op) ? node->row : std::nullopt);
    }
    done_.emplace(node.get(), id);
    return id;
  }

 private:
  Store& store_;
  std::map<const Value::Node*, base::Expr::Id> done_;
};

void set_land(Node& node, const std::map<TileId, std::string>& lands) {
  if (auto* tile = std::get_if<OpenTile>(&node.it)) {
    const auto found = lands.find(tile->tile);
    if (found != lands.end()) tile->land = found->second;
  } else if (const auto* tiling = std::get_if<Tiling>(&node.it)) {
    for (Node& inner : *tiling->body) set_land(inner, lands);
  } else if (const auto* loop = std::get_if<Loop>(&node.it)) {
    for (Node& inner : *loop->body) set_land(inner, lands);
  }
}

}  // namespace

void TraceState::add(Node node) { bodies.back()->push_back(std::move(node)); }

void TraceState::store(const Access& target, const Value& value, bool reduce) {
  const Value::Node& node = *value.node();
  const bool leaf = node.op == LaneOp::kLeaf;
  // A bare accumulator drains. Nothing else leaves as it is: a lane program stores what an operation made.
  if (leaf && node.leaf.kind == Leaf::Kind::kConstant) {
    store(target, Value(At(shared_from_this(), target)) * 0.0 + node.leaf.value, reduce);
    return;
  }
  if (leaf && node.leaf.kind == Leaf::Kind::kAccess) {
    store(target, value * 1.0, reduce);
    return;
  }
  Store made;
  made.target = target;
  made.part = kernel.part;
  made.reduce = reduce;
  if (target.index.size() == 1 && target.index[0].is_axis()) {
    const auto found = parts.find(*target.index[0].axes().begin());
    if (found != parts.end()) made.part = found->second;
  }
  Flattener flattener(made);
  made.expr.set_root(flattener.add(value.node()));
  if (!leaf)
    for (const Leaf& read : made.leaves) {
      if (read.kind != Leaf::Kind::kTile || lands.contains(read.tile)) continue;
      // Staged, the epilogue's buffer takes the counter's next number. While it may fuse, nothing is taken.
      const std::uint64_t number = kernel.fuse ? counter + ++unused_lands : ++counter;
      lands.emplace(read.tile, fmt::format("land{}", number));
    }
  add({std::move(made)});
}

Trace::Trace(Kernel bound, Takes takes) : state_(std::make_shared<TraceState>()), takes_(takes) {
  state_->kernel = std::move(bound);
  state_->bodies.push_back(std::make_shared<Body>());
}
Trace::~Trace() { state_->open = false; }

Kernel Trace::close() {
  require_open(state_);
  state_->open = false;
  for (Node& node : *state_->bodies.front()) set_land(node, state_->lands);
  state_->kernel.body = std::move(*state_->bodies.front());
  return std::move(state_->kernel);
}

Ref Trace::port(std::string_view name) const {
  const std::vector<Buffer>& buffers = state_->kernel.buffers;
  const auto found =
      std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
  KTPU_CHECK(found != buffers.end(), "{} has no port {}", state_->kernel.name, name);
  View view;
  view.buffer = static_cast<BufferId>(found - buffers.begin());
  view.shape = found->shape;
  return {state_, std::move(view)};
}
std::int64_t Trace::dim(std::string_view symbol) const {
  const auto found = state_->kernel.extents.find(symbol);
  KTPU_CHECK(found != state_->kernel.extents.end(), "{} has no extent {}", state_->kernel.name, symbol);
  return found->second;
}
std::uint64_t Trace::flat() const { return state_->kernel.flat; }

namespace {

const Knob& knob_of(const Kernel& kernel, std::string_view name) {
  const auto found = kernel.knobs.find(name);
  KTPU_CHECK(found != kernel.knobs.end(), "{} has no knob {}", kernel.name, name);
  return found->second;
}
template <class T>
const T& typed(const Kernel& kernel, std::string_view name, const char* what) {
  const Knob& knob = knob_of(kernel, name);
  if (const T* value = std::get_if<T>(&knob)) return *value;
  throw Refusal(Phase::kBind, "KNOB_TYPE", fmt::format("knob {} of {} is {}", name, kernel.name, print(knob)),
                fmt::format("give it {}", what));
}

}  // namespace

std::int64_t Trace::whole(std::string_view knob) const {
  return typed<std::int64_t>(state_->kernel, knob, "a whole number");
}
double Trace::number(std::string_view knob) const {
  if (const auto* n = std::get_if<std::int64_t>(&knob_of(state_->kernel, knob)))
    return static_cast<double>(*n);
  return typed<double>(state_->kernel, knob, "a number");
}
bool Trace::flag(std::string_view knob) const { return typed<bool>(state_->kernel, knob, "true or false"); }
std::string Trace::word(std::string_view knob) const {
  return typed<std::string>(state_->kernel, knob, "a word");
}
bool Trace::given(std::string_view knob) const {
  return !std::holds_alternative<std::monostate>(knob_of(state_->kernel, knob));
}

namespace {

Ref add_buffer(const std::shared_ptr<TraceState>& state, Buffer buffer) {
  require_open(state);
  if (buffer.shape.empty() || elements(buffer.shape) == 0)
    throw Refusal(Phase::kTrace, "EMPTY_BUFFER", fmt::format("{} has no elements", buffer.name),
                  "give every axis 1 or more");
  View view;
  view.buffer = static_cast<BufferId>(state->kernel.buffers.size());
  view.shape = buffer.shape;
  state->kernel.buffers.push_back(std::move(buffer));
  return {state, std::move(view)};
}

}  // namespace

Ref Trace::temp(const Shape& shape) {
  Buffer buffer;
  buffer.name = fmt::format("t{}", ++state_->counter);
  buffer.role = Role::kTemp;
  buffer.shape = shape;
  const std::vector<Buffer>& all = state_->kernel.buffers;
  buffer.batched = std::any_of(all.begin(), all.end(), [](const Buffer& b) { return b.batched; });
  return add_buffer(state_, std::move(buffer));
}
Ref Trace::table(const Shape& shape, const std::vector<double>& values) {
  if (elements(shape) != values.size())
    throw Refusal(Phase::kTrace, "TABLE_VALUES",
                  fmt::format("a table of {} with {} values", print(shape), values.size()),
                  "give one value an element");
  Buffer buffer;
  buffer.name = fmt::format("k{}", ++state_->counter);
  buffer.role = Role::kTable;
  buffer.shape = shape;
  for (const double value : values) buffer.values.push_back(arch::double_to_fp16(value));
  return add_buffer(state_, std::move(buffer));
}

void Trace::tiling(bool barrier, const std::vector<Extent>& axes,
                   const std::function<void(const Indices&)>& body) {
  require_open(state_);
  Tiling made;
  made.barrier = barrier;
  made.body = std::make_shared<Body>();
  Indices at;
  for (const Extent& axis : axes) {
    const std::string name = fmt::format("i{}", state_->axes++);
    if (axis.part != 0) state_->parts.emplace(name, axis.part);
    made.axes.push_back({name, axis.count});
    at.push_back(base::Index::axis(name));
  }
  const std::shared_ptr<Body> inner = made.body;
  state_->add({std::move(made)});
  state_->bodies.push_back(inner);
  body(at);
  state_->bodies.pop_back();
}

void Trace::loop(const Extent& n, const std::function<void(const base::Index&)>& body) {
  require_open(state_);
  Loop made;
  made.body = std::make_shared<Body>();
  made.axis = {fmt::format("l{}", ++state_->counter), n.count};
  if (n.part != 0) state_->parts.emplace(made.axis.name, n.part);
  const base::Index at = base::Index::axis(made.axis.name);
  const std::shared_ptr<Body> inner = made.body;
  state_->add({std::move(made)});
  state_->bodies.push_back(inner);
  body(at);
  state_->bodies.pop_back();
}

namespace {

std::uint32_t count_of(std::int64_t n, const char* what) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (n < 1 || n > kMost)
    throw Refusal(Phase::kTrace, "KNOB_NOT_POSITIVE", fmt::format("{} of {}", what, n),
                  fmt::format("give it 1 to {}", kMost));
  return static_cast<std::uint32_t>(n);
}

}  // namespace

Accumulator Trace::tile(std::int64_t gm, std::int64_t gn, std::int64_t nk) {
  require_open(state_);
  OpenTile made;
  made.tile = static_cast<TileId>(++state_->counter);
  made.gm = count_of(gm, "tile rows");
  made.gn = count_of(gn, "tile columns");
  made.nk = count_of(nk, "tile blocks");
  state_->add({made});
  return {state_, made.tile};
}
RegionRef Trace::region(std::int64_t groups, std::int64_t blocks) {
  require_open(state_);
  const OpenRegion made{state_->regions++, count_of(groups, "region groups"),
                        count_of(blocks, "region blocks")};
  state_->add({made});
  return {state_, made};
}

void Trace::reduce(LaneOp fold, const Ref& target, const Ref& source) {
  require_same(target.trace(), source.trace());
  state_->store({target.view(), {}}, Value::op(fold, {source}), true);
}
void Trace::reduce(LaneOp fold, const At& target, const At& source) {
  require_same(target.trace(), source.trace());
  state_->store(target.access(), Value::op(fold, {source}), true);
}

Knobs settled(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs) {
  if (!definition.settle) return knobs;
  const Kernel bound = bind(definition, inputs, knobs);
  Knobs settled = bound.knobs;
  definition.settle(bound, settled);
  return settled;
}

Kernel trace(const Definition& definition, const std::map<std::string, Shape>& inputs, const Knobs& knobs,
             Takes takes) {
  Trace running(bind(definition, inputs, knobs), takes);
  definition.body(running);
  Kernel kernel = running.close();
  verify(kernel);
  return kernel;
}

}  // namespace ktpu::kernel
