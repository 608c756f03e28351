// SPDX-License-Identifier: Apache-2.0
// A recorded kernel as a schedule: the buffers, grids and addresses of its file, the statements by hand.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bytes/executable.h"
#include "compiler/schedule/schedule.h"

namespace ktpu::recorded {

std::filesystem::path live_folder();
nlohmann::json read(const std::string& name);  // "matmul/5x7x9"

// An expression under construction; leaves are named as in the file: "x", "#2.0" for a constant, "@0" for
// delivered tile 0, "+b" for the per-channel operand.
class Lanes {
 public:
  struct Value {
    Lanes* lanes = nullptr;
    base::Expr::Id id = 0;
  };
  Value leaf(const std::string& name);
  Value number(double value);
  Value op(base::LaneOp op, std::vector<Value> arguments, std::optional<base::RowShape> row = {});

  // With the leaves numbered as the expression meets them.
  base::Expr expression(Value root, std::vector<std::string>& names) const;

 private:
  base::Expr expr_;
  std::vector<std::string> names_;
};
Lanes::Value operator+(Lanes::Value a, Lanes::Value b);
Lanes::Value operator-(Lanes::Value a, Lanes::Value b);
Lanes::Value operator*(Lanes::Value a, Lanes::Value b);
Lanes::Value operator/(Lanes::Value a, Lanes::Value b);
Lanes::Value operator+(Lanes::Value a, double b);
Lanes::Value operator*(Lanes::Value a, double b);
Lanes::Value operator/(Lanes::Value a, double b);

using Build = std::function<Lanes::Value(Lanes&)>;

class Case {
 public:
  explicit Case(const std::string& name, schedule::Policy policy = schedule::Policy::kCompat);

  const nlohmann::json& file() const { return file_; }
  schedule::Schedule& schedule() { return schedule_; }
  schedule::BufferId id(const std::string& name) const { return schedule_.find(name); }
  std::uint32_t knob(const char* name) const { return file_.at("effective_knobs").at(name); }

  // The next stage of the file: `statements` of the instance with this key.
  schedule::Stage& add_stage(
      const std::function<std::vector<schedule::Statement>(const std::vector<std::int32_t>& key)>&
          statements);
  // a @ b^T over `k` elements, tile after tile.
  std::vector<schedule::Statement> product(const std::string& a, const std::string& b, std::uint64_t k,
                                           const std::vector<std::int32_t>& key) const;
  schedule::Drain drain(const std::string& to, const std::vector<std::int32_t>& key,
                        std::uint32_t columns) const;
  // `result` <- the expression, part `part` of all.
  schedule::Chain chain(const std::string& result, const Build& build, std::uint64_t part) const;
  schedule::Chain epilogue(const std::string& result, const Build& build, std::uint64_t tile,
                           std::uint64_t column) const;

  bytes::Machine machine() const;
  // Every word of every round as in the file; with `only`, the schedule is that stage of the file alone.
  void expect_same_words(std::optional<std::size_t> only = {}) const;

 private:
  nlohmann::json file_;
  schedule::Schedule schedule_;
  std::size_t next_stage_ = 0;
};

}  // namespace ktpu::recorded
