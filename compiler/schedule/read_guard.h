// SPDX-License-Identifier: Apache-2.0
// Refuses to read a buffer whose bytes another one has taken (compiler.md section 24).
#pragma once

#include <map>
#include <string>

#include "compiler/schedule/lifetime.h"

namespace ktpu::schedule {

class ReadGuard {
 public:
  explicit ReadGuard(ScratchBlock block) : block_(std::move(block)) {}
  void wrote(const std::string& name);
  // Throws UserError naming both buffers. A name that the block does not hold is no business of this guard.
  void read(const std::string& name) const;
  std::string print() const;  // who has lost its bytes, and to whom

 private:
  ScratchBlock block_;
  std::map<std::string, std::string> taken_;  // buffer -> who wrote over it
};

}  // namespace ktpu::schedule
