// SPDX-License-Identifier: Apache-2.0
#include "topologies/unit_reader.h"

#include <fmt/format.h>

#include "topologies/map_reader.h"
#include "topologies/suggest.h"

namespace ktpu::topo {

namespace {

void check_busy(const MapReader& reader, const SinkBusy& busy) {
  const DocEntry* entry = reader.doc().find("busy");
  if (entry == nullptr) return;
  const std::string path = reader.path("busy");
  const auto mark = [&](std::string_view key) -> const Mark& {
    const DocEntry* e = entry->value.find(key);
    return e == nullptr ? entry->value.mark : e->value.mark;
  };
  if (!busy.runs.empty() && (busy.period != 0 || busy.duty != 0 || busy.offset != 0))
    fail_key(mark("runs"), path, "give either runs or period, duty and offset, not both");
  if (busy.duty > busy.period)
    fail_key(
        mark("duty"), path + ".duty",
        fmt::format("{} busy cycles in a period of {}; allowed: 0..{}", busy.duty, busy.period, busy.period));
  if (busy.period == 0 && busy.offset != 0)
    fail_key(mark("offset"), path + ".offset", "an offset without a period has no meaning");
}

// Common keys and those of the kind, over what is in `unit`.
void read_keys(MapReader& reader, Unit& unit) {
  visit(reader, unit.common);
  std::visit([&](auto& params) { visit(reader, params); }, unit.params);
  reader.finish();
  const Kind kind = unit.kind();
  const Doc& doc = reader.doc();
  if (doc.find("port") != nullptr) {
    unit.port_mark = reader.mark("port");
    if (!uses_memory_port(kind))
      fail_key(unit.port_mark, reader.path("port"),
               fmt::format("a {} binds to no memory port", kind_name(kind)));
  }
  if (doc.find("adapter") != nullptr) {
    unit.adapter_mark = reader.mark("adapter");
    if (unit.common.adapter && !uses_memory_port(kind))
      fail_key(unit.adapter_mark, reader.path("adapter"),
               fmt::format("a {} has no staging adapter: it makes no memory requests", kind_name(kind)));
  }
  if (doc.find("clock") != nullptr) unit.clock_mark = reader.mark("clock");
  if (doc.find("crossing") != nullptr) {
    unit.crossing_mark = reader.mark("crossing");
    unit.crossing_given = true;
  }
  if (kind == Kind::kMemoryPort) {
    if (!unit.common.clock.empty() && unit.common.clock != "fabric")
      fail_key(unit.clock_mark, reader.path("clock"),
               "a memory port is part of the memory agent, which runs at the clock 'fabric'");
    if (unit.common.crossing)
      fail_key(
          unit.crossing_mark, reader.path("crossing"),
          "a memory port is part of the memory agent, which runs at the clock 'fabric': nothing to cross");
  }
  if (doc.find("hotspot") != nullptr) unit.hotspot_mark = reader.mark("hotspot");
  if (auto* traffic = std::get_if<Traffic>(&unit.params)) {
    if (traffic->pattern != Pattern::kHotspot) traffic->hotspot.reset(), traffic->hotspot_share = 1;
    check_busy(reader, traffic->busy);
    if (traffic->pattern == Pattern::kScript && (traffic->rate != 0 || traffic->flits != 0))
      fail_key(reader.mark(traffic->rate != 0 ? "rate" : "flits"), reader.path("pattern"),
               "pattern script sends what the script says; rate and flits belong to the other patterns");
  }
}

}  // namespace

Unit read_unit(const DocEntry& entry, const std::string& path, Quirks default_quirks) {
  Unit unit;
  unit.symbol = entry.key;
  unit.mark = entry.key_mark;
  unit.path = path;
  unit.doc = &entry.value;
  unit.common.quirks = default_quirks;

  MapReader reader(entry.value, path);
  if (entry.value.find("kind") == nullptr) {
    for (const DocEntry& e : entry.value.entries) {
      const std::string hint = did_you_mean(e.key, {"kind"});
      if (!hint.empty()) fail_key(e.key_mark, path, fmt::format("unknown key {}{}", show_text(e.key), hint));
    }
    std::vector<std::string> words;
    for (const auto& w : kKindWords)
      if (w.supported) words.emplace_back(w.word);
    fail_key(entry.value.mark, path, fmt::format("required key 'kind' is missing; allowed: {}", join(words)));
  }
  Kind kind = Kind::kNull;
  reader.choice("kind", kind, kKindWords, "");
  for_each_kind([&](Kind k, auto params) {
    if (k == kind) unit.params = params;
  });
  read_keys(reader, unit);
  return unit;
}

void read_node_keys(const Doc& doc, const std::string& path, Unit& unit) {
  MapReader reader(doc, path);
  if (const DocEntry* kind = doc.find("kind"))
    fail_key(kind->key_mark, path, "a node's kind comes from the picture; draw another symbol there instead");
  unit.path = path;
  read_keys(reader, unit);
}

}  // namespace ktpu::topo
