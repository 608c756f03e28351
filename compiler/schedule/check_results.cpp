// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>

#include "arch/error.h"
#include "arch/program/tensor_layout.h"
#include "compiler/schedule/ranges.h"
#include "compiler/schedule/schedule_checks.h"

namespace ktpu::schedule {
namespace {

using arch::UserError;

// Which elements of a buffer in memory hold values. A stage that writes a buffer anew may do so in another
// order without a relayout, so an element counts only when it holds a value in every order the buffer is
// known to have; the rest may be padding. An order without room for the whole tensor (the swept rows of a
// convolution) has no padding.
class Values {
 public:
  Values(const Buffer& buffer, const std::vector<Layout>& layouts) : buffer_(buffer) {
    for (const Layout& layout : layouts) {
      try {
        images_.emplace_back(layout.key(), buffer.shape, 2u, layout.least_stride());
      } catch (const UserError&) {
        continue;
      }
    }
  }
  // The first of the elements that holds a value.
  std::optional<std::uint64_t> first_of(const std::vector<Ranges::Range>& ranges, std::uint64_t batch) const {
    const std::uint64_t block = batch * buffer_.batch_stride / 2;
    for (const auto& [begin, end] : ranges)
      for (std::uint64_t i = begin; i < end; ++i) {
        bool value = true;
        for (const arch::TensorLayout& image : images_) {
          if (block + i >= image.elements()) return std::nullopt;
          value = value && image.source(block + i) >= 0;
        }
        if (value) return i;
      }
    return std::nullopt;
  }

 private:
  const Buffer& buffer_;
  std::vector<arch::TensorLayout> images_;
};

class Painter {
 public:
  explicit Painter(const Schedule& schedule) : schedule_(schedule) {
    for (BufferId id = 0; id < schedule.buffers.size(); ++id) {
      const Buffer& b = schedule.buffers[id];
      layouts_.push_back({b.first});
      if (b.last != b.first) layouts_[id].push_back(b.last);
      current_.push_back(b.first);
    }
    for (const Stage& s : schedule.stages)
      for (const Relayout& r : s.before) {
        layouts_[r.buffer].push_back(r.from);
        layouts_[r.buffer].push_back(r.to);
      }
    values_.resize(schedule.buffers.size());
    swept_.resize(schedule.buffers.size(), kTooLarge);
    find_swept();
  }

  void run() {
    for (stage_ = 0; stage_ < schedule_.stages.size(); ++stage_) {
      const Stage& s = schedule_.stages[stage_];
      for (const Relayout& r : s.before) relayout(r);
      owners_.clear();
      for (const Instance& instance : s.instances) {
        instance_ = &instance;
        own_.clear();
        for (index_ = 0; index_ < instance.statements.size(); ++index_)
          std::visit([&](const auto& it) { one(it); }, instance.statements[index_]);
      }
      alike(s);
      for (const auto& [key, written] : owners_)
        for (const auto& [begin, by] : written) painted_[key].add(begin, by.end);
    }
    results();
  }

 private:
  using Key = std::pair<BufferId, std::uint64_t>;  // buffer, batch element
  struct Owner {
    std::uint64_t end = 0;
    const Instance* instance = nullptr;
  };

  Key key(BufferId id) const { return {id, schedule_.buffers[id].batched ? instance_->batch : 0}; }
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError::make("{}: {}", place(stage_, *instance_, index_), what);
  }
  bool from_outside(BufferId id) const {
    const Role role = schedule_.buffers[id].role;
    return role == Role::kIn || role == Role::kTable || role == Role::kConstant;
  }
  const Values& values(BufferId id) {
    if (!values_[id]) values_[id].emplace(schedule_.buffers[id], layouts_[id]);
    return *values_[id];
  }

  // The rows of a convolution's image below the swept ones are nobody's result: their order puts them behind
  // everything that tiles are drained to.
  void find_swept() {
    std::vector<std::uint64_t> end(schedule_.buffers.size());
    for (const Stage& s : schedule_.stages)
      for (const Instance& instance : s.instances)
        for (const Statement& statement : instance.statements) {
          if (const Drain* d = std::get_if<Drain>(&statement); d != nullptr && d->buffer)
            end[*d->buffer] =
                std::max(end[*d->buffer], product(sum(d->word, product(d->gm, d->gn)), kTileElements));
          const Chain* c = std::get_if<Chain>(&statement);
          if (c == nullptr) continue;
          std::uint64_t& at = end[c->result.buffer];
          at = c->resident() ? std::max(at, sum(c->result.at, c->span)) : kTooLarge;
        }
    for (BufferId id = 0; id < end.size(); ++id)
      if (end[id] != 0) swept_[id] = end[id];
  }

  void relayout(const Relayout& r) {
    const Buffer& b = schedule_.buffers[r.buffer];
    const auto wrong = [&](const std::string& what) {
      throw UserError::make("{}: relayout of %{}: {}", place(stage_), b.name, what);
    };
    if (b.role != Role::kTemp) wrong("only temporaries change their order");
    if (r.from == r.to) wrong("changes nothing");
    // What a stage of policy best writes anew may lie in any order.
    if (r.from != current_[r.buffer] &&
        !(schedule_.policy == Policy::kBest && written_since_.contains(r.buffer)))
      wrong(fmt::format("it lies in order {}, not {}", current_[r.buffer].key(), r.from.key()));
    current_[r.buffer] = r.to;
    written_since_.erase(r.buffer);
    for (auto& [at, ranges] : painted_)
      if (at.first == r.buffer && !ranges.empty()) ranges.add(0, reach(b));
  }

  // `again`: the same instance may write the same stretch once more.
  void write(BufferId id, std::uint64_t begin, std::uint64_t count, bool again) {
    if (count == 0) return;
    const std::uint64_t end = begin + count;
    std::map<std::uint64_t, Owner>& written = owners_[key(id)];
    written_since_.insert(id);
    own_[key(id)].add(begin, end);
    auto at = written.upper_bound(begin);
    if (at != written.begin() && std::prev(at)->second.end > begin) --at;
    if (at != written.end() && at->first < end && at->second.end > begin) {
      const bool same = at->first == begin && at->second.end == end && at->second.instance == instance_;
      if (same && again) return;
      fail(fmt::format("elements {}+{} of %{} are written, of which instance ({}) writes {}+{} in this stage",
                       begin, count, schedule_.buffers[id].name, fmt::join(at->second.instance->key, ", "),
                       at->first, at->second.end - at->first));
    }
    written[begin] = {end, instance_};
  }

  void read(BufferId id, std::uint64_t begin, std::uint64_t end) {
    end = std::min(end, swept_[id]);
    if (from_outside(id) || begin >= end) return;
    std::vector<Ranges::Range> lacking;
    for (const auto& [from, to] : painted_[key(id)].missing(begin, end))
      for (const Ranges::Range& gap : own_[key(id)].missing(from, to)) lacking.push_back(gap);
    if (lacking.empty()) return;
    if (const auto element = values(id).first_of(lacking, key(id).second))
      fail(fmt::format("reads element {} of %{}, which nobody has written", *element,
                       schedule_.buffers[id].name));
  }

  void one(const Fill& f) { read(f.buffer, first_element(f), first_element(f) + elements(f)); }
  void one(const Gemm&) {}
  void one(const Drain& d) {
    if (d.buffer)
      write(*d.buffer, product(d.word, kTileElements), product(product(d.gm, d.gn), kTileElements), false);
  }
  void one(const Chain& c) {
    for (const Leaf& l : c.leaves) {
      if (l.kind == Leaf::Kind::kChannel)
        read(l.stretch.buffer, l.stretch.at, l.stretch.at + product(c.gn, kTileElements));
      // A store of a bare constant is x * 0 + c: x may hold anything.
      if (l.kind != Leaf::Kind::kMemory || l.stretch == c.result) continue;
      if (l.period == 0 && l.take == 0)
        read(l.stretch.buffer, l.stretch.at, l.stretch.at + c.span);
      else
        read(l.stretch.buffer, l.stretch.at,
             std::min(l.stretch.at + l.take, reach(schedule_.buffers[l.stretch.buffer])));
    }
    write(c.result.buffer, c.result.at, c.span, true);
  }

  // The instances of a stage run one body: what one of them writes, each of them does.
  void alike(const Stage& s) const {
    const auto written = [](const Instance& instance) {
      std::set<BufferId> all;
      for (const Statement& statement : instance.statements) {
        if (const Drain* drain = std::get_if<Drain>(&statement); drain != nullptr && drain->buffer)
          all.insert(*drain->buffer);
        if (const Chain* chain = std::get_if<Chain>(&statement)) all.insert(chain->result.buffer);
      }
      return all;
    };
    for (const Instance& instance : s.instances)
      if (written(instance) != written(s.instances.front()))
        throw UserError::make("{}: writes other buffers than the first instance", place(stage_, instance));
  }

  void results() {
    for (BufferId id = 0; id < schedule_.buffers.size(); ++id) {
      const Buffer& b = schedule_.buffers[id];
      if (b.role != Role::kOut) continue;
      for (std::uint64_t batch = 0; batch < (b.batched ? schedule_.batch : 1); ++batch)
        if (const auto element =
                values(id).first_of(painted_[{id, batch}].missing(0, std::min(reach(b), swept_[id])), batch))
          throw UserError::make("buffer %{}: element {} of batch element {} is never written", b.name,
                                *element, batch);
    }
  }

  const Schedule& schedule_;
  std::vector<std::vector<Layout>> layouts_;  // of each buffer, all it is known to have
  std::vector<Layout> current_;
  std::vector<std::optional<Values>> values_;
  std::vector<std::uint64_t> swept_;  // the first element behind all drained tiles
  std::set<BufferId> written_since_;  // the order it is known to have
  std::size_t stage_ = 0, index_ = 0;
  const Instance* instance_ = nullptr;
  std::map<Key, Ranges> painted_;                         // by earlier stages
  std::map<Key, Ranges> own_;                             // by this instance, in this stage
  std::map<Key, std::map<std::uint64_t, Owner>> owners_;  // by any instance, in this stage
};

}  // namespace

void check_results(const Schedule& schedule) { Painter(schedule).run(); }

void verify(const Schedule& schedule) {
  check_ids(schedule);
  check_memory(schedule);
  check_stages(schedule);
  check_results(schedule);
}

}  // namespace ktpu::schedule
