// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/read_guard.h"

#include "arch/error.h"

namespace ktpu::schedule {

void ReadGuard::wrote(const std::string& name) {
  const Placement* written = block_.find(name);
  if (written == nullptr) return;
  taken_.erase(name);
  for (const Placement& other : block_.placements)
    if (other.name != name && other.offset < written->offset + written->bytes &&
        written->offset < other.offset + other.bytes)
      taken_[other.name] = name;
}

void ReadGuard::read(const std::string& name) const {
  if (const auto found = taken_.find(name); found != taken_.end())
    throw arch::UserError::make(
        "{} cannot be read: {} has been written over its bytes since; read it earlier or give the buffers "
        "memory of their own",
        name, found->second);
}

std::string ReadGuard::print() const {
  std::string text;
  for (const auto& [name, by] : taken_) text += fmt::format("{} taken by {}\n", name, by);
  return text;
}

}  // namespace ktpu::schedule
