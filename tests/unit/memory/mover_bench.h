// SPDX-License-Identifier: Apache-2.0
// A memory agent with nothing but its mover at work: register writes reach it in chosen cycles.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "arch/encoding/mover.h"
#include "arch/encoding/registers.h"
#include "tests/unit/memory/bench.h"
#include "tlm/memory/mover.h"

namespace ktpu::memory::test {

namespace mover = arch::mover;

using mover::axis_word, mover::base_word, mover::control_word, mover::Control, mover::dimension_word,
    mover::extent_word;

using Writes = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

inline void add_dimension(Writes& writes, bool destination, unsigned dimension, unsigned count,
                          std::int64_t stride, unsigned axis = 0, std::int64_t step = 0) {
  writes.push_back({mover::kDimension, dimension_word(destination, dimension, count, stride)});
  writes.push_back({mover::kAxis, axis_word(axis, step)});
}
inline Writes copy_of(std::uint64_t source, std::uint64_t destination, unsigned words) {
  Writes writes{{mover::kBase, base_word(false, source, 1)}, {mover::kBase, base_word(true, destination, 1)}};
  add_dimension(writes, false, 0, words, 32);
  add_dimension(writes, true, 0, words, 32);
  return writes;
}
// rows x cols words, row slow, as in vectors/rtl/README.md.
inline Writes transpose_of(std::uint64_t source, std::uint64_t destination, unsigned rows, unsigned cols) {
  Writes writes{{mover::kBase, base_word(false, source, 2)}, {mover::kBase, base_word(true, destination, 2)}};
  add_dimension(writes, false, 0, rows, 32 * cols);
  add_dimension(writes, false, 1, cols, 32);
  add_dimension(writes, true, 0, rows, 32);
  add_dimension(writes, true, 1, cols, 32 * rows);
  return writes;
}
inline Writes fill_of(std::uint64_t destination, unsigned words) {
  Writes writes{{mover::kBase, base_word(true, destination, 1)}};
  add_dimension(writes, true, 0, words, 32);
  return writes;
}

class MoverBench : public Bench {
 public:
  explicit MoverBench(BenchConfig config = {}) : Bench(std::move(config)) {}

  // Register writes reach the mover in consecutive cycles from `at` on; returns the cycle behind the last.
  Cycle write(Cycle at, const Writes& writes) {
    for (const auto& [offset, data] : writes) writes_.insert({at++, {offset, data}});
    return at;
  }
  // The writes and then GO; returns g, the cycle in which GO reaches the mover.
  Cycle start(Cycle at, const Writes& writes, const Control& control) {
    const Cycle g = write(at, writes);
    write(g, {{mover::kControl, control_word(control)}});
    return g;
  }
  void step() {
    if (!begun_) start_engine();
    const Cycle now = engine.now();
    const auto [first, last] = writes_.equal_range(now);
    for (auto w = first; w != last; ++w) agent.aux_write(now, w->second.first, w->second.second);
    stat[now] = agent.aux_stat();
    run(1);
  }
  void run_to(Cycle end) {
    while (engine.now() < end) step();
  }
  // Until the mover and everything behind it is idle.
  void finish(Cycle limit = 200000) {
    run_to(writes_.empty() ? 0 : writes_.rbegin()->first + 3);
    while (!agent.idle() && engine.now() < limit) step();
    run_to(engine.now() + 4);
  }
  bool busy(Cycle cycle) const { return stat.at(cycle) & 1; }
  unsigned fault() const { return static_cast<unsigned>(agent.mover().fault()); }
  std::uint64_t moves() const { return agent.mover().moves(); }

  std::map<Cycle, std::uint64_t> stat;  // AUX_STAT as sampled in each cycle

 private:
  void start_engine() {
    begun_ = true;
    run(0);
  }
  bool begun_ = false;
  std::multimap<Cycle, std::pair<std::uint32_t, std::uint64_t>> writes_;
};

}  // namespace ktpu::memory::test
