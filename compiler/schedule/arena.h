// SPDX-License-Identifier: Apache-2.0
// Allocation in one mesh's memory (compiler.md section 24): the smallest free span that fits, the lowest of
// equals, else fresh bytes behind everything handed out so far.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/error.h"
#include "compiler/schedule/address.h"

namespace ktpu::schedule {

class OutOfMemory : public arch::UserError {
 public:
  using UserError::UserError;
};

struct ArenaStats {
  std::size_t live = 0;            // allocations
  std::uint64_t used = 0;          // their bytes
  std::uint64_t peak = 0;          // highest reach so far, from the base
  std::size_t free_spans = 0;      // between allocations; what was never handed out is not among them
  std::uint64_t largest_free = 0;  // including what was never handed out
  double fragmentation = 0;        // share of the free bytes outside the largest free span
};

class Arena {
 public:
  // Base and size in bytes; the alignment is also the unit of every size.
  Arena(std::uint64_t base, std::uint64_t size, std::uint64_t alignment);

  // At least one unit. Throws OutOfMemory and changes nothing when no span is long enough.
  Address allocate(std::uint64_t bytes);
  // Throws UserError for an address that is not allocated (any more).
  void release(Address address);
  // Gives the free spans behind the last allocation back to what was never handed out; how many bytes.
  std::uint64_t trim();
  // Forgets all allocations; their addresses are void.
  void reset();

  // The peak after these allocations, none released between them. Throws OutOfMemory if they do not fit.
  std::uint64_t footprint(std::span<const std::uint64_t> sizes) const;

  ArenaStats stats() const;
  // A line for each span, in address order.
  std::string print() const;
  // Empty, or the first span that breaks the rules.
  std::string verify() const;

 private:
  using Spans = std::map<std::uint64_t, std::uint64_t>;  // address -> bytes

  std::uint64_t base_, size_, alignment_;
  std::uint64_t top_;  // never handed out from here on
  std::uint64_t peak_ = 0;
  std::uint64_t epoch_ = 0;
  Spans live_, free_;  // free spans never touch one another
};

}  // namespace ktpu::schedule
