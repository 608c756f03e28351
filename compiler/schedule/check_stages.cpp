// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "arch/error.h"
#include "compiler/base/refusal.h"
#include "compiler/schedule/schedule_checks.h"

namespace ktpu::schedule {
namespace {

using arch::UserError;

// What the unit that runs the instances of one key still holds from stage to stage: the deal stays the same,
// and a later stage may rely on it (section 15).
struct Held {
  struct Operand {
    std::uint32_t groups = 0, blocks = 0;
  };
  std::map<std::tuple<Side, std::uint32_t, std::uint64_t>, Operand> banks;  // side, operand, bank
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> tiles;   // swept, gm x gn
};

class Verifier {
 public:
  explicit Verifier(const Schedule& schedule) : schedule_(schedule), machine_(schedule.resources) {}

  void run() {
    if (machine_.banks == 0) throw UserError("the machine has no L1 banks");
    for (stage_ = 0; stage_ < schedule_.stages.size(); ++stage_) {
      const Stage& s = schedule_.stages[stage_];
      instances(s);
      if (s.feeds_next)
        feeding(s);
      else if (stage_ == 0 || !schedule_.stages[stage_ - 1].feeds_next)
        complete(s);
      for (const Instance& instance : s.instances) {
        instance_ = &instance;
        slots_.clear();
        regions_.clear();
        for (index_ = 0; index_ < instance.statements.size(); ++index_)
          std::visit([&](const auto& it) { one(s, it); }, instance.statements[index_]);
        delivered_[instance.key] = slots_;
      }
      if (!s.feeds_next) delivered_.clear();
    }
  }

 private:
  [[noreturn]] void fail_stage(const std::string& what) const {
    throw UserError::make("{}: {}", place(stage_), what);
  }
  void need(bool holds, const std::string& what) const {
    if (!holds) throw UserError::make("{}: {}", place(stage_, *instance_, index_), what);
  }

  // The refusals of the lowering to programs, which a schedule that nobody has lowered yet may meet here.
  void fits(bool holds, std::string_view code, const std::string& what, const std::string& fix) const {
    if (!holds)
      throw base::Refusal(base::Phase::kBuild, std::string(code),
                          fmt::format("{}: {}", place(stage_, *instance_, index_), what), fix);
  }

  void instances(const Stage& s) const {
    const std::vector<std::int32_t>* before = nullptr;
    for (const Instance& i : s.instances) {
      const auto fail = [&](const std::string& what) {
        throw UserError::make("{}: {}", place(stage_, i), what);
      };
      if (before != nullptr && !(*before < i.key)) fail("does not come in the order of the keys, or twice");
      before = &i.key;
      bool inside = i.key.size() == s.grid.size();
      for (std::size_t axis = 0; inside && axis < i.key.size(); ++axis)
        inside = i.key[axis] >= 0 && static_cast<std::uint32_t>(i.key[axis]) < s.grid[axis];
      if (!inside) fail(fmt::format("lies outside the grid [{}]", fmt::join(s.grid, ", ")));
      if (i.batch >= schedule_.batch) fail(fmt::format("there are {} batch elements", schedule_.batch));
      if (s.batched && (i.key.empty() || static_cast<std::uint64_t>(i.key[0]) != i.batch))
        fail("the first number of its key is not its batch element");
    }
  }

  // Stages that feed, and are fed, may take their grid in waves.
  void complete(const Stage& s) const {
    std::uint64_t places = 1;
    for (const std::uint32_t axis : s.grid) places = product(places, axis);
    if (s.instances.size() != places)
      fail_stage(fmt::format("has {} instances for a grid of {}", s.instances.size(), places));
  }

  void feeding(const Stage& s) const {
    if (stage_ + 1 == schedule_.stages.size()) fail_stage("feeds a next stage that does not exist");
    const Stage& next = schedule_.stages[stage_ + 1];
    if (s.unit != UnitType::kCluster || next.unit != UnitType::kVector)
      fail_stage("only clusters feed, and only vector cores are fed");
    if (!machine_.agent) fail_stage("feeds the next one, but no agent takes the acknowledgements");
    if (s.instances.size() > machine_.vector_cores)
      fail_stage(fmt::format("feeds {} vector cores, the machine has {}", s.instances.size(),
                             machine_.vector_cores));
    if (!std::equal(s.instances.begin(), s.instances.end(), next.instances.begin(), next.instances.end(),
                    [](const Instance& a, const Instance& b) { return a.key == b.key; }))
      fail_stage("feeds a next stage with other instances");
  }

  void one(const Stage& s, const Fill& f) {
    need(s.unit == UnitType::kCluster, "vector cores do not fill an L1 for products");
    need(f.groups >= 1 && f.blocks >= 1 && f.chunks >= 1, "fills nothing");
    const std::uint64_t entries = product(f.groups, f.blocks);
    fits(entries <= machine_.bank_entries, "CHUNK_OVER_BANK",
         fmt::format("a chunk of {} entries; a bank holds {}", entries, machine_.bank_entries),
         "make the tile or nk smaller");
    std::uint64_t& region = regions_[f.side][f.operand];
    region = std::max(region, entries);
    std::uint64_t all = 0;
    for (const auto& [operand, size] : regions_[f.side]) all = sum(all, size);
    fits(all <= machine_.bank_entries, "REGION_OVER_BANK",
         fmt::format("the operands of one side take {} entries; a bank holds {}", all, machine_.bank_entries),
         "make the tile or nk smaller");
    const Buffer& b = schedule_.buffers[f.buffer];
    fits(f.chunk < f.chunks && sum(first_element(f), elements(f)) <= reach(b), "FILL_PAST_END",
         fmt::format("reads chunk {} of {}, elements {}+{} of %{}, which holds {}", f.chunk, f.chunks,
                     first_element(f), elements(f), b.name, reach(b)),
         "choose tiles and nk so that the operand is padded to whole chunks");
    held_[instance_->key].banks[{f.side, f.operand, f.step % machine_.banks}] = {f.groups, f.blocks};
  }
  void multiplied(Side side, std::uint32_t operand, std::uint64_t bank, std::uint32_t groups,
                  std::uint32_t blocks) {
    const auto& banks = held_[instance_->key].banks;
    const auto found = banks.find({side, operand, bank});
    const char name = side == Side::kA ? 'A' : 'B';
    need(found != banks.end(), fmt::format("bank {} of side {} was not filled", bank, name));
    need(found->second.blocks == blocks && found->second.groups >= groups,
         fmt::format("side {} was filled with {}x{} groups and blocks, {}x{} are multiplied", name,
                     found->second.groups, found->second.blocks, groups, blocks));
  }
  void one(const Stage& s, const Gemm& g) {
    need(s.unit == UnitType::kCluster, "vector cores do not multiply matrices");
    // The reference does not know how many there are.
    const bool fits = schedule_.policy == Policy::kCompat || product(g.gm, g.gn) <= machine_.tiles;
    need(g.gm >= 1 && g.gn >= 1 && g.nk >= 1 && fits,
         fmt::format("the accumulator holds 1 to {} sub-tiles", machine_.tiles));
    const std::uint64_t bank = g.acc % machine_.banks;
    multiplied(Side::kA, g.a_operand, bank, g.gm, g.nk);
    multiplied(Side::kB, g.b_operand, bank, g.gn, g.nk);
    held_[instance_->key].tiles[g.tile_id] = {g.gm, g.gn};
  }
  void one(const Stage& s, const Drain& d) {
    need(s.unit == UnitType::kCluster, "vector cores do not drain accumulators");
    const auto& tiles = held_[instance_->key].tiles;
    const auto found = tiles.find(d.tile_id);
    need(found != tiles.end(), fmt::format("tile %t{} was not swept", d.tile_id));
    need(found->second == std::pair(d.gm, d.gn),
         fmt::format("tile %t{} has {}x{} sub-tiles", d.tile_id, found->second.first, found->second.second));
    if (d.buffer) {
      const Buffer& b = schedule_.buffers[*d.buffer];
      const std::uint64_t end = product(sum(d.word, product(d.gm, d.gn)), kTileElements);
      need(end <= reach(b), fmt::format("ends at element {} of %{}, which holds {}", end, b.name, reach(b)));
    } else {
      need(s.feeds_next, "goes to the next stage, which this one does not feed");
      need(slots_.insert(d.slot).second, fmt::format("slot {} is taken", d.slot));
    }
  }

  void leaf(const Chain& c, const Leaf& l) const {
    if (l.kind == Leaf::Kind::kConstant) {
      if (!l.array) return;
      const Buffer& b = schedule_.buffers[*l.array];
      need(b.role == Role::kConstant && b.held >= c.span,
           fmt::format("%{} is no constant, or shorter than the span", b.name));
      return;
    }
    if (l.kind == Leaf::Kind::kResident) {
      const auto slots = delivered_.find(instance_->key);
      need(slots != delivered_.end() && slots->second.contains(l.slot),
           fmt::format("nothing was delivered to slot {}", l.slot));
      return;
    }
    const Buffer& b = schedule_.buffers[l.stretch.buffer];
    // A spread reads some of the span only; which, its program checks.
    const bool spread = l.period != 0 || l.take != 0;
    const std::uint64_t span = l.kind == Leaf::Kind::kChannel ? product(c.gn, kTileElements) : c.span;
    // The last instances of a grid may have nothing left to do.
    need(c.span == 0 || (spread ? l.take >= 1 && l.take <= l.period && l.stretch.at < reach(b)
                                : sum(l.stretch.at, span) <= reach(b)),
         fmt::format("reads elements {}+{} of %{}, which holds {}", l.stretch.at, spread ? l.take : span,
                     b.name, reach(b)));
  }
  void one(const Stage& s, const Chain& c) {
    need(s.unit == UnitType::kVector, "clusters do not run lane operations");
    const Buffer& b = schedule_.buffers[c.result.buffer];
    need(c.span == 0 || sum(c.result.at, c.span) <= reach(b),
         fmt::format("writes elements {}+{} of %{}, which holds {}", c.result.at, c.span, b.name, reach(b)));
    need(b.role != Role::kTable && b.role != Role::kConstant, fmt::format("%{} has fixed contents", b.name));
    const auto& nodes = c.expr.nodes();
    need(c.expr.root() < nodes.size(), "stores nothing");
    for (const base::Expr::Node& node : nodes)
      need(node.op != base::LaneOp::kLeaf || node.leaf < c.leaves.size(), "an operand is not described");
    need(!c.reduce || base::is_fold(nodes[c.expr.root()].op), "a reduce is a row fold");
    const bool resident = std::any_of(c.leaves.begin(), c.leaves.end(), [](const Leaf& l) {
      return l.kind == Leaf::Kind::kResident || l.kind == Leaf::Kind::kChannel;
    });
    need((c.gm != 0) == (c.gn != 0) && resident == c.resident(),
         "a tile's shape belongs to a chain on an accumulator, and only there");
    need(!c.resident() || c.span == product(product(c.gm, c.gn), kTileElements),
         fmt::format("a tile of {}x{} sub-tiles has no {} elements", c.gm, c.gn, c.span));
    for (const Leaf& l : c.leaves) leaf(c, l);
  }

  const Schedule& schedule_;
  const Resources& machine_;
  std::size_t stage_ = 0, index_ = 0;
  const Instance* instance_ = nullptr;
  std::map<std::vector<std::int32_t>, Held> held_;
  std::map<Side, std::map<std::uint32_t, std::uint64_t>> regions_;  // entries of each operand, this instance
  std::set<std::uint32_t> slots_;                                   // this instance delivers to
  std::map<std::vector<std::int32_t>, std::set<std::uint32_t>> delivered_;
};

}  // namespace

std::string place(std::size_t stage) { return fmt::format("stage {}", stage); }
std::string place(std::size_t stage, const Instance& instance) {
  return fmt::format("stage {}, instance ({})", stage, fmt::join(instance.key, ", "));
}
std::string place(std::size_t stage, const Instance& instance, std::size_t statement) {
  return fmt::format("{}, statement {} ({})", place(stage, instance), statement,
                     kind_name(instance.statements[statement]));
}

void check_ids(const Schedule& schedule) {
  const auto known = [&](BufferId id, const std::string& where) {
    if (id >= schedule.buffers.size()) throw UserError::make("{}: there is no buffer {}", where, id);
  };
  for (const BufferId id : schedule.allocation) known(id, "allocation");
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    for (const Relayout& r : schedule.stages[s].before) known(r.buffer, place(s));
    for (const Instance& instance : schedule.stages[s].instances)
      for (std::size_t i = 0; i < instance.statements.size(); ++i) {
        const std::string where = place(s, instance, i);
        const Statement& statement = instance.statements[i];
        if (const Fill* fill = std::get_if<Fill>(&statement)) known(fill->buffer, where);
        if (const Drain* drain = std::get_if<Drain>(&statement)) known(drain->buffer.value_or(0), where);
        const Chain* chain = std::get_if<Chain>(&statement);
        if (chain == nullptr) continue;
        known(chain->result.buffer, where);
        for (const Leaf& leaf : chain->leaves) {
          known(leaf.stretch.buffer, where);
          known(leaf.array.value_or(0), where);
        }
      }
  }
}

void check_stages(const Schedule& schedule) { Verifier(schedule).run(); }

}  // namespace ktpu::schedule
