// SPDX-License-Identifier: Apache-2.0
// The visitor of keys.h that reads one YAML map into structs, strictly. Internal to topologies/.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "topologies/document.h"
#include "topologies/keys.h"

namespace ktpu::topo {

// Scalars. Each throws UserError "place: path: what is wrong; what is allowed".
std::uint64_t parse_integer(const Doc& doc, const std::string& path, const Range& range);
double parse_number(const Doc& doc, const std::string& path, double lo, double hi, std::string_view unit);
bool parse_boolean(const Doc& doc, const std::string& path);
const std::string& parse_text(const Doc& doc, const std::string& path);
Coord parse_coordinate(const Doc& doc, const std::string& path);  // "x,y", each 0..15
// Index into `words`.
std::size_t parse_word(const Doc& doc, const std::string& path, const std::vector<std::string>& words);

[[noreturn]] void fail_key(const Mark& mark, const std::string& path, const std::string& message);
[[noreturn]] void fail_unsupported(const Mark& mark, const std::string& path, std::string_view word,
                                   const std::vector<std::string>& supported);

// Reads the keys of one map as they are visited; finish() then reports unknown and missing ones. A key that
// is absent leaves its value alone.
class MapReader {
 public:
  // Throws unless `doc` is a map. `owner` is the place to name for missing keys when the map has none of its
  // own.
  MapReader(const Doc& doc, std::string path);

  template <std::unsigned_integral T>
  void integer(const char* key, T& value, Range range, std::string_view) {
    range.hi = std::min<std::uint64_t>(range.hi, std::numeric_limits<T>::max());
    if (const Doc* doc = take(key, range.need)) value = static_cast<T>(parse_integer(*doc, path(key), range));
  }
  template <std::unsigned_integral T>
  void optional_integer(const char* key, std::optional<T>& value, Range range, std::string_view) {
    range.hi = std::min<std::uint64_t>(range.hi, std::numeric_limits<T>::max());
    if (const Doc* doc = take(key, range.need)) value = static_cast<T>(parse_integer(*doc, path(key), range));
  }
  void number(const char* key, double& value, double lo, double hi, std::string_view unit, std::string_view) {
    if (const Doc* doc = take(key)) value = parse_number(*doc, path(key), lo, hi, unit);
  }
  void optional_number(const char* key, std::optional<double>& value, double lo, double hi,
                       std::string_view unit, std::string_view) {
    if (const Doc* doc = take(key)) value = parse_number(*doc, path(key), lo, hi, unit);
  }
  void boolean(const char* key, bool& value, std::string_view) {
    if (const Doc* doc = take(key)) value = parse_boolean(*doc, path(key));
  }
  template <typename E, std::size_t N>
  void choice(const char* key, E& value, const std::array<Word<E>, N>& words, std::string_view) {
    const Doc* doc = take(key);
    if (doc == nullptr) return;
    std::vector<std::string> all, supported;
    for (const auto& w : words) {
      all.emplace_back(w.word);
      if (w.supported) supported.emplace_back(w.word);
    }
    const auto& word = words[parse_word(*doc, path(key), all)];
    if (!word.supported) fail_unsupported(doc->mark, path(key), word.word, supported);
    value = word.value;
  }
  void implementation(const char* key, Impl& impl, UserModule& module, std::string_view doc);
  void integers(const char* key, std::vector<std::uint32_t>& value, const Range& range, std::string_view);
  void coordinate(const char* key, std::optional<Coord>& value, Need need, std::string_view) {
    // A value inherited from the unit counts.
    if (const Doc* doc = take(key, value ? Need::kOptional : need)) value = parse_coordinate(*doc, path(key));
  }
  void word(const char* key, std::string& value, std::string_view) {
    if (const Doc* doc = take(key)) value = parse_text(*doc, path(key));
  }
  void raw(const char* key, const Doc*& value, Need need, std::string_view) { value = take(key, need); }
  template <typename T>
  void section(const char* key, T& value, std::string_view) {
    const Doc* doc = take(key);
    if (doc == nullptr) return;
    value = T{};
    MapReader reader(*doc, path(key));
    visit(reader, value);
    reader.finish();
  }
  template <typename T>
  void optional_section(const char* key, std::optional<T>& value, std::string_view) {
    const Doc* doc = take(key);
    if (doc == nullptr) return;
    value.reset();
    if (doc->is_scalar() && doc->text == "none") return;
    value.emplace();
    MapReader reader(*doc, path(key));
    visit(reader, *value);
    reader.finish();
  }
  void group(std::string_view key, std::string_view word, bool active) {
    active_ = active;
    group_ = std::string(key) + ": " + std::string(word);
  }
  void end_group() { active_ = true; }

  // Declares a key read by other means.
  const Doc* take(const char* key, Need need = Need::kOptional);
  // Unknown, misplaced and missing keys, in this order.
  void finish() const;

  const Doc& doc() const { return doc_; }
  std::string path(std::string_view key) const;
  // Where the key's value stands, or the map when the key is absent.
  const Mark& mark(std::string_view key) const;

 private:
  struct Misplaced {
    std::string key;
    std::string group;
  };

  const Doc& doc_;
  std::string path_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;
  std::vector<Misplaced> misplaced_;
  bool active_ = true;
  std::string group_;
};

}  // namespace ktpu::topo
