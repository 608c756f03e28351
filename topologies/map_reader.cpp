// SPDX-License-Identifier: Apache-2.0
#include "topologies/map_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "topologies/suggest.h"

namespace ktpu::topo {

void fail_key(const Mark& mark, const std::string& path, const std::string& message) {
  fail_at(mark, path.empty() ? message : fmt::format("{}: {}", path, message));
}

void fail_unsupported(const Mark& mark, const std::string& path, std::string_view word,
                      const std::vector<std::string>& supported) {
  fail_key(mark, path,
           fmt::format("'{}' is not supported by this version; supported: {}", word, join(supported)));
}

namespace {

std::string range_text(const Range& range) {
  std::string text = range.power_of_two ? "a power of two, " : "";
  text += range.lo == range.hi ? fmt::format("{}", range.lo) : fmt::format("{}..{}", range.lo, range.hi);
  if (!range.unit.empty()) text += fmt::format(" ({})", range.unit);
  return text;
}

void need_scalar(const Doc& doc, const std::string& path, const std::string& wanted) {
  if (!doc.is_scalar()) fail_key(doc.mark, path, fmt::format("{} where {} is needed", doc.what(), wanted));
}

}  // namespace

std::uint64_t parse_integer(const Doc& doc, const std::string& path, const Range& range) {
  const std::string wanted = fmt::format("a whole number, {},", range_text(range));
  need_scalar(doc, path, wanted);
  const std::string& t = doc.text;
  const auto fail = [&](std::string_view why) {
    fail_key(doc.mark, path, fmt::format("{} {}; allowed: {}", doc.what(), why, range_text(range)));
  };
  if (doc.quoted) fail("is text; write the number without quotes");
  const bool hex = t.starts_with("0x") || t.starts_with("0X");
  const char* begin = t.data() + (hex ? 2 : 0);
  const char* end = t.data() + t.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  const bool all = stop == end && begin != end;
  if (all && error == std::errc::result_out_of_range) fail("is out of range");
  if (!all || error != std::errc()) {
    if (t.starts_with("-")) fail("is negative or not a number");
    fail("is not a whole number");
  }
  // 010 is 8 to some YAML readers and 10 to others
  if (!hex && t.size() > 1 && t[0] == '0') fail("has a leading zero");
  if (value < range.lo || value > range.hi) fail("is out of range");
  if (range.power_of_two && !std::has_single_bit(value)) fail("is not a power of two");
  return value;
}

double parse_number(const Doc& doc, const std::string& path, double lo, double hi, std::string_view unit) {
  const std::string allowed = fmt::format("{}..{} ({})", lo, hi, unit);
  need_scalar(doc, path, fmt::format("a number, {},", allowed));
  const auto fail = [&](std::string_view why) {
    fail_key(doc.mark, path, fmt::format("{} {}; allowed: {}", doc.what(), why, allowed));
  };
  if (doc.quoted) fail("is text; write the number without quotes");
  double value = 0;
  const char* end = doc.text.data() + doc.text.size();
  const auto [stop, error] = std::from_chars(doc.text.data(), end, value);
  if (stop != end) fail("is not a number");
  if (error == std::errc::result_out_of_range) fail("is out of range");
  if (error != std::errc()) fail("is not a number");
  if (!std::isfinite(value)) fail("is not finite");
  if (value < lo || value > hi) fail("is out of range");
  return value == 0 ? 0 : value;  // no negative zero
}

bool parse_boolean(const Doc& doc, const std::string& path) {
  need_scalar(doc, path, "true or false");
  // YAML 1.1 also knows yes, no, on, off, y, n: not here.
  if (!doc.quoted && doc.text == "true") return true;
  if (!doc.quoted && doc.text == "false") return false;
  fail_key(doc.mark, path, fmt::format("{} is not allowed; allowed: true, false", doc.what()));
}

const std::string& parse_text(const Doc& doc, const std::string& path) {
  need_scalar(doc, path, "a word");
  return doc.text;
}

Coord parse_coordinate(const Doc& doc, const std::string& path) {
  need_scalar(doc, path, "a coordinate such as \"2,1\" (column, row)");
  unsigned x = 0, y = 0;
  const char* end = doc.text.data() + doc.text.size();
  auto [comma, error_x] = std::from_chars(doc.text.data(), end, x);
  bool good = error_x == std::errc() && comma != end && *comma == ',';
  if (good) {
    const auto [stop, error_y] = std::from_chars(comma + 1, end, y);
    good = error_y == std::errc() && stop == end && x <= 15 && y <= 15;
  }
  if (!good)
    fail_key(doc.mark, path,
             fmt::format("{} is no coordinate; allowed: \"x,y\", column and row, each 0..15", doc.what()));
  return {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)};
}

std::size_t parse_word(const Doc& doc, const std::string& path, const std::vector<std::string>& words) {
  // `kind: null` is written like YAML's nothing, and means the word.
  if (!doc.is_null()) need_scalar(doc, path, fmt::format("one of {}", join(words)));
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == doc.text) return i;
  fail_key(doc.mark, path,
           fmt::format("{} is not allowed; allowed: {}{}", doc.what(), join(words),
                       did_you_mean(doc.text, words)));
}

MapReader::MapReader(const Doc& doc, std::string path) : doc_(doc), path_(std::move(path)) {
  if (!doc.is_map()) fail_key(doc.mark, path_, fmt::format("{} where a map of keys is needed", doc.what()));
}

std::string MapReader::path(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Mark& MapReader::mark(std::string_view key) const {
  const DocEntry* entry = doc_.find(key);
  return entry == nullptr ? doc_.mark : entry->value.mark;
}

const Doc* MapReader::take(const char* key, Need need) {
  const DocEntry* entry = doc_.find(key);
  if (!active_) {
    misplaced_.push_back({key, group_});
    return nullptr;
  }
  known_.emplace_back(key);
  if (entry == nullptr) {
    if (need == Need::kRequired) missing_.emplace_back(key);
    return nullptr;
  }
  if (entry->value.is_null() && entry->value.text.empty())
    fail_key(entry->value.mark, path(key), "the key has no value");
  return &entry->value;
}

void MapReader::implementation(const char* key, Impl& impl, UserModule& module, std::string_view doc) {
  const DocEntry* entry = doc_.find(key);
  if (!active_ || entry == nullptr || !entry->value.is_map()) {
    const bool given = active_ && entry != nullptr;
    choice(key, impl, kImplWords, doc);
    if (given) module = {};
    return;
  }
  const Doc& map = *take(key);
  MapReader reader(map, path(key));
  UserModule found;
  for (const auto& w : kImplWords) {
    if (w.value == Impl::kModel) continue;
    const Doc* file = reader.take(w.word.data());
    if (file == nullptr) continue;
    if (found.given())
      fail_key(file->mark, reader.path(w.word),
               fmt::format("there is '{}' already; give one of rtl, lockstep and pins", impl_name(impl)));
    impl = w.value;
    // A file name stands for a file beside the text it is written in; on the command line, in the current
    // folder.
    const std::filesystem::path folder = file->mark.line == 0 || !file->mark.file
                                             ? std::filesystem::path()
                                             : std::filesystem::path(*file->mark.file).parent_path();
    found = user_module(folder / parse_text(*file, reader.path(w.word)), {});
  }
  if (const Doc* top = reader.take("top")) {
    found.top = parse_text(*top, reader.path("top"));
    if (found.top.empty()) fail_key(top->mark, reader.path("top"), "the name of the module is empty");
  }
  reader.finish();
  if (!found.given())
    fail_key(map.mark, path(key), "which file? Write {rtl: FILE, top: MODULE}, or lockstep or pins for rtl");
  module = found;
}

void MapReader::integers(const char* key, std::vector<std::uint32_t>& value, const Range& range,
                         std::string_view) {
  const Doc* doc = take(key);
  if (doc == nullptr) return;
  if (!doc->is_sequence())
    fail_key(
        doc->mark, path(key),
        fmt::format("{} where a list of whole numbers is needed, each {}", doc->what(), range_text(range)));
  if (doc->items.size() > kMaxList)
    fail_key(doc->mark, path(key),
             fmt::format("a list of {} numbers; allowed: 0..{}", doc->items.size(), kMaxList));
  value.clear();
  for (std::size_t i = 0; i < doc->items.size(); ++i)
    value.push_back(
        static_cast<std::uint32_t>(parse_integer(doc->items[i], fmt::format("{}.{}", path(key), i), range)));
}

void MapReader::finish() const {
  for (const DocEntry& entry : doc_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    for (const Misplaced& m : misplaced_)
      if (m.key == entry.key)
        fail_key(entry.key_mark, path_, fmt::format("key '{}' has a meaning only with {}", m.key, m.group));
    fail_key(entry.key_mark, path_,
             fmt::format("unknown key {}{}; allowed: {}", show_text(entry.key),
                         did_you_mean(entry.key, known_), join(known_)));
  }
  if (!missing_.empty()) {
    fail_key(doc_.mark, path_, fmt::format("required key '{}' is missing", missing_.front()));
  }
}

}  // namespace ktpu::topo
