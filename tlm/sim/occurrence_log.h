// SPDX-License-Identifier: Apache-2.0
// Keeps what happened often without growing: everything is counted, by kind and place; the first few of each
// are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tlm/sim/archive.h"

namespace ktpu::sim {

// T has same_finding(a, b): the same kind at the same place, and visit_occurrence(archive, t).
template <class T>
class OccurrenceLog {
 public:
  static constexpr std::size_t kKept = 64;  // altogether
  static constexpr std::size_t kEach = 4;   // of one kind and place

  struct Tally {
    std::size_t first = 0;    // index into kept()
    std::uint64_t count = 0;  // all of them
  };

  void add(T occurrence) {
    ++total_;
    for (Tally& tally : tallies_) {
      if (!same_finding(kept_[tally.first], occurrence)) continue;
      if (++tally.count <= kEach && kept_.size() < kKept) kept_.push_back(std::move(occurrence));
      return;
    }
    if (kept_.size() == kKept) return;
    tallies_.push_back({kept_.size(), 1});
    kept_.push_back(std::move(occurrence));
  }

  const std::vector<T>& kept() const { return kept_; }            // in the order they happened
  const std::vector<Tally>& tallies() const { return tallies_; }  // in the order of their first
  const T& first(const Tally& tally) const { return kept_[tally.first]; }
  std::uint64_t total() const { return total_; }

  void visit(Archive& a) {
    a.kept("occurrences", total_);
    a.kept_list("tallies", tallies_, [&](Tally& tally) {
      a.kept("first", tally.first);
      a.kept("count", tally.count);
    });
    a.kept_list("kept", kept_, [&](T& occurrence) { visit_occurrence(a, occurrence); });
  }

 private:
  std::vector<T> kept_;
  std::vector<Tally> tallies_;
  std::uint64_t total_ = 0;
};

}  // namespace ktpu::sim
