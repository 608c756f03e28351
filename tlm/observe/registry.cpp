// SPDX-License-Identifier: Apache-2.0
#include "tlm/observe/registry.h"

#include <unordered_map>
#include <utility>

#include "arch/error.h"
#include "tlm/observe/glob.h"
#include "tlm/observe/scoped_archive.h"

namespace ktpu::observe {

namespace {

// The unit of the engine that a unit is, or is a part of: links know the part they end at.
using Owners = std::unordered_map<const sim::Unit*, const sim::Unit*>;

Owners owners_of(const sim::Engine& engine) {
  Owners owners;
  for (const sim::Unit* unit : engine.units()) {
    owners[unit] = unit;
    for (const sim::Unit* part : unit->parts()) owners[part] = unit;
  }
  return owners;
}

}  // namespace

// Turns what a unit visits into entries.
class RegistryWalk final : public ScopedArchive {
 public:
  RegistryWalk(Registry& registry, sim::Unit& unit, std::string_view source)
      : ScopedArchive(unit.name()), registry_(registry), unit_(unit), source_(source) {}

  bool walks_contents() const override { return false; }

 protected:
  void on_value(std::string_view name, void* value, std::size_t bytes, const sim::ValueInfo& info) override {
    Entry entry = make(name, info);
    entry.location.address = value;
    entry.location.bytes = static_cast<std::uint8_t>(bytes);
    registry_.push(std::move(entry));
  }
  void on_computed(std::string_view name, std::uint64_t, const sim::ValueInfo& info) override {
    Entry entry = make(name, info);
    entry.location.rewalk = &unit_;
    entry.location.ordinal = computed_++;
    registry_.push(std::move(entry));
  }
  void on_memory(std::string_view name, void* data, std::size_t element_bytes, std::size_t count) override {
    sim::ValueInfo info;
    info.width = static_cast<unsigned>(8 * element_bytes);
    Entry entry = make(name, info);
    entry.kind = EntryKind::kMemory;
    entry.location.address = data;
    entry.location.bytes = static_cast<std::uint8_t>(element_bytes);
    entry.location.elements = count;
    registry_.push(std::move(entry));
  }

 private:
  Entry make(std::string_view name, const sim::ValueInfo& info) {
    Entry entry;
    entry.path = path(name);
    entry.kind = info.kind == sim::ValueKind::kCounter ? EntryKind::kCounter : EntryKind::kState;
    entry.width = info.width;
    entry.unit = registry_.intern(info.unit);
    entry.sentence = registry_.intern(info.sentence);
    entry.formula = registry_.intern(info.formula);
    entry.priority = info.priority;
    entry.source = registry_.intern(source_);
    entry.node = registry_.intern(unit_.name());
    entry.owner = &unit_;
    return entry;
  }

  Registry& registry_;
  sim::Unit& unit_;
  std::string_view source_;
  std::size_t computed_ = 0;
};

std::string_view Registry::intern(std::string_view text) {
  if (text.empty()) return {};
  const auto it = strings_.find(text);
  return it != strings_.end() ? std::string_view(*it) : std::string_view(*strings_.emplace(text).first);
}

void Registry::push(Entry entry) {
  KTPU_CHECK(!by_path_.contains(entry.path), "two values are called '{}'", entry.path);
  entries_.push_back(std::move(entry));
  by_path_.emplace(entries_.back().path, &entries_.back());
}

void Registry::push_node(std::string_view name, NodeKind kind, std::string_view source,
                         const sim::Unit* unit) {
  nodes_.push_back({intern(name), kind, intern(source), unit});
}

void Registry::add(sim::Unit& unit, std::string_view source) {
  push_node(unit.name(), NodeKind::kUnit, source, &unit);
  RegistryWalk walk(*this, unit, source);
  unit.visit(walk);
}

void Registry::add(sim::LinkBase& link, std::string_view source) {
  push_node(link.name(), NodeKind::kLink, source, link.sender() != nullptr ? link.sender() : link.receiver());
  const std::string_view node = nodes_.back().name;
  const auto entry = [&](std::string_view name, EntryKind kind, unsigned width, std::string_view unit,
                         std::string_view sentence) {
    Entry e;
    e.path = fmt::format("{}.{}", node, name);
    e.kind = kind;
    e.width = width;
    e.unit = intern(unit);
    e.sentence = intern(sentence);
    e.source = intern(source);
    e.node = node;
    return e;
  };
  const auto wire = [&](std::string_view name, unsigned width, std::string_view sentence,
                        const sim::FlitLink* flits, unsigned lsb) {
    Entry e = entry(name, EntryKind::kWire, width, {}, sentence);
    e.location.link = &link;
    e.location.flits = flits;
    e.location.lsb = lsb;
    push(std::move(e));
  };
  wire("valid", 1, "The sender offers a flit", nullptr, 0);
  wire("busy", 1, "The receiver does not take a flit in this cycle", nullptr, 1);
  if (const auto* flit_link = dynamic_cast<const sim::FlitLink*>(&link)) {
    for (const arch::Field& field : arch::header::kFields)
      wire(field.name, field.width, field.meaning, flit_link, field.lsb);
    wire("payload", arch::kPayloadBits, "The flit's 256 payload bits", flit_link, 0);
  }
  const auto counter = [&](std::string_view name, std::uint64_t& value, std::string_view unit,
                           std::string_view sentence) {
    Entry e = entry(name, EntryKind::kCounter, 64, unit, sentence);
    e.location.address = &value;
    e.location.bytes = 8;
    push(std::move(e));
  };
  counter("transferred", link.transferred(), "flits", "Flits taken by the receiver");
  counter("stalled_cycles", link.stalled_cycles(), "cycles",
          "Cycles in which a flit was offered and the receiver was busy");
}

void Registry::add(sim::Engine& engine, const std::function<std::string_view(const sim::Unit&)>& source_of) {
  const Owners owners = owners_of(engine);
  const auto source = [&](const sim::Unit* unit) -> std::string_view {
    if (!source_of || unit == nullptr) return "model";
    const auto it = owners.find(unit);
    return it == owners.end() ? "model" : source_of(*it->second);
  };
  for (sim::Unit* unit : engine.units()) add(*unit, source(unit));
  for (sim::LinkBase* link : engine.links()) add(*link, source(link->sender()));
  add_link_sums(engine, source);
}

void Registry::add(sim::Timeline& timeline,
                   const std::function<std::string_view(const sim::Unit&)>& source_of) {
  for (const sim::Timeline::Clock& clock : timeline.clocks()) add(*clock.engine, source_of);
}

void Registry::add_link_sums(sim::Engine& engine,
                             const std::function<std::string_view(const sim::Unit*)>& source) {
  using Links = std::vector<sim::FlitLink*>;
  const Owners owners = owners_of(engine);
  // Units that stand for links which another one runs go first.
  std::unordered_map<const sim::LinkBase*, const sim::Unit*> receivers, senders;
  for (const sim::Unit* unit : engine.units()) {
    const sim::Unit::Faces faces = unit->faces();
    for (const sim::LinkBase* link : faces.in) receivers[link] = unit;
    for (const sim::LinkBase* link : faces.out) senders[link] = unit;
  }
  const auto end_of = [&](const auto& stands, const sim::LinkBase* link, const sim::Unit* unit) {
    if (const auto it = stands.find(link); it != stands.end()) return it->second;
    const auto it = owners.find(unit);
    return it == owners.end() ? nullptr : it->second;
  };
  std::unordered_map<const sim::Unit*, std::pair<Links, Links>> links;  // in, out
  for (sim::LinkBase* base : engine.links()) {
    auto* link = dynamic_cast<sim::FlitLink*>(base);
    if (link == nullptr) continue;
    if (const sim::Unit* unit = end_of(receivers, link, link->receiver())) links[unit].first.push_back(link);
    if (const sim::Unit* unit = end_of(senders, link, link->sender())) links[unit].second.push_back(link);
  }
  const auto sum = [&](const sim::Unit& unit, std::string_view name, std::string_view sentence, Links of) {
    add_value(fmt::format("{}.links.{}", unit.name(), name), EntryKind::kCounter, 64, "flits", sentence,
              [of = std::move(of)] {
                std::uint64_t total = 0;
                for (sim::FlitLink* link : of) total += link->transferred();
                return total;
              });
    entries_.back().node = intern(unit.name());
    entries_.back().source = intern(source(&unit));
    entries_.back().formula = intern(name == "flits_in" ? "sum of transferred over the links it receives from"
                                                        : "sum of transferred over the links it sends on");
  };
  for (const sim::Unit* unit : engine.units()) {
    const auto it = links.find(unit);
    if (it == links.end()) continue;
    sum(*unit, "flits_in", "Flits this unit took from the links it hangs on", it->second.first);
    sum(*unit, "flits_out", "Flits this unit sent on the links it hangs on", it->second.second);
  }
}

void Registry::add_value(std::string path, EntryKind kind, unsigned width, std::string_view unit,
                         std::string_view sentence, std::function<std::uint64_t()> read) {
  Entry entry;
  const std::size_t dot = path.rfind('.');
  entry.node = intern(std::string_view(path).substr(0, dot == std::string::npos ? 0 : dot));
  entry.path = std::move(path);
  entry.kind = kind;
  entry.width = width;
  entry.unit = intern(unit);
  entry.sentence = intern(sentence);
  entry.source = intern("model");
  entry.location.function = std::move(read);
  push(std::move(entry));
}

const Entry* Registry::find(std::string_view path) const {
  const auto it = by_path_.find(path);
  return it == by_path_.end() ? nullptr : it->second;
}

const Entry& Registry::at(std::string_view path) const {
  if (const Entry* entry = find(path)) return *entry;
  throw arch::UserError::make("there is no value '{}' in this machine.{}", path, suggest(path));
}

std::vector<const Entry*> Registry::match(std::string_view pattern) const {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_)
    if (selects(pattern, entry.path)) found.push_back(&entry);
  return found;
}

std::vector<const Entry*> Registry::select(const std::vector<std::string>& patterns) const {
  std::vector<bool> used(patterns.size(), false);
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_) {
    bool take = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!selects(patterns[i], entry.path)) continue;
      used[i] = true;
      take = true;
    }
    if (take) found.push_back(&entry);
  }
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!used[i])
      throw arch::UserError::make("the pattern '{}' matches no name of this machine.{}", patterns[i],
                                  suggest(patterns[i]));
  return found;
}

std::string Registry::suggest(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const Node& node : nodes_) known.push_back(node.name);
  for (const Entry& entry : entries_) known.push_back(entry.path);
  return did_you_mean(name, known);
}

}  // namespace ktpu::observe
