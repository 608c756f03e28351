// SPDX-License-Identifier: Apache-2.0
// Rules over the kernels of one vector core, in the order of its RUNs. A kernel is followed word by word: it
// has no branch that depends on data, so mode, length, walks and the distance of its beats are known as far
// as the constants it sets are. Internal to lint.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "arch/encoding/vector_inst.h"
#include "arch/encoding/vector_word.h"

namespace ktpu::arch {

class VectorLint {
 public:
  using Report = std::function<void(std::string_view rule, std::string text)>;

  void envelope(const VectorInst& inst, const Report& report);

 private:
  static constexpr unsigned kImemWords = 512, kL1Words = 512;

  struct Descriptor {
    bool written = false;
    std::uint64_t base = 0;
    std::array<std::int64_t, 4> stride{};
    std::array<std::uint64_t, 4> bound{1, 1, 1, 1};
    std::uint64_t total() const;
    std::uint64_t at(std::uint64_t step) const;
  };
  struct Fill {  // not known to be complete
    unsigned pc = 0, first = 0, words = 0;
  };
  struct Compare {  // its beats: chunk j in cycles first + j*depth ...
    unsigned pc = 0;
    std::int64_t first = 0;
    unsigned chunks = 0, depth = 1;
  };

  void run(unsigned pc);
  // One instruction at pc_; false when the kernel ends here.
  bool step();
  bool written(unsigned pc);
  bool arithmetic(std::uint32_t word);
  bool other(const VectorWord& w);
  bool check_chain(unsigned depth);
  void time_group(const VectorWord& head, const VectorWord& tail, unsigned depth);
  void predicate_read(const VectorWord& tail, std::int64_t first, unsigned depth);
  bool reduction(const VectorWord& w);
  void l1_read(const VectorWord& w);
  void used(std::uint32_t ad);
  bool length(std::uint32_t ad);
  bool fault(unsigned code, std::string_view why);
  void say(std::string_view rule, const std::string& text);
  void drained();  // the pipe is empty: whatever was pending is written
  std::optional<unsigned> chunks() const;

  std::array<std::optional<std::uint32_t>, kImemWords> imem_;
  std::array<Descriptor, 8> walks_;
  std::array<std::optional<std::uint32_t>, 16> scalars_;
  std::optional<std::uint32_t> length_ = 128;
  VectorMode mode_ = VectorMode::kFlat;
  std::set<std::pair<std::string_view, std::uint64_t>> said_;  // rule; address and word

  // Of the kernel being followed.
  const Report* report_ = nullptr;
  unsigned pc_ = 0;
  bool looping_ = false;
  unsigned top_ = 0, end_ = 0;
  std::uint32_t count_ = 0;
  std::optional<Fill> fill_;
  std::int64_t fetch_ = 0;  // cycle of the next fetch, vector.md 12.3; waits for memory count as none
  std::array<std::int64_t, 16> ready_{};
  std::array<std::optional<Compare>, 4> compares_;
};

}  // namespace ktpu::arch
