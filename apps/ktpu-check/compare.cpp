// SPDX-License-Identifier: Apache-2.0
#include "apps/ktpu-check/compare.h"

#include <algorithm>

namespace ktpu::check {

using nlohmann::json;

namespace {

constexpr std::size_t kShown = 96;  // characters of a value in a message

std::string shown(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

// Around the first character that differs, so that two long strings do not look the same.
void differ(const json& expected, const json& got, const std::string& path, Differences& differences) {
  if (!expected.is_string() || !got.is_string()) return differences.add(path, shown(expected), shown(got));
  const std::string &a = expected.get_ref<const std::string&>(), &b = got.get_ref<const std::string&>();
  const auto at = static_cast<std::size_t>(
      std::distance(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first));
  if (a.size() <= kShown && b.size() <= kShown) return differences.add(path, a, b);
  const std::size_t from = at < 8 ? 0 : at - 8;
  differences.add(path + " from character " + std::to_string(from), shown(a.substr(std::min(from, a.size()))),
                  shown(b.substr(std::min(from, b.size()))));
}

void compare_lists(const json& expected, const json& got, const std::string& path, Differences& differences) {
  if (expected.size() != got.size())
    differences.add(path + " length", std::to_string(expected.size()), std::to_string(got.size()));
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i)
    compare(expected[i], got[i], path + "[" + std::to_string(i) + "]", differences);
}

}  // namespace

void compare(const json& expected, const json& got, const std::string& path, Differences& differences) {
  if (expected.is_object() && got.is_object()) {
    compare_fields(expected, got, {}, path, differences);
    for (const auto& [key, value] : got.items())
      if (!expected.contains(key)) differences.add(path + "." + key, "(none)", shown(value));
    return;
  }
  if (expected.is_array() && got.is_array()) return compare_lists(expected, got, path, differences);
  if (expected != got) differ(expected, got, path, differences);
}

void compare_fields(const json& expected, const json& got, const FieldNames& skip, const std::string& path,
                    Differences& differences) {
  for (const auto& [key, value] : expected.items()) {
    if (std::find(skip.begin(), skip.end(), key) != skip.end()) continue;
    const std::string name = path.empty() ? key : path + "." + key;
    if (!got.contains(key))
      differences.add(name, shown(value),
                      "(not measured: this version does not know the field, or the "
                      "machine never did it)");
    else
      compare(value, got[key], name, differences);
  }
}

}  // namespace ktpu::check
