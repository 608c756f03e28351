// SPDX-License-Identifier: Apache-2.0
// Which memory requests a staging adapter serves itself (fabric.md section 12, Window and Served).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "arch/encoding/payloads.h"

namespace ktpu::noc {

// A request in lines of the store.
struct WindowRun {
  std::uint32_t line = 0;         // the first one
  std::uint32_t words = 0;        // read or written, one line each
  std::uint32_t entry_words = 0;  // of a stream; 0: a plain read, or a write
};

struct AdapterWindow {
  static constexpr std::uint64_t kAddressMask = (1ull << 40) - 1;
  static constexpr unsigned kLineBits = 5;

  std::uint64_t base = 0;  // as written: bits below size_bits() are kept and mean nothing
  std::uint32_t lines = 0;
  bool enabled = false;

  unsigned size_bits() const {  // L2_BITS
    return kLineBits + static_cast<unsigned>(std::countr_zero(lines));
  }
  bool claims(std::uint64_t address) const { return enabled && ((address ^ base) >> size_bits()) == 0; }

  // The run of a claimed request, or nothing when it has to go to memory.
  std::optional<WindowRun> read(const arch::MemReq& request) const {
    if (request.quant() || request.n_peer != 0) return std::nullopt;
    if (!request.stream()) return inside({line_of(request.addr), request.len + 1, 0}, request.len + 1);
    if (request.count == 0) return std::nullopt;
    const std::uint32_t words = request.entry_words == 0 || request.entry_words > 4 ? 4 : request.entry_words;
    const std::uint32_t priced = words == 3 ? 4 : words;
    return inside({line_of(request.addr), request.count * words, words}, request.count * priced);
  }
  std::optional<WindowRun> write(const arch::MemReq& request) const {
    return inside({line_of(request.addr), request.len + 1, 0}, request.len + 1);
  }

 private:
  std::uint32_t line_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>(address >> kLineBits) & (lines - 1);
  }
  // The index after the run must still be a line: the top line is in no run.
  std::optional<WindowRun> inside(const WindowRun& run, std::uint32_t priced) const {
    if (run.line + priced >= lines) return std::nullopt;
    return run;
  }
};

}  // namespace ktpu::noc
