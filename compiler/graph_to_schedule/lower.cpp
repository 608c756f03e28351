// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_to_schedule/lower.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/base/refusal.h"
#include "compiler/graph_to_schedule/joining.h"
#include "compiler/graph_to_schedule/orders.h"
#include "compiler/graph_to_schedule/placement.h"
#include "compiler/graph_to_schedule/sizes.h"
#include "compiler/graph_to_schedule/stages.h"

namespace ktpu::graph_to_schedule {
namespace {

using base::CannotFuse;
using base::Phase;
using base::Refusal;
using graph::Apply;
using schedule::BufferId;
using schedule::Layout;
using schedule::Policy;
using schedule::UnitType;

constexpr std::uint32_t kDescriptors = 8;

std::uint64_t number(const base::Index& index, const char* what) {
  const std::int64_t value = index.at({});
  if (value < 0)
    throw Refusal(Phase::kStages, "INDEX_NEGATIVE", fmt::format("{} is {}", what, value),
                  "indices count from 0");
  return static_cast<std::uint64_t>(value);
}

// "const2.0", "const1e-05": the shortest decimal that reads back as the same double.
std::string constant_name(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return fmt::format("const{}", text);
}

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const schedule::Resources& resources, const Options& options)
      : graph_(graph), options_(options) {
    out_.name = graph.name;
    out_.policy = options.policy;
    out_.batch = graph.batch;
    out_.part = graph.part;
    out_.resources = resources;
    stages_ = form_stages(graph, resources, options);
    orders_ = choose_orders(graph, stages_, options.policy);
    for (const ProtoStage& stage : stages_) check(stage);
    if (options.regrid)
      for (ProtoStage& stage : stages_) widen(stage);
    buffers();
    for (std::size_t s = 0; s < stages_.size(); ++s) convert(s);
    relayouts();
    transfers();
    if (options.policy == Policy::kBest) pad();
    place_buffers(out_, graph, options.reuse_temps);
    if (options.policy == Policy::kBest) waits();
  }
  schedule::Schedule take() { return std::move(out_); }

 private:
  ChainPlace place_of(const Apply& apply, const ProtoStage& stage) const {
    return {apply, orders_, static_cast<std::size_t>(&stage - stages_.data())};
  }
  ChainPlace checked(const Apply& apply, const ProtoStage& stage) const {
    ChainPlace place = place_of(apply, stage);
    place.before_padding = true;
    return place;
  }

  // --- What is refused before anything is placed.
  void check(const ProtoStage& stage) const {
    if (stage.places.empty()) return;
    const Place& place = stage.places.front();
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (const Apply* apply = std::get_if<Apply>(&place[i])) {
        validate_chain(graph_, checked(*apply, stage));
        std::vector<const Apply*> earlier;
        for (std::size_t j = 0; j < i; ++j)
          if (const Apply* writer = std::get_if<Apply>(&place[j])) earlier.push_back(writer);
        hazard(stage, earlier, *apply);
      }
      if (const auto* fill = std::get_if<graph::Fill>(&place[i]))
        for (std::size_t j = 0; j < i; ++j)
          if (const auto* drain = std::get_if<graph::Drain>(&place[j]))
            if (drain->buffer == fill->buffer) refuse_hazard(fill->buffer);
    }
    if (stage.feeds_next) pairing(stage);
  }

  [[noreturn]] void refuse_hazard(graph::BufferId buffer) const {
    throw Refusal(Phase::kStages, "HAZARD",
                  fmt::format("%{} is read in the stage that writes it", graph_.buffers[buffer].name),
                  "put a barrier between the two: a tiling of its own (units) for each");
  }

  void hazard(const ProtoStage& stage, const std::vector<const Apply*>& earlier, const Apply& apply) const {
    for (auto at = earlier.begin(); at != earlier.end(); ++at) {
      const Apply* writer = *at;
      bool exactly = true;
      if (!depends(apply, *writer, &exactly)) continue;
      // One vector program hands the result on: that of the two, or a longer one, whose statements share
      // operands and results with them. (Policy best has a program for all that is exactly what was written.)
      bool handed_on = joins({writer}, apply, false) || (exactly && options_.policy == Policy::kBest);
      for (auto first = earlier.begin(); !handed_on && first <= at; ++first)
        handed_on = joins({first, earlier.end()}, apply, false);
      if (handed_on) continue;
      const std::uint64_t stride = chain_size(checked(*writer, stage), stage.grid).stride;
      const ChainPlace written = checked(*writer, stage), read = checked(apply, stage);
      const std::uint64_t from = number(writer->target.part, "a part") * stride +
                                 offset_of(written, writer->target.buffer, writer->target.offset),
                          to = from + chain_span(written, stride);
      for (const graph::Leaf& leaf : apply.leaves) {
        if (leaf.kind != graph::Leaf::Kind::kPart || leaf.buffer != writer->target.buffer) continue;
        const std::uint64_t own = chain_size(read, stage.grid).stride;
        const std::uint64_t begin =
                                number(leaf.part, "a part") * own + offset_of(read, leaf.buffer, leaf.offset),
                            end = begin + chain_span(read, own);
        if (leaf.spread || (begin < to && from < end)) refuse_hazard(leaf.buffer);
      }
    }
  }

  bool only_fused(const ProtoStage& vector_stage) const {
    for (const Statement& statement : vector_stage.places.front())
      if (const Apply* apply = std::get_if<Apply>(&statement))
        for (const graph::Leaf& leaf : apply->leaves)
          if (leaf.kind == graph::Leaf::Kind::kChannel) return true;
    return false;
  }

  void pairing(const ProtoStage& stage) const {
    const auto next = static_cast<std::size_t>(&stage - stages_.data()) + 1;
    KTPU_CHECK(next < stages_.size() && stages_[next].resident, "tiles are delivered to no epilogue");
    if (!out_.resources.agent)
      throw CannotFuse(Phase::kLayout, "NO_AGENT", "the machine has no agent to take acknowledgements",
                       "stage the epilogue (knob fuse = false)");
    const std::uint64_t instances = stage.places.size() * graph_.batch;
    const bool waves = options_.policy == Policy::kBest && only_fused(stages_[next]);
    if (instances > out_.resources.vector_cores && !waves)
      throw CannotFuse(Phase::kLayout, "MORE_INSTANCES_THAN_CORES",
                       fmt::format("{} accumulators would be delivered to {} vector cores", instances,
                                   out_.resources.vector_cores),
                       "stage the epilogue (knob fuse = false), or use larger tiles");
  }

  // Section 16, regrid: as many instances as the operands have parts.
  void widen(ProtoStage& stage) const {
    if (!stage.formed || stage.grid.size() != 1) return;
    std::uint64_t room = ~0ull;
    for (const Apply& apply : stage.pattern) {
      if (apply.expr.has_fold() || apply.reduce) return;
      room = std::min(room, chain_size(place_of(apply, stage), stage.grid).room);
    }
    const std::uint64_t part = stage.pattern.front().part;
    regrid(stage, {static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (room + part - 1) / part))});
  }

  // --- Buffers.
  Layout wrapped(graph::BufferId id, const Layout& inner) const {
    const BufferOrders& orders = orders_.of.at(id);
    if (orders.batch_stride == 0) return inner;
    return Layout::batched(inner, static_cast<unsigned>(graph_.batch), orders.widest_bytes);
  }

  void buffers() {
    for (const graph::BufferId id : orders_.touched) {
      const graph::Buffer& from = graph_.buffers[id];
      const BufferOrders& orders = orders_.of.at(id);
      schedule::Buffer to;
      to.name = from.name;
      to.role = from.role == graph::Role::kIn     ? schedule::Role::kIn
                : from.role == graph::Role::kOut  ? schedule::Role::kOut
                : from.role == graph::Role::kTemp ? schedule::Role::kTemp
                                                  : schedule::Role::kTable;
      to.batched = orders.batch_stride != 0;
      // The caller's shape, also when the axes in front make one element only.
      if (from.batched) to.shape = graph_.lead;
      to.shape.insert(to.shape.end(), from.shape.begin(), from.shape.end());
      to.batch_stride = orders.batch_stride;
      to.first = wrapped(id, orders.changes.front().order);
      to.last = wrapped(id, orders.changes.back().order);
      to.nbytes = orders.nbytes;
      to.held = orders.held;
      to.held_widest = orders.held_widest;
      to.values = from.values;
      ids_[id] = static_cast<BufferId>(out_.buffers.size());
      out_.buffers.push_back(std::move(to));
    }
  }

  BufferId constant(double value, std::uint64_t elements) {
    const std::string name = constant_name(value);
    const auto found = std::find_if(out_.buffers.begin(), out_.buffers.end(), [&](const auto& b) {
      return b.role == schedule::Role::kConstant && b.name == name;
    });
    const auto id = static_cast<BufferId>(found - out_.buffers.begin());
    if (found == out_.buffers.end()) {
      schedule::Buffer array;
      array.name = name;
      array.role = schedule::Role::kConstant;
      array.value = value;
      out_.buffers.push_back(std::move(array));
    }
    schedule::Buffer& array = out_.buffers[id];
    array.held = array.held_widest = std::max(array.held, elements);
    array.nbytes = array.held * 2;
    array.shape = {static_cast<std::uint32_t>(array.held)};
    return id;
  }

  // --- Statements.
  schedule::Chain chain(const Apply& apply, const ProtoStage& stage) {
    schedule::Chain out;
    out.expr = apply.expr;
    out.reduce = apply.reduce;
    const bool resident = apply.has_resident();
    out.result.buffer = ids_.at(apply.target.buffer);
    const ChainPlace place = place_of(apply, stage);
    const ChainSize size = resident ? ChainSize{} : chain_size(place, stage.grid);
    const bool arrays = !resident && descriptor_budget({&apply}) <= kDescriptors && !goes_in_passes(apply);
    if (resident) {
      std::uint32_t columns = 1;
      for (std::size_t i = 1; i < stage.grid.size(); ++i) columns *= stage.grid[i];
      for (const graph::Leaf& leaf : apply.leaves)
        if (leaf.kind == graph::Leaf::Kind::kResident) {
          out.gm = delivered_.at(leaf.tile).gm;
          out.gn = delivered_.at(leaf.tile).gn;
        }
      out.span = 16ull * out.gm * out.gn;
      out.result.at =
          (number(apply.target.row, "a tile row") * columns + number(apply.target.column, "a tile column")) *
          out.span;
      out.asked_span = out.span;
      out.asked_at = out.result.at;
    } else {
      const std::uint64_t part = number(apply.target.part, "a part");
      const std::uint64_t offset = offset_of(place, apply.target.buffer, apply.target.offset);
      out.span = chain_span(place, size.stride);
      out.asked_span = chain_span(place, size.asked_stride);
      out.result.at = part * size.stride + offset;
      out.asked_at = part * size.asked_stride + offset;
      out.last = out.result.at + out.span >= held_in(place, apply.target.buffer);
    }
    for (const graph::Leaf& from : apply.leaves) {
      schedule::Leaf to;
      switch (from.kind) {
        case graph::Leaf::Kind::kConstant:
          to.kind = schedule::Leaf::Kind::kConstant;
          to.value = from.value;
          if (arrays) to.array = constant(from.value, size.stride);
          break;
        case graph::Leaf::Kind::kResident:
          to.kind = schedule::Leaf::Kind::kResident;
          to.slot = delivered_.at(from.tile).slot;
          break;
        case graph::Leaf::Kind::kChannel:
          to.kind = schedule::Leaf::Kind::kChannel;
          to.stretch = {ids_.at(from.buffer), number(from.column, "a tile column") * out.gn * 16};
          break;
        case graph::Leaf::Kind::kTile:
          KTPU_CHECK(false, "a tile operand was not refused");
          break;
        case graph::Leaf::Kind::kPart: {
          to.stretch.buffer = ids_.at(from.buffer);
          if (from.spread) {
            const graph::Spread spread = spread_of(place, from);
            to.period = spread.period;
            to.take = spread.take;
            to.whole = spread.whole;
          }
          const std::uint64_t part = to.whole ? 0 : number(from.part, "a part");
          const std::uint64_t offset = offset_of(place, from.buffer, from.offset);
          to.stretch.at = part * size.stride + offset;
          to.asked_at = part * size.asked_stride + offset;
          break;
        }
      }
      out.leaves.push_back(to);
    }
    return out;
  }

  // Rows of another width than a vector program of one pass takes (policy best): its constants come from
  // registers.
  bool goes_in_passes(const Apply& apply) const {
    if (options_.policy == Policy::kCompat) return false;
    return std::any_of(apply.expr.nodes().begin(), apply.expr.nodes().end(), [](const auto& node) {
      return base::is_fold(node.op) && node.row && (node.row->columns % 16 != 0 || node.row->columns > 128);
    });
  }

  schedule::Statement statement(const Statement& from, const ProtoStage& stage) {
    if (const auto* fill = std::get_if<graph::Fill>(&from)) {
      schedule::Fill to;
      to.buffer = ids_.at(fill->buffer);
      to.side = fill->side == graph::Side::kA ? schedule::Side::kA : schedule::Side::kB;
      to.operand = fill->operand;
      to.groups = fill->order.groups;
      to.blocks = fill->order.blocks;
      to.tile = number(fill->tile, "a tile");
      to.chunk = number(fill->chunk, "a chunk");
      to.chunks = fill->chunks;
      to.lane = number(fill->lane, "a lane");
      to.step = number(fill->step, "a step");
      return to;
    }
    if (const auto* gemm = std::get_if<graph::Gemm>(&from)) {
      schedule::Gemm to;
      to.tile_id = gemm->tile;
      to.gm = gemm->gm;
      to.gn = gemm->gn;
      to.nk = gemm->nk;
      to.a_operand = gemm->a_operand;
      to.b_operand = gemm->b_operand;
      to.acc = number(gemm->acc, "a step");
      // The reference does not know how many there are.
      if (options_.policy == Policy::kBest && std::uint64_t{to.gm} * to.gn > out_.resources.tiles)
        throw Refusal(Phase::kBuild, "TILE_OVER_ACCUMULATOR",
                      fmt::format("a tile of {}x{} sub-tiles, and the accumulator holds {}", to.gm, to.gn,
                                  out_.resources.tiles),
                      "choose a smaller gm or gn");
      return to;
    }
    if (const auto* drain = std::get_if<graph::Drain>(&from)) {
      schedule::Drain to;
      to.tile_id = drain->tile;
      to.gm = drain->gm;
      to.gn = drain->gn;
      to.buffer = ids_.at(drain->buffer);
      std::uint64_t columns = 1;
      for (std::size_t i = 1; i < stage.grid.size(); ++i) columns *= stage.grid[i];
      to.word = (number(drain->row, "a tile row") * columns + number(drain->column, "a tile column")) *
                drain->gm * drain->gn;
      return to;
    }
    if (const auto* node = std::get_if<NodeDrain>(&from)) {
      delivered_[node->tile] = *node;
      schedule::Drain to;
      to.tile_id = node->tile;
      to.gm = node->gm;
      to.gn = node->gn;
      to.slot = node->slot;
      return to;
    }
    return chain(std::get<Apply>(from), stage);
  }

  // --- Stages. A grid of more accumulators than vector cores whose epilogue can't be staged goes in waves:
  // as many instances at a time as there are cores.
  void convert(std::size_t s) {
    const ProtoStage& from = stages_[s];
    first_of_.push_back(out_.stages.size());
    if (from.feeds_next || (from.resident && s > 0 && stages_[s - 1].feeds_next)) {
      if (from.resident) return;  // made together with the stage that feeds it
      const std::size_t cores = std::max<std::size_t>(1, out_.resources.vector_cores);
      const std::size_t all = from.places.size() * graph_.batch;
      for (std::size_t begin = 0; begin < all; begin += cores) {
        out_.stages.push_back(converted(from, begin, std::min(all, begin + cores)));
        out_.stages.push_back(converted(stages_[s + 1], begin, std::min(all, begin + cores)));
      }
      return;
    }
    out_.stages.push_back(converted(from, 0, from.places.size() * graph_.batch));
    if (options_.policy == Policy::kBest && from.unit == UnitType::kVector) cut(out_.stages.back());
  }

  // Parts behind the last element of all that a pass writes have nothing to do.
  static void cut(schedule::Stage& stage) {
    if (stage.body_grid.size() != 1) return;
    std::int32_t busy = 1;
    for (const schedule::Instance& instance : stage.instances)
      for (const schedule::Statement& each : instance.statements)
        if (const auto* chain = std::get_if<schedule::Chain>(&each); chain == nullptr || chain->span != 0)
          busy = std::max(busy, instance.key.back() + 1);
    std::erase_if(stage.instances, [&](const auto& instance) { return instance.key.back() >= busy; });
    stage.body_grid[0] = stage.grid.back() = static_cast<std::uint32_t>(busy);
  }

  // A vector program fills whole RUNs: what it reads behind the end of an operand comes to nothing, but it
  // must be no other buffer, which may be on its way to memory.
  void pad() {
    for (const schedule::Stage& stage : out_.stages)
      for (const schedule::Instance& instance : stage.instances)
        for (const schedule::Statement& each : instance.statements)
          if (const auto* chain = std::get_if<schedule::Chain>(&each); chain != nullptr && chain->span != 0)
            for (const schedule::Leaf& leaf : chain->leaves)
              if (leaf.kind == schedule::Leaf::Kind::kMemory && leaf.period == 0) pad(*chain, leaf);
  }
  void pad(const schedule::Chain& chain, const schedule::Leaf& leaf) {
    constexpr std::uint64_t kVector = 128, kRun = 1024;
    const std::uint64_t unit = chain.span < kRun ? kVector : kRun;
    const std::uint64_t end = 2 * (leaf.stretch.at + (chain.span + unit - 1) / unit * unit);
    schedule::Buffer& buffer = out_.buffers[leaf.stretch.buffer];
    const std::uint64_t alignment = out_.resources.alignment;
    const std::uint64_t last = buffer.batched ? (graph_.batch - 1) * buffer.batch_stride : 0;
    if (last + end > (buffer.nbytes + alignment - 1) / alignment * alignment) buffer.nbytes = last + end;
  }

  schedule::Stage converted(const ProtoStage& from, std::size_t begin, std::size_t end) {
    schedule::Stage to;
    to.unit = from.unit;
    to.body_grid = from.grid;
    to.grid = from.grid;
    to.batched = graph_.batch > 1;
    to.feeds_next = from.feeds_next;
    if (to.batched) to.grid.insert(to.grid.begin(), static_cast<std::uint32_t>(graph_.batch));
    for (std::size_t i = begin; i < end; ++i) {
      schedule::Instance instance;
      instance.batch = i / from.places.size();
      std::size_t place = i % from.places.size();
      const Place& statements = from.places[place];
      instance.key.resize(from.grid.size());
      for (std::size_t axis = from.grid.size(); axis-- > 0;) {
        instance.key[axis] = static_cast<std::int32_t>(place % from.grid[axis]);
        place /= from.grid[axis];
      }
      if (to.batched) instance.key.insert(instance.key.begin(), static_cast<std::int32_t>(instance.batch));
      for (const Statement& each : statements) instance.statements.push_back(statement(each, from));
      to.instances.push_back(std::move(instance));
    }
    return to;
  }

  // A buffer whose order changes is reordered by the host before the stage that needs it so.
  void relayouts() {
    for (const graph::BufferId id : orders_.touched) {
      const std::vector<Change>& changes = orders_.of.at(id).changes;
      for (std::size_t c = 1; c < changes.size(); ++c) {
        if (options_.policy == Policy::kBest && written_first(changes[c].stage, id)) continue;
        out_.stages[first_of_[changes[c].stage]].before.push_back(
            {ids_.at(id), wrapped(id, changes[c - 1].order), wrapped(id, changes[c].order)});
      }
    }
  }

  // What a stage writes anew need not be reordered for it, when it never reads it.
  bool written_first(std::size_t stage, graph::BufferId id) const {
    for (const Statement& each : stages_[stage].places.front()) {
      if (const auto* fill = std::get_if<graph::Fill>(&each); fill != nullptr && fill->buffer == id)
        return false;
      const Apply* apply = std::get_if<Apply>(&each);
      if (apply == nullptr) continue;
      for (const graph::Leaf& leaf : apply->leaves)
        if (leaf.kind != graph::Leaf::Kind::kConstant && leaf.kind != graph::Leaf::Kind::kResident &&
            leaf.buffer == id)
          return false;
      if (apply->target.buffer == id && apply->target.offset != 0) return false;  // a part of it stays
    }
    return true;
  }

  // The reference's transport moves whole words of 8 bytes.
  void transfers() const {
    if (options_.policy != Policy::kCompat) return;
    for (const schedule::Buffer& buffer : out_.buffers)
      if (buffer.role != schedule::Role::kTemp && buffer.nbytes % 8 != 0)
        throw Refusal(Phase::kTransfer, "TRANSFER_NOT_8_BYTES",
                      fmt::format("%{} takes {} bytes", buffer.name, buffer.nbytes),
                      "give it a multiple of 4 elements");
  }

  // A stage waits for memory when it reads, or writes again, what a stage since the last wait has written.
  // Relayouts wait by themselves.
  void waits() {
    using Span = std::pair<std::uint64_t, std::uint64_t>;
    std::vector<Span> pending;
    const auto span = [&](BufferId id) {
      const schedule::Buffer& b = out_.buffers[id];
      return Span{b.address->value(), b.address->value() + b.nbytes};
    };
    for (schedule::Stage& stage : out_.stages) {
      std::vector<Span> touched, written;
      std::vector<bool> seen_read(out_.buffers.size()), seen_written(out_.buffers.size());
      const auto reads = [&](BufferId id) {
        if (!seen_read[id]) touched.push_back(span(id));
        seen_read[id] = true;
      };
      const auto writes = [&](BufferId id) {
        if (!seen_written[id]) written.push_back(span(id));
        seen_written[id] = true;
      };
      for (const schedule::Instance& instance : stage.instances)
        for (const schedule::Statement& each : instance.statements) {
          if (const auto* fill = std::get_if<schedule::Fill>(&each)) reads(fill->buffer);
          if (const auto* drain = std::get_if<schedule::Drain>(&each); drain != nullptr && drain->buffer)
            writes(*drain->buffer);
          const auto* chain = std::get_if<schedule::Chain>(&each);
          if (chain == nullptr) continue;
          writes(chain->result.buffer);
          for (const schedule::Leaf& leaf : chain->leaves)
            if (leaf.kind == schedule::Leaf::Kind::kMemory || leaf.kind == schedule::Leaf::Kind::kChannel)
              reads(leaf.stretch.buffer);
        }
      touched.insert(touched.end(), written.begin(), written.end());
      if (!stage.before.empty()) pending.clear();
      stage.waits = std::any_of(touched.begin(), touched.end(), [&](const Span& t) {
        return std::any_of(pending.begin(), pending.end(),
                           [&](const Span& p) { return t.first < p.second && p.first < t.second; });
      });
      if (stage.waits) pending.clear();
      pending.insert(pending.end(), written.begin(), written.end());
    }
  }

  const graph::Graph& graph_;
  const Options& options_;
  schedule::Schedule out_;
  std::vector<ProtoStage> stages_;
  Orders orders_;
  std::map<graph::BufferId, BufferId> ids_;
  std::map<graph::TileId, NodeDrain> delivered_;
  std::vector<std::size_t> first_of_;  // stage of the schedule that a formed stage begins at
};

}  // namespace

schedule::Schedule lower(const graph::Graph& graph, const schedule::Resources& resources,
                         const Options& options) {
  return Lowering(graph, resources, options).take();
}

}  // namespace ktpu::graph_to_schedule
