// SPDX-License-Identifier: Apache-2.0
// The mover's command registers (memory.md section 10.1). None is buffered: a running move sees every write.
#pragma once

#include <array>
#include <cstdint>

#include "arch/encoding/mover.h"
#include "tlm/memory/mover_walker.h"
#include "tlm/sim/archive.h"

namespace ktpu::memory {

class MoverRegisters {
 public:
  // `offset`: bytes in the mover's window; unlisted ones are ignored. Returns whether the write asks for a
  // start.
  bool write(std::uint32_t offset, std::uint64_t data);

  MoverWalker source, destination;
  arch::mover::Mode mode = arch::mover::Mode::kCopy;
  std::uint8_t width = 0;  // 0 = 8, 1 = 16, 2 = 32 bits; 3 faults
  bool coalesce = false;
  std::uint8_t cap_code = 0;
  std::uint64_t index_address = 0;
  std::uint16_t index_count = 0;
  std::uint64_t seed = 0;
  std::uint32_t immediate = 0;
  std::uint32_t pitch = 0;
  std::uint16_t row_words = 0;

  std::uint32_t cap() const { return cap_code == 0 ? 128 : 1u << (cap_code - 1); }  // words a burst
  // The immediate at every element of a word.
  std::array<std::uint64_t, 4> fill_word() const;

  void reset() { *this = {}; }
  void visit(sim::Archive& archive);

 private:
  MoverWalker& walker(std::uint64_t select) { return select != 0 ? destination : source; }
  std::uint64_t latched_dimension_ = 0;  // the last write of kDimension
};

}  // namespace ktpu::memory
