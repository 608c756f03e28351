// SPDX-License-Identifier: Apache-2.0
// Recorded values against measured ones, field by field. A field that is neither measured nor declared an
// input or information counts as a difference: nothing is left out in silence.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ktpu::check {

struct Difference {
  std::string field;  // with indices: "issue[2]"
  std::string expected;
  std::string got;
};

class Differences {
 public:
  static constexpr std::size_t kKept = 64;
  void add(Difference difference) {
    if (kept_.size() < kKept) kept_.push_back(std::move(difference));
    ++count_;
  }
  void add(std::string field, std::string expected, std::string got) {
    add({std::move(field), std::move(expected), std::move(got)});
  }
  const std::vector<Difference>& kept() const { return kept_; }
  std::size_t count() const { return count_; }

 private:
  std::vector<Difference> kept_;
  std::size_t count_ = 0;
};

// Fields of an object that are not compared: what the run is made from, and what is information only.
using FieldNames = std::vector<std::string_view>;

// Any value against any value; objects and lists are walked.
void compare(const nlohmann::json& expected, const nlohmann::json& got, const std::string& path,
             Differences& differences);
// Two objects: every field of `expected` that is not in `skip`.
void compare_fields(const nlohmann::json& expected, const nlohmann::json& got, const FieldNames& skip,
                    const std::string& path, Differences& differences);

}  // namespace ktpu::check
