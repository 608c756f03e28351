// SPDX-License-Identifier: Apache-2.0
#include "topologies/schema.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "topologies/grid.h"
#include "topologies/keys.h"

namespace ktpu::topo {

namespace {

using Json = nlohmann::ordered_json;

Json array_of(Json items, std::size_t lo, std::size_t hi) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", lo}, {"maxItems", hi}};
}

// The visitor of keys.h that describes one map as a JSON Schema object.
class SchemaBuilder {
 public:
  template <std::unsigned_integral T>
  void integer(const char* key, T&, Range range, std::string_view doc) {
    const std::uint64_t hi = std::min<std::uint64_t>(range.hi, std::numeric_limits<T>::max());
    Json type{{"type", "integer"}};
    if (range.power_of_two) {
      type["enum"] = Json::array();
      for (std::uint64_t value = 1; value != 0 && value <= hi; value *= 2)
        if (value >= range.lo) type["enum"].push_back(value);
    } else {
      type["minimum"] = range.lo;
      type["maximum"] = hi;
    }
    add(key, std::move(type), doc, range.unit, range.need);
  }
  template <std::unsigned_integral T>
  void optional_integer(const char* key, std::optional<T>&, Range range, std::string_view doc) {
    T value{};
    integer(key, value, range, doc);
  }
  void number(const char* key, double&, double lo, double hi, std::string_view unit, std::string_view doc) {
    add(key, {{"type", "number"}, {"minimum", lo}, {"maximum", hi}}, doc, unit);
  }
  void optional_number(const char* key, std::optional<double>&, double lo, double hi, std::string_view unit,
                       std::string_view doc) {
    add(key, {{"type", "number"}, {"minimum", lo}, {"maximum", hi}}, doc, unit);
  }
  void boolean(const char* key, bool&, std::string_view doc) { add(key, {{"type", "boolean"}}, doc); }
  template <typename E, std::size_t N>
  void choice(const char* key, E&, const std::array<Word<E>, N>& words, std::string_view doc) {
    Json values = Json::array();
    for (const auto& w : words)
      if (w.supported) values.push_back(w.word);
    add(key, {{"enum", values}}, doc);
  }
  void implementation(const char* key, Impl&, UserModule&, std::string_view doc) {
    Json words = Json::array(), forms = Json::array();
    for (const auto& w : kImplWords) words.push_back(w.word);
    forms.push_back({{"enum", words}});
    for (const auto& w : kImplWords) {
      if (w.value == Impl::kModel) continue;
      const Json text{{"type", "string"}};
      forms.push_back({{"type", "object"},
                       {"properties", {{w.word, text}, {"top", text}}},
                       {"required", Json::array({w.word})},
                       {"additionalProperties", false}});
    }
    add(key, {{"oneOf", forms}}, doc);
  }
  void integers(const char* key, std::vector<std::uint32_t>&, const Range& range, std::string_view doc) {
    add(key, array_of({{"type", "integer"}, {"minimum", range.lo}, {"maximum", range.hi}}, 0, kMaxList), doc,
        range.unit);
  }
  void coordinate(const char* key, std::optional<Coord>&, Need, std::string_view doc) {
    add(key, {{"type", "string"}, {"pattern", "^[0-9]+,[0-9]+$"}}, doc);
  }
  void word(const char* key, std::string&, std::string_view doc) { add(key, {{"type", "string"}}, doc); }
  void raw(const char* key, const Json& type, Need need, std::string_view doc) {
    add(key, type, doc, {}, need);
  }
  template <typename T>
  void section(const char* key, T& value, std::string_view doc) {
    add(key, SchemaBuilder().object(value), doc);
  }
  template <typename T>
  void optional_section(const char* key, std::optional<T>&, std::string_view doc) {
    T value{};
    add(key, {{"oneOf", Json::array({SchemaBuilder().object(value), {{"const", "none"}}})}}, doc);
  }
  void group(std::string_view key, std::string_view word, bool) {
    group_ = " (only with " + std::string(key) + ": " + std::string(word) + ")";
  }
  void end_group() { group_.clear(); }

  template <typename T>
  Json object(T& value) {
    visit(*this, value);
    return finish();
  }
  // An object of exactly the keys seen so far. A file may also say `include` wherever it has a map.
  Json finish() {
    add("include", {{"type", Json::array({"string", "array"})}, {"items", {{"type", "string"}}}},
        "files whose keys stand here too, relative to this file; keys given here win");
    Json object{{"type", "object"}, {"properties", properties_}, {"additionalProperties", false}};
    if (!required_.empty()) object["required"] = required_;
    return object;
  }

 private:
  void add(const char* key, Json type, std::string_view doc, std::string_view unit = {},
           Need need = Need::kOptional) {
    if (properties_.contains(key)) return;  // a key of two groups, with the same type
    std::string text(doc);
    if (!unit.empty()) text += " [" + std::string(unit) + "]";
    type["description"] = text + group_;
    properties_[key] = std::move(type);
    if (need == Need::kRequired) required_.push_back(key);
  }

  Json properties_ = Json::object();
  Json required_ = Json::array();
  std::string group_;
};

Json named_map(const std::string& key_pattern, Json value) {
  return {{"type", "object"},
          {"patternProperties", {{key_pattern, std::move(value)}}},
          {"properties", {{"include", {{"type", Json::array({"string", "array"})}}}}},
          {"additionalProperties", false}};
}

// Units: one alternative a kind. `nodes` entries take the same keys without `kind`.
Json units_schema() {
  Json kinds = Json::array();
  for_each_kind([&](Kind kind, auto params) {
    const auto& word = kKindWords[static_cast<std::size_t>(kind)];
    if (!word.supported) return;
    SchemaBuilder builder;
    builder.raw("kind", {{"const", word.word}}, Need::kRequired, "what stands at this symbol");
    visit(builder, params);
    UnitCommon common;
    kinds.push_back(builder.object(common));
  });
  return named_map("^[A-Za-z_][A-Za-z0-9_]*$", {{"oneOf", kinds}});
}

Json nodes_schema() {
  SchemaBuilder builder;
  for_each_kind([&](Kind kind, auto params) {
    if (kKindWords[static_cast<std::size_t>(kind)].supported) visit(builder, params);
  });
  UnitCommon common;
  Json keys = builder.object(common);
  keys.erase("required");
  return named_map("^[a-z]+@[0-9]+,[0-9]+$", std::move(keys));
}

struct MeshSchema {
  std::optional<unsigned> id;
  Json grid =
      array_of(array_of({{"type", "string"}, {"pattern", "^([.]|[A-Za-z_][A-Za-z0-9_]*)$"}}, 3, kMaxGrid + 2),
               3, kMaxGrid + 2);
  RouterKeys router;
  Json units = units_schema();
  Json nodes = nodes_schema();
  std::optional<Agent> agent;
  std::optional<DramKeys> dram;
  Presence staging{};
  StagingPlacement staging_placement{};
  Presence interlink{};
};

Json mesh_schema() {
  MeshSchema mesh;
  SchemaBuilder builder;
  visit_mesh(builder, mesh);
  return builder.finish();
}

struct MachineSchema {
  std::uint64_t version = kVersion;
  Json name{{"type", "string"}};
  std::optional<double> clock_mhz;
  Json clocks{{"type", "object"}, {"additionalProperties", {{"type", "number"}}}};
  Quirks quirks{};
  Json meshes = array_of(mesh_schema(), 1, kMaxMeshes);
  Json host = [] {
    Host value;
    return SchemaBuilder().object(value);
  }();
};

}  // namespace

std::string schema_json() {
  MachineSchema machine;
  SchemaBuilder builder;
  visit_machine(builder, machine);
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "ktpu-sim topology"}};
  schema.update(builder.finish());
  return schema.dump(2) + "\n";
}

}  // namespace ktpu::topo
