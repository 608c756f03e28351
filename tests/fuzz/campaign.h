// SPDX-License-Identifier: Apache-2.0
// Takes a campaign through its mutants and keeps what it needs to repeat one of them alone.
//   KTPU_SEED=N      another seed (default kDefaultSeed)
//   KTPU_MUTANTS=N   mutants of each kind
//   KTPU_ONLY=N      this one only
//   KTPU_SHOW=1      say how each of them ends
// The inputs of the mutant under way are in FOLDER/<campaign>.yaml and .bin: they are what crashed it. Those
// of a mutant that ended wrongly are kept as FOLDER/<campaign>-SEED-INDEX.*.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tests/fuzz/outcome.h"
#include "tests/fuzz/random.h"

namespace ktpu::fuzz {

inline constexpr std::uint64_t kDefaultSeed = 20'240'607;

class Campaign {
 public:
  // `shard` of `shards` runs each shards-th mutant.
  Campaign(std::string name, std::uint64_t mutants, unsigned shard, unsigned shards);
  ~Campaign();

  // Next mutant; false: no more. Prints a summary at the end.
  bool next();
  std::uint64_t index() const { return index_; }
  Random random() const { return {seed_, index_}; }

  void keep_topology(const std::string& text);
  void keep_program(std::span<const std::uint8_t> bytes);
  // Counts the end of this mutant and fails the test if it is not allowed.
  void judge(const Outcome& outcome);

  std::uint64_t count(Stage stage) const { return ends_.at(static_cast<std::size_t>(stage)); }

 private:
  std::string file(const char* extension) const;
  void keep_failed() const;
  void check_resources();

  std::string name_, folder_;
  std::uint64_t seed_, mutants_, index_ = 0, step_;
  bool started_ = false, only_ = false;
  double began_ = 0, slowest_ = 0;
  std::uint64_t slowest_index_ = 0;
  std::array<std::uint64_t, 4> ends_{};     // by stage
  std::map<int, std::uint64_t> by_status_;  // of all
};

}  // namespace ktpu::fuzz
