// SPDX-License-Identifier: Apache-2.0
// A place in the machine's memory. Only an arena and global_address() make one: whoever holds an address got
// it from an allocation.
#pragma once

#include <cstdint>

namespace ktpu::schedule {

class Address {
 public:
  std::uint64_t value() const { return value_; }
  bool operator==(const Address&) const = default;
  // A place further on in the same allocation.
  Address at(std::uint64_t bytes) const { return {value_ + bytes, epoch_}; }

 private:
  friend class Arena;
  friend Address global_address(unsigned mesh, std::uint64_t local);
  Address(std::uint64_t value, std::uint64_t epoch) : value_(value), epoch_(epoch) {}

  std::uint64_t value_;
  std::uint64_t epoch_;  // of the arena: a reset makes all older addresses void
};

// Byte `local` of a mesh's memory as the whole machine names it (compiler.md section 2). Throws UserError
// when either is out of range.
Address global_address(unsigned mesh, std::uint64_t local);

}  // namespace ktpu::schedule
